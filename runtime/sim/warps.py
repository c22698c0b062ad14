"""
Operations among the lanes of a warp: shuffles, votes, reductions, products of matrices (PTX ISA 9.7.9.6,
9.7.13, 9.7.14.5).

Reading a lane that does not take part in the operation is a fault, as its value would be undefined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arithmetic import popcount
from .findings import FaultKind
from .mathlib import fma
from .values import WARP, Array, Threads, Value, ndarray, spread

if TYPE_CHECKING:
    from .access import SourcePlace
    from .access_faults import AccessFaults
    from .values import Batch


class Warps:
    """Warp operations of one batch."""

    def __init__(self, batch: Batch, faults: AccessFaults):
        self._batch = batch
        self._faults = faults

    def shuffle(
        self,
        threads: Threads,
        place: SourcePlace,
        kind: str,
        mask: Value,
        value: Value,
        offset: Value,
        clamp: Value,
    ) -> tuple[Value, Value]:
        """The value of another lane, and whether that lane was in the segment."""
        fixed = not isinstance(offset, ndarray) and not isinstance(clamp, ndarray)
        if threads.ids is None and fixed:
            key = (kind, int(offset), int(clamp))
            known = self._batch.shuffles.get(key)
            if known is None:
                known = self._source(threads, place, kind, offset, clamp)
                self._batch.shuffles[key] = known
        else:
            known = self._source(threads, place, kind, offset, clamp)
        positions, valid = known
        return (value[positions] if isinstance(value, ndarray) else value), valid

    def _source(
        self, threads: Threads, place: SourcePlace, kind: str, offset: Value, clamp: Value
    ) -> tuple[Array, Array]:
        """The position of the thread each one reads, and whether it is in the segment."""
        lane = threads.of_batch(self._batch.lane)
        segment = (clamp >> np.int32(8)) & np.int32(31)
        bound = clamp & np.int32(31)
        offset = offset & np.int32(31)
        low = lane & segment
        high = low | (bound & ~segment)
        match kind:
            case "bfly":
                source = lane ^ offset
                valid = source <= high
            case "down":
                source = lane + offset
                valid = source <= high
            case "up":
                source = lane - offset
                valid = source >= high
            case _:
                source = low | (offset & ~segment)
                valid = source <= high
        source = np.where(valid, source, lane)
        positions = self._positions(threads, place, source, lane)
        return positions, np.broadcast_to(valid, (threads.n,))

    def _positions(self, threads: Threads, place: SourcePlace, source: Array, lane: Array) -> Array:
        """The position among the active threads of lane `source` of each thread's warp."""
        target = threads.all_ids + (source - lane)
        batch = self._batch
        if batch.block_threads % WARP:
            inside = threads.of_batch(batch.thread) + (source - lane) < batch.block_threads
            target = np.where(inside, target, threads.all_ids)
        if threads.ids is None:
            return target
        positions = np.searchsorted(threads.ids, target)
        positions = np.minimum(positions, threads.n - 1)
        missing = threads.ids[positions] != target
        if missing.any():
            at = int(np.argmax(missing))
            self._faults.add(
                FaultKind.DIVERGENT_SHUFFLE,
                "the operation reads a lane that does not take part in it",
                place,
                threads.in_launch(at),
                int(target[at]) + batch.first_thread,
            )
        return positions

    def ballot(self, threads: Threads, predicate: Value) -> Value:
        """A bit for every lane of the warp whose predicate holds."""
        flags = spread(threads.n, predicate)
        lanes = threads.of_batch(self._batch.lane)
        bits = np.zeros(self._batch.warps, np.uint32)
        warps = threads.warps_of
        np.bitwise_or.at(bits, warps, flags.astype(np.uint32) << lanes.astype(np.uint32))
        return bits[warps].view(np.int32)

    def vote(self, threads: Threads, kind: str, mask: Value, predicate: Value) -> Value:
        """`any`, `all`, `uni` or `ballot` of the active lanes that each thread's mask names."""
        ballot = self.ballot(threads, predicate) & mask
        if kind == "ballot":
            return ballot
        if kind == "any":
            return ballot != 0
        active = popcount(self.ballot(threads, np.bool_(True)) & mask)
        count = popcount(ballot)
        return count == active if kind == "all" else (count == active) | (count == 0)

    def reduce(self, threads: Threads, kind: str, value: Value, mask: Value) -> Value:
        """`redux.sync`: the reduction over the active lanes that each thread's mask names."""
        values = spread(threads.n, value)
        unsigned = kind in ("umax", "umin")
        if unsigned:
            values = values.view(np.uint32)
        ufunc, start = _REDUCTIONS[kind]
        groups, count = threads.warps_of, self._batch.warps
        if isinstance(mask, ndarray):
            # Lanes of a warp that name one another have one mask.
            own = groups << 32 | mask.view(np.uint32)
            found, groups = np.unique(own, return_inverse=True)
            count = len(found)
        out = np.full(count, start, values.dtype)
        ufunc.at(out, groups, values)
        return out[groups].view(np.int32)

    def matrix_product(
        self,
        threads: Threads,
        place: SourcePlace,
        a: Sequence[Value],
        b: Sequence[Value],
        c: Sequence[Value],
    ) -> tuple[Value, ...]:
        """
        `mma.sync` of doubles (`nvvm.MmaOp`): each lane's part of the product, computed by chains of fused
        multiply-adds in the order of terms.
        """
        left = [spread(threads.n, value) for value in a]
        right = [spread(threads.n, value) for value in b]
        halves = len(c) // 2
        lane = threads.of_batch(self._batch.lane)
        row = lane & ~np.int32(3)
        sums = [spread(threads.n, value) for value in c]
        for term in range(4 * len(b)):
            part, here = divmod(term, 4)
            factors = self._lanes(threads, place, "row", here, row + here)
            for column in range(2):
                other = ((lane & 3) * 2 + column) * 4 + here
                others = self._lanes(threads, place, f"column {column}", here, other)
                for half in range(halves):
                    own = 2 * half + column
                    product = left[part * halves + half][factors], right[part][others]
                    sums[own] = fma(*product, sums[own])
        return tuple(sums)

    def _lanes(
        self, threads: Threads, place: SourcePlace, kind: str, number: int, source: Array
    ) -> Array:
        """The positions of lanes `source`; for whole batches they are remembered by `kind` and `number`."""
        if threads.ids is not None:
            lane = threads.of_batch(self._batch.lane)
            return self._positions(threads, place, source, lane)
        key = (kind, number, 0)
        if key not in self._batch.shuffles:
            positions = self._positions(threads, place, source, self._batch.lane)
            self._batch.shuffles[key] = positions, positions
        return self._batch.shuffles[key][0]


_REDUCTIONS: dict[str, tuple[Any, int]] = {
    "add": (np.add, 0),
    "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
    "max": (np.maximum, -(1 << 31)),
    "min": (np.minimum, (1 << 31) - 1),
    "umax": (np.maximum, 0),
    "umin": (np.minimum, (1 << 32) - 1),
}
