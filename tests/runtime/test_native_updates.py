"""
Updates that native code makes, and what else a time step with messages does: what comes to Python, and that
all of it is right and in order.
"""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from accopt.compiler.base.abi import (
    ASYNC_NOVAL,
    ASYNC_ON_DEVICE,
    ASYNC_SYNC,
    DataFlag,
    DataKind,
    DeviceType,
)
from accopt.runtime.data.clauses import Request
from accopt.runtime.data_routines import DataRoutines
from accopt.runtime.device import STAGED_BYTES
from accopt.runtime.device_routines import DeviceRoutines
from accopt.runtime.errors import AccRuntimeError
from accopt.runtime.native.updates import MOST
from runtime_harness import DYNAMIC, record
from test_several_gpus import SITES, Gpus, N, of

IN, OUT = DataKind.UPDATE_DEVICE, DataKind.UPDATE_SELF
OPTIONAL = DataFlag.IF_PRESENT


class Updates(Gpus):
    """With a site for updates."""

    def __init__(self, count: int = 1, **options):
        super().__init__(count, sites=[*SITES, {"kind": "update", "vars": ["x"]}], **options)

    def update(self, *records, queue=ASYNC_SYNC) -> list[str]:
        """Which calls came to Python."""
        self.slow.clear()
        self.data("update", records, queue, len(SITES))
        return list(self.slow)

    def there(self, x) -> np.ndarray:
        """The device's copy of an array, as far as it is known now."""
        entry = self.runtime.current.table.at(x.ctypes.data)
        address = entry.device_address(x.ctypes.data)
        return np.ctypeslib.as_array((ctypes.c_float * x.size).from_address(address)).reshape(
            x.shape
        )

    def enter(self, *arrays, kind=DataKind.COPYIN):
        self.data("data_enter", [of(x, kind, DYNAMIC) for x in arrays])

    def leave(self, *arrays):
        self.runtime.settle()
        self.data("data_exit", [of(x, DataKind.DELETE, DYNAMIC) for x in arrays])


@pytest.fixture
def gpus():
    gpus = Updates()
    yield gpus
    gpus.finish()


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def part(x, first, count, kind, flags=0):
    return record(x.ctypes.data, 4 * count, kind, flags, offset=4 * first)


def shaped(x, kind, *triples):
    words = (ctypes.c_int64 * (3 * len(triples)))(*(w for t in triples for w in t))
    first = sum(lower * stride for lower, _, stride in triples)
    last = sum((lower + extent - 1) * stride for lower, extent, stride in triples) + 4
    r = record(x.ctypes.data, last - first, kind, offset=first)
    r.dims, r.shape, r.words = len(triples), ctypes.addressof(words), words
    return r


def test_both_ways_without_python(gpus):
    x, y = floats(N), -floats(N)
    gpus.enter(x, y)
    there = gpus.there(x)
    x[:] = 1
    y[:] = 2
    assert gpus.update(part(x, 3, 4, IN), part(y, 0, 2, IN)) == []
    np.testing.assert_array_equal(there, [*range(3), 1, 1, 1, 1, *range(7, N)])
    there[:] = 5
    gpus.there(y)[:] = 6
    assert gpus.update(part(x, 0, 1, OUT), part(y, N - 1, 1, OUT)) == []
    assert x.tolist() == [5] + [1] * (N - 1) and y.tolist() == [2] * (N - 1) + [6]
    assert gpus.update(part(x, 10, 1, OUT), queue=ASYNC_ON_DEVICE) == []
    assert x[10] == 5
    gpus.leave(x, y)


def test_rows_and_columns_of_an_array(gpus):
    x = floats(8, 16)
    gpus.enter(x)
    there = gpus.there(x)
    x[:] = -1
    expected = floats(8, 16)
    for first, rows in ((0, 1), (3, 2), (7, 1)):
        assert gpus.update(shaped(x, IN, (first, rows, 64), (0, 16, 4))) == []
        expected[first : first + rows] = -1
        np.testing.assert_array_equal(there, expected)
    assert gpus.update(shaped(x, IN, (5, 1, 64), (2, 3, 4))) == []
    expected[5, 2:5] = -1
    gpus.fake.log.clear()
    assert gpus.update(shaped(x, IN, (0, 8, 64), (9, 1, 4))) == []
    expected[:, 9] = -1
    np.testing.assert_array_equal(there, expected)
    copies = [name for name, _ in gpus.fake.log if "Memcpy" in name]
    assert copies == ["cuMemcpy2DAsync_v2"]
    gpus.leave(x)


def _is_rectangle(chosen) -> bool:
    """Whether the chosen elements of an array are runs of one length, at one distance from each other."""
    (places,) = np.nonzero(chosen.ravel())
    starts = [p for p in places if p - 1 not in places]
    widths = {next(n for n in range(1, 999) if p + n not in places) for p in starts}
    return len(widths) == 1 and len(set(np.diff(starts))) <= 1


@pytest.mark.parametrize("kind", [IN, OUT])
@pytest.mark.parametrize("queue", [ASYNC_SYNC, 3])
def test_sections_that_are_one_rectangle_take_no_python(gpus, kind, queue):
    draw, x = random.Random(int(kind)), floats(3, 4, 5)
    gpus.enter(x)
    there = gpus.there(x)
    r = of(x, DataKind.PRESENT)
    for _ in range(3):  # from then on the queue is known
        gpus.data("data_enter", [r], queue)
        gpus.launch(r, x.size, 1.0, queue)
        gpus.data("data_exit", [r], queue)
        gpus.update(of(x, OUT), queue=queue)
    seen = {True: 0, False: 0}
    for turn in range(120):
        bounds = []
        for length in x.shape:
            lower = draw.choice((0, 0, draw.randrange(length)))
            bounds.append(
                (lower, draw.choice((1, length - lower, draw.randint(1, length - lower))))
            )
        chosen = np.zeros(x.shape, bool)
        chosen[tuple(slice(lower, lower + count) for lower, count in bounds)] = True
        x[:] = turn
        gpus.call("acc_wait_all")
        there[:] = -turn
        triples = [(*bound, stride) for bound, stride in zip(bounds, x.strides, strict=True)]
        came = gpus.update(shaped(x, kind, *triples), queue=queue)
        gpus.call("acc_wait_all")
        moved, kept = (x, there) if kind == OUT else (there, x)
        sign = -1 if kind == OUT else 1
        np.testing.assert_array_equal(moved, np.where(chosen, sign * turn, -sign * turn))
        assert (kept == sign * turn).all()
        native = _is_rectangle(chosen)
        assert came == ([] if native else ["update"]), bounds
        seen[native] += 1
    assert min(seen.values()) > 10
    gpus.leave(x)


def test_what_is_not_there(gpus, monkeypatch):
    x, y = floats(N), floats(N)
    assert gpus.update(of(y, IN, OPTIONAL)) == []
    gpus.enter(x)
    assert gpus.update(of(y, IN, OPTIONAL), part(x, 0, 1, IN)) == []
    monkeypatch.setattr(gpus.runtime.entries, "_perform", lambda *_: None)  # which would refuse
    assert gpus.update(of(y, IN)) == ["update"]
    assert gpus.update(part(x, N - 1, 2, IN, OPTIONAL)) == ["update"]
    assert gpus.update(part(x, -1, 2, OUT, OPTIONAL)) == ["update"]
    gpus.runtime.native.forget(gpus.runtime.devices)
    assert gpus.update(of(y, IN, OPTIONAL)) == ["update"], "native code knows of nothing any more"
    monkeypatch.undo()
    gpus.leave(x)


def test_what_python_makes(gpus):
    few, large = floats(N), np.zeros(STAGED_BYTES // 4, np.float32)
    gpus.enter(few, large)
    large[:] = 1
    assert gpus.update(of(large, IN)) == ["update"], "through pinned memory"
    assert (gpus.there(large) == 1).all()
    assert gpus.update(part(large, 0, large.size - 1, OUT)) == []
    assert gpus.update(part(few, 0, 0, OUT)) == ["update"]
    assert gpus.update(*[part(few, k, 1, IN) for k in range(MOST)]) == []
    assert gpus.update(*[part(few, k, 1, IN) for k in range(MOST + 1)]) == ["update"]
    gpus.leave(few, large)


def test_attached_pointers_stay_as_they_are(gpus):
    x, holder = floats(N), np.zeros(4, np.int64)
    holder[:] = x.ctypes.data, 1, 2, 3
    gpus.enter(x)
    gpus.enter(holder)
    assert gpus.update(of(holder, IN)) == []
    gpus.call("acc_attach", holder.ctypes.data)
    device = gpus.runtime.current.table.at(holder.ctypes.data).device
    there = np.ctypeslib.as_array((ctypes.c_int64 * 4).from_address(device))
    gpus.runtime.settle()
    attached = there[0]
    assert attached != holder[0]
    holder[1:] = 7
    assert gpus.update(of(holder, IN)) == ["update"]
    assert there.tolist() == [attached, 7, 7, 7]
    gpus.call("acc_detach", holder.ctypes.data)
    assert gpus.update(of(holder, IN)) == [], "it holds none any more"
    gpus.leave(holder)
    gpus.leave(x)


def test_an_update_comes_after_what_queues_do(gpus):
    x, y = floats(N), floats(N)
    gpus.enter(x, y)
    r = of(x, DataKind.PRESENT)
    for turn in range(3):
        gpus.data("data_enter", [r], 1)
        gpus.launch(r, queue=1)  # whose work is done when somebody waits
        gpus.data("data_exit", [r], 1)
        slow = gpus.update(of(x, OUT))
        np.testing.assert_array_equal(x, floats(N) * 2 ** (turn + 1))
    assert slow == [], "the queues are known"
    assert gpus.update(of(y, OUT)) == [], "no queue uses it"
    state = gpus.runtime.current
    state.table.at(y.ctypes.data).users.add(state.queue(1, 0))
    assert gpus.update(of(y, OUT)) == ["update"], "Python knows which one does"
    gpus.leave(x, y)


@pytest.mark.parametrize("queue", [1, ASYNC_NOVAL])
def test_asynchronous_updates_are_on_their_queue(gpus, queue):
    x = floats(N)
    gpus.enter(x)
    r = of(x, DataKind.PRESENT)
    for turn in range(3):
        gpus.data("data_enter", [r], queue)
        gpus.launch(r, queue=queue)
        gpus.data("data_exit", [r], queue)
        slow = gpus.update(of(x, OUT), queue=queue)
        gpus.program.wait()
        np.testing.assert_array_equal(x, floats(N) * 2 ** (turn + 1))
    assert slow == []
    transfers = gpus.runtime.current.queue(queue, 0).native.transfers
    gpus.update(of(x, OUT), queue=queue)
    assert gpus.runtime.current.queue(queue, 0).native.transfers == transfers + 1, (
        "to be waited for"
    )
    assert gpus.update(of(x, OUT), queue=5) == ["update"], "a queue that nobody has used"
    gpus.leave(x)


def test_a_synchronous_construct_that_nobody_waited_for_comes_first():
    gpus = Updates(2)
    x = floats(N)
    gpus.enter(x)
    for turn in range(3):
        r = of(x, DataKind.PRESENT)
        gpus.data("data_enter", [r], ASYNC_ON_DEVICE)
        gpus.launch(r, queue=ASYNC_ON_DEVICE)
        gpus.data("data_exit", [r], ASYNC_ON_DEVICE)
        slow = gpus.update(of(x, OUT))
        np.testing.assert_array_equal(x, floats(N) * 2 ** (turn + 1))
    assert slow == []
    gpus.leave(x)
    gpus.finish()


def test_each_device_has_its_own(gpus):
    gpus = Updates(2)
    x = floats(N)
    for device in (0, 1):
        gpus.use(device)
        gpus.enter(x)
    for device in (0, 1):
        gpus.use(device)
        x[:] = device + 1
        assert gpus.update(of(x, IN)) == []
    for device in (0, 1):
        gpus.use(device)
        gpus.slow.clear()
        gpus.call("acc_update_self", x.ctypes.data, x.nbytes)
        assert (x == device + 1).all()
        gpus.leave(x)
    gpus.finish()


def test_addresses_for_messages(gpus):
    x, y, absent = floats(N), floats(N), floats(N)
    gpus.enter(x, y)
    place = gpus.runtime.current.table.at(x.ctypes.data).device

    def used(*records):
        gpus.slow.clear()
        gpus.data("data_enter", records)
        return [r.device for r in records], list(gpus.slow)

    whole, one = of(x, DataKind.USE_DEVICE), record(x.ctypes.data + 8, 0, DataKind.USE_DEVICE)
    assert used(whole) == ([place], ["data_enter"]), "the program gets to know it"
    assert used(whole, one) == ([place, place + 8], [])
    for r in (of(y, DataKind.USE_DEVICE), of(absent, DataKind.USE_DEVICE, OPTIONAL)):
        found, slow = used(whole, r)
        assert found[0] == place and slow == ["data_enter"]
    assert found[1] == absent.ctypes.data
    gpus.runtime.native.forget(gpus.runtime.devices)
    assert used(whole) == ([place], ["data_enter"])
    gpus.leave(x, y)


def test_constructs_on_addresses_that_the_program_has(gpus):
    x, y = floats(N), floats(N)
    gpus.enter(x, y)
    state = gpus.runtime.current
    counts = [e.structured + e.dynamic for e in state.table]
    given = [
        state.table.at(x.ctypes.data).device,
        y.ctypes.data,
    ]  # one that is the host's of other data
    there = state.table.at(y.ctypes.data).device
    for turn in range(4):
        gpus.slow.clear()
        queue = 1 if turn == 3 else ASYNC_SYNC
        records = [record(base, 0, DataKind.DEVICEPTR) for base in given]
        records.append(of(y, DataKind.PRESENT))
        gpus.data("data_enter", records, queue)
        assert [r.device for r in records[:2]] == given
        assert records[2].device == there
        gpus.data("data_exit", records, queue)
        assert turn in (0, 3) or gpus.slow == []
    assert [e.structured + e.dynamic for e in state.table] == counts
    gpus.runtime.native.forget(gpus.runtime.devices)
    gpus.data("data_enter", records[:1])
    assert gpus.slow[-1:] == ["data_enter"], "who watches is told"
    gpus.leave(x, y)


def test_addresses_from_before_a_shutdown(gpus, monkeypatch):
    x, y = floats(N), floats(N)
    gpus.enter(x)
    state = gpus.runtime.current
    place = state.table.at(x.ctypes.data).device
    old = record(place, 0, DataKind.DEVICEPTR)
    for _ in range(2):
        gpus.slow.clear()
        gpus.data("data_enter", [old])
    assert gpus.slow == [], "native"
    gpus.call("acc_shutdown", DeviceType.DEFAULT)
    with pytest.raises(AccRuntimeError, match="has been released"):
        state.mapper.enter([Request(place, 0, 0, DataKind.DEVICEPTR)], state.sync_queue)
    with pytest.raises(AccRuntimeError, match="not present"):
        late = Request(x.ctypes.data, 0, x.nbytes, DataKind.COPY, device=place)
        state.mapper.exit([late], state.sync_queue)
    monkeypatch.setattr(gpus.runtime.entries, "_perform", lambda *_: None)  # which would refuse
    gpus.slow.clear()
    gpus.data("data_enter", [old])
    assert gpus.slow == ["data_enter"], "no more"
    monkeypatch.undo()
    state.mapper.actions.released.reuse(place, x.nbytes)
    assert not state.mapper.actions.released
    gpus.enter(y)
    gpus.leave(y)


def test_a_wait_for_everything():
    gpus = Updates(2)
    x = floats(N)
    for device in (0, 1):
        gpus.use(device)
        gpus.enter(x)
    for turn in range(3):
        for device in (0, 1):
            gpus.use(device)
            r = of(x, DataKind.PRESENT)
            for queue in (ASYNC_SYNC, 1, 2):
                gpus.data("data_enter", [r], queue)
                gpus.launch(r, queue=queue)
                gpus.data("data_exit", [r], queue)
                gpus.program.wait(queue) if queue == 1 else None
            gpus.slow.clear()
            if turn == 1:
                gpus.call("acc_wait_all")
            else:
                gpus.program.wait()
            assert gpus.slow == []
            np.testing.assert_array_equal(gpus.there(x), floats(N) * 8 ** (turn + 1))
    gpus.runtime.native.forget(gpus.runtime.devices)
    gpus.program.wait()
    assert gpus.slow == ["wait"]
    for device in (0, 1):
        gpus.use(device)
        gpus.leave(x)
    gpus.finish()


@pytest.mark.parametrize("seed", range(6))
def test_random_updates_move_what_python_moves(seed):
    """The same directives with native code and without it, on arrays that kernels change on queues."""
    found, in_python = [], {True: 0, False: 0}
    for native in (True, False):
        draw, gpus = random.Random(seed), Updates(2)
        if not native:
            gpus.runtime.native.forget(gpus.runtime.devices)
        arrays = [floats(N) + 1000 * k for k in range(3)]
        for device in (0, 1):
            gpus.use(device)
            gpus.enter(*arrays)
        for _ in range(60):
            gpus.use(draw.randrange(2))
            x, queue = draw.choice(arrays), draw.choice((ASYNC_SYNC, ASYNC_SYNC, 1, ASYNC_NOVAL))
            if draw.random() < 0.4:
                r = of(x, DataKind.PRESENT)
                gpus.data("data_enter", [r], queue)
                gpus.launch(r, a=draw.choice((2.0, 0.5)), queue=queue)
                gpus.data("data_exit", [r], queue)
            else:
                first = draw.randrange(N)
                count = draw.randint(1, N - first)
                in_python[native] += len(
                    gpus.update(
                        part(x, first, count, draw.choice((IN, OUT))),
                        part(draw.choice(arrays), 0, 2, draw.choice((IN, OUT))),
                        queue=queue,
                    )
                )
            if queue != ASYNC_SYNC:
                gpus.program.wait()
        for device in (0, 1):
            gpus.use(device)
            found.append(np.concatenate([*arrays, *(gpus.there(x) for x in arrays)]))
            gpus.leave(*arrays)
        gpus.finish()
    assert in_python[True] < in_python[False]
    for mine, theirs in zip(found[:2], found[2:], strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.fixture
def asked(monkeypatch):
    """The questions that came to Python."""
    names: list[str] = []

    def note(owner, name):
        method = getattr(owner, name)

        def noted(self, *args):
            names.append(name)
            return method(self, *args)

        monkeypatch.setattr(owner, name, noted)

    note(DataRoutines, "is_present")
    note(DeviceRoutines, "async_test")
    note(DeviceRoutines, "async_test_all")
    return names


def test_what_is_present_is_known_without_python(asked):
    gpus = Updates(2)
    x, y = floats(N), floats(N)

    def there(a, size=4 * N, offset=0):
        return gpus.call("acc_is_present", a.ctypes.data + offset, size)

    for device in (0, 1, 0):
        gpus.use(device)
        gpus.enter(x)
        asked.clear()
        assert (there(x), there(x, 4), there(x, 4, 4 * N - 4)) == (1, 1, 1)
        assert (there(x, 4 * N + 1), there(x, 4, 4 * N - 3), there(y)) == (0, 0, 0)
        r = of(y, DataKind.COPY)
        gpus.data("data_enter", [r])
        assert there(y) == 1
        gpus.data("data_exit", [r])
        assert there(y) == 0
        assert asked == []
        assert there(x, 0) in (0, 1) and asked == ["is_present"]
        gpus.leave(x)
        assert there(x) == 0
    gpus.call("acc_shutdown", DeviceType.DEFAULT)
    assert there(x) == 0
    gpus.finish()


@pytest.mark.parametrize("devices", [1, 2])
def test_queues_are_tested_without_python(asked, devices):
    gpus = Updates(devices)
    x = floats(N)
    gpus.enter(x)
    gpus.fake.pin(x)
    r = of(x, DataKind.PRESENT)
    for queue in (1, 2):
        for _ in range(2):
            gpus.data("data_enter", [r], queue)
            gpus.launch(r, queue=queue)
            gpus.data("data_exit", [r], queue)
    gpus.call("acc_wait_all")
    asked.clear()

    def test(queue):
        return gpus.call("acc_async_test", queue)

    for _ in range(3):
        assert (test(1), test(2), gpus.call("acc_async_test_all")) == (1, 1, 1)
        gpus.data("data_enter", [r], 1)
        gpus.launch(r, queue=1)
        gpus.data("data_exit", [r], 1)
        assert (test(1), test(2), gpus.call("acc_async_test_all")) == (0, 1, 0)
        gpus.call("acc_wait", 1)
    assert asked == []
    assert test(ASYNC_SYNC) == test(9) == 1 and asked == ["async_test"] * 2
    gpus.leave(x)
    gpus.finish()


def test_a_queue_whose_wait_was_postponed_is_tested_by_python(asked):
    gpus = Updates(2)
    x = floats(N)
    for device in (1, 0):
        gpus.use(device)
        gpus.enter(x)
    r = of(x, DataKind.PRESENT)
    for _ in range(3):
        gpus.data("data_enter", [r], 1)
        gpus.launch(r, queue=1)
        gpus.data("data_exit", [r], 1)
        gpus.call("acc_wait", 1)
    asked.clear()
    assert gpus.call("acc_async_test", 1) == 1 and asked == ["async_test"]
    assert gpus.call("acc_async_test", 1) == 1 and asked == ["async_test"], "it has waited"
    for device in (0, 1):
        gpus.use(device)
        gpus.leave(x)
    gpus.finish()
