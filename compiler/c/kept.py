"""
Checked files as bytes: the typed tree of a preprocessed file and the messages of checking it. Reading them
takes a tenth of the time of checking the file again.

The bytes are a pickle that is restricted to trees: the reader makes objects only of the classes that trees
consist of, and calls nothing else. So the bytes in an object file are data, as its C text is, and cannot
run code.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Sequence

from ..base import diagnostics
from ..base.diagnostics import Diagnostic
from ..directives import records
from . import ast, types
from .ast import TranslationUnit
from .sema.constants import AddressConstant

_MODULES = {module.__name__: module for module in (ast, types, records, diagnostics)}
_OTHERS: dict[tuple[str, str], object] = {
    ("builtins", "Ellipsis"): ...,
    (AddressConstant.__module__, AddressConstant.__qualname__): AddressConstant,
}
"""Types of `BinaryOp.folded`: constants, and `...` before it was computed."""
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
    zlib.error,
)
"""Exceptions that reading bytes which are not a tree may raise."""


def to_bytes(unit: TranslationUnit, messages: Sequence[Diagnostic]) -> bytes | None:
    """A checked file; None if it is nested so deeply that it cannot be written."""
    try:
        return zlib.compress(pickle.dumps((unit, tuple(messages)), protocol=5), 1)
    except RecursionError:
        return None


def from_bytes(data: bytes) -> tuple[TranslationUnit, tuple[Diagnostic, ...]] | None:
    """A checked file and its messages; None if the bytes are not a checked file."""
    try:
        unit, messages = _TreeReader(io.BytesIO(zlib.decompress(data))).load()
    except _DAMAGED:
        return None
    return (unit, messages) if isinstance(unit, TranslationUnit) else None


class _TreeReader(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> object:
        if (module, name) in _OTHERS:
            return _OTHERS[module, name]
        found = getattr(_MODULES.get(module), name, None)
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is not a class of trees")
        return found
