# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false, reportUnknownArgumentType=false
"""
Methods of data classes that are compiled when they are first called.

`dataclasses` writes `__init__`, `__repr__`, `__eq__`, `__hash__` and others as text and compiles that for
each class. This compiler and xDSL have some 800 data classes with 3700 such methods: a fifth of the time of a
small compilation, which calls a tenth of them. From `install` on, classes of both packages get
methods that compile themselves at their first call and put the result in their own place. What they do is
the same; only `inspect.signature` does not see the parameters of an `__init__` that was never called.

This relies on the internals of `dataclasses` in Python 3.11 and 3.12; with another version nothing is done.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

_PACKAGES = (f"{__name__.partition('.')[0]}.", "xdsl.")

_VERSIONS = ((3, 11), (3, 12))

_create: Callable[..., Any] = getattr(dataclasses, "_create_fn", lambda: None)


def _create_late(
    name: str,
    args: list[str],
    body: list[str],
    *,
    globals: dict[str, Any] | None = None,
    **given: Any,
) -> Callable[..., Any]:
    """Replaces `dataclasses._create_fn`: makes the function from its text in the module of these
    `globals`."""

    def create() -> Any:
        return _create(name, args, body, globals=globals, **given)

    within = (globals or {}).get("__name__", "")
    return _late(name, create) if within.startswith(_PACKAGES) else create()


def _late(name: str, create: Callable[[], Any]) -> Callable[..., Any]:
    """A method that becomes what `create` returns, in the class that has it under `name`."""
    created: Any = None

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        nonlocal created
        if created is None:
            created = create()
            created.__qualname__ = method.__qualname__
        for cls in type(self).__mro__:
            if cls.__dict__.get(name) is method:
                type.__setattr__(cls, name, created)
                break
        return created(self, *args, **kwargs)

    method.__name__ = name
    return method


def install() -> None:
    """From now on, compiles methods of both packages' data classes at their first call, in the whole
    process."""
    if sys.version_info[:2] in _VERSIONS:
        dataclasses._create_fn = _create_late
