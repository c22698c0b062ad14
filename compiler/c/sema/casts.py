"""Arithmetic conversions (C11 6.3.1): casts of values, promotions, common types."""

from __future__ import annotations

from ..ast import BinaryOp, Cast, Expr, FloatConst, IntConst, Load, Member, UnaryOp
from ..types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    UINT,
    ULLONG,
    ULONG,
    CType,
    FloatType,
    IntType,
    is_scalar,
)
from .constants import constant_value, convert_constant, float_const


def bit_field_width(expr: Expr) -> int | None:
    """The width when `expr` designates, or is the value of, a bit-field."""
    place = expr.lvalue if isinstance(expr, Load) else expr
    return place.field.bit_width if isinstance(place, Member) else None


def cast(expr: Expr, target: CType, *, implicit: bool = True) -> Expr:
    """`expr` (a value) converted to `target`; constants are converted here."""
    if isinstance(expr, Cast) and expr.excess:
        expr = expr.operand
        if target == HALF:
            return _rounded(expr)
    if expr.type == target:
        return expr
    if isinstance(expr, IntConst | FloatConst) and is_scalar(target):
        known = constant_value(expr)
        value = None if known is None else convert_constant(known, target)
        if isinstance(value, float):
            return float_const(target, expr.loc, value)
        if isinstance(value, int):
            return IntConst(type=target, loc=expr.loc, value=value)
    return Cast(type=target, loc=expr.loc, operand=expr, implicit=implicit)


def unrounded(expr: Expr) -> Expr:
    """A `_Float16` expression with excess precision as the `float` that it is evaluated to; others
    unchanged."""
    return expr.operand if isinstance(expr, Cast) and expr.excess else expr


def of_type(expr: Expr, t: CType) -> Expr:
    """The evaluated `expr` as an expression of type `t`: a `float` has excess precision for `_Float16`."""
    if expr.type == t:
        return expr
    return Cast(type=t, loc=expr.loc, operand=expr, excess=True)


def as_half(expr: Expr) -> Expr | None:
    """A `float` that has the value of a `_Float16` expression, as that one; otherwise None."""
    match expr:
        case Cast(operand=Expr(type=FloatType(bits=16))):
            return expr.operand
        case FloatConst() if convert_constant(expr.value, HALF) == expr.value:
            return float_const(HALF, expr.loc, expr.value)
        case _:
            return None


def as_halves(a: Expr, b: Expr) -> tuple[Expr, Expr] | None:
    """Both values by `as_half`, or None."""
    first, second = as_half(a), as_half(b)
    return None if first is None or second is None else (first, second)


def _rounded(expr: Expr) -> Expr:
    """
    A `float` rounded to `_Float16`. One operation on `_Float16` values is one in that type: rounding its
    result to 24 bits first does not change the one of 11 bits (Figueroa, "When is double rounding
    innocuous?", 1995).
    """
    match expr:
        case BinaryOp() if halves := as_halves(expr.lhs, expr.rhs):
            return BinaryOp(type=HALF, loc=expr.loc, op=expr.op, lhs=halves[0], rhs=halves[1])
        case UnaryOp() if (operand := as_half(expr.operand)) is not None:
            return UnaryOp(type=HALF, loc=expr.loc, op=expr.op, operand=operand)
        case _:
            return cast(expr, HALF)


def promoted_type(t: IntType, width: int | None = None) -> IntType:
    """The type after integer promotion (C11 6.3.1.1); `width` is given for bit-fields, also those of long
    types."""
    if width is not None and width <= 32:
        return UINT if not t.signed and width == 32 else INT
    return INT if t.rank < INT.rank else t


def promote(expr: Expr) -> Expr:
    """Integer promotions of a value; other types unchanged."""
    if isinstance(expr.type, IntType):
        return cast(expr, promoted_type(expr.type, bit_field_width(expr)))
    return expr


def promote_argument(expr: Expr) -> Expr:
    """Default argument promotions (C11 6.5.2.2)."""
    if isinstance(expr.type, FloatType) and expr.type.bits == 32:
        return cast(expr, DOUBLE)
    return promote(expr)


_UNSIGNED = {LONG: ULONG, INT: UINT}


def common_type(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions of two promoted arithmetic types (C11 6.3.1.8)."""
    if isinstance(a, FloatType) or isinstance(b, FloatType):
        floats = [t for t in (a, b) if isinstance(t, FloatType)]
        return max(floats, key=lambda t: t.bits)
    assert isinstance(a, IntType) and isinstance(b, IntType)
    if a.signed == b.signed:
        return a if a.rank >= b.rank else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    if unsigned.rank >= signed.rank:
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return _UNSIGNED.get(signed, ULLONG)


def usual_conversions(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr, CType]:
    """Both arithmetic values in their common type, and that type; values of `_Float16` in `float`."""
    if not isinstance(lhs.type, FloatType) and not isinstance(rhs.type, FloatType):
        lhs, rhs = promote(lhs), promote(rhs)
    t = common_type(lhs.type, rhs.type)
    evaluated = FLOAT if t == HALF else t
    return cast(lhs, evaluated), cast(rhs, evaluated), t
