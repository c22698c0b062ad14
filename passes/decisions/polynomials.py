"""
Integer polynomials over loop variables and values known before a construct.

A `Polynomial` is a sum of products of symbols with integer coefficients: enough for subscripts like
`i * n + j` with `n` known only at run time. Symbols are any hashable objects, so the arithmetic is
tested without IR; `passes/ir/values/value_polynomials.py` makes polynomials of SSA values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import cast

Monomial = tuple[Hashable, ...]
"""A product of symbols, made by `product`; `()` is the constant term."""


class _Product(tuple[Hashable, ...]):
    """
    Two or more symbols in the order of their multiplication; equality ignores the order. The code emitted
    for them thus depends on the program only, not on hashes, which differ from run to run.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(self) != len(cast(Monomial, other)):
            return False
        left = list(cast(Monomial, other))
        for symbol in self:
            if symbol not in left:
                return False
            left.remove(symbol)
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(sum(hash(symbol) for symbol in self))


def product(symbols: Iterable[Hashable]) -> Monomial:
    """The monomial of these symbols; equal to that of the same symbols in another order."""
    monomial = tuple(symbols)
    return _Product(monomial) if len(monomial) > 1 else monomial


@dataclass(eq=False, slots=True)
class Polynomial:
    """`sum(coefficient * product(symbols))`; terms with coefficient 0 do not appear. Immutable."""

    terms: Mapping[Monomial, int]

    @staticmethod
    def constant(value: int) -> Polynomial:
        return Polynomial({(): value} if value else {})

    @staticmethod
    def symbol(symbol: Hashable) -> Polynomial:
        return Polynomial({(symbol,): 1})

    def __add__(self, other: Polynomial | int) -> Polynomial:
        other = other if isinstance(other, Polynomial) else Polynomial.constant(other)
        return self._plus(other, 1)

    def _plus(self, other: Polynomial, factor: int) -> Polynomial:
        """`self + factor * other`, for a factor of 1 or -1."""
        if not other.terms:
            return self
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + factor * coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        other = other if isinstance(other, Polynomial) else Polynomial.constant(other)
        return self._plus(other, -1)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        factor = other if isinstance(other, int) else other.as_constant
        if factor is not None:
            return self if factor == 1 else self._times(factor)
        assert isinstance(other, Polynomial)
        factor = self.as_constant
        if factor is not None:
            return other if factor == 1 else other._times(factor)
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                monomial = product(m1 + m2)
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Polynomial({m: c for m, c in terms.items() if c})

    def _times(self, factor: int) -> Polynomial:
        return Polynomial({m: c * factor for m, c in self.terms.items()} if factor else {})

    @property
    def as_constant(self) -> int | None:
        """The value if the polynomial has no symbols; else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def degree(self) -> int:
        """The largest number of symbols multiplied with one another."""
        return max((len(monomial) for monomial in self.terms), default=0)

    @property
    def symbols(self) -> Set[Hashable]:
        """The symbols of all terms, in the order in which the terms name them."""
        return dict.fromkeys(symbol for monomial in self.terms for symbol in monomial).keys()

    def split(self, symbol: Hashable) -> tuple[Polynomial, Polynomial] | None:
        """`(rest, factor)` with `self == rest + factor * symbol`; None if it is not linear in it."""
        rest: dict[Monomial, int] = {}
        factor: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms.items():
            if symbol not in monomial:
                rest[monomial] = coefficient
            elif len(monomial) == 1:
                factor[()] = coefficient
            elif monomial.count(symbol) == 1:
                factor[product(s for s in monomial if s != symbol)] = coefficient
            else:
                return None
        return (Polynomial(rest), Polynomial(factor)) if factor else (self, ZERO)

    def slope(self, symbol: Hashable) -> int | None:
        """
        The change of the polynomial when the symbol grows by 1: 0 if it does not occur, None if that is not
        a constant.
        """
        found = 0
        for monomial, coefficient in self.terms.items():
            if symbol in monomial:
                if len(monomial) > 1:
                    return None
                found = coefficient
        return found

    def substitute(self, symbol: Hashable, value: Polynomial) -> Polynomial | None:
        """The polynomial with `value` for `symbol`; None if it is not linear in it."""
        for monomial in self.terms:
            if symbol in monomial:
                parts = self.split(symbol)
                return None if parts is None else parts[0] + parts[1] * value
        return self

    def mapped(self, value: Callable[[Hashable], Polynomial]) -> Polynomial:
        """The polynomial with `value(symbol)` for each symbol."""
        result = ZERO
        for monomial, coefficient in self.terms.items():
            term = Polynomial.constant(coefficient)
            for symbol in monomial:
                term = term * value(symbol)
            result = result + term
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))


ZERO = Polynomial.constant(0)


def _contains(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """`monomial` without the symbols of `factor`; None if it lacks one."""
    rest = list(monomial)
    for symbol in factor:
        if symbol not in rest:
            return None
        rest.remove(symbol)
    return product(rest)


def divide(poly: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """
    `(quotient, rest)` with `poly == quotient * divisor + rest`. The quotient comes from the terms that are
    divisible by the divisor's leading term, the one with most factors (`n * m` of `n * m + 4`). None if the
    divisor has no leading term.
    """
    if not divisor.terms:
        return None
    symbols, factor = max(divisor.terms.items(), key=lambda term: len(term[0]))
    if len(divisor.terms) > 1 and not symbols:
        return None
    quotient: dict[Monomial, int] = {}
    for monomial, coefficient in poly.terms.items():
        left = _contains(monomial, symbols)
        if left is not None and coefficient % factor == 0:
            quotient[left] = coefficient // factor
    found = Polynomial(quotient)
    return found, poly - found * divisor
