"""Dependences where remainders and conditions matter, against brute force: what is claimed must hold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest
from accopt.passes.decisions.dependence import LoopContext, Requirement
from accopt.passes.decisions.guarded_dependence import GuardedPlace, Residue, guarded_requirement
from accopt.passes.decisions.integer_equations import have_no_solution
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange

Values = dict[object, int]
S, C = Polynomial.symbol, Polynomial.constant
AI, AJ, AN, AM, COLOUR = S("i"), S("j"), S("n"), S("m"), S("c")


def remainder(x: int, modulus: int, *, floored: bool) -> int:
    """C's `x % modulus`, or `x & (modulus - 1)`."""
    return x % modulus if floored else x - modulus * int(x / modulus)


def value_of(symbol: object, values: Values) -> int:
    if isinstance(symbol, Residue):
        dividend, modulus = evaluate(symbol.dividend, values), evaluate(symbol.modulus, values)
        return remainder(dividend, modulus, floored=symbol.floored)
    if isinstance(symbol, tuple):
        _, size, modulus = symbol
        return remainder(values[size], modulus, floored=False)
    return values[symbol]


def evaluate(poly: Polynomial, values: Values) -> int:
    total = 0
    for monomial, coefficient in poly.terms.items():
        for symbol in monomial:
            coefficient *= value_of(symbol, values)
        total += coefficient
    return total


def is_size(symbol: object) -> bool:
    return symbol in ("n", "m", "c")


def divisible(symbol: object, modulus: int) -> tuple[Polynomial, ...]:
    rest = S(("rest", symbol, modulus))
    return rest, -rest


def holds(needs: Requirement, values: Values) -> bool:
    return all(
        any(all(evaluate(poly, values) >= 0 for poly in each) for each in clause)
        for clause in needs
    )


class Nest:
    """A loop over i around one over j, in steps, from a bound that may be a remainder."""

    def __init__(self, lower: Polynomial, last: Polynomial, step: int, own_step: int = 1):
        self.own = LoopRange("i", C(0), AN - 1)
        self.row = LoopRange("j", lower, last)
        self.steps = {"j": step, "i": own_step}
        self.starts = {"j": lower, "i": C(0)}

    def context(self, variable: str) -> LoopContext:
        if variable == "i":
            return LoopContext("i", self.steps["i"], None, (), (), self.own)
        return LoopContext("j", self.steps["j"], None, (), (self.own,), self.row)

    def place(
        self, variable: str, subscripts: Sequence[Polynomial], zeros: Sequence[Polynomial]
    ) -> GuardedPlace:
        if variable == "i":
            return GuardedPlace(tuple(subscripts), tuple(zeros), (self.row,), self.own)
        return GuardedPlace(tuple(subscripts), tuple(zeros), (), self.row)

    def requirement(
        self, variable: str, left: GuardedPlace, right: GuardedPlace
    ) -> Requirement | None:
        context = self.context(variable)
        return guarded_requirement(
            left, right, context, self.steps, self.starts, (), is_size, divisible
        )

    def iterations(self, values: Values) -> Iterator[Values]:
        for i in range(0, values["n"], self.steps["i"]):
            outer = {**values, "i": i}
            first, last = evaluate(self.row.lower, outer), evaluate(self.row.last, outer)
            for j in range(first, last + 1, self.steps["j"]):
                yield {**outer, "j": j}

    def meets(self, variable: str, left: GuardedPlace, right: GuardedPlace, values: Values) -> bool:
        """
        Whether two iterations of the loop over `variable`, in one iteration of those around, share elements.
        """
        touched: list[dict[tuple[int, ...], set[tuple[int, int]]]] = [{}, {}]
        for found, place in zip(touched, (left, right), strict=True):
            for each in self.iterations(values):
                hole = any(each[v] == evaluate(value, each) for v, value in place.holes)
                for loop in place.inner:
                    hole = hole or each[loop.variable] < evaluate(loop.lower, each)
                    hole = hole or each[loop.variable] > evaluate(loop.last, each)
                if not hole and all(evaluate(zero, each) == 0 for zero in place.zeros):
                    element = tuple(evaluate(p, each) for p in place.subscripts if p is not None)
                    found.setdefault(element, set()).add((each["i"], each["j"]))
        for element, ones in touched[0].items():
            for (i, j), (row, column) in product(ones, touched[1].get(element, ())):
                if (i != row) if variable == "i" else (i == row and j != column):
                    return True
        return False


COLOURED = Residue(AI + COLOUR, C(2))
CHECKED = Residue(AI + AJ, C(2))


def test_red_and_black_by_their_first_column() -> None:
    nest = Nest(S(COLOURED) + 1, AM - 2, 2)
    for variable in ("i", "j"):
        left = nest.place(variable, [AI * AM + AJ], [])
        for row, column in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            right = nest.place(variable, [(AI + row) * AM + AJ + column], [])
            needs = nest.requirement(variable, left, right)
            assert needs is not None, (variable, row, column)
            assert holds(needs, {"n": 8, "m": 9, "c": 0}), "a test that usual sizes pass"
        diagonal = nest.place(variable, [(AI + 1) * AM + AJ + 1], [])
        found = nest.requirement(variable, left, diagonal)
        assert found is None if variable == "i" else found is not None


def test_red_and_black_by_a_condition() -> None:
    nest, zeros = Nest(C(1), AM - 2, 1), [S(CHECKED) - COLOUR]
    for variable in ("i", "j"):
        left = nest.place(variable, [AI, AJ], zeros)
        for row, column in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            right = nest.place(variable, [AI + row, AJ + column], zeros)
            assert nest.requirement(variable, left, right) == ()
            unguarded = nest.place(variable, [AI + row, AJ + column], [])
            found = nest.requirement(variable, left, unguarded)
            assert (found is None) == ((variable == "i") == bool(row)), (variable, row, column)


def test_the_border_of_a_periodic_grid_needs_an_even_length() -> None:
    nest, zeros = Nest(C(0), AM - 1, 1), [S(CHECKED) - COLOUR]
    left = nest.place("j", [AI, AJ], zeros)
    around = nest.place("j", [AI, S(Residue(AJ + 1, AM))], zeros)
    needs = nest.requirement("j", left, around)
    assert needs is not None
    assert not holds(needs, {"n": 3, "m": 5, "c": 0})
    assert holds(needs, {"n": 3, "m": 6, "c": 0})


def random_place(rng: random.Random, nest: Nest, variable: str) -> GuardedPlace:
    row = AI + rng.choice([0, 0, 1, -1])
    column = AJ * rng.choice([1, 1, 1, 2]) + rng.choice([0, 0, 1, -1, 2])
    if rng.random() < 0.15:
        row = S(Residue(row + AN, AN))
    if rng.random() < 0.2:
        column = S(Residue(column + AM, AM))
    if rng.random() < 0.1:
        column = column + S(COLOURED)
    zeros: list[Polynomial] = []
    if rng.random() < 0.5:
        modulus = C(rng.choice([2, 2, 3]))
        dividend = AI * rng.choice([1, 1, 0, -1]) + AJ + rng.choice([0, COLOUR, 1])
        residue = Residue(dividend, modulus, floored=modulus == C(2) and rng.random() < 0.5)
        zeros.append(S(residue) - rng.choice([COLOUR, C(0), C(1)]))
    if rng.random() < 0.1:
        zeros.append(rng.choice([AI, AJ, AJ - AM + 1, AI - AN + 1]))
    subscripts = [row * AM + column] if rng.random() < 0.6 else [row, column]
    place = nest.place(variable, subscripts, zeros)
    values = {"i": [C(0), AN - 1], "j": [C(0), C(1), AM - 1, AI]}
    holes = [(v, rng.choice(values[v])) for v in "ij" if rng.random() < 0.25]
    if variable == "i" and rng.random() < 0.25:  # a condition on the inner loop's variable
        whole = place.inner[0]
        low = C(rng.choice([1, 2])) if rng.random() < 0.5 else whole.lower
        last = AM - 3 if rng.random() < 0.5 else whole.last
        place = replace(place, inner=(LoopRange("j", low, last),))
    return replace(place, holes=tuple(h for h in holes if h[0] == "j" or variable == "i"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(2)
def test_never_wrong(seed: int) -> None:
    rng = random.Random(seed)
    claims = 0
    for _ in range(400):
        lower = rng.choice([C(0), C(1), S(COLOURED), S(COLOURED) + 1, S(Residue(AI, C(2), True))])
        nest = Nest(
            lower, AM - rng.choice([0, 1, 1, 2]), rng.choice([1, 2, 2, 3]), rng.choice([1, 1, 2])
        )
        variable = rng.choice("ij")
        left = random_place(rng, nest, variable)
        right = random_place(rng, nest, variable) if rng.random() < 0.7 else left
        if len(left.subscripts) != len(right.subscripts):
            continue
        needs = nest.requirement(variable, left, right)
        if needs is None:
            continue
        claims += 1
        for n, m, c in product((1, 2, 3, 4), (1, 2, 3, 4, 5, 6), (-1, 0, 1)):
            values: Values = {"n": n, "m": m, "c": c}
            if holds(needs, values):
                assert not nest.meets(variable, left, right, values), (
                    variable,
                    left,
                    right,
                    nest.row,
                    nest.steps,
                    needs,
                    values,
                )
    assert claims > 60


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sampled(2)
def test_equations_agree_with_a_search(seed: int) -> None:
    """A search in a small box finds no solution where there is none."""
    rng = random.Random(seed)
    claims = 0
    for _ in range(400):
        zeros = [
            sum((S(v) * rng.randint(-4, 4) for v in "xyz"), C(rng.randint(-5, 5)))
            for _ in range(rng.randint(1, 3))
        ]
        if have_no_solution(zeros):
            claims += 1
            for x, y, z in product(range(-6, 7), repeat=3):
                values: Values = {"x": x, "y": y, "z": z}
                assert any(evaluate(zero, values) for zero in zeros), zeros
    assert claims > 20


def test_equations_that_only_together_have_no_solution() -> None:
    x, y, z = S("x"), S("y"), S("z")
    assert have_no_solution([x * 2 - y, y - 1])
    assert have_no_solution([x * 6 + y * 10 - 15])
    assert have_no_solution([x + y * 2, x - z * 2 - 1])
    assert not have_no_solution([x * 6 + y * 10 + z * 15 - 1])
    assert not have_no_solution([x * 4 + y * 6 - 10, x - y])
