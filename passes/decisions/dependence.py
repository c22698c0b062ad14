"""
Whether two array accesses in different iterations of a loop may touch the same element.

Subscripts are `Polynomial`s over any symbols, one per dimension. Two iterations of the loop are compared in
both orders: in one of the dimensions, whatever the inner loops do, one access has to stay below the other
(`IterationPair.apart`), or a common divisor has to keep them apart (`_divided`). A linearised `i * n + j`
with `0 <= j < n` is taken apart into two dimensions where that helps (`linearised.py`).

The result is a `Requirement`: the condition, to be tested on the host before the loop, under which its
iterations are independent. It is empty if independence is proved, and None if no test can establish it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from .inequalities import Facts, bounds_from_below, note_least
from .linearised import SubscriptPair, dimensions
from .polynomials import Polynomial
from .ranges import LoopRange

Subscripts = tuple[Polynomial | None, ...]
"""One polynomial per dimension, outermost first; None for a subscript that is not affine."""

Alternative = tuple[Polynomial, ...]
"""Polynomials that must all be at least 0."""

Clause = tuple[Alternative, ...]
"""Alternatives, at least one of which must hold."""

Requirement = tuple[Clause, ...]
"""Clauses that must all hold; without clauses independence is proved."""

MOST_ALTERNATIVES = 4
"""The most alternatives that are worth testing before a launch."""


@dataclass(frozen=True)
class Unknown:
    """A loop bound that is not a polynomial of known values, as a symbol of its own."""

    variable: Hashable
    which: str


@dataclass(frozen=True)
class _Other:
    """The value of a variable in the other of the two iterations."""

    variable: Hashable


@dataclass(frozen=True)
class _Apart:
    """The distance of two iterations of a loop, minus one step."""

    variable: Hashable


@dataclass(frozen=True)
class LoopContext:
    """
    The analysed loop: its variable, step (positive; None if not constant), and trip count, if constant.
    `inner` and `outer` are the loops inside and around it, innermost first; those in `inner` enclose both
    accesses unless `right` is given. `bounds` are the loop's own, if known.
    """

    variable: Hashable
    step: int | None
    trip: int | None
    inner: tuple[LoopRange, ...] = ()
    outer: tuple[LoopRange, ...] = ()
    bounds: LoopRange | None = None
    right: tuple[LoopRange, ...] | None = None
    """The inner loops around the second access, if they differ from those around the first."""
    distance: Polynomial | None = None
    """The step, if it is not constant but known: `2 * half`."""

    @property
    def stride(self) -> Polynomial:
        if self.step is not None:
            return Polynomial.constant(self.step)
        if self.distance is not None:
            return self.distance
        return Polynomial.symbol(Unknown(self.variable, "step"))

    @property
    def range(self) -> LoopRange:
        """The range of the loop's variable."""
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
        """Facts that hold when both accesses are executed, in two iterations."""
        own = self.range
        twice = LoopRange(self.variable, own.lower, own.last - self.stride)
        facts = Facts.of_loops([twice, *self.outer])
        for inner in dict.fromkeys((self.inner, self.inner_of_right)):
            facts = facts.union(Facts.of_loops([*inner, own, *self.outer]))
        if self.step is None:
            positive = self.stride - 1
            facts = facts.union(Facts((positive,)))
            note_least(positive, (), facts.least)
        return facts


def other_symbol(symbol: Hashable) -> Hashable:
    """A symbol for the value of `symbol` in the other of two iterations."""
    return _Other(symbol)


def renamed(poly: Polynomial, variables: frozenset[Hashable]) -> Polynomial:
    """`poly` in the other iteration, where `variables` have other values."""
    if not poly.symbols & variables:
        return poly
    return poly.mapped(lambda s: Polynomial.symbol(_Other(s) if s in variables else s))


def changing_symbols(variable: Hashable, inner: Sequence[LoopRange]) -> frozenset[Hashable]:
    """
    The symbols that differ between two iterations: the loop variable, those of inner loops, and unknown
    bounds.
    """
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
        changing = changing_symbols(loop.variable, loop.inner_of_right)
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
        """A condition under which `poly` is at least 0; None if there is none."""
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
    """Whether the subscripts differ modulo a common divisor of all varying terms."""
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
    """Whether both are the loop variable times a constant plus the same rest: the common case."""
    if left != right:
        return False
    parts = left.split(loop.variable)
    if parts is None or not parts[1].as_constant:
        return False
    return not parts[0].symbols & changing_symbols(
        loop.variable, [*loop.inner, *loop.inner_of_right]
    )


def clause_for(
    found: Sequence[SubscriptPair], loop: LoopContext, right_later: bool, known: Known
) -> Clause | None:
    """
    The conditions under which the accesses are apart in one order of the iterations; () if that is proved.
    """
    iterations = IterationPair(loop, right_later)
    changing = changing_symbols(loop.variable, loop.inner_of_right)
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
    The condition, in `known` symbols, under which two accesses to one object with these subscripts never
    touch the same element in different iterations of the loop; None if there is none. `widths` are the
    numbers of elements of the last dimension that they touch.
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
        clause = clause_for(found, loop, right_later, known)
        if clause is None:
            return None
        if clause:
            clauses[clause] = None
        if left == right and widths[0] == widths[1] and loop.right is None:
            break  # the other order gives the same condition
    return tuple(clauses)


Early = Callable[[Hashable], "Hashable | None"]
"""Maps a symbol to one that has its value before the loop; None if the host does not know it."""


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
    The condition, in `early` symbols, under which different values of `poly` over the loops `changing`
    (innermost first) also differ modulo 2^width; None if there is none. `outer` are the enclosing loops,
    whose variables stay the same.

    Invariant terms shift all values alike, and a single variable takes no more values than its type has:
    only sums of several varying terms, and products, may wrap to the value of another iteration.
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
