"""Blocks of device memory that native code keeps from a region for the next one."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from accopt.compiler.base.abi import DataKind
from accopt.runtime.device import Queue
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from native_regions import Regions, native_program, opened
from runtime_harness import record


@pytest.mark.parametrize("name", ["host", "cuda"])
def test_blocks_are_kept_after_asynchronous_constructs(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The queue has finished before the region ends, so that the next one gets the block without Python."""
    program, taken = native_program(monkeypatch, 3, name)
    x = np.zeros(64, np.int32)
    for kind in (DataKind.CREATE, DataKind.COPY):
        for queue in (1, 2, 1):
            region = [record(x.ctypes.data, x.nbytes, kind)]
            program.data("data_enter", region)
            inner = [record(x.ctypes.data, x.nbytes, DataKind.PRESENT)]
            program.data("data_enter", inner, queue, site=2)
            program.data("data_exit", inner, queue, site=2)
            program.wait(queue)
            program.data("data_exit", region)
    for _ in range(2):
        taken()
        opened(program, [record(x.ctypes.data, x.nbytes, DataKind.COPY)])
    assert taken() == []
    program.runtime.finish()


@pytest.mark.parametrize("kind", [DataKind.CREATE, DataKind.COPYOUT])
def test_the_host_hands_out_zeroed_memory(monkeypatch: pytest.MonkeyPatch, kind: DataKind) -> None:
    """Python makes the block, hands it out again, and native code does."""
    regions = Regions(monkeypatch)
    ways = []
    for size in (64, 64, 64, 40, 64):
        regions.arrays[1] = np.ones(size, np.int32)
        records = regions.enter(1, 1, kind=kind)
        ways.append(len(regions.taken()))
        memory = (ctypes.c_int32 * size).from_address(records[0].device)
        assert not any(memory)
        memory[:] = [0x3F] * size
        regions.leave(1, records, 1)
    assert ways[0] and not ways[-1], "made by Python, then handed out by native code"
    regions.runtime.finish()


def test_kept_blocks_are_freed_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = Regions(monkeypatch)
    for i in (0, 1):
        regions.leave(1, regions.enter(1, i), i)
    state = regions.runtime.current
    allocate, full = state.device.allocate, [True]
    free = state.device.free

    def scarce(size: int, queue: Queue) -> int:
        if full[0]:
            raise AccRuntimeError(ErrorClass.OUT_OF_MEMORY, "full")
        return allocate(size, queue)

    def freed(address: int, queue: Queue) -> None:
        full[0] = False
        free(address, queue)

    monkeypatch.setattr(state.device, "allocate", scarce)
    monkeypatch.setattr(state.device, "free", freed)
    larger = np.zeros(4096, np.int32)
    records = [record(larger.ctypes.data, larger.nbytes, DataKind.CREATE)]
    regions.program.data("data_enter", records)
    assert not full[0] and records[0].device
    assert not regions.runtime.current.quick.drain()
    regions.program.data("data_exit", records)
    regions.runtime.finish()
