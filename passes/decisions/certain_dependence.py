"""
Is it certain that iterations of a loop depend on each other through an array?

`dependence.py` asks whether they may, for loops whose independence is to be proven. This asks the opposite of
loops that the program says are independent: a store and a load whose subscripts are alike up to a constant
number of iterations meet, whatever the sizes are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from .dependence import Subscripts
from .polynomials import Polynomial
from .ranges import LoopRange

EVERY = 0
"""All iterations access the same elements."""

NEAR = 2
"""Iterations that a loop of unknown length is certain to have more of."""


def is_met(apart: int, trip: int | None) -> bool:
    """Whether a loop of so many iterations (None: not known) has two that are `apart` (see below)."""
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
    After how many iterations of the loop over `variable` (of constant `step`) the element stored is the one
    loaded: positive if a later iteration loads it, negative if an earlier one has, `EVERY` if all
    iterations access one element; None if that is not certain, or the same iteration does.

    `ranges`: of the other loop variables that may occur; `invariant`: whether any other symbol has one value
    in all iterations.
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
    """By how much the variable differs where two subscripts meet: nothing to say if it is in neither."""
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
