"""
Delinearisation of subscripts: `i * n + j` with `0 <= j < n` is equivalent to the two subscripts `i` and
`j`.

Strides are tried from the smallest: of `(i * n + j) * m + k`, first `m` gives `i * n + j` and `k`, then
`n` gives `i` and `j`. A split is exact if the rest certainly lies between 0 and the stride; otherwise it
holds under that condition, if the host can test it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import gcd

from .inequalities import Facts, bounds_from_below
from .polynomials import Monomial, Polynomial, divide, product
from .ranges import LoopRange


@dataclass(frozen=True)
class SubscriptPair:
    """
    One subscript of two accesses, with the number of elements that each touches from there, and the
    polynomials that must be non-negative for it to be a dimension.
    """

    left: Polynomial
    right: Polynomial
    widths: tuple[int, int] = (1, 1)
    needs: tuple[Polynomial, ...] = ()


Ranges = tuple[Sequence[LoopRange], Sequence[LoopRange]]
"""The loops around the left and the right access, innermost first, including the analysed loop."""


def _strides(polys: Sequence[Polynomial], variables: frozenset[Hashable]) -> list[Polynomial]:
    """The factors of loop variables, smallest first: constants, then symbols."""
    products: dict[Monomial, int] = {}
    constants: set[int] = set()
    for poly in polys:
        for monomial, coefficient in poly.terms.items():
            if not any(symbol in variables for symbol in monomial):
                continue
            part = product(symbol for symbol in monomial if symbol not in variables)
            products[part] = gcd(products.get(part, 0), coefficient)
            if not part and abs(coefficient) > 1:
                constants.add(abs(coefficient))
    symbolic = sorted((part for part in products if part), key=len)
    return [Polynomial.constant(c) for c in sorted(constants)] + [
        Polynomial({part: products[part]}) for part in symbolic
    ]


def _centred(
    quotient: Polynomial, rest: Polynomial, stride: int, ranges: Sequence[LoopRange], facts: Facts
) -> tuple[Polynomial, Polynomial]:
    """Moves multiples of a constant stride so that the rest begins between 0 and the stride."""
    lows = bounds_from_below([rest], ranges, facts)
    if lows is None or len(lows) != 1 or lows[0].as_constant is None:
        return quotient, rest
    shift = lows[0].as_constant // stride
    return quotient + shift, rest - shift * stride


def _within(
    rest: Polynomial, width: int, stride: Polynomial, ranges: Sequence[LoopRange], facts: Facts
) -> list[Polynomial] | None:
    """
    The polynomials that must be non-negative for `0 <= rest` and `rest + width <= stride`; None if that
    cannot hold or no bound is known.
    """
    needs: list[Polynomial] = []
    for poly in (rest, stride - rest - width):
        least = bounds_from_below([poly], ranges, facts)
        if least is None:
            return None
        needs += [candidate for candidate in least if not facts.proves(candidate)]
    if any(facts.proves(-need - 1) for need in needs):
        return None
    return needs


def _split(
    given: SubscriptPair,
    stride: Polynomial,
    ranges: Ranges,
    facts: Facts,
    known: Callable[[Hashable], bool],
) -> tuple[SubscriptPair, SubscriptPair] | None:
    """`given` split into a multiple of the stride and a rest; None if it cannot be split."""
    needs: dict[Polynomial, None] = dict.fromkeys(given.needs)
    parts: list[tuple[Polynomial, Polynomial]] = []
    constant = stride.as_constant
    for poly, width, around in zip((given.left, given.right), given.widths, ranges, strict=True):
        divided = divide(poly, stride)
        if divided is None:
            return None
        quotient, rest = divided
        if constant is not None:
            quotient, rest = _centred(quotient, rest, constant, around, facts)
        within = _within(rest, width, stride, around, facts)
        if within is None or not all(known(s) for need in within for s in need.symbols):
            return None
        needs |= dict.fromkeys(within)
        parts.append((quotient, rest))
    (left, left_rest), (right, right_rest) = parts
    conditions = tuple(needs)
    return (
        SubscriptPair(left, right, (1, 1), conditions),
        SubscriptPair(left_rest, right_rest, given.widths, conditions),
    )


def dimensions(
    given: SubscriptPair,
    ranges: Ranges,
    facts: Facts,
    known: Callable[[Hashable], bool],
    *,
    constant: bool = True,
) -> list[SubscriptPair]:
    """
    `given` itself, and the dimensions into which it can be split; of rows of constant length only with
    `constant`.
    """
    variables = frozenset(loop.variable for side in ranges for loop in side)
    found = [given]
    whole = given
    while True:
        for stride in _strides((whole.left, whole.right), variables):
            if stride.as_constant is not None and not constant:
                continue
            split = _split(whole, stride, ranges, facts, known)
            if split is not None:
                break
        else:
            return found
        whole, rest = split
        found += [rest, whole]
