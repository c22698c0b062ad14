"""Attributes: no checks during a compilation, sharing of small ones, and cheap checks of value names."""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerAttr, IntegerType, Signedness
from xdsl.ir import Attribute, core

_set = object.__setattr__

_unchecked = 0
"""The number of compilations in progress that need no checks."""


@contextmanager
def attributes_unchecked(wanted: bool = True) -> Generator[None]:
    """A context in which new attributes are not checked, if `wanted`."""
    global _unchecked
    _unchecked += wanted
    try:
        yield
    finally:
        _unchecked -= wanted


def _check(self: Attribute) -> None:
    if not _unchecked:
        _slow_check(self)


_slow_check = Attribute.__post_init__


def _init_integer(
    self: IntegerAttr, value: Any, value_type: Any, *, truncate_bits: bool = False
) -> None:
    """
    Replaces `IntegerAttr.__init__`: an integer that fits its type needs neither a check nor normalisation.
    """
    if value.__class__ is int:
        if value_type.__class__ is int:
            value_type = _integer_type(value_type)
        if value_type.__class__ is IntegerType and value_type.signedness.data is not _UNSIGNED:
            width = value_type.width.data
            if width > 0 and -(half := 1 << (width - 1)) <= value < half:
                _set(self, "value", _int_attr(value))
                _set(self, "type", value_type)
                return
    _slow_integer(self, value, value_type, truncate_bits=truncate_bits)


_UNSIGNED = Signedness.UNSIGNED
_slow_integer: Any = IntegerAttr.__init__
_integer_type = lru_cache(64)(IntegerType)
_int_attr = lru_cache(1 << 16)(IntAttr)


def _from_list(data_type: Any, data: Sequence[Any]) -> DenseArrayBase:
    if data_type.__class__ is IntegerType and len(data) <= _SHORT:
        return _short_array(data_type, tuple(data))
    return _slow_from_list(data_type, data)


_SHORT = 8
"""The most elements of an array whose unpacked values are cached: indices of subscripts, segment sizes."""
_slow_from_list = DenseArrayBase.from_list
_short_array = lru_cache(1 << 12)(_slow_from_list)


def _get_values(self: DenseArrayBase) -> tuple[Any, ...]:
    """
    The elements. Short arrays, such as segment sizes, which are read repeatedly, are unpacked only once.
    """
    if len(self.data.data) > _SMALL:
        return _slow_values(self)
    found = self.__dict__.get(_VALUES)
    if found is None:
        found = _slow_values(self)
        _set(self, _VALUES, found)
    return found


def _iter_values(self: DenseArrayBase) -> Iterator[Any]:
    return iter(_get_values(self)) if len(self.data.data) <= _SMALL else _slow_iter(self)


_SMALL = 64
"""Bytes."""
_VALUES = "_accopt_values"
_slow_values: Any = getattr(DenseArrayBase, "get_values")  # noqa: B009
_slow_iter: Any = getattr(DenseArrayBase, "iter_values")  # noqa: B009

_valid_names = lru_cache(1 << 14)(core.IRWithName.extract_valid_name.__func__)


def install() -> None:
    for cls, name, function in (
        (Attribute, "__post_init__", _check),
        (IntegerAttr, "__init__", _init_integer),
        (DenseArrayBase, "from_list", staticmethod(_from_list)),
        (DenseArrayBase, "get_values", _get_values),
        (DenseArrayBase, "iter_values", _iter_values),
        (core.IRWithName, "extract_valid_name", classmethod(_valid_names)),
    ):
        setattr(cls, name, function)
