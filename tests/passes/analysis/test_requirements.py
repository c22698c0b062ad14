"""What the host tests before a loop, against brute force: where it holds, no iterations may meet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from accopt.passes.decisions.dependence import LoopContext, Requirement, requirement, stays_within
from accopt.passes.decisions.inequalities import Facts, bounds_from_below
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange, extremes

Values = dict[object, int]

S, C = Polynomial.symbol, Polynomial.constant
AI, AJ, AN, AM = S("i"), S("j"), S("n"), S("m")


def evaluate(poly: Polynomial, values: Values) -> int:
    total = 0
    for monomial, coefficient in poly.terms.items():
        for symbol in monomial:
            coefficient *= values[symbol]
        total += coefficient
    return total


def holds(needs: Requirement, values: Values) -> bool:
    return all(
        any(all(evaluate(poly, values) >= 0 for poly in alternative) for alternative in clause)
        for clause in needs
    )


def iterations(ranges: Sequence[LoopRange], values: Values) -> Iterator[Values]:
    """All values of the variables of loops, given outermost first."""
    if not ranges:
        yield values
        return
    loop, *inner = ranges
    for x in range(evaluate(loop.lower, values), evaluate(loop.last, values) + 1):
        yield from iterations(inner, {**values, loop.variable: x})


def is_size(symbol: object) -> bool:
    return symbol in ("n", "m")


def loop(*inner: LoopRange, last: Polynomial = AN - 1) -> LoopContext:
    return LoopContext("i", 1, None, inner, (), LoopRange("i", C(0), last))


def test_rows_as_long_as_their_distance_need_no_test() -> None:
    at = AI * AN + AJ
    assert requirement((at,), (at,), loop(LoopRange("j", C(0), AN - 1)), is_size) == ()


def test_the_order_of_a_product_of_lengths_does_not_matter() -> None:
    o, k = S("o"), S("k")
    around = loop(LoopRange("k", C(0), AM * o - 1), LoopRange("j", C(0), AN - 1))
    planes = AI * o * AN * AM + AJ * AM * o + k, o * AI * AM * AN + AJ * o * AM + k
    assert requirement(planes[:1], planes[1:], around, lambda s: s in ("n", "m", "o")) == ()


def test_rows_of_another_length_need_one() -> None:
    at = AI * AM + AJ
    needs = requirement((at,), (at,), loop(LoopRange("j", C(0), AN - 1)), is_size)
    assert needs == (((AM - AN,),),)


def test_what_never_holds_is_not_tested() -> None:
    assert requirement((AI,), (AI - 1,), loop(), is_size) is None
    assert requirement((AI * 0,), (AI * 0,), loop(), is_size) is None


def test_columns_of_a_matrix_in_rows() -> None:
    at = AJ * AN + AI
    assert requirement((at,), (at,), loop(LoopRange("j", C(0), AM - 1)), is_size) == ()


def test_triangles_across_the_diagonal() -> None:
    inner = LoopRange("j", C(0), AI - 1)
    assert requirement((AI, AJ), (AJ, AI), loop(inner), is_size) == ()
    assert requirement((AI * AN + AJ,), (AJ * AN + AI,), loop(inner), is_size) == ()


def test_what_an_inner_bound_adds_is_not_forgotten() -> None:
    """2 i - j with j from i to i + 1 is i or i - 1: neighbours meet."""
    inner = LoopRange("j", AI, AI + 1)
    assert requirement((AI * 2 - AJ,), (AI * 2 - AJ,), loop(inner), is_size) is None


def test_a_factor_that_is_certainly_zero() -> None:
    """Facts may prove a factor neither positive nor negative; the rest still counts."""
    facts = Facts((AM, -AM))
    assert bounds_from_below([AJ * AM - 1], [LoopRange("j", C(0), AN)], facts) == [C(-1)]
    found = extremes(AJ * AM - 1, [LoopRange("j", C(0), AN)], facts.proves)
    assert found is not None and found.lows and found.highs


def test_wider_accesses_meet_more() -> None:
    assert requirement((AI * 2,), (AI * 2,), loop(), is_size, (2, 2)) == ()
    assert requirement((AI * 2,), (AI * 2,), loop(), is_size, (3, 3)) is None


def random_bound(rng: random.Random, variables: Sequence[str], upper: bool) -> Polynomial:
    if variables and rng.random() < 0.35:
        return S(rng.choice(variables)) + rng.choice([0, 1, -1])
    if upper:
        return rng.choice([C(0), C(1), AN, AM]) + rng.choice([0, -1, -2, 0, 3])
    return rng.choice([C(0), C(0), C(1), C(2)])


def random_subscript(rng: random.Random, variables: Sequence[str]) -> Polynomial:
    kind = rng.random()
    if kind < 0.45 and len(variables) >= 2:
        row, column = rng.sample(variables, 2)
        at = S(row) * rng.choice([AN, AM, C(4), C(3)]) + S(column) * rng.choice([1, 1, 1, -1, 2])
        return at + rng.choice([0, 0, 0, 1, -1]) + AN * rng.choice([0, 0, 1, -1])
    if kind < 0.55 and len(variables) >= 3:
        plane, row, column = rng.sample(variables, 3)
        return (S(plane) * AN + S(row)) * AM + S(column) + rng.choice([0, 0, 1])
    total = C(rng.choice([0, 0, 0, 1, -1, 2]))
    for variable in [*variables, "n"]:
        if rng.random() < 0.5:
            total = total + S(variable) * rng.randint(-2, 2)
    return total


def random_loops(rng: random.Random, names: str, variables: list[str]) -> list[LoopRange]:
    """Up to two inner loops, innermost first; their variables are added to `variables`."""
    found: list[LoopRange] = []
    for name in names[: rng.randint(0, 2)]:
        bounds = random_bound(rng, variables, False), random_bound(rng, variables, True)
        found.insert(0, LoopRange(name, *bounds))
        variables.append(name)
    return found


def meets(
    sides: Sequence[tuple[Sequence[Polynomial], Sequence[LoopRange], int]],
    own: LoopRange,
    step: int,
    values: Values,
) -> bool:
    """Whether the two accesses touch one element in different iterations."""
    touched: list[set[tuple[tuple[int, ...], int]]] = []
    for subscripts, inner, width in sides:
        found: set[tuple[tuple[int, ...], int]] = set()
        for x in range(evaluate(own.lower, values), evaluate(own.last, values) + 1, step):
            for each in iterations(list(reversed(inner)), {**values, "i": x}):
                *outer, last = (evaluate(poly, each) for poly in subscripts)
                found |= {((*outer, last + k), x) for k in range(width)}
        touched.append(found)
    places: dict[tuple[int, ...], set[int]] = {}
    for place, x in touched[0]:
        places.setdefault(place, set()).add(x)
    return any(places.get(place, set()) - {x} for place, x in touched[1])


@pytest.mark.parametrize("seed", range(3))
def test_never_wrong(seed: int) -> None:
    rng = random.Random(seed)
    claims = 0
    for _ in range(350):
        outer = [LoopRange("k", random_bound(rng, [], False), random_bound(rng, [], True))]
        outer = outer if rng.random() < 0.4 else []
        around = [str(r.variable) for r in outer]
        own = LoopRange("i", random_bound(rng, around, False), random_bound(rng, around, True))
        lefts, rights = [*around, "i"], [*around, "i"]
        inner = random_loops(rng, "jl", lefts)
        other = random_loops(rng, "pq", rights)
        dims, step = rng.choice([1, 1, 2]), rng.choice([1, 1, 1, 2])
        length = rng.choice([AN, AN * 2, AM + 1]) if rng.random() < 0.25 else None
        left = tuple(random_subscript(rng, lefts) for _ in range(dims))
        if rng.random() < 0.5:
            other = inner
            right = tuple(poly + rng.choice([C(0), C(0), C(1), AN]) for poly in left)
        else:
            right = tuple(random_subscript(rng, rights) for _ in range(dims))
        widths = rng.choice([1, 1, 2]), rng.choice([1, 1, 2])
        bounds = tuple(inner), tuple(outer), own, tuple(other) if other is not inner else None
        context = LoopContext("i", None if length else step, None, *bounds, length)
        needs = requirement(left, right, context, is_size, widths)
        if needs is None:
            continue
        claims += 1
        for n, m in product((-1, 0, 1, 2, 3, 5), repeat=2):
            values: Values = {"n": n, "m": m}
            step = step if length is None else evaluate(length, values)
            if step <= 0 or not holds(needs, values):
                continue
            for given in iterations(outer, values):
                sides = (left, inner, widths[0]), (right, other, widths[1])
                assert not meets(sides, own, step, given), (
                    left,
                    right,
                    bounds,
                    widths,
                    needs,
                    given,
                )
    assert claims > 80


WIDTH = 4


def wraps_together(poly: Polynomial, ranges: Sequence[LoopRange], values: Values) -> bool:
    """Whether two iterations have values that differ, but not in their last `WIDTH` bits."""
    found = {evaluate(poly, inner) for inner in iterations(ranges, values)}
    return len({value % (1 << WIDTH) for value in found}) < len(found)


@pytest.mark.parametrize("seed", range(300))
def test_wrapped_values_meet_only_where_the_test_fails(seed: int) -> None:
    """Variables count less than the width allows, as C's do; coefficients, sizes and offsets do not."""
    rng = random.Random(seed)
    terms = [AI, AJ, AI * AN, AJ * AN, AN, C(1), AI * AM, S("o")]
    poly = sum((term * rng.randint(-9, 9) for term in terms if rng.random() < 0.5), C(0))
    own, inner = LoopRange("i", C(0), AN - 1), LoopRange("j", C(rng.randint(0, 2)), AM - 1)
    needs = stays_within(poly, WIDTH, (inner, own), (LoopRange("o", C(0), C(3)),), lambda s: s)
    if needs is None:
        return
    for n, m, outer in product(range(1, 8), range(1, 8), range(4)):
        values: Values = {"n": n, "m": m, "o": outer}
        if holds(needs, values):
            assert not wraps_together(poly, [own, inner], values), (poly, values)


def test_steps_of_a_length_known_at_run_time() -> None:
    own, half = LoopRange("i", C(0), AN - 1), LoopRange("j", C(0), AM - 1)
    context = LoopContext("i", None, None, (half,), (), own, None, AM * 2)
    assert requirement((AI + AJ,), (AI + AJ + AM,), context, is_size) == ()
    assert requirement((AI + AJ,), (AI + AJ + AM + 1,), context, is_size) is None
    unknown = LoopContext("i", None, None, (half,), (), own)
    assert requirement((AI + AJ,), (AI + AJ + AM,), unknown, is_size) is None


def test_what_cannot_wrap_needs_no_test() -> None:
    row = LoopRange("j", C(0), C(9))
    assert stays_within(AI * 16 + AJ, 32, (row, LoopRange("i", C(0), C(99))), ()) == ()
    assert stays_within(AI * AM + AJ, 32, (row,), ()) == ()
    assert stays_within(-AI + AN, 32, (LoopRange("i", C(0), AN - 1),), ()) == ()


def test_what_always_wraps_is_no_subscript() -> None:
    assert stays_within(AI * (1 << 31), 32, (LoopRange("i", C(0), C(999)),), ()) is None


def test_an_unknown_size_has_to_be_small_enough() -> None:
    own = LoopRange("i", C(0), AN - 1)
    assert stays_within(AI * 4, 32, (own,), ()) is None
    assert stays_within(AI * 4, 32, (own,), (), is_known) == (((C((1 << 31) + 3) - AN * 4,),),)


def is_known(symbol: object) -> object:
    return symbol
