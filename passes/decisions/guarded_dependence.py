"""
Whether two array accesses in different iterations of a loop may touch the same element, where remainders and
conditions matter: elements of one colour of a checkerboard, neighbours across the border of a periodic grid.

A `Residue` is a symbol for a remainder: a number within bounds, and equal to its dividend except for a
multiple of the modulus. An access is a `GuardedPlace` of which some polynomials are known to be 0 where it
runs (the conditions around it), and which loops may reach in fewer iterations. If no order of the subscripts
keeps two places apart (`dependence.py`), they may still differ in what they are modulo a number: then the
equations that say that both are one element, with all that is known about remainders, steps and conditions,
have no integer solution.

Some of that holds only if sizes are divisible by that number, as the length of the rows of a periodic
checkerboard must be: this becomes part of the `Requirement` that the host tests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .dependence import (
    Alternative,
    Clause,
    Known,
    LoopContext,
    Requirement,
    Subscripts,
    changing_symbols,
    clause_for,
    other_symbol,
)
from .inequalities import Facts, bounds_from_below
from .integer_equations import have_no_solution
from .linearised import SubscriptPair, dimensions
from .polynomials import Polynomial
from .ranges import LoopRange


@dataclass(frozen=True)
class Residue:
    """
    The remainder of a division, `dividend - modulus * q` for an integer `q`, of the dividend's sign; with
    `floored` it is never negative, as `x & 1` is.
    """

    dividend: Polynomial
    modulus: Polynomial
    floored: bool = False


@dataclass(frozen=True)
class _Quotient:
    """The integer `q` of a residue."""

    residue: Residue


@dataclass(frozen=True)
class _Turn:
    """The number of a loop's iteration."""

    variable: Hashable


@dataclass(frozen=True)
class GuardedPlace:
    """
    An access: its subscripts, polynomials that are 0 where it runs, the inner loops around it (innermost
    first) and the analysed loop, each with the iterations in which it may run, and values that variables of
    these loops do not have there.
    """

    subscripts: Subscripts
    zeros: tuple[Polynomial, ...]
    inner: tuple[LoopRange, ...]
    own: LoopRange
    holes: tuple[tuple[Hashable, Polynomial], ...] = ()

    @property
    def residues(self) -> list[Residue]:
        """The residues that it names."""
        return residues_in(_polynomials(self))


def residues_in(polys: Iterable[Polynomial]) -> list[Residue]:
    """The residues in these polynomials, and in their dividends."""
    found: dict[Residue, None] = {}
    work = list(polys)
    while work:
        for symbol in work.pop().symbols:
            if isinstance(symbol, Residue) and symbol not in found:
                found[symbol] = None
                work += [symbol.dividend, symbol.modulus]
    return list(found)


def _polynomials(place: GuardedPlace) -> Iterator[Polynomial]:
    yield from (poly for poly in place.subscripts if poly is not None)
    yield from place.zeros
    for loop in (*place.inner, place.own):
        yield from (loop.lower, loop.last)


def _without_holes(place: GuardedPlace, around: Sequence[LoopRange], facts: Facts) -> GuardedPlace:
    """The place with loops that do not begin or end at a value that their variable does not have there."""

    def narrowed(loop: LoopRange, outside: Sequence[LoopRange]) -> LoopRange:
        for variable, value in place.holes:
            if variable != loop.variable:
                continue
            ranges = (*outside, *around)
            if _never_negative(loop.lower - value, ranges, facts):
                loop = replace(loop, lower=value + 1)
            elif _never_negative(value - loop.last, ranges, facts):
                loop = replace(loop, last=value - 1)
        return loop

    own = narrowed(place.own, ())
    inner = tuple(
        narrowed(loop, (*place.inner[index + 1 :], place.own))
        for index, loop in enumerate(place.inner)
    )
    return replace(place, inner=inner, own=own)


def _never_negative(poly: Polynomial, ranges: Sequence[LoopRange], facts: Facts) -> bool:
    least = bounds_from_below([poly], ranges, facts)
    return least is not None and all(facts.proves(each) for each in least)


class _Comparison:
    """Two places of one object in different iterations of the loop `context`."""

    def __init__(
        self,
        left: GuardedPlace,
        right: GuardedPlace,
        context: LoopContext,
        steps: Mapping[Hashable, int],
        starts: Mapping[Hashable, Polynomial],
        bounded: Sequence[LoopRange],
        known: Known,
    ):
        self.known = known
        self.steps, self.starts = steps, starts
        self.conditions: dict[Polynomial, None] = {}
        polys = [*_polynomials(left), *_polynomials(right)]
        self.residues = residues_in(polys)
        inner = (*left.inner, *right.inner)
        self.changing = set(changing_symbols(context.variable, inner))
        before = -1
        while before != len(self.changing):
            before = len(self.changing)
            self.changing |= {
                residue
                for residue in self.residues
                if (residue.dividend.symbols | residue.modulus.symbols) & self.changing
            }
        facts = context.facts
        named = [(place, set(place.residues)) for place in (left, right)]
        ranges: dict[Residue, LoopRange] = {}
        # Those that are never negative first, then dividends before what they are in.
        inwards = [*self.residues[::-1]]
        for residue in sorted(inwards, key=lambda residue: not residue.floored):
            places = [place for place, residues in named if residue in residues]
            outside = (*ranges.values(), *bounded, *context.outer)
            ranges[residue] = self._range(residue, places, outside, facts)
        around = (*ranges.values(), *bounded, *context.outer)
        self.left = _without_holes(left, around, facts)
        self.right = _without_holes(right, around, facts)
        moving = tuple(r for residue, r in ranges.items() if residue in self.changing)
        fixed = tuple(r for residue, r in ranges.items() if residue not in self.changing)
        self.context = replace(
            context,
            inner=(*self.left.inner, *moving),
            right=(*self.right.inner, *moving),
            outer=(*fixed, *bounded, *context.outer),
        )

    def _range(
        self,
        residue: Residue,
        places: Sequence[GuardedPlace],
        outside: Sequence[LoopRange],
        facts: Facts,
    ) -> LoopRange:
        """The values of a residue in the places that name it; records what must hold for them."""
        last = residue.modulus - 1
        self._need([last], facts)
        if residue.floored:
            return LoopRange(residue, Polynomial.constant(0), last)
        least: list[Polynomial] = []
        for place in places:
            around = (*place.inner, place.own, *outside)
            found = bounds_from_below([residue.dividend], around, facts)
            if found is None or not self._can_need(found, facts):
                return LoopRange(residue, -last, last)
            least += found
        self._need(least, facts)
        return LoopRange(residue, Polynomial.constant(0), last)

    def _can_need(self, polys: Sequence[Polynomial], facts: Facts) -> bool:
        return all(
            facts.proves(poly)
            or (not facts.proves(-poly - 1) and all(self.known(s) for s in poly.symbols))
            for poly in polys
        )

    def _need(self, polys: Sequence[Polynomial], facts: Facts) -> None:
        self.conditions |= dict.fromkeys(poly for poly in polys if not facts.proves(poly))

    def pairs(self, *, constant: bool) -> list[SubscriptPair]:
        """The subscripts of both, and the dimensions into which they can be split (`dimensions`)."""
        found: list[SubscriptPair] = []
        context = self.context
        residues = context.inner[len(self.left.inner) :]
        around = [
            (*place.inner, place.own, *residues, *context.outer)
            for place in (self.left, self.right)
        ]
        for one, other in zip(self.left.subscripts, self.right.subscripts, strict=True):
            if one is not None and other is not None:
                pair = SubscriptPair(one, other)
                found += dimensions(
                    pair, (around[0], around[1]), context.facts, self.known, constant=constant
                )
        return found

    def ordered(self, pairs: Sequence[SubscriptPair]) -> Requirement | None:
        """
        The requirement under which one access stays below the other in a dimension, if that takes only that
        the dimensions are ones: other conditions seldom hold.
        """
        usual = {poly for pair in pairs for poly in pair.needs}
        found: list[Clause] = []
        for later in (True, False):
            clause = clause_for(pairs, self.context, later, self.known)
            fitting = [each for each in clause or () if usual.issuperset(each)]
            if clause is None or (clause and not fitting):
                return None
            if clause:
                found.append(tuple(fitting))
        return tuple(found)

    def _definitions(self, place: GuardedPlace) -> list[Polynomial]:
        """Polynomials that are 0 by the meaning of residues and steps."""
        found: list[Polynomial] = []
        for residue in self.residues:
            whole = residue.modulus * Polynomial.symbol(_Quotient(residue))
            found.append(Polynomial.symbol(residue) - residue.dividend + whole)
        for loop in (*place.inner, place.own):
            step = self.steps.get(loop.variable, 1)
            lower = self.starts.get(loop.variable)
            if step > 1 and lower is not None:
                turn = Polynomial.symbol(_Turn(loop.variable)) * step
                found.append(Polynomial.symbol(loop.variable) - lower - turn)
        return found

    def equations(self, pairs: Sequence[SubscriptPair]) -> list[Polynomial]:
        """Polynomials that are 0 if both places are one element."""
        changing = self.changing | {_Quotient(r) for r in self.residues if r in self.changing}
        changing |= {_Turn(loop.variable) for loop in (*self.right.inner, self.right.own)}
        changing |= {_Turn(loop.variable) for loop in self.left.inner}

        def renamed(poly: Polynomial) -> Polynomial:
            return poly.mapped(lambda s: Polynomial.symbol(other_symbol(s) if s in changing else s))

        zeros = [pair.left - renamed(pair.right) for pair in pairs if pair.widths == (1, 1)]
        zeros += [*self.left.zeros, *self._definitions(self.left)]
        zeros += [renamed(p) for p in (*self.right.zeros, *self._definitions(self.right))]
        holes = [Polynomial.symbol(v) - value for v, value in self.left.holes]
        holes += [renamed(Polynomial.symbol(v) - value) for v, value in self.right.holes]
        if any(zero in (hole, -hole) for zero in zeros for hole in holes):
            zeros.append(
                Polynomial.constant(1)
            )  # where both are one element, one of them does not run
        return zeros

    def moduli(self) -> set[int]:
        found = {step for step in self.steps.values() if step > 1}
        for residue in self.residues:
            modulus = residue.modulus.as_constant
            if modulus is not None and modulus > 1:
                found.add(modulus)
        return found


Divisible = Callable[[Hashable, int], Alternative]
"""Polynomials for the host that are all at least 0 if a symbol is divisible by a number."""


def guarded_requirement(
    left: GuardedPlace,
    right: GuardedPlace,
    context: LoopContext,
    steps: Mapping[Hashable, int],
    starts: Mapping[Hashable, Polynomial],
    bounded: Sequence[LoopRange],
    known: Known,
    divisible: Divisible,
) -> Requirement | None:
    """
    The condition under which two places never are one element in different iterations of the loop; None if
    there is none. `steps` and `starts` are the steps and the lower bounds of loops, by their variables,
    `bounded` the ranges of other symbols, which have one value in all iterations.
    """
    if len(left.subscripts) != len(right.subscripts):
        return None
    both = _Comparison(left, right, context, steps, starts, bounded, known)
    if not all(known(s) for poly in both.conditions for s in poly.symbols):
        return None
    bounds: Requirement = tuple(((poly,),) for poly in both.conditions)
    # The step of an inner loop is no length of a row, though it may look like one.
    choices = both.pairs(constant=False), both.pairs(constant=True)
    for pairs in dict.fromkeys(map(tuple, choices)):
        found = _requirement_of(both, pairs, divisible)
        if found is not None:
            return tuple(dict.fromkeys((*bounds, *found)))
    return None


def _requirement_of(
    both: _Comparison, pairs: Sequence[SubscriptPair], divisible: Divisible
) -> Requirement | None:
    """The requirement under which two places are apart in these dimensions."""
    ordered = both.ordered(pairs)
    if ordered is not None:
        return ordered
    whole = [pair for pair in pairs if not pair.needs]
    for used in (whole, pairs):
        needs = dict.fromkeys(poly for pair in used for poly in pair.needs)
        split: Requirement = tuple(((poly,),) for poly in needs)
        zeros = both.equations(used)
        if have_no_solution(zeros):
            return split
        for modulus in sorted(both.moduli()):
            sizes = _divisible_sizes(zeros, modulus, both.known)
            if sizes:
                return (*split, *((divisible(size, modulus),) for size in sizes))
    return None


def _divisible_sizes(
    zeros: Sequence[Polynomial], modulus: int, known: Known
) -> list[Hashable] | None:
    """As few known symbols as can be of which divisibility leaves the equations without a solution."""
    every = dict.fromkeys(s for zero in zeros for s in zero.symbols if known(s))

    def unsolvable(sizes: Iterable[Hashable]) -> bool:
        chosen = set(sizes)

        def divided(symbol: Hashable) -> Polynomial:
            return Polynomial.symbol(symbol) * (modulus if symbol in chosen else 1)

        return have_no_solution([zero.mapped(divided) for zero in zeros])

    if not every or not unsolvable(every):
        return None
    needed = list(every)
    for symbol in every:
        fewer = [other for other in needed if other != symbol]
        if fewer and unsolvable(fewer):
            needed = fewer
    return needed
