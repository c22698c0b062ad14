"""
Whether compressing an array pays: bytes saved against the work of decoding.

A kernel's iteration is described by its `PackedAccess`es and its other instructions; `seconds` bounds its
time by memory bandwidth, cache bandwidth and instruction issue, for a machine like an H200. The
speedup of compressing one array is the ratio of two such bounds. Reads in a sequential loop are assumed to
hit the cache, since threads read the same elements; each of them is decoded again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ...compiler.base.packed import Code, PackedFormat

MEMORY_BYTES_PER_SECOND = 4.25e12
CACHE_BYTES_PER_SECOND = 33.4e12
INSTRUCTIONS_PER_SECOND = 33.4e12
"""Copy bandwidth, L1 bandwidth (128 bytes a clock and multiprocessor), instructions of threads."""

REPEATS = 64
"""The assumed trip count of a sequential loop."""

SECTOR_BYTES = 32
"""What memory moves for an element whose neighbours lanes do not access."""

DOUBLE_ISSUES = 2
"""The time of an instruction on doubles, in other instructions."""

PAYS, LOSES = 1.05, 0.98


@dataclass(frozen=True)
class PackedAccess:
    """
    A load or store of `bytes` in the plain version. `array` identifies its array; `packed` is the format if
    that is compressed; `repeats`: executions per iteration of the parallel loops; `cached`: whether it is
    in a sequential loop.
    """

    array: Hashable
    bytes: int
    packed: PackedFormat | None = None
    writes: bool = False
    repeats: int = 1
    cached: bool = False
    scattered: bool = False


@dataclass(frozen=True)
class Estimate:
    """The speedup of compressing one array while the others stay as they are, with the reason."""

    speedup: float
    cached: bool
    scattered: bool
    bytes_plain: int
    bytes_packed: int
    instructions: int

    @property
    def text(self) -> str:
        """The estimate as the end of a remark."""
        what = (
            f"{self.bytes_packed} instead of {self.bytes_plain} bytes,"
            f" {self.instructions} more instructions per access"
        )
        factor = f"about {self.speedup:.2f} times the speed"
        if self.speedup >= PAYS:
            return f"compression pays here, {factor}: {what}"
        if self.scattered and not self.cached:
            return (
                f"compression does not pay here, {factor}: neighbouring lanes access elements that lie apart,"
                f" for each of which memory moves {SECTOR_BYTES} bytes ({what})"
            )
        if self.speedup > LOSES:
            return f"compression makes little difference here, {factor}: {what}"
        if self.cached:
            return (
                f"compression does not pay here, {factor}: its elements are read repeatedly from "
                f"the cache, and every read decodes ({what}); leave it uncompressed in this "
                "kernel, or"
                " decode it once with a cache directive"
            )
        return (
            f"compression does not pay here, {factor}: the kernel is bound by arithmetic ({what})"
        )


def decode_instructions(fmt: PackedFormat) -> int:
    """The instructions of decoding, without the load."""
    if fmt.code == Code.PLAIN:
        return 0
    if fmt.needs_range:
        if fmt.base_bits == 32:
            return 3
        return (2 if fmt.bits < 21 else 4) + DOUBLE_ISSUES
    return 1 if fmt.base_bits == 32 else 2


def encode_instructions(fmt: PackedFormat) -> int:
    """The instructions of encoding, without the store."""
    if fmt.code == Code.PLAIN:
        return 0
    if fmt.needs_range:
        return 6 if fmt.base_bits == 32 or fmt.bits < 20 else 11
    return (1 if fmt.code == Code.HALF else 8) + (fmt.base_bits == 64)


def extra_instructions(access: PackedAccess) -> int:
    """The additional instructions of an access if its array is compressed."""
    if access.packed is None:
        return 0
    cost = encode_instructions if access.writes else decode_instructions
    return cost(access.packed)


def seconds(
    accesses: Iterable[PackedAccess], instructions: int, plain: frozenset[Hashable] = frozenset()
) -> float:
    """
    A lower bound in seconds for one iteration, with the arrays in `plain` left uncompressed.
    `instructions` are those of the iteration apart from loads and stores.
    """
    memory = cache = 0.0
    issue = float(instructions)
    seen: set[Hashable] = set()
    for access in accesses:
        packed = access.packed if access.array not in plain else None
        size = access.bytes if packed is None else packed.storage_bytes
        cache += size * access.repeats
        issue += access.repeats * (1 + (extra_instructions(access) if packed is not None else 0))
        if not access.cached and (access.array, access.writes) not in seen:
            seen.add((access.array, access.writes))
            memory += max(size, SECTOR_BYTES) if access.scattered else size
    return max(
        memory / MEMORY_BYTES_PER_SECOND,
        cache / CACHE_BYTES_PER_SECOND,
        issue / INSTRUCTIONS_PER_SECOND,
    )


def read_once(accesses: Iterable[PackedAccess]) -> list[PackedAccess]:
    """The accesses of a kernel that reads each element of an array once and keeps it."""
    found: list[PackedAccess] = []
    seen: set[Hashable] = set()
    for access in accesses:
        if access.writes or access.array not in seen:
            found.append(access)
        if not access.writes:
            seen.add(access.array)
    return found


def estimate(array: Hashable, accesses: list[PackedAccess], instructions: int) -> Estimate | None:
    """
    The estimate for compressing `array` in a kernel with these accesses; None if it does not access
    `array`.
    """
    own = [access for access in accesses if access.array == array and access.packed is not None]
    fmt = own[0].packed if own else None
    if fmt is None or fmt.code == Code.PLAIN:
        return None
    without = seconds(accesses, instructions, frozenset((array,)))
    speedup = without / seconds(accesses, instructions)
    extra = max(extra_instructions(access) for access in own)
    cached = any(access.cached for access in own)
    scattered = all(access.scattered for access in own)
    return Estimate(speedup, cached, scattered, own[0].bytes, fmt.storage_bytes, extra)
