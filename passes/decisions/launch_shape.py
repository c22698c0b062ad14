"""Launch sizes of a construct: threads per gang, iterations per thread."""

from __future__ import annotations

from dataclasses import dataclass

from .device import MAX_THREADS, MULTIPROCESSORS, WARP
from .loop_tree import LoopNode
from .shared_work import enough_iterations, iterations_side_by_side

STREAM_LANES = 256
COMPUTE_LANES = 128
EXPLICIT_WORKERS = 4
"""The number of workers for a worker loop without num_workers."""
RESIDENT_GANGS = MULTIPROCESSORS * 8
"""A grid that fills a large device once: 8 blocks for each multiprocessor."""
REDUCING_GANGS = MULTIPROCESSORS * 64
"""
The gangs that share a nest of three loops that reduce: so many waves that a partial last one is short, so few
that the last gang adds up their results in a few microseconds.
"""
DEFAULT_GANGS = 1024
"""The number of gangs for a loop whose trip count is known only on the device."""
HOST_GANGS = 256
HOST_REDUCED = 64
"""
The least iterations per gang of CPU threads in a reduction without inner loops, since each gang's partial
result must be combined.
"""
MAX_GANGS = 2**31 - 1
"""The most gangs in one dimension of a launch, in parts if a grid of so many is not possible."""
MAX_GRID = {1: MAX_GANGS, 2: 65535, 3: 65535}


@dataclass(frozen=True)
class Sizes:
    """Sizes the user gave: a number, or None for "not given"; `dynamic` ones are not constant."""

    gangs: bool = False
    workers: int | None = None
    lanes: int | None = None
    dynamic_lanes: bool = False
    single: bool = False
    """1 gang, 1 worker, 1 lane: a serial construct."""

    @property
    def has_narrow_workers(self) -> bool:
        """Whether a gang has several workers, of at most a warp each."""
        return (self.workers or 0) > 1 and self.lanes is not None and self.lanes <= WARP


MOST_ARRAY_BYTES = 32
"""
Iterations with more bytes of arrays, such as the nine populations of a lattice, are not run side by side: the
arrays of several would be in local memory.
"""


def rows_per_gang(chain: list[LoopNode]) -> int:
    """
    The iterations of a tight nest's outermost loop that each gang runs side by side: one if an iteration has
    arrays of which several would not fit into registers, or loops that end by a condition, which several
    would run one after the other.
    """
    outer = chain[0]
    if chain[-1].array_bytes > MOST_ARRAY_BYTES:
        return 1
    if chain[-1].open_ended and not outer.fixed_inner:
        return 1
    if outer.trip is not None and outer.trip < RESIDENT_GANGS:
        return 1
    if chain[-1].streaming:
        return 4
    return 32 if outer.fixed_inner else 8


def inner_lanes(node: LoopNode) -> int:
    """The lanes for an inner loop: one warp if its trip count is known only on the device."""
    return WARP if node.trip is None and not node.host_trip else COMPUTE_LANES


def stream_shape(node: LoopNode) -> tuple[int, int, bool]:
    """The lanes, the elements per thread, and whether to cap the grid, for a gang vector loop."""
    if not node.streaming:
        # shared elements are fetched once for a gang, so large gangs fetch less often
        lanes = STREAM_LANES if node.work.shared_loads and not node.reduction else COMPUTE_LANES
        return lanes, _side_by_side(node), node.reduction
    small = node.trip is not None and node.trip < RESIDENT_GANGS * STREAM_LANES
    if node.reduction:
        elements = 8 if node.contiguous + node.strided <= 1 else 4
        return STREAM_LANES, 1 if small else elements, True
    if small or node.element_bytes > 4 or node.strided > node.contiguous:
        return STREAM_LANES, 1, False
    return STREAM_LANES, 4, False


def _side_by_side(node: LoopNode) -> int:
    """The iterations per thread of a loop whose body has sequential loops."""
    if node.reduction or node.children or node.array_bytes > MOST_ARRAY_BYTES:
        return 1
    count = iterations_side_by_side(node.work)
    while node.trip is not None and count > 1 and node.trip < enough_iterations(count):
        count //= 2
    return count


def row_elements(node: LoopNode) -> int:
    """
    The iterations side by side in each lane of a loop along a row that a gang reduces: 16 bytes of loads in
    flight.
    """
    return 4 if node.element_bytes <= 4 else 2


def fitting_lanes(node: LoopNode, lanes: int) -> int:
    """`lanes`, reduced to the warps that a constant trip count fills."""
    if node.trip is None:
        return lanes
    return max(WARP, min(lanes, -(-node.trip // WARP) * WARP))


def fit_block(workers: int, lanes: int, sizes: Sizes) -> tuple[int, int, str]:
    """
    The workers and lanes within the device's limit of threads, with a note for remarks. The user's sizes
    have priority, and are capped where they exceed the limit.
    """
    note = ""
    if sizes.lanes is not None:
        lanes = sizes.lanes
    if sizes.workers is not None:
        workers = sizes.workers
    if lanes > MAX_THREADS:
        lanes, note = MAX_THREADS, f"; vector_length capped at {MAX_THREADS}"
    if workers * lanes > MAX_THREADS:
        if sizes.workers is None or sizes.lanes is not None:
            capped = max(1, MAX_THREADS // lanes)
            if sizes.workers is not None:
                note += f"; num_workers capped at {capped}"
            workers = capped
        else:
            workers = min(workers, MAX_THREADS)
            lanes = max(1, MAX_THREADS // workers)
    return max(1, workers), max(1, lanes), note
