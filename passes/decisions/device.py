"""
Numbers of GPUs that decisions rest on (CUDA C++ Programming Guide, compute capabilities, technical
specifications).
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
MAX_THREADS = 1024
"""The most threads of a block."""
MULTIPROCESSORS = 132
"""The multiprocessors of a large device (H200)."""
WIDE_BYTES = 16
"""The most bytes that one instruction of a thread loads or stores."""


@dataclass(frozen=True)
class Multiprocessor:
    """
    Limits of a multiprocessor: threads, blocks, bytes of shared memory, and bytes reserved for each block.
    """

    threads: int
    blocks: int
    shared: int
    reserved: int = 1024


_LIMITS = {
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
OLDEST = min(_LIMITS)
"""The oldest compute capability whose limits are known."""


def multiprocessor(sm: int) -> Multiprocessor:
    """The limits of compute capability `sm` (90 for 9.0), or of the newest one before it."""
    older = [known for known in _LIMITS if known <= sm]
    return _LIMITS[max(older, default=OLDEST)]
