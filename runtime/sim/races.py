"""
Data races: accesses of different threads to one place, at least one a write and not both atomic,
that nothing orders.

For every 4 bytes the shadow remembers the last write and the last read as one number: launch (10 bits),
time (20 bits), a flag, thread of the launch (32 bits, after one bit that means "atomic" for a write and
"several threads" for a read). Time advances at every synchronisation. Two accesses are ordered if they are
by one thread, or a barrier of their block or a synchronisation of their warp lies between, or the first
one's block released it (fence, then atomic) before the second one's acquired (atomic, then fence), as the
last block of a reduction over the grid does.

Accesses of less than 4 bytes are recorded byte by byte in a shadow of their own; each kind is also compared
with the other's shadow. Not detected are conflicts between the second half of an 8-byte access and a narrow
one, and conflicts of narrow accesses whose threads access different arrays at one place in the program. Two
writes of the same value are not a race here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .values import WARP, Array, Threads, Value, ndarray

if TYPE_CHECKING:
    from .values import Batch

LAUNCH_SHIFT = 53
TIME_SHIFT = 33
TIME_MASK = (1 << 20) - 1
FLAG = 1 << 32
THREAD_MASK = FLAG - 1
LAST_LAUNCH = (1 << 10) - 1


class Clock:
    """The times at which the blocks and warps of a launch last synchronised and released their writes to
    others."""

    def __init__(self, grid_blocks: int, batch: Batch):
        self.now = 1
        self.base = 0
        self.batch = batch
        self.released = np.full(grid_blocks, -1, np.int64)
        self.released_at = np.full(grid_blocks, -1, np.int64)
        self.acquired_at = np.full(grid_blocks, -1, np.int64)
        self._fenced = np.full(grid_blocks, -1, np.int64)
        self._atomic_at = np.full(grid_blocks, -1, np.int64)
        self.synced = 0
        """The time at which all blocks last passed a barrier together."""
        self.block_sync = np.zeros(batch.blocks, np.int64)
        self.warp_sync = np.zeros(batch.warps, np.int64)

    def follow(self, other: Clock) -> None:
        """Continues the clock of another batch size of the same launch."""
        self.now, self.base = other.now, other.base
        self.released, self.released_at = other.released, other.released_at
        self.acquired_at = other.acquired_at
        self._fenced, self._atomic_at = other._fenced, other._atomic_at

    def next_batch(self) -> None:
        """Resets the synchronisations for the blocks of the next batch."""
        self.synced = 0
        self.block_sync[:] = 0
        self.warp_sync[:] = 0

    def oldest(self, shared: bool) -> int:
        """
        The smallest stamp that matters: smaller ones are from other launches, or for shared memory from
        before a barrier that all blocks passed.
        """
        return self.base + (self.synced << TIME_SHIFT) if shared else self.base

    def barrier(self, threads: Threads) -> None:
        """Records that the active blocks pass a barrier."""
        self.now += 1
        if threads.ids is None:
            self.block_sync[:] = self.now
            self.synced = self.now
        else:
            self.block_sync[threads.blocks] = self.now

    def warp_barrier(self, threads: Threads) -> None:
        """Records that the active warps synchronise."""
        self.now += 1
        self.warp_sync[threads.warps_of] = self.now

    def fence(self, threads: Threads) -> None:
        """Records a fence of the active threads for the whole device."""
        blocks = np.unique(threads.blocks) + self.batch.first_block
        self._fenced[blocks] = self.now
        self.acquired_at[blocks] = self._atomic_at[blocks]
        self.now += 1

    def atomic(self, threads: Threads) -> None:
        """Records an atomic access of the active threads to global memory."""
        blocks = threads.blocks + self.batch.first_block
        self._atomic_at[blocks] = self.now
        fenced = self._fenced[blocks]
        self.released[blocks] = fenced
        self.released_at[blocks] = np.where(fenced >= 0, self.now, -1)

    def unordered(self, threads: Threads, before: Array, per_block: bool) -> Array:
        """Which accesses in the shadow are not ordered before an access by these threads now."""
        size = self.batch.block_threads
        other = before & THREAD_MASK
        time = before >> TIME_SHIFT & TIME_MASK
        # stamps of an earlier, larger launch may exceed the range; the caller ignores those
        other_block = np.minimum(other // size, len(self.released) - 1)
        own = threads.blocks
        own_block = own + self.batch.first_block
        same_block = other_block == own_block
        ordered = same_block & (time < self.block_sync[own])
        if self.warp_sync.any():
            lane_block = self.batch.block_warps
            other_warp = (other_block - self.batch.first_block) * lane_block + (
                other % size
            ) // WARP
            warps = threads.warps_of
            ordered |= (other_warp == warps) & (time < self.warp_sync[warps])
        if not per_block:
            ordered |= (
                ~same_block
                & (time <= self.released[other_block])
                & (self.released_at[other_block] <= self.acquired_at[own_block])
            )
        return ~ordered


def conflict_of_read(
    clock: Clock,
    threads: Threads,
    words: Value,
    writer: Array,
    reader: Array,
    *,
    shared: bool,
    atomic: bool,
    note: bool = True,
) -> tuple[int, int] | None:
    """
    Records a read (if `note`), and searches for a write that races with it: returns the position of the
    active thread and the other thread's number in the launch. Atomic reads are not recorded.
    """
    stamp = threads.stamp(clock.base, clock.now)
    before = writer[words]
    racing = _racing(clock, threads, before, stamp, shared=shared, with_updates=not atomic)
    found = None if racing is None else _first(racing, before)
    if atomic or not note:
        return found
    _note_read(clock, threads, words, stamp, reader, shared)
    return found


def _racing(
    clock: Clock,
    threads: Threads,
    before: Value,
    stamp: Array,
    *,
    shared: bool,
    with_updates: bool,
    several: bool = False,
) -> Array | None:
    """
    By active thread: whether its access, with this stamp, races with the one recorded in `before`; None if
    none does. `FLAG` in a record means an atomic update, which counts `with_updates`, or with `several` that
    other threads than the recorded one have read, too.
    """
    recent = before >= clock.oldest(shared)
    if not np.any(recent):
        return None
    before = np.broadcast_to(before, stamp.shape)
    racing = recent & (before & THREAD_MASK != stamp & THREAD_MASK)
    if several:
        racing |= recent & (before & FLAG != 0)
    elif not with_updates:
        racing &= before & FLAG == 0
    if not racing.any():
        return None
    racing &= clock.unordered(threads, before, shared)
    return racing if racing.any() else None


def _first(racing: Array, before: Value) -> tuple[int, int]:
    """The position of the first thread that races, and the number of the thread recorded in `before`."""
    at = int(np.argmax(racing))
    return at, int(np.broadcast_to(before, racing.shape)[at] & THREAD_MASK)


def _note_read(
    clock: Clock, threads: Threads, words: Value, stamp: Array, reader: Array, shared: bool
) -> None:
    size = clock.batch.block_threads
    oldest = clock.oldest(shared)
    if not isinstance(words, ndarray):
        several = len(stamp) > 1
        before = int(reader[words])
        own = int(stamp[0])
        another = before & THREAD_MASK != own & THREAD_MASK or before & FLAG
        if before >= oldest and another:
            earlier = np.full(len(stamp), before, np.int64)
            several = several or bool(clock.unordered(threads, earlier, shared).any())
        last = int(stamp[-1])
        blocks = (last & THREAD_MASK) // size != (own & THREAD_MASK) // size
        reader[words] = (last if blocks else own) | (FLAG if several else 0)
        return
    before = reader[words]
    new = stamp
    recent = before >= oldest
    if recent.any():
        old = recent & ((before & THREAD_MASK != stamp & THREAD_MASK) | (before & FLAG != 0))
        if old.any():
            old &= clock.unordered(threads, before, shared)
            new = np.where(old, stamp | FLAG, stamp)
    reader[words] = new
    after = reader[words]
    crowded = after & THREAD_MASK != stamp & THREAD_MASK
    if crowded.any():
        reader[words[crowded]] = after[crowded] | FLAG


def conflict_of_write(
    clock: Clock,
    threads: Threads,
    words: Value,
    writer: Array,
    reader: Array,
    *,
    shared: bool,
    atomic: bool,
    same: Any,
    note: bool = True,
) -> tuple[int, int, str] | None:
    """
    Records a write (if `note`), and searches for a read or write that races with it. `same()` returns the
    positions at which the memory already holds the value to be written.
    """
    stamp = threads.stamp(clock.base, clock.now)
    found = None
    for shadow, what in ((writer, "write"), (reader, "read")):
        before = shadow[words]
        read = what == "read"
        racing = _racing(
            clock,
            threads,
            before,
            stamp,
            shared=shared,
            with_updates=read or not atomic,
            several=read,
        )
        if racing is not None and not atomic:
            racing &= ~same()
        if racing is not None and racing.any():
            found = *_first(racing, before), what
    if not note:
        return found
    if isinstance(words, ndarray):
        writer[words] = stamp | FLAG if atomic else stamp
    else:
        writer[words] = int(stamp[-1]) | (FLAG if atomic else 0)
    return found
