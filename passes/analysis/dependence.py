"""
Do two array accesses of different iterations of a loop touch the same element?

The tests are the classical ones on subscripts that are affine in the loop variable: equal
coefficients (distance), greatest common divisor, and disjoint ranges. Subscripts are `Affine`s over
any symbols, one per dimension; a linearised `i * n + j` with `0 <= j < n` is taken apart first.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import gcd

from .affine import Affine
from .ranges import LoopRange, extremes

Subscripts = tuple[Affine | None, ...]
"""One per dimension, outermost first; None is not affine."""


@dataclass(frozen=True)
class LoopContext:
    """The loop asked about and the loops inside it (innermost first), around the two accesses."""

    variable: Hashable
    step: int | None
    trip: int | None
    inner: tuple[LoopRange, ...] = ()


def _split_linear(poly: Affine, variable: Hashable, inner: Sequence[LoopRange]) -> Subscripts:
    """`v * S + rest` with `0 <= rest < S` as the two subscripts `v` and `rest`."""
    parts = poly.split(variable)
    if parts is None:
        return (None,)
    rest, stride = parts
    if not stride.terms or stride.as_constant is not None:
        return (poly,)
    bounds = extremes(rest, inner)
    if bounds is None or len(bounds.lows) != 1 or len(bounds.highs) != 1:
        return (poly,)
    low = bounds.lows[0].as_constant
    room = (stride - 1 - bounds.highs[0]).as_constant
    if low is None or room is None or low < 0 or room < 0:
        return (poly,)
    return (Affine.symbol(variable), rest)


def _never_equal(left: Affine, right: Affine, loop: LoopContext) -> bool:
    """Whether no two different values of the variable make these subscripts equal."""
    a, b = left.split(loop.variable), right.split(loop.variable)
    if a is None or b is None:
        return False
    (rest1, factor1), (rest2, factor2) = a, b
    k1, k2 = factor1.as_constant, factor2.as_constant
    if k1 is None or k2 is None:
        return False
    difference = (rest2 - rest1).as_constant
    varying = {r.variable for r in loop.inner}
    fixed = not (rest1.symbols | rest2.symbols) & varying
    if k1 == k2 and k1 != 0 and fixed and difference is not None:
        return _distance_excluded(difference, k1, loop)
    if k1 == k2 and k1 != 0:
        return _ranges_excluded(rest1, rest2, k1, loop)
    if fixed and difference is not None and gcd(k1, k2) != 0:
        return difference % gcd(k1, k2) != 0
    return False


def _distance_excluded(difference: int, factor: int, loop: LoopContext) -> bool:
    """`factor * (v - v') == difference` has no solution with different iterations."""
    if difference == 0:
        return True
    if difference % factor != 0:
        return True
    distance = abs(difference // factor)
    if loop.step is not None and distance % loop.step != 0:
        return True
    return loop.trip is not None and loop.step is not None and distance >= loop.trip * loop.step


def _ranges_excluded(left: Affine, right: Affine, factor: int, loop: LoopContext) -> bool:
    """The parts that vary inside one iteration are narrower than the variable's stride."""
    first, second = extremes(left, loop.inner), extremes(right, loop.inner)
    if first is None or second is None:
        return False
    spreads = [
        (high - low).as_constant
        for one, other in ((first, second), (second, first))
        for high in one.highs
        for low in other.lows
    ]
    stride = abs(factor) * (loop.step or 1)
    return all(spread is not None and spread < stride for spread in spreads)


def independent_subscripts(left: Subscripts, right: Subscripts, loop: LoopContext) -> bool:
    """
    Whether accesses with these subscripts to one object never meet in different iterations of the
    loop: one dimension that excludes it is enough.
    """
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        if one is None or other is None:
            continue
        first = _split_linear(one, loop.variable, loop.inner)
        second = _split_linear(other, loop.variable, loop.inner)
        if len(first) != len(second):
            first, second = (one,), (other,)
        for a, b in zip(first, second, strict=True):
            if a is not None and b is not None and _never_equal(a, b, loop):
                return True
    return False
