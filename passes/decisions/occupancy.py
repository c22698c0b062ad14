"""
Occupancy: the threads of a kernel that are resident on a multiprocessor, from its registers and shared
memory (CUDA C++ Programming Guide, compute capabilities, technical specifications).
"""

from __future__ import annotations

from dataclasses import dataclass

_WARP = 32
_REGISTERS = 65536
_REGISTER_UNIT = 256
"""The unit, in registers, of allocation to a warp."""
_WARP_UNIT = 4
"""The warp schedulers of a multiprocessor, each with an equal part of the registers."""
_SHARED_UNIT = 128


@dataclass(frozen=True)
class Multiprocessor:
    """
    Limits of a multiprocessor: threads, blocks, bytes of shared memory, and bytes reserved for each block.
    """

    threads: int
    blocks: int
    shared: int
    reserved: int = 1024


_MULTIPROCESSORS = {
    70: Multiprocessor(2048, 32, 96 * 1024, 0),
    72: Multiprocessor(2048, 32, 96 * 1024, 0),
    75: Multiprocessor(1024, 16, 64 * 1024, 0),
    80: Multiprocessor(2048, 32, 164 * 1024),
    86: Multiprocessor(1536, 16, 100 * 1024),
    87: Multiprocessor(1536, 16, 164 * 1024),
    89: Multiprocessor(1536, 24, 100 * 1024),
    90: Multiprocessor(2048, 32, 228 * 1024),
    100: Multiprocessor(2048, 32, 228 * 1024),
    103: Multiprocessor(2048, 32, 228 * 1024),
    120: Multiprocessor(1536, 24, 100 * 1024),
    121: Multiprocessor(1536, 24, 100 * 1024),
}


@dataclass(frozen=True)
class Occupancy:
    """
    The thread blocks resident together, the fraction of the threads they fill, and the resource that limits
    them.
    """

    blocks: int
    share: float
    limit: str


def multiprocessor(sm: int) -> Multiprocessor:
    """The limits of compute capability `sm` (90 for 9.0), or of the newest one before it."""
    older = [known for known in _MULTIPROCESSORS if known <= sm]
    return _MULTIPROCESSORS[max(older, default=min(_MULTIPROCESSORS))]


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(sm: int, *, threads: int, registers: int, shared: int) -> Occupancy:
    """
    The occupancy of a kernel with `threads` per block, `registers` per thread and `shared` bytes per block;
    0 blocks if one block exceeds a limit.
    """
    limits = multiprocessor(sm)
    warps = -(-threads // _WARP)
    room = {"threads": limits.threads // (warps * _WARP), "blocks": limits.blocks}
    if registers:
        of_warp = _round_up(registers * _WARP, _REGISTER_UNIT)
        resident = _REGISTERS // of_warp // _WARP_UNIT * _WARP_UNIT
        room["registers"] = resident // warps
    if shared:
        of_block = _round_up(shared + limits.reserved, _SHARED_UNIT)
        room["shared memory"] = limits.shared // of_block
    limit = min(room, key=lambda name: room[name])
    return Occupancy(room[limit], room[limit] * warps * _WARP / limits.threads, limit)
