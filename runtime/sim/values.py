"""
Values of many threads at once, which are split and merged with the threads in control flow.

A value of the IR is one NumPy scalar where all threads agree, and an array with one element per *active*
thread where they do not. Inactive threads have no elements: a branch that some threads do not take runs on
shorter arrays (`take`), and where branches join `merge` puts the elements back in order. So only values
that the GPU would compute are computed, and memory accesses need no mask. Values of aggregate type are
tuples of values.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Value: TypeAlias = Any
"""A NumPy scalar, an array with an element per active thread, or a tuple of values."""

Positions: TypeAlias = Array | None
"""Indices into the active threads of an enclosing set; None means all of them."""

ndarray = np.ndarray


class Threads:
    """
    The active threads at a place in the code: `ids` are their numbers within the batch in ascending order,
    None if all `n` threads of the batch are active.
    """

    __slots__ = ("_lanes", "_stamp", "_stamp_time", "_warps", "batch", "ids", "n")

    def __init__(self, batch: Batch, ids: Array | None, n: int):
        self.batch = batch
        self.ids = ids
        self.n = n
        self._stamp: Array | None = None
        self._stamp_time = -1
        self._warps: int = -1
        self._lanes: Array | None = None

    def sub(self, positions: Positions) -> Threads:
        """The threads at these positions."""
        if positions is None:
            return self
        ids = positions if self.ids is None else self.ids[positions]
        return Threads(self.batch, ids, len(positions))

    @property
    def all_ids(self) -> Array:
        """The numbers of the threads within the batch, always as an array."""
        return self.batch.ids if self.ids is None else self.ids

    @property
    def blocks(self) -> Array:
        """The number within the batch of each thread's block."""
        blocks = self.batch.block_of
        return blocks if self.ids is None else blocks[self.ids]

    @property
    def warps_of(self) -> Array:
        """The number within the batch of each thread's warp."""
        warps = self.batch.warp_of
        return warps if self.ids is None else warps[self.ids]

    @property
    def warps(self) -> int:
        """The number of warps with an active thread."""
        if self._warps < 0:
            if self.ids is None:
                self._warps = self.batch.warps
            else:
                own = self.warps_of
                self._warps = int(np.count_nonzero(np.diff(own))) + 1 if self.n else 0
        return self._warps

    def in_launch(self, position: int) -> int:
        """The number within the launch of the thread at a position."""
        return int(self.all_ids[position]) + self.batch.first_thread

    def of_batch(self, values: Value) -> Value:
        """The elements of these threads of a value known for the whole batch."""
        return take(self.ids, values)

    def stamp(self, base: int, time: int) -> Array:
        """The stamps of these threads for shadow memory (`races.py`) at a time of a launch."""
        key = base | time << 33
        if self._stamp is None or self._stamp_time != key:
            self._stamp = self.all_ids + (key + self.batch.first_thread)
            self._stamp_time = key
        return self._stamp


WARP = 32
"""The threads of a warp."""


class Batch:
    """
    Blocks `first_block` … `first_block + blocks` of a launch, run together. Threads are numbered
    through them, x fastest, as warps are formed (CUDA C++ Programming Guide, "SIMT Architecture").
    """

    def __init__(self, grid: tuple[int, int, int], block: tuple[int, int, int], blocks: int):
        self.grid = grid
        self.block = block
        self.blocks = blocks
        self.block_threads = block[0] * block[1] * block[2]
        self.threads = blocks * self.block_threads
        self.block_warps = -(-self.block_threads // WARP)
        self.warps = blocks * self.block_warps
        self.ids = np.arange(self.threads, dtype=np.int64)
        self.block_of, self.thread = np.divmod(self.ids, self.block_threads)
        self.warp_of = self.block_of * self.block_warps + self.thread // WARP
        self.lane = (self.thread % WARP).astype(np.int32)
        self.first_block = 0
        self.first_thread = 0
        self.shuffles: dict[tuple[str, int, int], tuple[Array, Array]] = {}
        """For `warps.py`: the lanes that shuffles of whole batches read."""

    def move_to(self, first_block: int) -> None:
        """Makes this the batch that begins at another block."""
        self.first_block = first_block
        self.first_thread = first_block * self.block_threads

    def thread_id(self, dimension: int) -> Value:
        """`threadIdx` of every thread."""
        return self._coordinate(self.thread, self.block, dimension)

    def block_id(self, dimension: int) -> Value:
        """`blockIdx` of every thread."""
        if self.blocks == 1:
            return self._coordinate(np.int64(self.first_block), self.grid, dimension)
        if self.grid[dimension] == 1:
            return np.int64(0)
        return self._coordinate(self.block_of + self.first_block, self.grid, dimension)

    @staticmethod
    def _coordinate(numbers: Value, sizes: tuple[int, int, int], dimension: int) -> Value:
        """
        A coordinate from numbers that count x fastest. Avoids divisions where possible, as they dominate
        the cost.
        """
        x, y, _ = sizes
        below, size = (1, x, x * y)[dimension], sizes[dimension]
        if size == 1:
            return np.int64(0)
        if below > 1:
            numbers = numbers // below
        return numbers if all(other == 1 for other in sizes[dimension + 1 :]) else numbers % size


def take(positions: Positions, value: Value) -> Value:
    """The elements at these positions."""
    if positions is None:
        return value
    if isinstance(value, ndarray):
        return value[positions]
    if isinstance(value, tuple):
        return tuple(take(positions, part) for part in value)
    return value


def takes(positions: Positions, *values: Value) -> tuple[Value, ...]:
    """`take` of several values."""
    if positions is None:
        return values
    return tuple([v[positions] if isinstance(v, ndarray) else take(positions, v) for v in values])


def split(
    threads: Threads, condition: Value
) -> tuple[Threads | None, Positions, Threads | None, Positions]:
    """
    The threads for which the condition holds and their positions, then the others; None for an empty set.
    """
    if not isinstance(condition, ndarray):
        return (threads, None, None, None) if condition else (None, None, threads, None)
    count = np.count_nonzero(condition)
    if count == threads.n:
        return threads, None, None, None
    if count == 0:
        return None, None, threads, None
    true = np.flatnonzero(condition)
    false = np.flatnonzero(~condition)
    return threads.sub(true), true, threads.sub(false), false


def stay(threads: Threads, condition: Value) -> bool | tuple[Threads, Array, Array]:
    """
    Which threads stay in a loop: True for all, False for none, otherwise the ones that stay, their
    positions, and the positions of those that leave.
    """
    if not isinstance(condition, ndarray):
        return bool(condition)
    count = np.count_nonzero(condition)
    if count == threads.n:
        return True
    if count == 0:
        return False
    staying = np.flatnonzero(condition)
    return threads.sub(staying), staying, np.flatnonzero(~condition)


def _same(a: Value, b: Value) -> bool:
    return a.tobytes() == b.tobytes()


def merge(n: int, p: Positions, a: Value, q: Positions, b: Value) -> Value:
    """The value of `n` threads of which those at `p` have `a`, those at `q` have `b`."""
    if isinstance(a, tuple):
        return tuple(merge(n, p, x, q, y) for x, y in zip(a, b, strict=True))
    if not isinstance(a, ndarray) and not isinstance(b, ndarray) and _same(a, b):
        return a
    out = np.empty(n, a.dtype)
    out[p] = a
    out[q] = b
    return out


def put(n: int, old: Value, positions: Positions, new: Value) -> Value:
    """`old`, of `n` threads, with `new` at these positions; `old` itself is not changed."""
    if positions is None:
        return new
    if isinstance(new, tuple):
        olds = old if isinstance(old, tuple) else (old,) * len(new)
        return tuple(put(n, x, positions, y) for x, y in zip(olds, new, strict=True))
    if old is None:
        out = np.zeros(n, new.dtype)
    elif isinstance(old, ndarray):
        out = old.copy()
    elif not isinstance(new, ndarray) and _same(old, new):
        return old
    else:
        out = np.full(n, old, new.dtype)
    out[positions] = new
    return out


def leave(out: Value, n: int, at: Positions, leaving: Positions, value: Value) -> Value:
    """
    Adds to `out` (of `n` threads; None at first; changed in place) the value of threads that leave
    a loop: `leaving` are positions among those in it, which are at `at` among the `n`.
    """
    if isinstance(value, tuple):
        outs = out if isinstance(out, tuple) else (None,) * len(value)
        return tuple(leave(o, n, at, leaving, v) for o, v in zip(outs, value, strict=True))
    if out is None:
        out = np.empty(n, value.dtype)
    where = at if leaving is None else leaving if at is None else at[leaving]
    out[where] = value[leaving] if leaving is not None and isinstance(value, ndarray) else value
    return out


def compose(outer: Positions, inner: Positions) -> Positions:
    """Positions among the threads at `outer`, as positions among all."""
    if inner is None:
        return outer
    return inner if outer is None else outer[inner]


def starts_of_runs(sorted: Array) -> Array:
    """The indices at which runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate(([True], sorted[1:] != sorted[:-1])))


def spread(n: int, value: Value) -> Array:
    """A value as an array with an element per thread."""
    return value if isinstance(value, ndarray) else np.full(n, value, value.dtype)


class Pending:
    """
    The threads that wait at each block of a control-flow graph, blocks numbered in reverse
    postorder. The lowest block goes first, so threads meet again where their ways join.
    """

    def __init__(self, n: int, blocks: int):
        self.n = n
        self._waiting: list[list[Positions]] = [[] for _ in range(blocks)]
        self.turns = 0

    def add(self, block: int, positions: Positions) -> None:
        """Lets the threads at these positions wait at a block."""
        self._waiting[block].append(positions)

    def next(self) -> tuple[int, Positions]:
        """The lowest block where threads wait and their positions; -1 when none is left."""
        for block, waiting in enumerate(self._waiting):
            if waiting:
                self.turns += 1
                self._waiting[block] = []
                if len(waiting) == 1:
                    return block, waiting[0]
                positions = np.sort(np.concatenate([p for p in waiting if p is not None]))
                return block, None if len(positions) == self.n else positions
        return -1, None
