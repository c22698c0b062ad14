"""
`Spread` against the arithmetic it stands for: random expressions of two loop variables in 8, 16 and
32 bits, computed in all copies.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from accopt.passes.decisions import spread
from accopt.passes.decisions.spread import GroupedLoads, Spread, is_worthwhile

SIDE = 4
COPIES = SIDE * SIDE


@dataclass
class Case:
    """An expression's values in all copies, as signed numbers of `width` bits, and what is said of it."""

    width: int
    values: list[int]
    spread: Spread


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _holds(case: Case) -> None:
    known = case.spread
    mask = (1 << case.width) - 1
    for value, distance in zip(case.values, known.distances, strict=True):
        assert (value - case.values[0] - distance) & mask == 0
        if known.exact:
            assert value == case.values[0] + distance
    multiple = min(known.multiple, 1 << case.width)
    for value, low in zip(case.values, known.low, strict=True):
        assert (value - low) % multiple == 0


def _leaf(rng: random.Random, width: int, i: int, j: int, n: int) -> Case:
    rows = tuple(c % SIDE for c in range(COPIES))
    steps = tuple(c // SIDE for c in range(COPIES))
    match rng.randrange(4):
        case 0:
            return Case(width, [i + r for r in rows], Spread(SIDE, rows))
        case 1:
            return Case(width, [j + s for s in steps], Spread(SIDE, steps))
        case 2:
            return Case(width, [n] * COPIES, spread.uniform(COPIES))
        case _:
            value = rng.choice((0, 1, 2, 3, 5, 8, -1, -4, -7))
            return Case(width, [value] * COPIES, spread.constant(value, COPIES))


def _combine(rng: random.Random, a: Case, b: Case) -> Case | None:
    """One operation on `a` and `b` or `a` alone."""
    width = a.width
    match rng.choice(("xor", "and", "or", "add", "sub", "mul", "shr", "sext", "zext", "trunc")):
        case "xor" | "and" | "or" as name:
            values = [spread.BITWISE[name](x, y) for x, y in zip(a.values, b.values, strict=True)]
            found = spread.bitwise(name, a.spread, b.spread)
        case "add" | "sub" | "mul" as name:
            f = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[name]
            exact = [f(x, y) for x, y in zip(a.values, b.values, strict=True)]
            values = [_signed(x, width) for x in exact]
            rules = {"add": spread.add, "sub": spread.subtract, "mul": spread.multiply}
            found = rules[name](a.spread, b.spread, exact == values)
        case "shr":
            bits = rng.randrange(4)
            unsigned = rng.random() < 0.5
            mask = (1 << width) - 1 if unsigned else -1
            values = [_signed((x & mask) >> bits, width) for x in a.values]
            found = spread.shift_right(a.spread, bits)
        case "sext":
            width, values, found = 2 * width, a.values, spread.extend(a.spread, signed=True)
        case "zext":
            values = [x & ((1 << width) - 1) for x in a.values]
            width, found = 2 * width, spread.extend(a.spread, signed=False)
        case _:
            width //= 2
            values = [_signed(x, width) for x in a.values]
            found = spread.truncate(a.spread, width, values == a.values)
    if found is None or width not in (8, 16, 32, 64):
        return None
    if 1 < found.multiple < spread.ANY:
        found = Spread(min(found.multiple, 1 << (width - 1)), found.low, found.exact)
    return Case(width, values, found)


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(seed: int):
    rng = random.Random(seed)
    for _ in range(60):
        width = rng.choice((8, 16, 32))
        most = (1 << (width - 1)) - 1
        i, j = (rng.randrange(-most - 1, most + 1) & -SIDE for _ in "ij")
        n = rng.randrange(-most - 1, most + 1)
        pool = [_leaf(rng, width, i, j, n) for _ in range(6)]
        for _ in range(12):
            a, b = rng.sample(pool, 2)
            if a.width != b.width:
                continue
            made = _combine(rng, a, b)
            if made is not None:
                _holds(made)
                pool.append(made)


def _rows() -> Spread:
    return Spread(SIDE, tuple(c % SIDE for c in range(COPIES)))


def _steps() -> Spread:
    return Spread(SIDE, tuple(c // SIDE for c in range(COPIES)))


def test_exclusive_or_permutes_within_a_group():
    found = spread.bitwise("xor", _rows(), _steps())
    assert found is not None
    assert sorted(set(found.low)) == [0, 1, 2, 3] and found.multiple == SIDE


def test_what_is_not_aligned_is_not_known():
    shifted = spread.add(_rows(), spread.uniform(COPIES), True)
    assert spread.bitwise("xor", shifted, _steps()) is None


def test_a_carry_out_of_the_known_bits_is_not_known():
    carried = spread.add(_rows(), spread.constant(2, COPIES), True)
    assert spread.bitwise("xor", carried, _steps()) is None


# The decision.


def _bytes(known: Spread | None) -> tuple[int, ...]:
    assert known is not None
    return tuple(4 * d for d in known.distances)


XOR = _bytes(spread.bitwise("xor", _rows(), _steps()))
SUM = _bytes(spread.add(_rows(), _steps(), True))
STEPS = _bytes(_steps())
ROWS = _bytes(_rows())
MATRIX = tuple(4096 * (c % SIDE) + 4 * (c // SIDE) for c in range(COPIES))


@pytest.mark.parametrize(
    ("addresses", "pays"),
    [
        ((STEPS, XOR), True),
        ((STEPS, SUM), True),
        ((XOR,), True),
        ((STEPS,), False),
        ((STEPS, ROWS), False),
        ((STEPS, MATRIX), False),
        ((XOR, MATRIX), False),
        ((XOR, None), False),
        ((), False),
    ],
)
def test_every_load_must_be_shared(addresses: tuple[tuple[int, ...] | None, ...], pays: bool):
    assert is_worthwhile(GroupedLoads(SIDE, addresses, operations=5)) == pays


def test_long_bodies_stay():
    loads = (STEPS, XOR)
    longest = spread.MOST_COPIES // COPIES
    assert is_worthwhile(GroupedLoads(SIDE, loads, longest))
    assert not is_worthwhile(GroupedLoads(SIDE, loads, longest + 1))
