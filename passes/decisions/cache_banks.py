"""
Bank conflicts of tiles in shared memory: the passes that a warp's access takes, and the padding of rows
that minimises them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .cache_plan import Axis, Sharing, TilePlan, plan_tile
from .cache_section import CachedSection
from .device import WARP

BANKS = 32
BANK_BYTES = 4
PADDINGS = (0, 1, 2, 4, 8)
"""The paddings to choose from, in elements."""


def shared_passes(addresses: Sequence[int], access_bytes: int) -> tuple[int, int]:
    """
    The passes that one access of a warp to shared memory takes (the number of different words in its
    busiest bank; equal words are broadcast), and the least number of passes for that many words (CUDA
    programming guide, 16.4.3; the simulator counts the same). `addresses` are in bytes, one for each lane.
    """
    words: set[int] = set()
    for address in addresses:
        first = address // BANK_BYTES
        words.update(range(first, first + max(1, access_bytes // BANK_BYTES)))
    banks: dict[int, int] = {}
    for word in words:
        banks[word % BANKS] = banks.get(word % BANKS, 0) + 1
    return max(banks.values()), -(-len(words) // BANKS)


def warp_addresses(coefficients: Sequence[int], threads: Sequence[int]) -> list[int]:
    """The byte addresses of the first warp's threads (…, y, x): `sum(coefficient · coordinate)`."""
    found: list[int] = []
    for lane in range(WARP):
        rest, address = lane, 0
        for coefficient, size in zip(reversed(coefficients), reversed(threads), strict=True):
            address += coefficient * (rest % size)
            rest //= size
        found.append(address)
    return found


def choose_padding(
    section: CachedSection,
    axes: Sequence[Axis],
    sharing: Sharing,
    widths: Sequence[int],
    threads: Sequence[int],
    accesses: Sequence[Sequence[int]],
    together: Sequence[int] = (),
    *,
    multiple: int = 1,
) -> int:
    """
    The elements to add to a row of the tile so that a warp's accesses fall into different banks; the least
    among equally good ones. `accesses`: for each access, the elements it moves per section dimension and
    mapped axis (`[dim][axis]`, flattened). `together`: neighbouring outputs of a thread along each axis. If
    the row length in bytes is a multiple of `multiple`, the padded one is too.
    """
    best, best_cost = 0, 0
    for padding in PADDINGS:
        plan = plan_tile(section, axes, sharing, widths, padding)
        if isinstance(plan, str) or len(plan.dims) < 2:
            return 0
        if padding and padding * section.element_bytes % multiple:
            continue
        cost = sum(_cost(plan, access, threads, together) for access in accesses)
        if padding == 0 or cost < best_cost:
            best, best_cost = padding, cost
    return best


def _cost(
    plan: TilePlan, access: Sequence[int], threads: Sequence[int], together: Sequence[int]
) -> int:
    """
    The passes of one access, summed over the positions within a word at which a sub-word element may begin.
    A thread's neighbouring outputs that are adjacent in the tile count as one wide access.
    """
    axes, bytes = len(threads), plan.section.element_bytes
    coefficients = [0] * axes
    for position, dim in enumerate(plan.dims):
        for axis in range(axes):
            if dim.section_dim is not None:
                moved = access[dim.section_dim * axes + axis]
            else:
                moved = sum(m.rate for m in plan.moves if m.axis == axis and m.dim == position)
            coefficients[axis] += moved * dim.pitch
    for axis, outputs in enumerate(together):
        if abs(coefficients[axis]) != bytes:
            coefficients[axis] *= outputs
    addresses = warp_addresses(coefficients, threads)
    return sum(
        shared_passes([address + offset for address in addresses], bytes)[0]
        for offset in range(0, BANK_BYTES, bytes if bytes < BANK_BYTES else BANK_BYTES)
    )
