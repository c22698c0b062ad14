"""
Fits the tiles of a nest into the shared memory of a gang. A kernel may declare 48 KiB; more, up to the
GPU's limit, is dynamic shared memory of the launch (`dynamic_shared.py`).
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
from ..ir.ops.layout import size_of
from . import emulated
from .nest import CachedNest
from .plan import NestPlan
from .tiles import ALIGNMENT, Planned, buffer_bytes

RESERVE = 2048
"""The bytes reserved for the exchange of values between threads in reductions."""
MOST_PARTIALS = 32 * 1024
"""The most bytes for the results of a block's threads before they are combined."""
BLOCKS_TOGETHER = 2
"""The thread blocks that should fit on a multiprocessor at the same time, unless the user forces tiles."""


@dataclass(frozen=True)
class Room:
    """The bytes that a nest's tiles may take: declared in the kernel, and dynamic."""

    declared: int
    launched: int


def room_for(nest: CachedNest, threads: int, limit: int, *, always: bool) -> Room:
    """
    The room left by other tiles of the construct and by the reductions of `threads`. `limit`: the GPU's
    limit for a block; `always`: even if only one block then fits on a multiprocessor. Raises `Declined` if
    the reductions take too much.
    """
    declared, launched = _taken(nest.construct)
    reserve = 0
    if nest.reductions:
        partials = sum(size_of(r.type) * threads for r in nest.reductions)
        if partials > MOST_PARTIALS:
            raise Declined(
                f"the reductions of its {threads} threads take {partials} bytes of shared "
                "memory: reduce fewer elements, or update an array atomically"
            )
        reserve = RESERVE + partials
    most = limit if always else limit // BLOCKS_TOGETHER
    free = SHARED_LIMIT - declared - reserve
    return Room(free, most - launched - declared - reserve - RESERVE)


def _taken(construct: Operation) -> tuple[int, int]:
    """The bytes of a construct's tiles: declared, and dynamic."""
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
    """The bytes of shared memory for one directive's tile, with its buffers, mask or tags."""
    if planned.method == "ehc":
        width = size_of(planned.cached.element_type)
        return emulated.bytes_needed(result.sets, result.ways, result.thread_count, width)
    extra = planned.plan.elements if planned.policy == "mask" else 0
    buffers = buffer_bytes(planned.plan) * (2 if planned.ahead else 1)
    return buffers + _aligned(extra) + ALIGNMENT * (planned.communicate + planned.bulk)


def total_bytes(result: NestPlan) -> int:
    """The bytes of shared memory for all tiles of a nest."""
    return sum(bytes_of(result, planned) for planned in result.planned)


def emulated_cache(result: NestPlan, planned: Planned, why: str) -> Planned:
    """
    The directive's plan with an emulated cache instead of a tile. Raises `Declined` if the directive cannot
    have one.
    """
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
    Drops the largest tiles until the others fit, with `emulate` in favour of an emulated cache (which is
    slower than the L1 cache). Raises `Declined` if no tile is left.
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
    """Assigns the tiles in a nest's code their offsets in dynamic shared memory."""
    if not result.launched:
        return
    _, offset = _taken(result.nest.construct)
    for op in threads.walk():
        if isinstance(op, SharedTileOp):
            op.attributes[DYNAMIC] = IntegerAttr(offset, i64)
            offset += _aligned(op.bytes.value.data)
