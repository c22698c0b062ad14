"""
Whether a thread gains from knowing that arrays begin at multiples of 16 bytes.

A thread that works on an object of its own, such as a small matrix or a structure, reads and writes elements
that are neighbours in memory. One access serves up to 16 bytes of them, where the object begins at a
multiple of as many. That saves more than instructions: the objects of a warp are in many cache lines, which
each access looks up one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from .device import WIDE_BYTES

FEWEST = 2
"""The accesses that must be saved for each iteration."""
SMALLEST_SHARE = 8
"""One of so many accesses must be saved."""
LONG_TRIPS = 16
"""The iterations that a loop counts for which is not short."""
SHORT_TRIPS = 16
"""The iterations of a loop that LLVM unrolls, so that the elements it reads are neighbours in code."""
UNROLLED = 8
"""The iterations that LLVM puts one after another of a longer loop of constant length."""
LONGEST = 1024
"""
The most operations of a construct in which small objects are looked for: longer ones are tiles of products,
in which the passes that do so took 9 % of the compiler's time and found nothing.
"""
MOST_OFFSETS = 64
"""The elements of one access in unrolled loops that are looked at."""


@dataclass(frozen=True)
class DenseAccess:
    """
    Accesses to elements of `bytes` each, by one operation in unrolled loops. `place` is the part of the
    address that moves between iterations, by multiples of `stride` bytes (0: it is the same in all);
    `offsets` are the bytes from there, one for each iteration of the unrolled loops. `wide`: it is part of a
    wide access already. `depth`: the loops around it that are not short.
    """

    array: Hashable
    place: Hashable
    stride: int
    offsets: tuple[int, ...]
    bytes: int
    writes: bool
    wide: bool = False
    depth: int = 0

    @property
    def weight(self) -> int:
        """How often it is made, compared with one outside of loops."""
        return LONG_TRIPS ** min(self.depth, 2)


@dataclass(frozen=True)
class AlignmentGain:
    """
    The accesses saved for each iteration, of those it makes, and the arrays that must begin at a multiple of
    some bytes for it.
    """

    saved: int
    total: int
    alignments: Mapping[Hashable, int] = field(default_factory=dict[Hashable, int])


def _power_of_two(number: int) -> int:
    """The largest power of two that divides `number`, at most 16 (for 0: 16)."""
    return min(number & -number, WIDE_BYTES) if number else WIDE_BYTES


def _pairs(offsets: Collection[int], bytes: int, aligned: int) -> int:
    """The elements that the access to their left-hand neighbour includes, in `aligned` bytes."""
    return sum(
        offset + bytes in offsets and offset // aligned == (offset + bytes) // aligned
        for offset in offsets
    )


def gain_of(accesses: Iterable[DenseAccess]) -> AlignmentGain:
    """What the accesses of an iteration gain (see above)."""
    objects: defaultdict[tuple[Hashable, ...], list[DenseAccess]] = defaultdict(list)
    total = 0
    for access in accesses:
        key = access.array, access.place, access.bytes, access.writes, access.depth
        objects[key].append(access)
    alignments: dict[Hashable, int] = {}
    saved = 0
    for members in objects.values():
        first = members[0]
        array, stride, bytes = first.array, first.stride, first.bytes
        offsets = {offset for access in members for offset in access.offsets}
        total += first.weight * len(offsets)
        if 0 < stride < 2 * bytes:
            continue  # the elements of neighbouring threads are neighbours: they share cache lines already
        aligned = _power_of_two(stride)
        is_wide = aligned <= bytes or any(access.wide for access in members)
        pairs = 0 if is_wide else _pairs(offsets, bytes, aligned)
        if pairs:
            alignments[array] = max(alignments.get(array, 0), aligned)
        saved += first.weight * pairs
    return AlignmentGain(saved, total, alignments)


def pays(gain: AlignmentGain) -> bool:
    """Whether two versions of a construct, and a test before each launch, are worth it."""
    return gain.saved >= max(FEWEST, gain.total / SMALLEST_SHARE)
