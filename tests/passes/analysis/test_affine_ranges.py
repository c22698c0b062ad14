"""Polynomials and their ranges, against brute force."""

from __future__ import annotations

import random

from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import Extremes, LoopRange, extremes, joined


def evaluate(poly: Polynomial, values: dict[object, int]) -> int:
    total = 0
    for monomial, coefficient in poly.terms.items():
        for symbol in monomial:
            coefficient *= values[symbol]
        total += coefficient
    return total


def random_poly(rng: random.Random, symbols: str) -> Polynomial:
    poly = Polynomial.constant(rng.randint(-3, 3))
    for _ in range(3):
        term = Polynomial.constant(rng.randint(-3, 3))
        for symbol in rng.sample(symbols, rng.randint(1, 2)):
            term = term * Polynomial.symbol(symbol)
        poly = poly + term
    return poly


def test_arithmetic_agrees_with_integers():
    rng = random.Random(1)
    for _ in range(200):
        p, q = random_poly(rng, "ijn"), random_poly(rng, "ijn")
        values: dict[object, int] = {s: rng.randint(-5, 5) for s in "ijn"}
        a, b = evaluate(p, values), evaluate(q, values)
        assert evaluate(p + q, values) == a + b
        assert evaluate(p - q, values) == a - b
        assert evaluate(p * q, values) == a * b


def test_split_and_substitute():
    i, n = Polynomial.symbol("i"), Polynomial.symbol("n")
    poly = i * n + i * 2 + n * n + 7
    rest, factor = poly.split("i") or (None, None)
    assert rest == n * n + 7
    assert factor == n + 2
    assert poly.split("n") is None
    assert poly.substitute("i", Polynomial.constant(3)) == n * n + n * 3 + 13


def test_extremes_hold_and_are_tight_over_a_triangular_nest():
    """for i in [1, n), for j in [i, m]: random subscripts stay within, and constants are exact."""
    rng = random.Random(2)
    i, j = Polynomial.symbol("i"), Polynomial.symbol("j")
    for _ in range(300):
        n, m = rng.randint(2, 6), rng.randint(6, 9)
        ci, cj = rng.randint(-3, 3), rng.randint(-3, 3)
        ranges = [
            LoopRange("j", i, Polynomial.constant(m)),
            LoopRange("i", Polynomial.constant(1), Polynomial.constant(n - 1)),
        ]
        bounds = extremes(i * ci + j * cj + 1, ranges)
        assert bounds is not None
        reached = [ci * a + cj * b + 1 for a in range(1, n) for b in range(a, m + 1)]
        low = min(p.as_constant for p in bounds.lows if p.as_constant is not None)
        high = max(p.as_constant for p in bounds.highs if p.as_constant is not None)
        assert (low, high) == (min(reached), max(reached))


def test_unknown_signs_leave_both_ends_as_candidates():
    i, n = Polynomial.symbol("i"), Polynomial.symbol("n")
    bounds = extremes(i * n, [LoopRange("i", Polynomial.constant(1), Polynomial.constant(4))])
    assert bounds is not None
    assert set(bounds.lows) == {n, n * 4}
    assert set(bounds.highs) == {n, n * 4}


def test_quadratic_subscripts_are_refused():
    i = Polynomial.symbol("i")
    assert extremes(i * i, [LoopRange("i", Polynomial.constant(0), Polynomial.constant(4))]) is None


def test_joined_bounds_keep_the_tighter_of_comparable_ones():
    i = Polynomial.symbol("i")
    n = Polynomial.symbol("n")
    loop = [LoopRange("i", Polynomial.constant(1), n - 2)]
    left, right = extremes(i - 1, loop), extremes(i + 1, loop)
    assert left is not None and right is not None
    both = joined([left, right])
    assert both.lows == (Polynomial.constant(0),)
    assert both.highs == (n - 1,)


def test_the_work_for_many_bounds_grows_with_their_number():
    """A stencil whose strides are variables: no two of its bounds can be compared."""
    x, y, z = (Polynomial.symbol(name) for name in "xyz")
    offsets = [x * i + y * j + z * k for i in range(10) for j in range(10) for k in range(10)]
    parts = [
        Extremes((offset + shift,), (offset - shift,)) for shift in (1, 0) for offset in offsets
    ]
    both = joined(parts)
    assert both.lows == tuple(offsets) == both.highs


def test_products_are_equal_in_any_order_and_listed_as_multiplied():
    n, m = Polynomial.symbol("n"), Polynomial.symbol("m")
    assert n * m == m * n and hash(n * m) == hash(m * n)
    assert (n * m - m * n).as_constant == 0
    assert list((n * m + m * n).terms.items()) == [(("n", "m"), 2)]
    assert [*next(iter((n * m).terms))] == ["n", "m"] and [*next(iter((m * n).terms))] == ["m", "n"]
    assert n * n != n * m and n * m * n != n * m * m
