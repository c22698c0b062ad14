"""
Ranges of subscripts: the least and greatest value of a polynomial over the loops around it.

Bounds of inner loops may name outer loop variables (triangular loops): variables are replaced from
the innermost outwards by the extreme that makes the polynomial smallest or greatest. Where the sign
of a coefficient is not known, both extremes are candidates and run-time code takes the minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from .polynomials import Monomial, Polynomial

MAX_CANDIDATES = 8
"""The most alternatives that are worth evaluating before a launch."""


NotNegative = Callable[[Polynomial], bool]
"""Whether a polynomial is known to be at least 0 inside the loops."""


def _by_value(poly: Polynomial) -> bool:
    return poly.as_constant is not None and poly.as_constant >= 0


@dataclass(frozen=True)
class LoopRange:
    """A loop variable's values: `lower` to `last`, both inclusive."""

    variable: Hashable
    lower: Polynomial
    last: Polynomial


def empty_without(loop: LoopRange, span: Polynomial) -> bool:
    """Whether `span`, a number of elements, is certainly not positive if `loop` has no iterations."""
    trips = loop.last - loop.lower + 1
    factors = {abs(factor) for factor in span.terms.values()} | {1}
    rests = (trips * factor - span for factor in factors)
    return any(rest.as_constant is not None and rest.as_constant >= 0 for rest in rests)


@dataclass(frozen=True)
class Extremes:
    """The minimum over `lows` and the maximum over `highs` bound the polynomial."""

    lows: tuple[Polynomial, ...]
    highs: tuple[Polynomial, ...]


def joined(parts: Sequence[Extremes]) -> Extremes:
    """The bounds of several polynomials together."""
    return Extremes(
        _tightest(chain.from_iterable(part.lows for part in parts), -1),
        _tightest(chain.from_iterable(part.highs for part in parts), 1),
    )


def _tightest(candidates: Iterable[Polynomial], direction: int) -> tuple[Polynomial, ...]:
    """Drops duplicates and candidates that another one dominates by a constant."""
    kept: dict[frozenset[tuple[Monomial, int]], Polynomial] = {}
    for candidate in candidates:
        form = frozenset(term for term in candidate.terms.items() if term[0])
        other = kept.get(form)
        if other is None or (_constant(candidate) - _constant(other)) * direction > 0:
            kept[form] = candidate
    return tuple(kept.values())


def _constant(poly: Polynomial) -> int:
    return poly.terms.get((), 0)


def _bound(
    poly: Polynomial, ranges: Sequence[LoopRange], direction: int, proves: NotNegative
) -> list[Polynomial] | None:
    candidates = [poly]
    for loop in ranges:
        following: list[Polynomial] = []
        for candidate in candidates:
            parts = candidate.split(loop.variable)
            if parts is None:
                return None
            factor = parts[1] * direction
            rises = bool(factor.terms) and proves(factor)
            if rises or not proves(-factor):
                following.append(parts[0] + parts[1] * loop.last)
            if not rises:
                following.append(parts[0] + parts[1] * loop.lower)
        candidates = list(_tightest(following, direction))
        if len(candidates) > MAX_CANDIDATES:
            return None
    return candidates


def extremes(
    poly: Polynomial, ranges: Sequence[LoopRange], proves: NotNegative = _by_value
) -> Extremes | None:
    """
    Bounds of `poly` with the variables of `ranges` (innermost first) replaced. None when it is not
    linear in one of them or there are too many candidates.
    """
    lows = _bound(poly, ranges, -1, proves)
    highs = _bound(poly, ranges, 1, proves)
    if lows is None or highs is None:
        return None
    return Extremes(tuple(lows), tuple(highs))
