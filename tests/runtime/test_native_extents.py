"""What `__accopt_extent` says is mapped at an address, in native code and in Python."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind
from runtime_harness import DYNAMIC, record
from test_several_gpus import Gpus, of

EVERYWHERE = (0, (1 << 63) - 1)


@pytest.fixture
def gpus():
    gpus = Gpus()
    yield gpus
    gpus.finish(empty=False)


def extent(gpus: Gpus, address: int) -> tuple[int, int]:
    found = (ctypes.c_int64 * 2)(-1, -1)
    gpus.slow.clear()
    gpus.program.entry("extent", address, ctypes.addressof(found))
    gpus.check()
    return tuple(found)


def mapped(gpus: Gpus, x: np.ndarray) -> tuple[int, int]:
    entry = gpus.runtime.current.table.at(x.ctypes.data)
    return entry.device, entry.device + x.nbytes


def test_native_code_knows_what_is_mapped(gpus: Gpus):
    x, y = np.zeros(100, np.float32), np.zeros(7, np.float64)
    gpus.data("data_enter", [of(z, DataKind.COPYIN, DYNAMIC) for z in (x, y)])
    for z in (x, y):
        for byte in (0, 5, z.nbytes - 1):
            assert extent(gpus, z.ctypes.data + byte) == mapped(gpus, z)
            assert not gpus.slow
    first, last = mapped(gpus, x)
    other = mapped(gpus, y)
    assert last <= other[0] or other[1] <= first


def test_what_is_not_mapped_may_be_anywhere(gpus: Gpus):
    x = np.zeros(100, np.float32)
    gpus.data("data_enter", [of(x[:50], DataKind.COPYIN, DYNAMIC)])
    assert extent(gpus, x.ctypes.data + 4 * 50) == EVERYWHERE
    assert extent(gpus, 8) == EVERYWHERE
    gpus.data("data_exit", [of(x[:50], DataKind.DELETE, DYNAMIC)])
    assert extent(gpus, x.ctypes.data) == EVERYWHERE


def test_a_base_before_its_section_means_the_section(gpus: Gpus):
    x = np.zeros(100, np.float32)
    gpus.data("data_enter", [record(x.ctypes.data, 40, DataKind.COPYIN, DYNAMIC, offset=200)])
    assert extent(gpus, x.ctypes.data) == mapped(gpus, x[50:60])


def test_each_device_has_its_own(gpus: Gpus):
    x = np.zeros(100, np.float32)
    gpus.data("data_enter", [of(x, DataKind.COPYIN, DYNAMIC)])
    there = mapped(gpus, x)
    gpus.use(1)
    assert extent(gpus, x.ctypes.data) == EVERYWHERE
    gpus.use(0)
    assert extent(gpus, x.ctypes.data) == there
