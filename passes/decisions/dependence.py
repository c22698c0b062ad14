"""
Do two array accesses of different iterations of a loop touch the same element?

Subscripts are `Polynomial`s over any symbols, one per dimension. Two iterations of the loop are compared in
both orders: in one of the dimensions, whatever the inner loops do, one access has to stay below the other
(`IterationPair.apart`), or a common divisor has to keep them apart (`_divided`). A linearised `i * n + j`
with `0 <= j < n` is taken apart into two dimensions where that helps (`linearised.py`).

The answer is a `Requirement`: what the host has to find true before the loop for its iterations to be
independent; nothing if it is proven, None if there is no hope.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from .inequalities import Facts, bounds_from_below
from .linearised import SubscriptPair, dimensions
from .polynomials import Polynomial
from .ranges import LoopRange

Subscripts = tuple[Polynomial | None, ...]
"""One per dimension, outermost first; None is not affine."""

Alternative = tuple[Polynomial, ...]
"""Polynomials that must all be at least 0."""

Clause = tuple[Alternative, ...]
"""Alternatives of which one must hold."""

Requirement = tuple[Clause, ...]
"""Clauses that must all hold; none: it is proven."""

MOST_ALTERNATIVES = 4
"""More ways than this for two accesses to be apart are not worth testing before a launch."""


@dataclass(frozen=True)
class Unknown:
    """A bound of a loop that is no polynomial of known values, as a symbol of its own."""

    variable: Hashable
    which: str


@dataclass(frozen=True)
class _Other:
    """A variable as the other iteration sees it."""

    variable: Hashable


@dataclass(frozen=True)
class _Apart:
    """How much further than one step two iterations of a loop are apart."""

    variable: Hashable


@dataclass(frozen=True)
class LoopContext:
    """
    The loop asked about: its variable, step (positive; None if not known), and number of iterations, if
    constant. `inner` and `outer` are the loops inside and around it, innermost first; inner loops not
    named `right` are around both accesses. `bounds` are the loop's own, if known.
    """

    variable: Hashable
    step: int | None
    trip: int | None
    inner: tuple[LoopRange, ...] = ()
    outer: tuple[LoopRange, ...] = ()
    bounds: LoopRange | None = None
    right: tuple[LoopRange, ...] | None = None
    """The loops inside around the second access, where they are not the first one's."""

    @property
    def stride(self) -> Polynomial:
        if self.step is not None:
            return Polynomial.constant(self.step)
        return Polynomial.symbol(Unknown(self.variable, "step"))

    @property
    def range(self) -> LoopRange:
        """The loop's own range."""
        if self.bounds is not None:
            return self.bounds
        lower = Polynomial.symbol(Unknown(self.variable, "lower"))
        if self.trip is not None:
            return LoopRange(self.variable, lower, lower + self.stride * (self.trip - 1))
        return LoopRange(self.variable, lower, Polynomial.symbol(Unknown(self.variable, "last")))

    @property
    def inner_of_right(self) -> tuple[LoopRange, ...]:
        return self.inner if self.right is None else self.right

    @cached_property
    def facts(self) -> Facts:
        """What holds where both accesses happen, in two iterations."""
        own = self.range
        twice = LoopRange(self.variable, own.lower, own.last - self.stride)
        facts = Facts.of_loops([twice, *self.outer])
        for inner in dict.fromkeys((self.inner, self.inner_of_right)):
            facts = facts.union(Facts.of_loops([*inner, own, *self.outer]))
        if self.step is None:
            facts.least[Unknown(self.variable, "step")] = 1
        return facts


def renamed(poly: Polynomial, variables: frozenset[Hashable]) -> Polynomial:
    """`poly` as the other iteration sees it, in which `variables` have other values."""
    if not poly.symbols & variables:
        return poly
    result = Polynomial({})
    for monomial, coefficient in poly.terms.items():
        product = Polynomial.constant(coefficient)
        for symbol in monomial:
            product = product * Polynomial.symbol(_Other(symbol) if symbol in variables else symbol)
        result = result + product
    return result


def _changing(variable: Hashable, inner: Sequence[LoopRange]) -> frozenset[Hashable]:
    """What differs between two iterations: the variable, inner ones, and bounds nobody knows."""
    found = {variable, *(loop.variable for loop in inner)}
    for loop in inner:
        found |= {
            symbol
            for bound in (loop.lower, loop.last)
            for symbol in bound.symbols
            if isinstance(symbol, Unknown)
        }
    return frozenset(found)


class IterationPair:
    """An iteration of the loop for the left access and a later (or earlier) one for the right."""

    def __init__(self, loop: LoopContext, right_later: bool):
        self.facts = loop.facts
        changing = _changing(loop.variable, loop.inner_of_right)
        inner = [
            LoopRange(_Other(r.variable), renamed(r.lower, changing), renamed(r.last, changing))
            for r in loop.inner_of_right
        ]
        self.inner = [*loop.inner, *inner]
        left, right = loop.variable, _Other(loop.variable)
        first, self.second = (left, right) if right_later else (right, left)
        own, apart = loop.range, _Apart(loop.variable)
        last = own.last - loop.stride
        self.distance = Polynomial.symbol(first) + loop.stride + Polynomial.symbol(apart)
        self.outer = [
            LoopRange(apart, Polynomial.constant(0), last - Polynomial.symbol(first)),
            LoopRange(first, own.lower, last),
            *loop.outer,
        ]

    def never_negative(self, poly: Polynomial) -> Alternative | None:
        """What must hold for `poly` to be at least 0; None if it cannot be said or cannot be."""
        inner = bounds_from_below([poly], self.inner, self.facts)
        if inner is None:
            return None
        apart = [candidate.substitute(self.second, self.distance) for candidate in inner]
        known = [candidate for candidate in apart if candidate is not None]
        if len(known) != len(apart):
            return None
        least = bounds_from_below(known, self.outer, self.facts)
        if least is None:
            return None
        open_ = [candidate for candidate in least if not self.facts.proves(candidate)]
        if any(self.facts.proves(-candidate - 1) for candidate in open_):
            return None
        return tuple(open_)


def _divided(left: Polynomial, right: Polynomial, loop: LoopContext) -> bool:
    """Whether a common divisor of all that varies keeps the subscripts apart."""
    difference = left - right
    if loop.step is not None:
        lower = loop.range.lower
        for variable in (loop.variable, _Other(loop.variable)):
            steps = lower + Polynomial.symbol(("iteration", variable)) * loop.step
            counted = difference.substitute(variable, steps)
            if counted is None:
                return False
            difference = counted
    divisor = gcd(*(c for monomial, c in difference.terms.items() if monomial))
    return divisor != 0 and difference.terms.get((), 0) % divisor != 0


def _same_place(left: Polynomial, right: Polynomial, loop: LoopContext) -> bool:
    """The common case: both are the loop's variable times a constant plus the same rest."""
    if left != right:
        return False
    parts = left.split(loop.variable)
    if parts is None or not parts[1].as_constant:
        return False
    return not parts[0].symbols & _changing(loop.variable, [*loop.inner, *loop.inner_of_right])


def _clause(
    found: Sequence[SubscriptPair], loop: LoopContext, right_later: bool, known: Known
) -> Clause | None:
    """What keeps the accesses apart in one order of the iterations; () if it is proven."""
    iterations = IterationPair(loop, right_later)
    changing = _changing(loop.variable, loop.inner_of_right)
    alternatives: dict[Alternative, None] = {}
    for dimension in found:
        other = renamed(dimension.right, changing)
        if dimension.widths == (1, 1) and _divided(dimension.left, other, loop):
            alternatives[dimension.needs] = None
        for gap in (
            other - dimension.left - dimension.widths[0],
            dimension.left - other - dimension.widths[1],
        ):
            needs = iterations.never_negative(gap)
            if needs is not None and all(known(s) for poly in needs for s in poly.symbols):
                alternatives[tuple(dict.fromkeys((*dimension.needs, *needs)))] = None
    if () in alternatives:
        return ()
    if not alternatives:
        return None
    simplest = min(len(alternative) for alternative in alternatives)
    return tuple(a for a in alternatives if len(a) == simplest)[:MOST_ALTERNATIVES]


Known = Callable[[Hashable], bool]
"""Whether the host knows a symbol's value before the loop."""


def _never(symbol: Hashable) -> bool:
    return False


def requirement(
    left: Subscripts,
    right: Subscripts,
    loop: LoopContext,
    known: Known = _never,
    widths: tuple[int, int] = (1, 1),
) -> Requirement | None:
    """
    What must hold for accesses with these subscripts to one object never to meet in different
    iterations of the loop, in terms of symbols that are `known`. `widths` are how many elements of
    the last dimension they touch.
    """
    if len(left) != len(right):
        return None
    found: list[SubscriptPair] = []
    for index, (one, other) in enumerate(zip(left, right, strict=True)):
        if one is None or other is None:
            continue
        wide = widths if index == len(left) - 1 else (1, 1)
        if wide == (1, 1) and _same_place(one, other, loop):
            return ()
        around = loop.range, *loop.outer
        ranges = (*loop.inner, *around), (*loop.inner_of_right, *around)
        found += dimensions(SubscriptPair(one, other, wide), ranges, loop.facts, known)
    clauses: dict[Clause, None] = {}
    for right_later in (True, False):
        clause = _clause(found, loop, right_later, known)
        if clause is None:
            return None
        if clause:
            clauses[clause] = None
        if left == right and widths[0] == widths[1] and loop.right is None:
            break  # the other order is the same question
    return tuple(clauses)


Early = Callable[[Hashable], "Hashable | None"]
"""The symbol by which the host knows another one's value before the loop; None if it does not."""


def _nowhere(symbol: Hashable) -> None:
    return None


def stays_within(
    poly: Polynomial,
    width: int,
    changing: Sequence[LoopRange],
    outer: Sequence[LoopRange],
    early: Early = _nowhere,
) -> Requirement | None:
    """
    What must hold for values of `poly` that differ in loops `changing` (innermost first) to differ
    modulo 2 to the power of `width` too, in terms of `early` symbols; None if it cannot be said, or cannot
    be. `outer` are the loops around, whose variables stay the same.

    What does not change is added to all values alike, and a variable alone takes no more values than its
    type has: only sums of several and products may wrap to what another iteration has.
    """
    variables = {loop.variable for loop in changing}
    part = Polynomial({m: c for m, c in poly.terms.items() if variables.intersection(m)})
    if len(part.terms) <= 1 and all(len(m) == 1 and abs(c) == 1 for m, c in part.terms.items()):
        return ()
    ranges = (*changing, *outer)
    facts = Facts.of_loops(ranges)
    half = 1 << (width - 1)
    least = bounds_from_below([part + half, -part + (half - 1)], ranges, facts)
    if least is None:
        return None
    open_ = dict.fromkeys(candidate for candidate in least if not facts.proves(candidate))
    if any(facts.proves(-candidate - 1) for candidate in open_):
        return None
    tested = [_in_symbols(candidate, early) for candidate in open_]
    return None if None in tested else tuple(((poly,),) for poly in tested if poly is not None)


def _in_symbols(poly: Polynomial, early: Early) -> Polynomial | None:
    for symbol in poly.symbols:
        known = early(symbol)
        replaced = None if known is None else poly.substitute(symbol, Polynomial.symbol(known))
        if replaced is None:
            return None
        poly = replaced
    return poly


def independent_subscripts(left: Subscripts, right: Subscripts, loop: LoopContext) -> bool:
    """
    Whether accesses with these subscripts to one object never meet in different iterations of the
    loop, whatever the host knows.
    """
    return requirement(left, right, loop) == ()
