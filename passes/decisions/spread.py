"""
How an integer or an address changes between neighbouring copies of a computation.

Four iterations i = 4I + r of one loop and four j = 4J + s of another make sixteen copies of a body, and
in copy (r, s) `i ^ j` is `(4I ^ 4J) + (r ^ s)`: four values for sixteen copies, side by side in memory.
Here a value is `high + low[c]` in copy c, with a `high` that all copies share and that is known to be
a multiple of a power of two: operations on bits below that power act on the `low` parts alone. All
arithmetic is modulo the value's width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

ANY = 1 << 64
"""The multiple that every constant's high part, which is 0, is of."""


@dataclass(frozen=True)
class Spread:
    """
    A value that is `high + low[c]` in copy c; `high` is a multiple of the power of two `multiple` and
    otherwise unknown. `exact`: also as signed numbers, without a wrap in any copy.
    """

    multiple: int
    low: tuple[int, ...]
    exact: bool = True

    @property
    def distances(self) -> tuple[int, ...]:
        """What to add to copy 0's value for each copy's."""
        return tuple(low - self.low[0] for low in self.low)

    @property
    def is_constant(self) -> bool:
        return self.multiple == ANY and len(set(self.low)) == 1

    def below(self, multiple: int) -> tuple[int, ...] | None:
        """The value modulo `multiple`, if the rest is the same in all copies and it is known."""
        if multiple > self.multiple or len({low // multiple for low in self.low}) != 1:
            return None
        return tuple(low % multiple for low in self.low)


def constant(value: int, copies: int) -> Spread:
    return Spread(ANY, (value,) * copies)


def uniform(copies: int, multiple: int = 1) -> Spread:
    """A value that is the same in all copies."""
    return Spread(multiple, (0,) * copies)


BITWISE: dict[str, Callable[[int, int], int]] = {
    "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}


def _spread(multiple: int, low: tuple[int, ...], exact: bool) -> Spread:
    same = multiple != ANY and len(set(low)) == 1
    return Spread(multiple, low, exact or same)


def bitwise(name: str, a: Spread, b: Spread) -> Spread | None:
    """`a ^ b`, `a & b`, `a | b`; None where the copies' results have nothing in common."""
    multiple = min(a.multiple, b.multiple)
    if multiple == ANY:
        return Spread(ANY, _each(BITWISE[name], a.low, b.low), a.exact and b.exact)
    left, right = a.below(multiple), b.below(multiple)
    if left is None or right is None:
        return None
    return Spread(multiple, _each(BITWISE[name], left, right))


def add(a: Spread, b: Spread, no_wrap: bool) -> Spread:
    low = _each(lambda x, y: x + y, a.low, b.low)
    return _spread(min(a.multiple, b.multiple), low, no_wrap and a.exact and b.exact)


def subtract(a: Spread, b: Spread, no_wrap: bool) -> Spread:
    low = _each(lambda x, y: x - y, a.low, b.low)
    return _spread(min(a.multiple, b.multiple), low, no_wrap and a.exact and b.exact)


def multiply(a: Spread, b: Spread, no_wrap: bool) -> Spread | None:
    """`a * b` where one of them is constant, or both are the same in all copies."""
    if a.is_constant:
        a, b = b, a
    if b.is_constant:
        return scale(a, b.low[0], no_wrap)
    if any(a.distances) or any(b.distances):
        return None
    return uniform(len(a.low))


def scale(a: Spread, factor: int, no_wrap: bool = True) -> Spread:
    low = tuple(x * factor for x in a.low)
    if factor == 0 or a.multiple == ANY:
        return Spread(ANY, low, no_wrap and a.exact)
    return _spread(min(a.multiple * (factor & -factor), ANY >> 1), low, no_wrap and a.exact)


def shift_right(a: Spread, bits: int) -> Spread | None:
    """`a >> bits`, arithmetic or logical."""
    if a.multiple == ANY:
        known = a.exact and min(a.low) >= 0
        return Spread(ANY, tuple(x >> bits for x in a.low)) if known else None
    low = a.below(a.multiple)
    if low is None or (1 << bits) > a.multiple:
        return None
    return Spread(a.multiple >> bits, tuple(x >> bits for x in low))


def extend(a: Spread, signed: bool) -> Spread | None:
    """`a` in more bits."""
    if signed and a.exact:
        return a
    if a.multiple == ANY:
        return a if a.exact and min(a.low) >= 0 else None
    low = a.below(a.multiple)
    return None if low is None else Spread(a.multiple, low)


def truncate(a: Spread, width: int, no_wrap: bool) -> Spread:
    """The low `width` bits of `a`."""
    if a.multiple == ANY:
        half = 1 << (width - 1)
        fits = all(-half <= x < half for x in a.low)
        return Spread(ANY, a.low, a.exact and fits)
    multiple = min(a.multiple, 1 << (width - 1))
    low = a.below(multiple)
    if low is not None:
        return Spread(multiple, low)
    return _spread(multiple, a.low, no_wrap and a.exact)


def _each(f: Callable[[int, int], int], a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    return tuple(f(x, y) for x, y in zip(a, b, strict=True))


# The decision ---------------------------------------------------------------------------------------

SIDES = (8, 4)
"""Iterations of each of the two loops that a group may have: the more, the fewer loads per product."""
SIDES_ALONE = (4,)
"""
The same where a thread adds up alone, in the program's order. On an H200, 16384 and 65536 sums of as
many products of `b[i + j]` take 389 and 1531 µs (434 and 1759 with a sum per thread), those of `b[i ^ j]`
390 and 1505 (248 and 1333): subscripts that permute a group are left alone, unless threads read them from
shared memory.
"""
MOST_COPIES = 384
"""Operations of all copies of a body: instructions, and values that wait in registers."""
SHORTEST = 256
"""
Iterations of an inner loop from which groups of them pay: with sixteen lanes that take eight at a time, 128
are one turn. On an H200, four million sums of 64 products take 83 µs instead of 51, and a million of 1024
122 instead of 243; of 256 products, 157 instead of 185.
"""
SHORTEST_SHARED = 32
"""
The same where the other version shares each sum among a gang's lanes: a million sums of 32 products take it
638 µs, and groups 22.
"""

SHARED_OUT = {8: (16, 1), 4: (32, 2)}
"""
By the side of a group: lanes of a worker that share a sum, and groups of the inner loop that each takes side
by side. On an H200, 65536 sums of 65536 products take, with sides of eight, 312 µs with 8 lanes,
277 with 16 (283 with two side by side) and 319 with 32 (283); with sides of four, 374, 432 and 336
(332 with two side by side) and 708 with 4 lanes.
"""


@dataclass(frozen=True)
class GroupedLoads:
    """
    Groups of `side` iterations each of two loops, one inside of the other: `addresses` has, for each load of
    the inner body, the distance in bytes of each copy's address from the first copy's, or None if those
    are not known. `operations`: of the body.
    """

    side: int
    addresses: tuple[tuple[int, ...] | None, ...]
    operations: int


def is_worthwhile(loads: GroupedLoads) -> bool:
    """
    Whether the group pays. It does where every load is for several copies, and one at least depends on
    both loops: one that depends on one loop only is shared by plain jamming too, which leaves
    neighbouring iterations on neighbouring lanes.
    """
    side = loads.side
    if loads.operations * side * side > MOST_COPIES:
        return False
    on_both = False
    for distances in loads.addresses:
        if distances is None or 2 * len(set(distances)) > len(distances):
            return False
        rows = {distances[r::side] for r in range(side)}
        steps = {distances[s * side : (s + 1) * side] for s in range(side)}
        on_both = on_both or (len(rows) > 1 and len(steps) > 1)
    return on_both


def pays_alone(loads: GroupedLoads) -> bool:
    """Whether a group that pays does so where a thread adds up alone: its subscripts do not permute it."""
    distinct = [len(set(distances)) for distances in loads.addresses if distances is not None]
    return max(distinct, default=0) > loads.side
