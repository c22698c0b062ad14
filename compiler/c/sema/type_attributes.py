"""Attributes that change a declaration's type: `mode` (GCC manual, "Common Type Attributes")."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import error
from ..attribute_syntax import Attribute, attributes_of
from ..types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    INT128,
    LDOUBLE,
    LONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    UINT128,
    ULONG,
    USHORT,
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    QualType,
)
from .unit import Unit

_INTEGER_MODES: dict[str, tuple[IntType, IntType]] = {
    "QI": (SCHAR, UCHAR),
    "byte": (SCHAR, UCHAR),
    "HI": (SHORT, USHORT),
    "SI": (INT, UINT),
    "DI": (LONG, ULONG),
    "word": (LONG, ULONG),
    "pointer": (LONG, ULONG),
    "unwind_word": (LONG, ULONG),
    "TI": (INT128, UINT128),
}
_FLOAT_MODES: dict[str, CType] = {
    "HF": HALF, "SF": FLOAT, "DF": DOUBLE, "XF": LDOUBLE, "TF": LDOUBLE
}  # fmt: skip


def with_type_attributes(unit: Unit, q: QualType, items: Any) -> QualType:
    """`q`, changed by the attributes among the alignments `items` of its declaration: a vector of a header of
    the C library, where it is a member of records, is an array."""
    for attribute in attributes_of(items, "vector_size"):
        loc = unit.loc(attribute)
        size = (
            unit.expressions.integer(attribute.args[0])
            if loc.file.startswith("/usr/include/")
            else None
        )
        if not size or q.type.size == 0:
            raise error(
                loc,
                "attribute 'vector_size' is not supported",
                "use an array and a loop; accopt vectorises loops",
            )
        q = QualType(ArrayType(q, size // q.type.size))  # as a member of records alone
    for attribute in attributes_of(items, "mode"):
        q = _retyped(q, lambda t, a=attribute: _mode(unit, t, a))
    return q


def _retyped(q: QualType, change: Callable[[CType], CType]) -> QualType:
    """`q` with the type of its specifiers, which may be inside pointers, arrays and function results,
    replaced by `change`."""
    match q.type:
        case PointerType(pointee=inner):
            return replace(q, type=PointerType(_retyped(inner, change)))
        case ArrayType(element=inner, length=length):
            return replace(q, type=ArrayType(_retyped(inner, change), length))
        case FunctionType(result=result):
            return replace(q, type=replace(q.type, result=_retyped(QualType(result), change).type))
        case _:
            return replace(q, type=change(q.type))


def _mode(unit: Unit, t: CType, attribute: Attribute) -> CType:
    """The type of the same kind as `t` in a machine mode: `mode(DI)`."""
    name = (
        attribute.args[0].name if attribute.args and isinstance(attribute.args[0], c_ast.ID) else ""
    )
    name = name.strip("_")
    if isinstance(t, IntType) and name in _INTEGER_MODES:
        return _INTEGER_MODES[name][0 if t.signed else 1]
    if isinstance(t, FloatType) and name in _FLOAT_MODES:
        return _FLOAT_MODES[name]
    raise error(
        unit.loc(attribute), f"mode '{name}' of '{t}' is not supported", "write the type itself"
    )
