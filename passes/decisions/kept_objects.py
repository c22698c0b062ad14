"""
Whether a thread keeps an object of an array in an array of its own, registers if all subscripts are constant,
while it works on it.

Each access to device memory of a loop that works on a small matrix waits for the one before, and the
matrices of a warp are in as many cache lines as it has lanes. An array of a thread is in registers, or in
local memory, where the elements of a warp's threads are neighbours. On an H200, factors of 200,000 matrices
of 8 x 8 with pivots take 2,430 µs in device memory, 600 in local memory and 240 in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .unrolling import OWN_WORDS

LEAST_REUSE = 3
"""The accesses of an iteration for each element."""
UNKNOWN_TRIPS = 16
"""The iterations that a loop counts for whose length is not known."""
MOST_UNSURE = 32
"""The elements that an iteration may have written or not."""


READ_BYTES = range(64, 193)
"""
The sizes of objects that are read whole before they are used: those of more than two sectors of the cache,
which other threads evict between the uses, up to a part of the registers. ptxas delays loads unless it may
use more registers than it would by itself: products of 3 x 3 complex matrices and vectors take 135 µs on an
H200 with 64 registers, and 227 with the 34 that ptxas chose for one of two equal kernels.
"""
REREAD = 8
"""
Elements that an iteration reads so often are read whole up to `REREAD_BYTES`: cosine transforms of 8 x 8
floats by four nested loops take 1,240 µs on an H200 if each of 64 sums reads its block again.
"""
REREAD_BYTES = range(64, 257)
FILE = 65536
"""The registers of a multiprocessor."""
OTHER_REGISTERS = 24
"""The registers of a thread besides those of its object."""
FEWEST_REGISTERS = 64
"""A thread may have as many registers as this, so that no other values are moved to memory for the loads."""
MOST_OPERATIONS = 300
"""The operations of an iteration that needs few registers besides those of its object."""


@dataclass(frozen=True)
class KeptAccess:
    """
    Accesses by one operation: those that every iteration makes are to elements at `certain` bytes from the
    object; all are between the bytes `low` and `high`. `times`: how often an iteration runs it. `in_loop`:
    a loop of the iteration runs it.
    """

    certain: frozenset[int]
    low: int
    high: int
    times: int
    writes: bool
    in_loop: bool


@dataclass(frozen=True)
class KeptObject:
    """
    The elements of `bytes` each that a thread keeps, from `low` on: `count`, of which those in `loaded` are
    accessed. Those in `stored` are written in any case, those in `unsure` perhaps.
    """

    low: int
    bytes: int
    count: int
    loaded: tuple[int, ...]
    stored: tuple[int, ...]
    unsure: tuple[int, ...]


def kept_object(accesses: Iterable[KeptAccess], bytes: int) -> KeptObject | None:
    """
    The object to keep; None if it does not pay, or if an iteration might not access an element, which would
    then perhaps be outside of the array.
    """
    accesses = list(accesses)
    low, high = min(a.low for a in accesses), max(a.high for a in accesses)
    count = (high - low) // bytes + 1
    if count * max(bytes, 4) > 4 * OWN_WORDS or any((a.low - low) % bytes for a in accesses):
        return None
    loaded = {offset for access in accesses for offset in access.certain}
    stored = {offset for access in accesses for offset in access.certain if access.writes}
    perhaps: set[int] = set()
    for access in accesses:
        offsets = set(range(access.low, access.high + 1, bytes))
        sure = bool(access.certain) and access.certain >= offsets
        if not sure and not access.certain and not offsets <= loaded:
            return None
        if access.writes and not access.certain:
            perhaps |= offsets
    unsure = perhaps - stored
    works_in_loop = any(a.in_loop and a.writes for a in accesses)
    reuse = sum(a.times for a in accesses)
    if not works_in_loop or len(unsure) > MOST_UNSURE or reuse < LEAST_REUSE * len(loaded):
        return None
    in_order = (tuple(sorted((o - low) // bytes for o in s)) for s in (loaded, stored, unsure))
    return KeptObject(low, bytes, count, *in_order)


def read_object(
    accesses: Iterable[KeptAccess],
    bytes: int,
    stride: int,
    *,
    once: bool = False,
    long: bool = False,
) -> KeptObject | None:
    """
    The object to read whole at its first use, of iterations whose objects are `stride` bytes apart, so that
    neighbours share none of it unless it is read again and again; None if it does not pay. `once`: loops of
    the iteration call functions, of which unrolling would make many. `long`: loops over the object are too
    long to be unrolled.
    """
    accesses = list(accesses)
    low, high = min(a.low for a in accesses), max(a.high for a in accesses)
    loaded = {offset for access in accesses for offset in access.certain}
    if any(a.writes or not a.certain or (a.low - low) % bytes for a in accesses):
        return None
    reuse = sum(a.times for a in accesses) // max(len(loaded), 1)
    size, again = len(loaded) * bytes, reuse >= REREAD and not once
    registers = len(loaded) * max(bytes, 4)
    sizes = REREAD_BYTES if again else READ_BYTES
    if size not in sizes or registers not in sizes or long or (not again and stride < size):
        return None
    numbers = tuple(sorted((offset - low) // bytes for offset in loaded))
    return KeptObject(low, bytes, (high - low) // bytes + 1, numbers, (), ())


def resident_blocks(bytes: int, threads: int) -> int:
    """
    The blocks of so many threads on a multiprocessor if each thread has registers for `bytes` of an object.
    """
    registers = -(-(OTHER_REGISTERS + bytes // 4) // 8) * 8
    return max(1, FILE // (max(registers, FEWEST_REGISTERS) * threads))
