"""
The shape of a thread block: the vector length and number of workers with which a kernel is launched.

Vector length and number of workers are requests (OpenACC 3.4, 2.5.10 and 2.5.11). The lowering
relies on this shape, so that every warp belongs to one worker or is divided evenly among workers:

- the vector length is 1, 2, 4, 8, 16 or a multiple of 32;
- the number of threads is a power of two up to 32 or a multiple of 32;
- at most 1024 threads, and at most 15 workers where workers of more than a warp synchronise (PTX has
  16 named barriers, and barrier 0 is that of the block).
"""

from __future__ import annotations

from dataclasses import dataclass

from .device import MAX_THREADS, WARP

MAX_SYNCHRONISING_WORKERS = 15


@dataclass(frozen=True, slots=True)
class BlockShape:
    """
    `lanes` × `workers` threads; None is a value known only at run time; `lanes` is then a multiple of the
    warp size. `at_least_requested` is false when a request may have been cut down, so that an iteration
    space the request covers may not be covered.
    """

    lanes: int | None
    workers: int | None
    at_least_requested: bool = True

    @property
    def threads(self) -> int | None:
        """Threads per block, if known."""
        if self.lanes is None or self.workers is None:
            return None
        return self.lanes * self.workers


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


def round_lanes(lanes: int) -> int:
    """The vector length used for a request of `lanes`: the next legal one, at most 1024."""
    if lanes <= WARP:
        return _power_of_two(max(lanes, 1))
    return min(-(-lanes // WARP) * WARP, MAX_THREADS)


def choose_block_shape(
    lanes: int | None, workers: int | None, *, workers_synchronise: bool
) -> BlockShape:
    """The shape for the requested sizes (None: known only at run time)."""
    if lanes is None:
        return BlockShape(None, 1 if workers == 1 else None, workers == 1)
    used_lanes = round_lanes(lanes)
    if workers is None:
        return BlockShape(used_lanes, None, False)
    used = max(workers, 1)
    if used_lanes < WARP:
        total = used * used_lanes
        total = _power_of_two(total) if total <= WARP else -(-total // WARP) * WARP
        used = total // used_lanes
    used = min(used, MAX_THREADS // used_lanes)
    if used_lanes > WARP and workers_synchronise:
        used = min(used, MAX_SYNCHRONISING_WORKERS)
    return BlockShape(used_lanes, used, used >= workers and used_lanes >= lanes)
