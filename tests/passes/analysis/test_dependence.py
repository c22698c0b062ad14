"""Dependence tests against brute force: 'independent' must never be claimed wrongly."""

from __future__ import annotations

import random
from itertools import product

from accopt.passes.decisions.dependence import LoopContext, Subscripts, requirement
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange

AI, AJ, AN = Polynomial.symbol("i"), Polynomial.symbol("j"), Polynomial.symbol("n")
PLAIN = LoopContext("i", 1, None)


def inner(low: int, last: Polynomial | int) -> LoopContext:
    end = last if isinstance(last, Polynomial) else Polynomial.constant(last)
    return LoopContext("i", 1, None, (LoopRange("j", Polynomial.constant(low), end),))


def independent_subscripts(left: Subscripts, right: Subscripts, loop: LoopContext) -> bool:
    """Whether the accesses never meet in different iterations, without a test on the host."""
    return requirement(left, right, loop) == ()


def test_the_classical_cases():
    assert independent_subscripts((AI,), (AI,), PLAIN)
    assert not independent_subscripts((AI,), (AI - 1,), PLAIN)
    assert independent_subscripts((AI * 2,), (AI * 2 + 1,), PLAIN)
    assert not independent_subscripts((Polynomial.constant(3),), (Polynomial.constant(3),), PLAIN)
    assert not independent_subscripts((None,), (AI,), PLAIN)
    assert independent_subscripts((AI,), (AI - 8,), LoopContext("i", 1, 8))
    assert not independent_subscripts((AI,), (AI - 7,), LoopContext("i", 1, 8))
    assert independent_subscripts((AI,), (AI - 1,), LoopContext("i", 2, None))


def test_one_dimension_is_enough():
    assert independent_subscripts((AI, None), (AI, AJ), PLAIN)
    assert independent_subscripts((AJ, AI), (AJ + 1, AI), inner(0, 9))


def test_linearised_rows_do_not_meet():
    assert independent_subscripts((AI * AN + AJ,), (AI * AN + AJ,), inner(0, AN - 1))
    assert independent_subscripts((AI * AN + AJ + 1,), (AI * AN + AJ,), inner(0, AN - 2))
    assert not independent_subscripts((AI * AN + AJ + 1,), (AI * AN + AJ,), inner(0, AN - 1))
    assert not independent_subscripts((AI * AN + AJ,), (AI * AN - AN + AJ,), inner(0, AN - 1))


def test_constant_strides_wider_than_the_inner_range():
    assert independent_subscripts((AI * 4 + AJ,), (AI * 4 + AJ,), inner(0, 3))
    assert not independent_subscripts((AI * 4 + AJ,), (AI * 4 + AJ,), inner(0, 4))


def test_never_wrong_on_random_subscripts():
    rng = random.Random(3)
    claims = 0
    for _ in range(3000):
        k1, k2, c1, c2 = (rng.randint(-3, 3) for _ in range(4))
        m1, m2 = rng.randint(0, 2), rng.randint(0, 2)
        trip, step, width = rng.randint(1, 6), rng.randint(1, 2), rng.randint(0, 3)
        loop = LoopContext(
            "i", step, trip, (LoopRange("j", Polynomial.constant(0), Polynomial.constant(width)),)
        )
        left, right = AI * k1 + AJ * m1 + c1, AI * k2 + AJ * m2 + c2
        iterations = range(0, trip * step, step)
        meets = any(
            k1 * a + m1 * x + c1 == k2 * b + m2 * y + c2
            for a, b in product(iterations, iterations)
            if a != b
            for x, y in product(range(width + 1), repeat=2)
        )
        if independent_subscripts((left,), (right,), loop):
            claims += 1
            assert not meets, (left.terms, right.terms, loop)
    assert claims > 100
