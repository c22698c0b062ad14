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
"""The `multiple` of a constant, whose high part is 0."""


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
        """For each copy, its value minus that of copy 0."""
        return tuple(low - self.low[0] for low in self.low)

    @property
    def is_constant(self) -> bool:
        return self.multiple == ANY and len(set(self.low)) == 1

    def below(self, multiple: int) -> tuple[int, ...] | None:
        """
        The values modulo `multiple`, if they are known and the values differ in these bits only; else None.
        """
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
    """`a ^ b`, `a & b`, `a | b`; None if the result is not a spread."""
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
    """`a * b` if one of them is constant, or both are the same in all copies; else None."""
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
"""
The candidates for iterations of each of the two loops in a group: more iterations need fewer loads per
product.
"""
SIDES_ALONE = (4,)
"""
The candidates if one thread adds up alone, in program order. On an H200, 16384 and 65536 sums of as
many products of `b[i + j]` take 389 and 1531 µs (434 and 1759 with a sum per thread), those of `b[i ^ j]`
390 and 1505 (248 and 1333): subscripts that permute a group are not grouped, unless threads read them from
shared memory.
"""
MOST_COPIES = 384
"""The most operations in all copies of a body together, which bounds code size and registers."""
SHORTEST = 256
"""
The least iterations of an inner loop for which grouping pays: sixteen lanes with eight iterations each
cover 128 at once. On an H200, four million sums of 64 products take 83 µs instead of 51, and a million of
1024 122 instead of 243; of 256 products, 157 instead of 185.
"""
SHORTEST_SHARED = 32
"""
The least iterations if the alternative shares each sum among a gang's lanes: for a million sums of 32
products that takes 638 µs, groups take 22.
"""

SHARED_OUT = {8: (16, 1), 4: (32, 2)}
"""
By the side of a group: the lanes of a worker that share a sum, and the groups of the inner loop that each
lane takes side by side. On an H200, 65536 sums of 65536 products take, with sides of eight, 312 µs with 8
lanes, 277 with 16 (283 with two side by side) and 319 with 32 (283); with sides of four, 374, 432 and 336
(332 with two side by side) and 708 with 4 lanes.
"""


@dataclass(frozen=True)
class GroupedLoads:
    """
    Groups of `side` iterations each of two loops, one inside of the other: `addresses` has, for each load
    of the inner body, the distances in bytes of the copies' addresses from the first copy's, or None if
    they are not known. `operations` is their number in the body.
    """

    side: int
    addresses: tuple[tuple[int, ...] | None, ...]
    operations: int


def is_worthwhile(loads: GroupedLoads) -> bool:
    """
    Whether the group pays: every load serves several copies, and at least one depends on both loops. (Loads
    that depend on one loop only are also shared by plain jamming, which keeps neighbouring iterations on
    neighbouring lanes.)
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
    """
    Whether a group that pays also does if one thread adds up alone: the loads have more different addresses
    than the group's side, so their subscripts do not just permute the elements of the group.
    """
    distinct = [len(set(distances)) for distances in loads.addresses if distances is not None]
    return max(distinct, default=0) > loads.side
