"""Long arrays of the host target that stay where they are, in regions that native code enters on its own."""

from __future__ import annotations

import numpy as np
import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.host_pages import ENOUGH
from accopt.runtime.entry_points import EntryPoints
from native_regions import LONG, native_program, opened
from runtime_harness import memory_before_a_hole, record


@pytest.mark.parametrize("flags", [DataFlag.SHARED, DataFlag.SHARED | DataFlag.INFERRED])
def test_long_arrays_stay_without_python(monkeypatch: pytest.MonkeyPatch, flags: int) -> None:
    """At every place and length; constructs find them, and Python knows what has entered them."""
    program, taken = native_program(monkeypatch, 3, "host")
    x = np.zeros(9 * LONG, np.int32)
    heap = x.ctypes.data
    opened(program, [record(heap, 4, DataKind.COPY)])
    taken()
    for first, last in ((0, LONG), (4, LONG + 4), (LONG - 1, 3 * LONG + 1), (0, 9 * LONG)):
        kinds = (DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT)
        for kind in kinds:
            region = [record(heap, 4 * (last - first), kind, flags, offset=4 * first)]
            program.data("data_enter", region)
            inner = [record(heap, 64, DataKind.PRESENT, offset=4 * (last - 16))]
            assert opened(program, inner, 2) == [0] and region[0].device == heap
            assert taken() == [], (first, last, kind)
            (entry,) = program.runtime.current.table
            assert (entry.base, entry.structured, entry.shared) == (heap, 1, True)
            assert entry.origin == "data construct, '?'"
            program.data("data_exit", region)
            assert taken() == ["data_exit"], "it is Python's now"
            assert opened(program, region) == [0]
            assert taken() == []
    assert not len(program.runtime.current.table)
    program.runtime.finish()


def test_short_and_overlapping_arrays_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = native_program(monkeypatch, 3, "host")
    x = np.zeros(4 * LONG, np.int32)
    base, flags = x.ctypes.data, DataFlag.SHARED
    whole = record(base, x.nbytes, DataKind.COPY, flags)
    for _ in range(3):
        assert opened(program, [whole]) == [0]
        assert 0 not in opened(program, [record(base, 4 * LONG - 4, DataKind.COPY, flags)])
        assert 0 not in opened(program, [whole, record(base, 4, DataKind.COPYIN, flags)])
        assert 0 not in opened(program, [record(base, x.nbytes, DataKind.COPY)])
    program.runtime.finish()


def test_a_long_section_beyond_the_memory_comes_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = native_program(monkeypatch, 3, "host")
    x = np.zeros(1)
    opened(program, [record(x.ctypes.data, 4, DataKind.COPY)])  # native from now on
    asked: list[int] = []
    monkeypatch.setattr(EntryPoints, "_perform", lambda *arguments: asked.append(arguments[2]))
    start = memory_before_a_hole(ENOUGH)
    for size, python in ((ENOUGH, 0), (ENOUGH + 1, 1), (2 * ENOUGH, 1)):
        region = [record(start, size, DataKind.COPY, DataFlag.SHARED)]
        program.data("data_enter", region, site=1)
        assert len(asked) == python and (region[0].device == start) == (not python)
        if not python:
            program.data("data_exit", region, site=1)
        asked.clear()


def test_arrays_in_place_are_counted_where_a_region_shares_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A construct that copies another array comes to Python, and must count the shared one out again."""
    program, taken = native_program(monkeypatch, 3, "host")
    x, other = np.zeros(LONG, np.int32), np.zeros(LONG, np.int32)
    place = x.ctypes.data
    for order in (1, -1, 1, -1):
        region = [record(place, x.nbytes, DataKind.COPY, DataFlag.SHARED)]
        program.data("data_enter", region)
        inner = [
            record(place, x.nbytes, DataKind.COPY, DataFlag.IN_PLACE),
            record(other.ctypes.data, other.nbytes, DataKind.COPYIN, DataFlag.ALWAYS_IN),
        ][::order]
        taken()
        assert 0 in opened(program, inner)
        assert taken() == ["data_enter", "data_exit"]
        (entry,) = program.runtime.current.table
        assert (entry.host, entry.structured) == (place, 1)
        program.data("data_exit", region)
        assert not len(program.runtime.current.table)
    program.runtime.finish()
