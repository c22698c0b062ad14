"""
Constant expressions on the typed tree (C11 6.6).

`constant_value` returns the value of an expression at translation time: a Python int or float, an
`AddressConstant` (a static object or function plus a byte offset), or None if it is not constant.
IR generation uses it for static initialisers; the semantic layer for array lengths, case labels,
enumerators and bit-field widths.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from ...base.diagnostics import SourceLoc
from ...directives.records import ExprSlot
from ..ast import (
    AddressOf,
    BinaryOp,
    Cast,
    CompoundLiteral,
    Conditional,
    Decay,
    Deref,
    Expr,
    FloatConst,
    FunctionDecl,
    FunctionRef,
    IntConst,
    Load,
    Member,
    PtrAdd,
    PtrDiff,
    Storage,
    StringLiteral,
    UnaryOp,
    VarDecl,
    VarRef,
)
from ..types import LDOUBLE, ArrayType, CType, FloatType, IntType, PointerType, RecordType
from .literals import round_to_float, to_half, to_single
from .long_doubles import Extended, exact_value, is_finite, odd_double


@dataclass(frozen=True)
class AddressConstant:
    """The address of a static object, function or string literal, plus `offset` bytes."""

    base: VarDecl | FunctionDecl | StringLiteral
    offset: int = 0


ConstantValue = int | float | AddressConstant
_NARROW = {16: to_half, 32: to_single}


def _truth(value: ConstantValue) -> bool | None:
    """Whether a constant is not zero; None for the address of a weak symbol, which may be null."""
    if not isinstance(value, AddressConstant):
        return isinstance(value, Extended) or value != 0
    weak = isinstance(value.base, VarDecl | FunctionDecl) and value.base.is_weak
    return None if weak else True


def wrap(value: int, t: IntType) -> int:
    """`value` reduced to `t`, modulo 2^bits; 0 or 1 for `_Bool`."""
    if t.rank == 0:
        return int(value != 0)
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.signed and value >> (t.bits - 1) else value


def _saturate(value: int, t: IntType) -> int:
    """Floating to integer out of range is undefined; like GCC, take the nearest value."""
    lowest = -(1 << (t.bits - 1)) if t.signed else 0
    highest = (1 << (t.bits - t.signed)) - 1
    return min(max(value, lowest), highest)


def convert_constant(value: ConstantValue, target: CType) -> ConstantValue | None:
    """A constant converted to scalar type `target`; None when that is not constant."""
    if isinstance(value, AddressConstant):
        if isinstance(target, PointerType) or (isinstance(target, IntType) and target.bits == 64):
            return value
        truth = _truth(value) if isinstance(target, IntType) and target.rank == 0 else None
        return None if truth is None else int(truth)
    if isinstance(target, IntType):
        if isinstance(value, float):
            if target.rank == 0:
                return int(bool(_truth(value)))
            if not is_finite(value):
                return None
            return _saturate(int(exact_value(value)), target)
        return wrap(value, target)
    if isinstance(target, FloatType):
        if target == LDOUBLE:
            return value if isinstance(value, float) else Extended.of(Fraction(value))
        if isinstance(value, Extended) and target.bits == 32:
            return round_to_float(value.exact)
        try:
            wide = float(value)
        except OverflowError:
            wide = math.copysign(math.inf, value)
        if isinstance(value, Extended) and target.bits == 16:
            wide = odd_double(value)
        return _NARROW[target.bits](wide) if target.bits in _NARROW else wide
    if isinstance(target, PointerType) and isinstance(value, int):
        return value & 0xFFFFFFFFFFFFFFFF
    return None


def float_const(t: CType, loc: SourceLoc, value: float) -> FloatConst:
    """A floating constant as an expression."""
    bits = value.bits if isinstance(value, Extended) else None
    return FloatConst(type=t, loc=loc, value=float(value), bits=bits)


def constant_value(expr: Expr) -> ConstantValue | None:
    """The value of `expr` at translation time; None if it is not constant."""
    match expr:
        case FloatConst(bits=int() as bits):
            return Extended.of_bits(bits)
        case IntConst() | FloatConst():
            return expr.value
        case Cast():
            value = constant_value(expr.operand)
            return None if value is None else convert_constant(value, expr.type)
        case UnaryOp():
            return _unary(expr)
        case BinaryOp():
            if expr.folded is ...:  # cached: every enclosing expression evaluates it again
                expr.folded = _binary(expr)
            return cast("ConstantValue | None", expr.folded)
        case Conditional():
            condition = constant_value(expr.condition)
            if condition is None:
                return None
            taken = _truth(condition)
            if taken is None:
                return None
            return constant_value(expr.then if taken else expr.otherwise)
        case Decay() | AddressOf():
            return _address(expr.operand)
        case PtrAdd():
            return _pointer_sum(expr)
        case PtrDiff():
            return _pointer_difference(expr)
        case Load(lvalue=VarRef(decl=decl)):
            return _constant_variable(decl)
        case _:
            return None


def _constant_variable(decl: VarDecl) -> ConstantValue | None:
    """
    The value of a `const` variable with static storage. C11 lets compilers accept it in initialisers
    (6.6p10); gcc, clang and nvc do.
    """
    init = decl.init
    fixed = decl.qual.const and not decl.qual.volatile and decl.storage is not Storage.AUTO
    if not fixed or init is None or len(init.items) != 1 or isinstance(decl.type, RecordType):
        return None
    return constant_value(init.items[0][1])


def integer_value(expr: Expr) -> int | None:
    """The value of an integer constant expression, or None."""
    if not isinstance(expr.type, IntType):
        return None
    value = constant_value(expr)
    return value if isinstance(value, int) else None


def slot_value(slot: ExprSlot | None, otherwise: int | None) -> int | None:
    """The value of a clause's argument: `otherwise` if it is left out, None if it is not constant."""
    if slot is None:
        return otherwise
    return None if slot.expr is None else integer_value(slot.expr)


def _address(place: Expr) -> ConstantValue | None:
    """The address of an lvalue or function as a constant."""
    match place:
        case VarRef() | CompoundLiteral():
            return None if place.decl.storage is Storage.AUTO else AddressConstant(place.decl)
        case FunctionRef():
            return AddressConstant(place.decl)
        case StringLiteral():
            return AddressConstant(place)
        case Deref():
            return constant_value(place.pointer)
        case Member():
            return _shift(_address(place.record), place.field.offset)
        case _:
            return None


def _shift(address: ConstantValue | None, offset: int) -> ConstantValue | None:
    if isinstance(address, AddressConstant):
        return replace(address, offset=address.offset + offset)
    return address + offset if isinstance(address, int) else None


def _element_size(pointer: CType) -> int | None:
    if not isinstance(pointer, PointerType):
        return None
    element = pointer.pointee.type
    if isinstance(element, ArrayType) and element.is_vla:
        return None
    return element.size if element.is_complete else 1


def _pointer_sum(expr: PtrAdd) -> ConstantValue | None:
    index = integer_value(expr.index)
    size = _element_size(expr.pointer.type)
    if index is None or size is None:
        return None
    return _shift(constant_value(expr.pointer), -index * size if expr.subtract else index * size)


def _pointer_difference(expr: PtrDiff) -> int | None:
    lhs, rhs = constant_value(expr.lhs), constant_value(expr.rhs)
    size = _element_size(expr.lhs.type)
    if size is None or size == 0:
        return None
    if (
        isinstance(lhs, AddressConstant)
        and isinstance(rhs, AddressConstant)
        and lhs.base is rhs.base
    ):
        return (lhs.offset - rhs.offset) // size
    if isinstance(lhs, int) and isinstance(rhs, int):
        return (lhs - rhs) // size
    return None


def _unary(expr: UnaryOp) -> ConstantValue | None:
    value = constant_value(expr.operand)
    if value is None:
        return None
    if expr.op == "!":
        truth = _truth(value)
        return None if truth is None else int(not truth)
    if isinstance(value, AddressConstant):
        return None
    if isinstance(value, float):
        return -value if expr.op == "-" else None
    if not isinstance(expr.type, IntType):
        return None
    return wrap(-value if expr.op == "-" else ~value, expr.type)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_BITWISE: dict[str, Callable[[int, int], int]] = {
    "&": int.__and__, "|": int.__or__, "^": int.__xor__,
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__,
}  # fmt: skip


def _binary(expr: BinaryOp) -> ConstantValue | None:
    lhs = constant_value(expr.lhs)
    if lhs is None:
        return None
    if expr.op in ("&&", "||"):
        truth = _truth(lhs)
        if truth is None or truth == (expr.op == "||"):
            return None if truth is None else int(truth)
        rhs = constant_value(expr.rhs)
        decided = None if rhs is None else _truth(rhs)
        return None if decided is None else int(decided)
    rhs = constant_value(expr.rhs)
    if rhs is None:
        return None
    if isinstance(lhs, AddressConstant) or isinstance(rhs, AddressConstant):
        return _compare_addresses(expr.op, lhs, rhs)
    if expr.op in _COMPARISONS:
        if isinstance(lhs, Extended) or isinstance(rhs, Extended):
            lhs, rhs = _comparable(lhs), _comparable(rhs)
        return int(_COMPARISONS[expr.op](lhs, rhs))
    if isinstance(lhs, int) and isinstance(rhs, int):
        return integer_binary(expr.op, lhs, rhs, expr.type)
    if expr.type == LDOUBLE and is_finite(lhs) and is_finite(rhs):
        return _long_double_binary(expr.op, exact_value(lhs), exact_value(rhs))
    return float_binary(expr.op, float(lhs), float(rhs), expr.type)


def _compare_addresses(op: str, lhs: ConstantValue, rhs: ConstantValue) -> int | None:
    if op not in ("==", "!="):
        return None
    if isinstance(lhs, AddressConstant) and isinstance(rhs, AddressConstant):
        if lhs.base is not rhs.base:
            return None
        return int((lhs.offset == rhs.offset) == (op == "=="))
    truth = _truth(lhs if isinstance(lhs, AddressConstant) else rhs)
    return int(op == "!=") if 0 in (lhs, rhs) and truth else None


def integer_binary(op: str, lhs: int, rhs: int, t: CType) -> int | None:
    """`lhs op rhs` of type `t`, wrapped on overflow; None where it is undefined for another reason."""
    if not isinstance(t, IntType):
        return None
    if op in _BITWISE:
        return wrap(_BITWISE[op](lhs, rhs), t)
    if op in ("<<", ">>"):
        if not 0 <= rhs < t.bits:
            return None
        return wrap(lhs << rhs if op == "<<" else lhs >> rhs, t)
    if rhs == 0:
        return None
    quotient = abs(lhs) // abs(rhs)
    if (lhs < 0) != (rhs < 0):
        quotient = -quotient
    return wrap(quotient if op == "/" else lhs - quotient * rhs, t)


def _comparable(value: float) -> Fraction | float:
    return exact_value(value) if is_finite(value) else value


def _long_double_binary(op: str, lhs: Fraction, rhs: Fraction) -> float | None:
    if op == "/" and rhs == 0:
        return float_binary(op, float(lhs), 0.0, LDOUBLE)
    if op not in _EXACT:
        return None
    return Extended.of(_EXACT[op](lhs, rhs))


_EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b,
}


def float_binary(op: str, lhs: float, rhs: float, t: CType) -> float | None:
    """`lhs op rhs` rounded to the floating type `t` (C11 6.5.5, 6.5.6); None for other operators."""
    if op == "/":
        if rhs == 0:
            if lhs == 0 or math.isnan(lhs):
                return math.nan
            return math.copysign(math.inf, lhs) * math.copysign(1, rhs)
        value = lhs / rhs
    elif op in ("+", "-", "*"):
        value = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op](lhs, rhs)
    else:
        return None
    return _NARROW[t.bits](value) if isinstance(t, FloatType) and t.bits in _NARROW else value
