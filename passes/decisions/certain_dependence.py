"""
Whether iterations of a loop certainly depend on each other through an array.

`dependence.py` proves that iterations are independent. This module proves the opposite, for loops that the
program declares independent: a store and a load whose subscripts differ by a constant number of iterations
access one element, whatever the sizes are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from .dependence import Subscripts
from .polynomials import Polynomial
from .ranges import LoopRange

EVERY = 0
"""A distance: all iterations access the same elements."""

NEAR = 2
"""A loop of unknown length is taken to have more iterations than this."""


def is_met(apart: int, trip: int | None) -> bool:
    """
    Whether a loop of `trip` iterations (None: not known) has two that are `apart` iterations from each
    other.
    """
    return abs(apart) <= NEAR if trip is None else max(abs(apart), 1) < trip


def iterations_apart(
    store: Subscripts,
    load: Subscripts,
    variable: Hashable,
    step: int,
    ranges: Mapping[Hashable, LoopRange],
    invariant: Callable[[Hashable], bool],
) -> int | None:
    """
    The distance, in iterations of the loop over `variable` (of constant `step`), from the store of an
    element to its load: positive if a later iteration loads it, negative if an earlier one does, `EVERY` if
    all iterations access one element. None if that is not certain, or if the same iteration loads it.

    `ranges` are those of the other loop variables that may occur; `invariant` says whether any other symbol
    has one value in all iterations.
    """
    if len(store) != len(load):
        return None

    def fixed(symbol: Hashable) -> bool:
        known = ranges.get(symbol)
        if known is None:
            return invariant(symbol)
        bounds = known.lower.symbols | known.last.symbols
        return all(
            bound not in ranges and bound != variable and invariant(bound) for bound in bounds
        )

    found: set[int] = set()
    for stored, loaded in zip(store, load, strict=True):
        if stored is None or loaded is None:
            return None
        if not all(fixed(symbol) for symbol in (stored.symbols | loaded.symbols) - {variable}):
            return None
        distance = _distance(stored, loaded, variable)
        if distance is None:
            return None
        found |= distance
    if not found:
        return EVERY
    if len(found) != 1:
        return None
    (values,) = found
    return -values // step if values and values % step == 0 else None


def _distance(store: Polynomial, load: Polynomial, variable: Hashable) -> set[int] | None:
    """
    The difference of the variable for which two subscripts are equal. An empty set if the variable is in
    neither and they are equal; None if there is no certain difference.
    """
    difference = load - store
    if variable not in store.symbols and variable not in load.symbols:
        return None if difference.terms else set()
    parts = store.split(variable)
    slope = parts[1] if parts is not None else None
    if slope is None or not slope.terms:
        return None
    monomial, coefficient = next(iter(slope.terms.items()))
    distance, rest = divmod(difference.terms.get(monomial, 0), coefficient)
    return {distance} if rest == 0 and difference == slope * distance else None
