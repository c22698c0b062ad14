"""Tests on the host before a construct: that polynomials over values it knows are not negative."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerType, f64
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import Polynomial
from .region_values import HostEmitter, HostLoad

_ADDRESS_BITS = 64
EXACT = float(1 << 62)
"""
The largest bound, computed with rounding errors, of a sum of products for which i64 arithmetic is exact.
"""


def tightest(polys: Iterable[Polynomial]) -> list[Polynomial]:
    """The polynomials to test: of those that differ in their constant only, the least."""
    least: dict[Polynomial, int] = {}
    for poly in polys:
        constant = poly.terms.get((), 0)
        rest = poly - constant
        least[rest] = min(constant, least.get(rest, constant))
    return [rest + constant for rest, constant in least.items()]


def _bits(symbol: Hashable) -> int:
    type_ = symbol.type if isinstance(symbol, SSAValue | HostLoad) else None
    return type_.width.data if isinstance(type_, IntegerType) else _ADDRESS_BITS


def magnitude(polys: Sequence[Polynomial]) -> Polynomial:
    """
    A polynomial that bounds each of `polys`, and every partial sum, if its symbols stand for absolute
    values.
    """
    terms: dict[tuple[Hashable, ...], int] = {}
    for poly in polys:
        for monomial, coefficient in poly.terms.items():
            terms[monomial] = max(abs(coefficient), terms.get(monomial, 0))
    return Polynomial(terms)


def may_overflow(bound: Polynomial) -> bool:
    """Whether a sum of products may exceed 63 bits, by the widths of its symbols."""
    total = 0
    for monomial, coefficient in bound.terms.items():
        product = coefficient
        for symbol in monomial:
            product <<= _bits(symbol) - 1
        total += product
    return total >= 1 << (_ADDRESS_BITS - 1)


def _is_small(emit: HostEmitter, bound: Polynomial) -> SSAValue:
    """
    Emits the test, in floating-point arithmetic, that a sum of products of absolute values is exact in 63
    bits; returns the i1.
    """
    zero = emit.i64(0)
    total: SSAValue | None = None
    for monomial, coefficient in bound.terms.items():
        term = emit.value(arith.ConstantOp(FloatAttr(float(coefficient), f64)))
        for symbol in monomial:
            value = emit.symbol(symbol)
            size = emit.value(arith.MaxSIOp(value, emit.value(arith.SubiOp(zero, value))))
            # The least number is its own opposite; read as unsigned, it is 2^63, which is right.
            real = emit.value(arith.UIToFPOp(size, f64))
            term = emit.value(arith.MulfOp(term, real))
        total = term if total is None else emit.value(arith.AddfOp(total, term))
    assert total is not None
    limit = emit.value(arith.ConstantOp(FloatAttr(EXACT, f64)))
    return emit.value(arith.CmpfOp(total, limit, "ole"), "exact")


def emit_test(anchor: Operation, polys: Sequence[Polynomial]) -> SSAValue:
    """Emits before `anchor` the test that none of `polys` (at least one) is negative; returns the i1."""
    emit = HostEmitter(anchor)
    wanted = tightest(polys)
    bound = magnitude(wanted)
    found = _is_small(emit, bound) if may_overflow(bound) else None
    for poly in wanted:
        holds = emit.value(arith.CmpiOp(emit.emit(poly), emit.i64(0), "sge"))
        found = emit.both(found, holds)
    assert found is not None
    return found
