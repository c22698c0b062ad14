"""
Polynomials that are never negative where certain loops run.

A polynomial is bounded from below by setting each loop variable to the end of its range that minimises it.
The result contains only values known before the loops; that the loops run at least once bounds these (`n -
1 >= 0` if a loop counts from 0 to `n - 1`). An inequality that cannot be proved this way may still be
tested at run time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from .polynomials import Polynomial
from .ranges import MAX_CANDIDATES, LoopRange


@dataclass(frozen=True)
class Facts:
    """
    Polynomials known to be non-negative (`nonnegative`), and the least values of single symbols that follow
    (`least`).
    """

    nonnegative: tuple[Polynomial, ...] = ()
    least: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    @staticmethod
    def of_loops(ranges: Sequence[LoopRange]) -> Facts:
        """The facts that hold inside all of these loops (innermost first)."""
        least: dict[Hashable, int] = {}
        known: list[Polynomial] = []
        outwards = list(ranges)
        for index, loop in enumerate(outwards):
            greatest = bounds_from_below([loop.lower - loop.last], outwards[index + 1 :], Facts())
            if greatest is not None and len(greatest) == 1:
                known.append(-greatest[0])
            _note_symbols(loop, outwards[index + 1 :], least)
        return Facts(tuple(known), least)

    def union(self, other: Facts) -> Facts:
        """The facts of both."""
        least = dict(self.least)
        for symbol, value in other.least.items():
            least[symbol] = max(value, least.get(symbol, value))
        return Facts(tuple(dict.fromkeys(self.nonnegative + other.nonnegative)), least)

    def proves(self, poly: Polynomial) -> bool:
        """Whether `poly`, which contains no loop variables, is certainly at least 0."""
        if self._by_signs(poly):
            return True
        return any(self._by_signs(poly - fact) for fact in self.nonnegative)

    def _by_signs(self, poly: Polynomial) -> bool:
        """
        Whether `poly` has no negative coefficient once each symbol is replaced by its least value plus a
        rest.
        """
        if poly.as_constant is not None:
            return poly.as_constant >= 0
        if any(symbol not in self.least for symbol in poly.symbols):
            return False
        shifted = poly.mapped(lambda symbol: Polynomial.symbol(symbol) + self.least[symbol])
        return all(coefficient >= 0 for coefficient in shifted.terms.values())


def _note_symbols(loop: LoopRange, outer: Sequence[LoopRange], least: dict[Hashable, int]) -> None:
    """
    Records lower bounds of symbols that follow from `last - lower >= 0`: with `last = n - 1` and `lower = i
    + 1`, `n` is at least `i + 2`, so at least 2 where `i` counts from 0.
    """
    note_least(loop.last - loop.lower, outer, least)


def note_least(span: Polynomial, outer: Sequence[LoopRange], least: dict[Hashable, int]) -> None:
    """Records lower bounds of symbols that follow from `span >= 0` in the loops `outer`."""
    variables = {other.variable for other in outer}
    for symbol in span.symbols - variables:
        parts = span.split(symbol)
        factor = None if parts is None else parts[1].as_constant
        if parts is None or factor is None or factor <= 0:
            continue
        lows = bounds_from_below([-parts[0]], outer, Facts())
        if lows is None or len(lows) != 1:
            continue
        value = lows[0].as_constant
        if value is not None:
            value = -(-value // factor)
            least[symbol] = max(value, least.get(symbol, value))


def bounds_from_below(
    polys: Sequence[Polynomial], ranges: Sequence[LoopRange], facts: Facts
) -> list[Polynomial] | None:
    """
    Polynomials without the variables of `ranges` (innermost first) whose minimum bounds all of `polys` from
    below; None if one of `polys` is not linear in a variable, or if there would be too many.
    """
    candidates = list(polys)
    for loop in ranges:
        following: dict[Polynomial, None] = {}
        for candidate in candidates:
            parts = candidate.split(loop.variable)
            if parts is None:
                return None
            rest, factor = parts
            if not factor.terms:
                following[rest] = None
                continue
            grows = facts.proves(factor)
            if grows or not facts.proves(-factor):
                following[rest + factor * loop.lower] = None
            if not grows:
                following[rest + factor * loop.last] = None
        candidates = list(following)
        if len(candidates) > MAX_CANDIDATES:
            return None
    return candidates
