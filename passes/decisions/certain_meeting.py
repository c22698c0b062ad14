"""
Whether two iterations of a loop certainly access one element, in some iterations of the inner loops.

`certain_dependence.py` compares subscripts symbolically. Where inner loops select the elements (triangular
loops, or two inner loops over one array), this module tries the first iterations: with numbers for the
loop's variable, the subscripts are equations for the variables of the inner loops, and a solution within
their ranges proves that both access one element.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from .certain_dependence import NEAR
from .dependence import Subscripts
from .polynomials import Polynomial
from .ranges import LoopRange

PAIRS = ((0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0))
"""The pairs of iterations tried, of the store and of the other access."""


@dataclass(frozen=True)
class LoopPlace:
    """The subscripts of an access, and the loops around it inside the analysed loop, innermost first."""

    subscripts: Subscripts
    ranges: tuple[LoopRange, ...]


@dataclass(frozen=True)
class _Own:
    """The variable of an inner loop in one of the two iterations."""

    first: bool
    variable: Hashable


@dataclass
class _Equations:
    """Polynomials that must be 0, and the ranges of their variables, outermost first."""

    zeros: list[Polynomial]
    ranges: list[LoopRange]

    def put(self, variable: Hashable, value: Polynomial) -> bool:
        """Substitutes `value` for a variable everywhere; False if a polynomial is not linear in it."""
        zeros = [poly.substitute(variable, value) for poly in self.zeros]
        ranges = [_replaced(known, variable, value) for known in self.ranges]
        self.zeros = [poly for poly in zeros if poly is not None]
        self.ranges = [known for known in ranges if known is not None]
        return None not in zeros and None not in ranges


def meeting(
    store: LoopPlace,
    other: LoopPlace,
    own: LoopRange,
    step: int,
    trip: int | None,
    invariant: Callable[[Hashable], bool],
) -> tuple[int, int] | None:
    """
    The numbers of two iterations that certainly access one element; None if none are found. The loop over
    `own` has `trip` iterations (None: not known) with step `step`. `invariant`: whether a symbol other than
    a loop variable has one value throughout. Symbols that bound loops are assumed to allow a few
    iterations.
    """
    if len(store.subscripts) != len(other.subscripts):
        return None
    stores = _OwnIterations(store, True, own, step)
    others = _OwnIterations(other, False, own, step)
    for pair in PAIRS:
        if trip is not None and max(pair) >= trip:
            continue
        left, right = stores.subscripts(pair[0]), others.subscripts(pair[1])
        if left is None or right is None:
            return None
        zeros = [a - b for a, b in zip(left, right, strict=True)]
        if any(zero.as_constant for zero in zeros):
            continue  # elements apart, in any iterations of inner loops
        around = stores.ranges(pair[0]), others.ranges(pair[1])
        if around[0] is None or around[1] is None:
            return None
        if _has_solution(_Equations(zeros, around[0] + around[1]), invariant):
            return pair
    return None


class _OwnIterations:
    """An access in single iterations of the loop over `own`, with cached results."""

    def __init__(self, place: LoopPlace, first: bool, own: LoopRange, step: int):
        self._place, self._own, self._step = place, own, step
        self._names = {known.variable: _Own(first, known.variable) for known in place.ranges}
        self._symbols = {v: Polynomial.symbol(name) for v, name in self._names.items()}
        self._subscripts: dict[int, list[Polynomial] | None] = {}

    def subscripts(self, number: int) -> list[Polynomial] | None:
        """The subscripts in iteration `number`; None if one is not known, or not linear in the variables."""
        if number not in self._subscripts:
            found = [self._renamed(poly, number) for poly in self._place.subscripts]
            known = [poly for poly in found if poly is not None]
            self._subscripts[number] = known if len(known) == len(found) else None
        return self._subscripts[number]

    def ranges(self, number: int) -> list[LoopRange] | None:
        """The ranges of the inner loops in iteration `number`, outermost first; None if one is not linear."""
        found: list[LoopRange] = []
        for known in reversed(self._place.ranges):
            lower, last = self._renamed(known.lower, number), self._renamed(known.last, number)
            if lower is None or last is None:
                return None
            found.append(LoopRange(self._names[known.variable], lower, last))
        return found

    def _renamed(self, poly: Polynomial | None, number: int) -> Polynomial | None:
        """
        `poly` with a number for the loop's variable, and with inner variables that belong to this access.
        """
        if poly is not None and self._own.variable in poly.symbols:
            poly = poly.substitute(self._own.variable, self._own.lower + number * self._step)
        for variable, symbol in self._symbols.items():
            poly = None if poly is None else poly.substitute(variable, symbol)
        return poly


def _replaced(known: LoopRange, variable: Hashable, value: Polynomial) -> LoopRange | None:
    lower, last = known.lower.substitute(variable, value), known.last.substitute(variable, value)
    return None if lower is None or last is None else LoopRange(known.variable, lower, last)


def _has_solution(system: _Equations, invariant: Callable[[Hashable], bool]) -> bool:
    """
    Whether there are values within the ranges that solve all equations. The search sets each variable once.
    """
    values: dict[Hashable, Polynomial] = {}

    def put(variable: Hashable, value: Polynomial) -> bool:
        for known in values:
            replaced = values[known].substitute(variable, value)
            if replaced is None:
                return False
            values[known] = replaced
        values[variable] = value
        return system.put(variable, value)

    open_ = [known.variable for known in system.ranges]
    for index in range(len(system.zeros)):
        solved = _solved(system.zeros[index], [v for v in open_ if v not in values])
        if solved is not None and not put(*solved):
            return False
    for index, variable in enumerate(open_):
        if variable not in values and not put(variable, system.ranges[index].lower):
            return False
    within = [
        poly
        for known in system.ranges
        for poly in (values[known.variable] - known.lower, known.last - values[known.variable])
    ]
    return all(not zero.terms for zero in system.zeros) and all(
        _is_likely(poly, invariant) for poly in within
    )


def _solved(zero: Polynomial, variables: Sequence[Hashable]) -> tuple[Hashable, Polynomial] | None:
    """
    A variable of an equation, and its solution; None if no variable occurs alone with coefficient 1 or -1.
    """
    for variable in variables:
        parts = zero.split(variable)
        factor = None if parts is None else parts[1].as_constant
        if parts is not None and factor in (1, -1):
            return variable, parts[0] * -factor
    return None


def _is_likely(poly: Polynomial, invariant: Callable[[Hashable], bool]) -> bool:
    """Whether a polynomial is at least 0 if all symbols are sizes that are not very small."""
    constant = poly.as_constant
    if constant is not None:
        return constant >= 0
    grows = all(factor > 0 for monomial, factor in poly.terms.items() if monomial)
    return grows and poly.terms.get((), 0) >= -NEAR and all(invariant(s) for s in poly.symbols)
