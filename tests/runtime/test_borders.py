"""
Borders that are computed before their construct. The fake driver does a stream's work as late as it may: a
copy that comes too early copies what was there before.
"""

from __future__ import annotations

import ctypes
import itertools
import random

import numpy as np
import pytest
from accopt.compiler.base.abi import (
    ASYNC_BORDER,
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    BorderArray,
    BorderRow,
    DataFlag,
    DataKind,
)
from accopt.compiler.base.border_times import (
    ADDED,
    LAUNCH,
    MEMORY_BYTES,
    BorderLimits,
    border_limits,
    step_times,
)
from accopt.runtime import borders
from accopt.runtime.borders import rows_that_write
from accopt.runtime.native.borders import FEWEST_INNER
from test_several_gpus import SITES, Gpus, of

ROWS, WIDTH = 34, 6
STENCIL_ARGS = [8, 8, 8, 8, 8, 8]
_SITE = {
    "kind": "parallel loop",
    "file": "g.c",
    "line": 20,
    "kernel": "stencil",
    "arg_bytes": STENCIL_ARGS,
}
MAIN, BORDER = len(SITES), len(SITES) + 1


def stencil(values):
    a, b, lower, low, count, skipped = values
    source, target = (
        np.frombuffer((ctypes.c_int64 * (ROWS * WIDTH)).from_address(x), np.int64).reshape(
            ROWS, WIDTH
        )
        for x in (a, b)
    )
    for t in range(count):
        compute(source, target, lower + t + (skipped if t >= low else 0))


def compute(a, b, i):
    b[i, 1:-1] = (
        3 * a[i, 1:-1] + a[i, :-2] + a[i, 2:] + a[i - 1, 1:-1] + 5 * a[i + 1, 1:-1]
    ) % 1009


class Slabs(Gpus):
    """Grids of `ROWS` rows on each device, and what they should contain."""

    def __init__(self, count=2, *, always=True, real=None):
        super().__init__(count, sites=[*SITES, _SITE, _SITE], real=real)
        self.always = always
        self.fake.kernels["stencil"] = stencil
        self.fake.arguments["stencil"] = len(STENCIL_ARGS)
        self.borders: list[tuple[int, int]] = []
        start = np.arange(ROWS * WIDTH, dtype=np.int64).reshape(ROWS, WIDTH)
        self.grids = [[start * (7 + d + 3 * k) % 1009 for k in range(3)] for d in range(count)]
        self.wanted = [[grid.copy() for grid in grids] for grids in self.grids]
        for device, grids in enumerate(self.grids):
            self.use(device)
            for grid in grids:
                self.data("data_enter", [of(grid, DataKind.COPYIN, DataFlag.DYNAMIC)])

    def step(self, device, source, target, queue, lower=1, upper=ROWS - 1, number=0):
        """A construct, as compiled code performs it."""
        self.use(device)
        records = [of(self.grids[device][k], DataKind.PRESENT) for k in (source, target)]
        self.data("data_enter", records, queue)
        a, b = (r.device for r in records)
        row, last = 8 * WIDTH, 8 * (WIDTH - 1)
        words = [number, queue, lower, upper, 2, int(self.always)]
        words += [a + row * (lower - 1), a + row * (upper + 1), 0, 0]
        words += [b + 8, b + last, row, 1]
        footprint = (ctypes.c_int64 * len(words))(*words)
        at = ctypes.addressof(footprint)
        rows = self.entry("border_begin", ctypes.c_int64, at)
        low, high = rows & 0xFFFFFFFF, rows >> 32
        self.borders.append((low, high))
        trips = upper - lower
        if rows:
            values = (a, b, lower, low, low + high, trips - low - high)
            self.program.launch(BORDER, _wide(values), (1, 1, 1), queue=ASYNC_BORDER)
        values = (a, b, lower, trips, trips, 0)
        self.program.launch(MAIN, _wide(values), (2, 1, 1), queue=queue)
        self.entry("border_end", None, at)
        self.data("data_exit", records, queue)
        for i in range(lower, upper):
            compute(self.wanted[device][source], self.wanted[device][target], i)

    def plain(self, device, grid, queue):
        """A construct on one grid that has no border: its rows are those above."""
        self.use(device)
        r = of(self.grids[device][grid], DataKind.PRESENT)
        self.data("data_enter", [r], queue)
        values = _wide((r.device, r.device, 1, ROWS - 2, ROWS - 2, 0))
        self.program.launch(MAIN, values, (2, 1, 1), queue=queue)
        self.data("data_exit", [r], queue)
        wanted = self.wanted[device][grid]
        for i in range(1, ROWS - 1):
            compute(wanted, wanted, i)

    def entry(self, name, result, *args):
        function = ctypes.CFUNCTYPE(result, ctypes.c_int64)
        found = function(self.program.addresses[f"__accopt_{name}"])(*args)
        self.check()
        return found

    def copy(self, to, origin, queue, count=1):
        """`to` and `origin`: device, grid and row."""
        target, source = (self.grids[d][k][i:] for d, k, i in (to, origin))
        size = 8 * WIDTH * count
        name, more = ("acc_memcpy_d2d_async", (queue,)) if queue >= 0 else ("acc_memcpy_d2d", ())
        self.call(name, target.ctypes.data, source.ctypes.data, size, to[0], origin[0], *more)
        (d, k, i), (e, m, j) = to, origin
        self.wanted[d][k][i : i + count] = self.wanted[e][m][j : j + count]

    def check_all(self):
        for device, grids in enumerate(self.grids):
            self.use(device)
            for grid, wanted in zip(grids, self.wanted[device], strict=True):
                self.data("update", [of(grid, DataKind.UPDATE_SELF)])
                assert (grid == wanted).all(), f"device {device}: rows {_rows(grid != wanted)}"

    def run_lanes(self):
        """Performs the copies now, and only the work that comes before them."""
        for device in (0, 1):
            for way in self.runtime.devices.at(device).device._ways.values():
                self.fake._handles[way.lane().stream].run()

    def undone(self, device, queue):
        """How much work of a queue has not been performed."""
        stream = self.fake._handles[self.runtime.devices.at(device)._queues[queue].stream]
        return len(stream.work) - stream.done


def _rows(differ):
    return np.flatnonzero(differ.any(axis=1)).tolist()


def _wide(values):
    return tuple(map(ctypes.c_int64, values))


@pytest.fixture(params=[2, 1], ids=["", "one GPU"])
def slabs(request):
    slabs = Slabs(real=request.param)
    yield slabs
    slabs.finish(empty=False)


def exchange(slabs, grid, queue):
    slabs.copy((1, grid, 0), (0, grid, ROWS - 2), queue)
    slabs.copy((0, grid, ROWS - 1), (1, grid, 1), queue)


@pytest.mark.parametrize("queue", [1, ASYNC_ON_DEVICE])
@pytest.mark.parametrize("waits", [False, True])
def test_copies_of_border_rows_come_before_the_construct_is_over(slabs, queue, waits):
    """Two grids in turn, as in a Jacobi iteration."""
    copies = queue if queue == 1 and not waits else ASYNC_SYNC
    for turn in range(10):
        for device in (0, 1):
            slabs.step(device, turn % 2, 1 - turn % 2, queue)
        if waits and queue == 1:
            for device in (0, 1):
                slabs.use(device)
                slabs.program.wait(1)
        exchange(slabs, 1 - turn % 2, copies)
    assert slabs.borders[-2:] == [(0, 1), (1, 0)]
    before = slabs.undone(0, queue), slabs.undone(1, queue)
    slabs.run_lanes()
    assert min(before) > 1
    assert slabs.undone(0, queue) and slabs.undone(1, queue), (
        "the copies do not wait for the kernels"
    )
    slabs.check_all()


def test_rows_in_the_middle_are_not_computed_first(slabs):
    for turn in range(6):
        slabs.step(0, turn % 2, 1 - turn % 2, 1)
        slabs.copy((1, 2, 0), (0, 1 - turn % 2, ROWS // 2), 1)
    assert set(slabs.borders) == {(0, 0)}
    slabs.check_all()


def test_a_border_that_no_copy_uses_is_given_up_and_tried_again(slabs):
    for turn in range(140):
        slabs.step(0, 0, 1, 1)
        if turn < 8 or turn > 130:
            slabs.copy((1, 2, 0), (0, 1, 1), 1)
    first, rest, end = slabs.borders[:30], slabs.borders[30:130], slabs.borders[136:]
    assert first.count((1, 0)) == 24 and 0 < rest.count((1, 0)) < 5 and set(end) == {(1, 0)}
    slabs.check_all()


def test_what_the_construct_writes_again_is_not_copied_to_early(slabs):
    """Also where the border has been computed."""
    for turn in range(10):
        grid = 1 - turn % 2
        for device in (0, 1):
            slabs.step(device, turn % 2, grid, 1)
        exchange(slabs, grid, 1)
        slabs.copy((1, grid, 1), (0, 2, 4), 1)
        slabs.copy((0, grid, ROWS - 2), (1, 2, 4), 1)
        slabs.run_lanes()
    assert slabs.borders[-2:] == [(0, 1), (1, 0)]
    slabs.check_all()


def test_work_of_other_queues_is_waited_for(slabs):
    for turn in range(10):
        grid = 1 - turn % 2
        for device in (0, 1):
            slabs.plain(device, 2, 2)
            slabs.step(device, turn % 2, grid, 1)
            slabs.use(device)
            slabs.program.wait(2)
            slabs.program.wait(1)
        exchange(slabs, grid, ASYNC_SYNC)
        slabs.copy((1, 2, 0), (0, 2, 1), ASYNC_SYNC)
        slabs.copy((0, 2, ROWS - 1), (1, 2, 7), ASYNC_SYNC)
        slabs.run_lanes()
    assert slabs.borders[-2:] == [(0, 1), (1, 0)]
    slabs.check_all()


def test_in_place_constructs_have_no_border(slabs):
    for _ in range(6):
        slabs.step(0, 1, 1, 1)
        slabs.copy((1, 2, 0), (0, 1, 1), 1)
    assert set(slabs.borders) == {(0, 0)}


_ACCESSED = 8 * (WIDTH * (2 * ROWS - 2) - 2)
"""The bytes of `Slabs.step`: all of one grid, and of the other without its edges."""
_A_ROW = _ACCESSED // (ROWS - 2)


@pytest.mark.parametrize(
    ("limits", "first"),
    [
        ((_ACCESSED, _ACCESSED, _A_ROW), True),
        ((0, 1 << 40, 1 << 40), True),
        ((_ACCESSED + 1, 1 << 40, 1 << 40), False),
        ((0, _ACCESSED - 1, 1 << 40), False),
        ((0, 1 << 40, _A_ROW - 1), False),
    ],
)
def test_a_border_is_computed_first_where_that_is_expected_to_pay(limits, first, monkeypatch):
    """Native code decides as `why_not` does."""
    asked = []

    def given(copied, devices):
        asked.append((copied, devices))
        return BorderLimits(*limits)

    monkeypatch.setattr(borders, "border_limits", given)
    slabs = Slabs(always=False)
    for turn in range(8):
        for device in (0, 1):
            slabs.step(device, turn % 2, 1 - turn % 2, 1)
        exchange(slabs, 1 - turn % 2, 1)
    assert slabs.borders[-2:] == ([(0, 1), (1, 0)] if first else [(0, 0), (0, 0)])
    assert set(asked) == {(8 * WIDTH, 2)}
    for device in (0, 1):
        native = slabs.runtime.state(device).borders.native
        arrays = list(native.arrays[: native.row.count])
        assert borders.accessed_bytes(native.row, arrays) == _ACCESSED
        assert (borders.why_not(native.row, arrays, native.wishes[0], 2) is None) == first
    slabs.run_lanes()
    slabs.check_all()
    slabs.finish(empty=False)


def test_the_limits_are_where_the_times_cross():
    """A border within the limits saves time; at their ends it saves nothing, or a hundredth."""
    sizes = (0, 8, 4096, 65536, 1 << 20, 1 << 26)
    for copied, devices in itertools.product(sizes, (1, 2, 4, 8)):
        limits = border_limits(copied, devices)
        assert limits.least < limits.most
        for construct in np.geomspace(limits.least, limits.most, 40).astype(np.int64).tolist():
            for part in (0, limits.border // 2, limits.border - 9, limits.border + 9):
                border = min(part, construct // FEWEST_INNER)
                without, first = step_times(construct, border, copied)
                kernel = construct / MEMORY_BYTES
                if limits.why_not(construct, border) is None:
                    assert first <= without
                elif border == part and kernel > LAUNCH + without - kernel:
                    assert first >= without - 1e-3, "the border takes too long"
        longest = step_times(limits.most, 0, copied)
        assert (longest[0] - longest[1] + ADDED) / (limits.most / MEMORY_BYTES) == pytest.approx(
            0.01
        )
    assert "too little to hide a copy" in (border_limits(0, 1).why_not(4096**2, 8) or "")
    assert "less than 1%" in (border_limits(8, 2).why_not(1 << 40, 8) or "")
    assert "longer than a copy" in (border_limits(8, 2).why_not(1 << 29, 1 << 28) or "")


EDGES = [0, 1, 2, ROWS - 3, ROWS - 2, ROWS - 1]
BOUNDS = [(1, ROWS - 1), (1, ROWS - 1), (2, ROWS - 2), (5, 9)]


def some_operations(slabs, chance):
    """
    Operations on both devices without races: all on one queue, or the copies synchronous after waits for it.
    """
    queue = chance.choice([1, 1, ASYNC_ON_DEVICE])
    copies = ASYNC_SYNC if queue != 1 or chance.random() < 0.5 else queue

    def step(device, source, target, lower, upper, number):
        return lambda: slabs.step(device, source, target, queue, lower, upper, number)

    def plain(device, grid):
        return lambda: slabs.plain(device, grid, queue)

    def wait(device):
        return lambda: (slabs.use(device), slabs.program.wait(1))

    def copy(to, origin):
        return lambda: slabs.copy(to, origin, copies)

    found = []
    for _ in range(chance.randrange(1, 4)):
        for _ in range(chance.randrange(1, 4)):
            source, target = chance.sample(range(3), 2)
            bounds, number = chance.choice(BOUNDS), chance.randrange(3)
            found.append(step(chance.randrange(2), source, target, *bounds, number))
            if chance.random() < 0.2:
                found.append(plain(chance.randrange(2), chance.randrange(3)))
        if queue == 1 and copies == ASYNC_SYNC:
            found += [wait(0), wait(1)]
        for _ in range(chance.randrange(1, 4)):
            origin = chance.randrange(2)
            to = 1 - origin if chance.random() < 0.8 else origin
            rows = [chance.choice(EDGES) for _ in range(2)]
            grids = [chance.randrange(3) for _ in range(2)]
            if (to, grids[0]) != (origin, grids[1]):
                found.append(copy((to, grids[0], rows[0]), (origin, grids[1], rows[1])))
    return found


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(3)
def test_any_sequence_that_repeats(seed):
    """Once copies are known, those that may come early are performed before anything else."""
    chance = random.Random(seed)
    slabs = Slabs(real=1 if seed % 4 == 3 else None)
    operations = some_operations(slabs, chance)
    for _ in range(7):
        for operation in operations:
            operation()
            if chance.random() < 0.3:
                slabs.run_lanes()
    slabs.run_lanes()
    slabs.check_all()
    slabs.finish(empty=False)


def _found(slope, first, last, lower, upper, memory):
    row = BorderRow(lower=lower, upper=upper, count=1)
    return rows_that_write(row, [BorderArray(first, last, slope, 1)], memory)


@pytest.mark.parametrize("slope", [-12, -5, 5, 12, 40])
def test_rows_that_write_are_those_whose_memory_meets(slope):
    first, last, lower, upper = 1000, 1008, -3, 9
    for begin in range(500, 1600, 3):
        memory = begin, begin + 11
        expected = [
            i
            for i in range(lower, upper)
            if first + slope * i < memory[1] and memory[0] < last + slope * i
        ]
        found = _found(slope, first, last, lower, upper, memory)
        assert found == ((expected[0], expected[-1]) if expected else None)
