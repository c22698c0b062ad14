"""Mean trip counts read from device memory."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, cast

from accopt.runtime.device import Strips
from accopt.runtime.mean_trips import MOST_ANSWERS, MOST_SAMPLES, UNKNOWN, MeanTrips, sampled_rows


class _Queue:
    def wait(self) -> None:
        pass


@dataclass
class _Device:
    """Device memory that is host memory; counts what is read."""

    reads: int = 0

    def copy_out(self, host: int, device: int, strips: Strips, queue: _Queue) -> None:
        self.reads += 1
        ctypes.memmove(host, device, strips.width)


@dataclass
class _Entry:
    device: int
    device_bytes: int


@dataclass
class _Table:
    """A present table with at most one entry."""

    entry: _Entry | None = None

    def by_device_address(self, address: int) -> _Entry | None:
        found = self.entry
        inside = found is not None and 0 <= address - found.device < found.device_bytes
        return found if inside else None


@dataclass
class _State:
    number: int = 0
    device: _Device = field(default_factory=_Device)
    sync_queue: _Queue = field(default_factory=_Queue)
    table: _Table = field(default_factory=_Table)
    waits: int = 0

    def wait_all(self) -> None:
        self.waits += 1


def _mean(trips: MeanTrips, state: _State, *args: int) -> int:
    return trips.mean(cast(Any, state), *args)


def test_offsets_take_two_reads_once():
    trips, state = MeanTrips(), _State()
    offsets = (ctypes.c_int32 * 5)(10, 20, 20, 47, 50)
    base = ctypes.addressof(offsets)
    assert _mean(trips, state, base, base + 4, 4, 4, 4) == 10
    assert (state.device.reads, state.waits) == (2, 1)
    offsets[4] = 10_000
    assert _mean(trips, state, base, base + 4, 4, 4, 4) == 10
    assert (state.device.reads, state.waits) == (2, 1)


def test_pairs_of_arrays_and_counts_are_sampled():
    trips, state = MeanTrips(), _State()
    rows = 1000
    low = (ctypes.c_int64 * rows)(*range(rows))
    high = (ctypes.c_int64 * rows)(*(i + 30 for i in range(rows)))
    start, end = ctypes.addressof(low), ctypes.addressof(high)
    assert _mean(trips, state, start, end, rows, 8, 8) == 30
    assert state.device.reads == 2 * MOST_SAMPLES
    counts = (ctypes.c_int32 * 3)(1, 2, 5)
    assert _mean(trips, state, 0, ctypes.addressof(counts), 3, 4, 4) == 3


def test_empty_rows_and_negative_lengths_count_nothing():
    trips, state = MeanTrips(), _State()
    assert _mean(trips, state, 8, 12, 0, 4, 4) == 0
    assert state.device.reads == 0
    down = (ctypes.c_int32 * 3)(50, 20, 0)
    base = ctypes.addressof(down)
    assert _mean(trips, state, base, base + 4, 2, 4, 4) == 0


def test_samples_are_rows_that_exist():
    for rows in (1, 2, 15, 16, 17, 1000):
        sample = sampled_rows(rows)
        assert len(set(sample)) == min(rows, MOST_SAMPLES)
        assert all(0 <= row < rows for row in sample)


def test_answers_do_not_grow_without_end():
    trips, state = MeanTrips(), _State()
    for number in range(MOST_ANSWERS + 10):
        _mean(trips, state, number, 0, 0, 4, 4)
    assert len(trips._answers) <= MOST_ANSWERS  # pyright: ignore[reportPrivateUsage]


def test_bounds_beyond_the_mapped_part_of_an_array_are_not_read():
    offsets = (ctypes.c_int32 * 5)(10, 20, 20, 47, 50)
    base = ctypes.addressof(offsets)
    for start, size, mean in ((0, 20, 10), (0, 16, UNKNOWN), (4, 16, UNKNOWN), (-8, 40, 10)):
        trips, state = MeanTrips(), _State(table=_Table(_Entry(base + start, size)))
        assert _mean(trips, state, base, base + 4, 4, 4, 4) == mean
        assert state.device.reads == (0 if mean == UNKNOWN else 2)
