"""Emission of the arithmetic of tiles: polynomials as operations of 32 or 64 bits, with constants folded."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.building import Cursor, constant_value

Values = Mapping[SSAValue, SSAValue]


def mapped(values: Values, value: SSAValue) -> SSAValue:
    """The value that stands for `value` of the original code in the new code."""
    return values.get(value, value)


def polynomial(at: Cursor, poly: Polynomial, values: Values, type_: IntegerType) -> SSAValue:
    """The value of `poly` as `type_`; symbols are values of the original code."""
    total: SSAValue | None = None
    constant = 0
    for monomial, coefficient in poly.terms.items():
        if not monomial:
            constant = coefficient
            continue
        term: SSAValue | None = None
        for symbol in monomial:
            assert isinstance(symbol, SSAValue)
            factor = at.to_integer(mapped(values, symbol), type_)
            term = factor if term is None else at.mul(term, factor)
        assert term is not None
        if total is not None and coefficient == -1:
            total = at.sub(total, term)
            continue
        term = at.mul(term, at.constant(coefficient, type_))
        total = term if total is None else at.add(total, term)
    if total is None:
        return at.constant(constant, type_)
    return total if constant == 0 else at.add(total, at.constant(constant, type_))


def scaled(at: Cursor, value: SSAValue, factor: int) -> SSAValue:
    """`value * factor`."""
    known = constant_value(value)
    assert isinstance(value.type, IntegerType)
    if known is not None:
        return at.constant(known * factor, value.type)
    return at.mul(value, at.constant(factor, value.type))


def total(at: Cursor, *parts: SSAValue | None) -> SSAValue | None:
    """The sum of those parts that are neither None nor the constant 0; None if there are none."""
    result: SSAValue | None = None
    for part in parts:
        if part is None or constant_value(part) == 0:
            continue
        result = part if result is None else at.add(result, part)
    return result


def split(at: Cursor, value: SSAValue, size: int) -> tuple[SSAValue, SSAValue]:
    """Quotient and remainder of an unsigned i32 by a constant."""
    known = constant_value(value)
    if known is not None:
        return at.i32(known // size), at.i32(known % size)
    if size == 1:
        return value, at.i32(0)
    width = at.i32(size)
    return (
        at.value(arith.DivUIOp(value, width), "quotient"),
        at.value(arith.RemUIOp(value, width), "remainder"),
    )


def minimum(at: Cursor, value: SSAValue, limit: SSAValue) -> SSAValue:
    known, most = constant_value(value), constant_value(limit)
    if known is not None and most is not None:
        return value if known <= most else limit
    return at.value(arith.MinSIOp(value, limit), value.name_hint)
