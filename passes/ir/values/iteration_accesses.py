"""Accesses of one iteration: whether two touch different memory, or the same element."""

from __future__ import annotations

from collections.abc import Hashable, Set

from xdsl.dialects import llvm
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import accessed_type, is_defined_inside
from .accesses import LoopAccess, comparable, is_punned, may_alias, root_of, subscripts_of
from .exact_reader import ExactReader
from .region_values import RegionSymbols


def access_of(op: llvm.LoadOp | llvm.StoreOp, symbols: RegionSymbols) -> LoopAccess:
    """The element that a load or a store accesses."""
    type = accessed_type(op)
    subscripts, units = subscripts_of(op.ptr, symbols)
    writes, punned = isinstance(op, llvm.StoreOp), is_punned(op.ptr)
    return LoopAccess(op, root_of(op.ptr), subscripts, units, type, writes, punned=punned)


_WRAPPED = 1 << 31
"""
The distance from which two subscripts of unsigned arithmetic, which wraps around at a multiple of 2^32, may
be one element although their polynomials differ.
"""


def _may_wrap(access: LoopAccess) -> bool:
    """Whether a subscript of an access may be less than its polynomial by a multiple of 2^32."""
    assert isinstance(access.op, llvm.LoadOp | llvm.StoreOp)
    reader = ExactReader()
    subscripts_of(access.op.ptr, reader)
    return reader.wraps


def positive_symbols(op: Operation, symbols: RegionSymbols) -> set[Hashable]:
    """
    The symbols that are at least 1 where `op` is executed: up to which loops around it count from 0 or more,
    such as the length of a row in a loop over its elements.
    """
    found: set[Hashable] = set()
    for loop in symbols.known_loop_ranges(op):
        lower = loop.lower.as_constant
        if lower is None or len(loop.last.symbols) != 1:
            continue
        (symbol,) = loop.last.symbols
        beyond = (loop.last - Polynomial.symbol(symbol)).as_constant
        if beyond is not None and lower - beyond >= 1:
            found.add(symbol)
    return found


def _least_size(distance: Polynomial, positive: Set[Hashable]) -> int:
    """The least that `distance` or its negative can be, if these symbols are at least 1; 0 if not known."""
    coefficients = distance.terms.values()
    known = distance.symbols <= positive
    one_sign = all(c > 0 for c in coefficients) or all(c < 0 for c in coefficients)
    return abs(sum(coefficients)) if known and one_sign else 0


def are_apart(
    one: LoopAccess, other: LoopAccess, positive: Set[Hashable] = frozenset[Hashable]()
) -> bool:
    """
    Whether two accesses of one iteration are known to touch different memory. `positive`: symbols that are at
    least 1 there.
    """
    if one.root is not other.root:
        return not may_alias(one.root, other.root, (one.aliased_type, other.aliased_type), one.op)
    common = comparable(one, other)
    if common is None:
        return False
    left, right, (width, other_width) = common
    for number, (first, second) in enumerate(zip(left, right, strict=True), start=1):
        if first is None or second is None:
            continue
        is_last = number == len(left)
        before, after = (width, other_width) if is_last else (1, 1)
        distance = (second - first).as_constant
        if distance is None:
            least = _least_size(second - first, positive)
            if least >= max(before, after) and not (_may_wrap(one) or _may_wrap(other)):
                return True
        elif abs(distance) < _WRAPPED and (distance >= before or -distance >= after):
            return True
    return False


def is_same_element(one: LoopAccess, other: LoopAccess) -> bool:
    """Whether two accesses of one iteration are known to be of one element, as one type."""
    known = None not in one.subscripts and one.units == other.units and one.type == other.type
    return known and one.root is other.root and one.subscripts == other.subscripts


def is_fixed_outside(access: LoopAccess, variable: SSAValue, loop: Operation) -> bool:
    """Whether all of an address but the `variable` of `loop` is known, and computed outside of the loop."""
    parts: set[Hashable] = {access.root}
    for poly in access.subscripts:
        if poly is None:
            return False
        parts |= poly.symbols
    return not any(
        isinstance(part, SSAValue) and part is not variable and is_defined_inside(part, loop)
        for part in parts
    )
