"""
What fits into the shared memory of a gang. A kernel may declare 48 KiB; more of it, up to what the GPU
has, is asked for at the launch (`dynamic_shared.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import acc
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from ...dialects.accx import DYNAMIC
from ...dialects.accx_cache import SharedTileOp
from ..decisions.cache_plan import SHARED_LIMIT
from ..decisions.declined import Declined
from ..ir.layout import size_of
from . import emulated
from .nest import CachedNest
from .plan import NestPlan
from .tiles import ALIGNMENT, Planned, buffer_bytes

RESERVE = 2048
"""Bytes left for what threads exchange when they reduce."""
MOST_PARTIALS = 32 * 1024
"""Bytes that the results of a block's threads may take before they are combined."""
BLOCKS_TOGETHER = 2
"""Thread blocks that should fit on a multiprocessor at the same time, unless tiles are asked for."""


@dataclass(frozen=True)
class Room:
    """Bytes that a nest's tiles may take: declared in the kernel, and asked for at the launch."""

    declared: int
    launched: int


def room_for(nest: CachedNest, threads: int, limit: int, *, always: bool) -> Room:
    """
    The room that the other tiles of the construct leave, and what `threads` reduce; `limit`: the most a
    block of the GPU can have; `always`: even if no other block then fits beside it. Raises `Declined`.
    """
    declared, launched = _taken(nest.construct)
    reserve = 0
    if nest.reductions:
        partials = sum(size_of(r.type) * threads for r in nest.reductions)
        if partials > MOST_PARTIALS:
            raise Declined(
                f"what its {threads} threads reduce takes {partials} bytes of shared memory: reduce fewer"
                " elements, or update an array atomically"
            )
        reserve = RESERVE + partials
    most = limit if always else limit // BLOCKS_TOGETHER
    free = SHARED_LIMIT - declared - reserve
    return Room(free, most - launched - declared - reserve - RESERVE)


def _taken(construct: Operation) -> tuple[int, int]:
    """Bytes of the tiles that a construct has: declared, and asked for at the launch."""
    declared = launched = 0
    for op in construct.walk():
        if not isinstance(op, SharedTileOp):
            continue
        offset, size = op.attributes.get(DYNAMIC), op.bytes.value.data
        if isinstance(offset, IntegerAttr):
            launched = max(launched, _aligned(offset.value.data + size))
        else:
            declared += _aligned(size)
    return declared, launched


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def bytes_of(result: NestPlan, planned: Planned) -> int:
    """Shared memory of one directive's tile, with all that belongs to it."""
    if planned.method == "ehc":
        width = size_of(planned.cached.element_type)
        return emulated.bytes_needed(result.sets, result.ways, result.thread_count, width)
    extra = planned.plan.elements if planned.policy == "mask" else 0
    buffers = buffer_bytes(planned.plan) * (2 if planned.ahead else 1)
    return buffers + _aligned(extra) + ALIGNMENT * (planned.communicate + planned.bulk)


def total_bytes(result: NestPlan) -> int:
    """Shared memory of all tiles of a nest."""
    return sum(bytes_of(result, planned) for planned in result.planned)


def emulated_cache(result: NestPlan, planned: Planned, why: str) -> Planned:
    """The same directive with an emulated cache instead of a tile. Raises `Declined`."""
    _ = planned.cached.element_type
    result.reasons[planned.cached.op] = f"emulated hardware cache: {why}"
    return replace(
        planned,
        method="ehc",
        policy="through",
        asynchronous=False,
        communicate=False,
        ahead=False,
        bulk=False,
    )


def fit(
    result: NestPlan, room: Room, refused: list[tuple[acc.CacheOp, str]], *, emulate: bool
) -> None:
    """
    Drops the largest tiles until the others fit: to an emulated cache, which is slower than the L1 cache,
    only with `emulate`. Raises `Declined` if none is left.
    """
    if total_bytes(result) > max(room.declared, room.launched):
        result.planned = [replace(p, ahead=False) for p in result.planned]
    while (size := total_bytes(result)) > room.declared:
        if size <= room.launched:
            result.launched = True
            return
        tiles = [p for p in result.planned if p.method != "ehc"]
        worst = max(tiles or result.planned, key=lambda planned: bytes_of(result, planned))
        needed = bytes_of(result, worst)
        result.planned.remove(worst)
        if tiles and emulate:
            try:
                why = f"a tile of {needed} bytes does not fit into shared memory"
                result.planned.append(emulated_cache(result, worst, why))
                continue
            except Declined:
                pass
        most = max(room.declared, room.launched)
        text = f"its tile of {needed} bytes does not fit into the {most} bytes of shared memory of a gang"
        if tiles and not emulate:
            text += ", and an emulated cache would be slower than the hardware's"
        refused.append((worst.cached.op, text))
        if not result.planned:
            raise Declined(refused[-1][1])


def place(result: NestPlan, threads: Operation) -> None:
    """Gives the tiles in a nest's code their places in the memory that the launch asks for."""
    if not result.launched:
        return
    _, offset = _taken(result.nest.construct)
    for op in threads.walk():
        if isinstance(op, SharedTileOp):
            op.attributes[DYNAMIC] = IntegerAttr(offset, i64)
            offset += _aligned(op.bytes.value.data)
