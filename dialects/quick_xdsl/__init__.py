"""
Faster replacements for xDSL's most used functions, with the same results, exceptions and visiting order.

A compilation makes and visits some hundred thousand operations, and most of its time goes into a few
functions of xDSL that are general where this compiler needs one case. `install` replaces them:

- `walk` is one generator with an explicit stack instead of a chain of generators as deep as the IR, so that
  a visit costs the same at any depth (`walks.py`);
- `isinstance` of operations, values and attributes checks only inheritance, as for classes that are not
  abstract: xDSL registers no virtual subclasses, for which abstract classes search (`types.py`);
- operations whose arguments match their definition are created directly; anything unusual (a wrong number
  of arguments, segments of results or regions) is left to xDSL's own code, with its messages; an operation
  can `become` one of another class in place (`operations.py`);
- assembly formats are parsed when they are first needed (`formats.py`);
- attributes are checked when IR is read and when tests and tools make them, but not while a program is
  compiled (`attributes_unchecked`; `--verify` and `--verify-each` keep the checks), and names of values are
  checked once for each name (`attributes.py`).

All of this is for xDSL 0.74 (`pyproject.toml`); `tests/dialects/test_quick_xdsl.py` compares the two.
"""

from __future__ import annotations

from . import attributes, formats, operations, types, walks
from .attributes import attributes_unchecked
from .operations import become

__all__ = ["attributes_unchecked", "become", "install"]


def install() -> None:
    """Replaces xDSL's versions of the functions above, for the whole process."""
    for part in (walks, types, operations, attributes, formats):
        part.install()
