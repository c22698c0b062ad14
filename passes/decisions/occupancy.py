"""
Occupancy: the threads of a kernel that are resident on a multiprocessor, from its registers and shared
memory (CUDA C++ Programming Guide, compute capabilities, technical specifications).
"""

from __future__ import annotations

from dataclasses import dataclass

from .device import WARP, multiprocessor

_REGISTERS = 65536
_REGISTER_UNIT = 256
"""The unit, in registers, of allocation to a warp."""
_WARP_UNIT = 4
"""The warp schedulers of a multiprocessor, each with an equal part of the registers."""
_SHARED_UNIT = 128


@dataclass(frozen=True)
class Occupancy:
    """
    The thread blocks resident together, the fraction of the threads they fill, and the resource that limits
    them.
    """

    blocks: int
    share: float
    limit: str


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(sm: int, *, threads: int, registers: int, shared: int) -> Occupancy:
    """
    The occupancy of a kernel with `threads` per block, `registers` per thread and `shared` bytes per block;
    0 blocks if one block exceeds a limit.
    """
    limits = multiprocessor(sm)
    warps = -(-threads // WARP)
    room = {"threads": limits.threads // (warps * WARP), "blocks": limits.blocks}
    if registers:
        of_warp = _round_up(registers * WARP, _REGISTER_UNIT)
        resident = _REGISTERS // of_warp // _WARP_UNIT * _WARP_UNIT
        room["registers"] = resident // warps
    if shared:
        of_block = _round_up(shared + limits.reserved, _SHARED_UNIT)
        room["shared memory"] = limits.shared // of_block
    limit = min(room, key=lambda name: room[name])
    return Occupancy(room[limit], room[limit] * warps * WARP / limits.threads, limit)
