"""
The ranges of integers that depend on constants and on the variables of loops around them only, as the bounds
of triangular loops over a small matrix (`k < j`).
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, OpResult, SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.loop_bounds import Bounds, bounds_of
from .value_polynomials import from_value

DEEPEST = 8
"""The loops around a value whose variables decide it."""

Interval = tuple[int, int]
"""The least and the greatest value."""


def _bounds_of_variable(value: SSAValue) -> Bounds | None:
    """The bounds of the counted loop whose variable `value` is."""
    if not isinstance(value, BlockArgument):
        return None
    loop = value.block.parent_op()
    if loop is None:
        return None
    return next((bounds for bounds in bounds_of(loop) if bounds[0] is value), None)


def _symbol(value: SSAValue) -> Hashable | None:
    return value if _bounds_of_variable(value) is not None else None


def _interval(poly: Polynomial | None, depth: int) -> Interval | None:
    """The range of a polynomial over loop variables; None if it is not known."""
    if poly is None:
        return None
    low = high = 0
    for monomial, factor in poly.terms.items():
        if len(monomial) > 1:
            return None
        ends: Interval | None = (1, 1)
        if monomial:
            variable = monomial[0]
            assert isinstance(variable, SSAValue)
            values = _values_of(variable, depth)
            ends = None if values is None else (values[0], values[-1])
        if ends is None:
            return None
        low += min(factor * end for end in ends)
        high += max(factor * end for end in ends)
    return low, high


def _values_of(variable: SSAValue, depth: int) -> range | None:
    bounds = _bounds_of_variable(variable)
    if bounds is None or depth == 0:
        return None
    lower, upper, step = (_interval(from_value(v, _symbol), depth - 1) for v in bounds[1:])
    if lower is None or upper is None or step is None or step[0] <= 0:
        return None
    return range(lower[0], max(upper[1], lower[0] + 1), step[0])


def interval_of(poly: Polynomial) -> Interval | None:
    """The range of a polynomial over variables of loops; None if it is not known."""
    if any(not isinstance(s, SSAValue) or _symbol(s) is None for s in poly.symbols):
        return None
    return _interval(poly, DEEPEST)


def values_of(variable: SSAValue) -> range | None:
    """
    Values among which those of a loop's variable are (at least one, though the loop may have no iteration);
    None if they are not known.
    """
    return _values_of(variable, DEEPEST)


def most_trips(bounds: Bounds) -> int | None:
    """The most iterations that a loop has each time it runs; None if they are not known."""
    _, lower, upper, step = bounds
    low, high = from_value(lower, _symbol), from_value(upper, _symbol)
    if low is None or high is None:
        return None
    length = _interval(high - low, DEEPEST)
    stride = _interval(from_value(step, _symbol), DEEPEST)
    if length is None or stride is None or stride[0] <= 0:
        return None
    return max(0, -(-length[1] // stride[0]))


def _carried(loop: scf.ForOp, index: int) -> list[SSAValue]:
    """The values that iterations of a loop and the code after it get for its result `index`."""
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    return [loop.iter_args[index], end.operands[index]]


def _sources(value: SSAValue) -> list[SSAValue]:
    """The values one of which `value` is, as a result of control flow; none for others."""
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        counts = isinstance(loop, scf.ForOp) and value.index > 0
        return _carried(loop, value.index - 1) if isinstance(loop, scf.ForOp) and counts else []
    match value.owner:
        case scf.ForOp() as loop if isinstance(value, OpResult):
            return _carried(loop, value.index)
        case scf.IfOp() as choice if isinstance(value, OpResult):
            ends = [region.block.last_op for region in choice.regions if region.blocks]
            return [end.operands[value.index] for end in ends if isinstance(end, scf.YieldOp)]
        case arith.SelectOp() as choice:
            return [choice.lhs, choice.rhs]
        case _:
            return []


def reach_of(value: SSAValue) -> Interval | None:
    """
    The range of a value that is one of several, such as the row of the largest element that a loop has
    found; None if it is not known.
    """
    low: int | None = None
    high = 0
    seen: set[SSAValue] = set()
    work = [value]
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        sources = _sources(value)
        if sources:
            work += sources
            continue
        found = _interval(from_value(value, _symbol), DEEPEST)
        if found is None:
            return None
        low, high = (
            (found[0], found[1]) if low is None else (min(low, found[0]), max(high, found[1]))
        )
    return None if low is None else (low, high)
