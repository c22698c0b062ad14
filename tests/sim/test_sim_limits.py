"""Kernels that are too much for the simulator end with a message."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from accopt.runtime.errors import AccRuntimeError, ErrorClass
from accopt.runtime.sim.findings import FaultKind
from accopt.runtime.sim.memory import LEAST_CAPACITY, GlobalMemory
from accopt.runtime.sim.patience import BETWEEN, Patience, of_seconds
from sim_kernels import Bench

NEST = """%c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %n = arith.constant 100 : i64
    scf.for %i = %c0 to %n step %c1 : i64 {
      scf.for %j = %c0 to %n step %c1 : i64 {
        scf.for %k = %c0 to %n step %c1 : i64 {
        }
      }
    }"""
"""Loops that count: a million turns, a hundred of each loop at a time."""


def seconds_pass(told: list[str], limit: float) -> Patience:
    """A second passes between two looks at the clock."""
    ticks = count(1)
    return Patience(seconds=limit, clock=lambda: lambda: float(next(ticks)), tell=told.append)


def failure(bench: Bench, **launch: int) -> AccRuntimeError:
    with pytest.raises(AccRuntimeError) as caught:
        bench.run(np.zeros(4), **launch)  # type: ignore[arg-type]
    return caught.value


def test_loops_that_count_end_after_their_time() -> None:
    told: list[str] = []
    bench = Bench("%x: !llvm.ptr", NEST, patience=seconds_pass(told, 100))
    assert "after 100 s, the limit that --patience=SECONDS" in failure(bench).render()
    assert bench.faults == {FaultKind.TIME}
    assert [text.partition(" still runs after ")[2][:4] for text in told] == [
        "10 s",
        "30 s",
        "90 s",
    ]
    assert "and is here with block 0 of 1;" in told[0]


def test_loops_that_end_in_time_are_left_alone() -> None:
    told: list[str] = []
    bench = Bench("%x: !llvm.ptr", NEST, patience=seconds_pass(told, 2 + 1010100 // BETWEEN))
    bench.run(np.zeros(4))
    assert len(told) == 6


def test_blocks_without_loops_take_time_too() -> None:
    told: list[str] = []
    bench = Bench("%x: !llvm.ptr", "", patience=seconds_pass(told, 20), batch_threads=32)
    assert "with block 9 of 40;" in (failure(bench, grid=40), told[0])[1]


def test_a_user_s_time_is_for_loops_of_any_kind() -> None:
    assert of_seconds(None).turns is not None and of_seconds(7.5).turns is None
    assert of_seconds(7.5).seconds == 7.5


def test_variables_of_threads_that_no_machine_has() -> None:
    body = """%n = arith.constant 300000000 : i64
    %big = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
    %v = llvm.load %big : !llvm.ptr -> f64
    llvm.store %v, %x : f64, !llvm.ptr"""
    error = failure(Bench("%x: !llvm.ptr", body), block=256)
    assert error.kind is ErrorClass.OUT_OF_MEMORY
    assert "'big' is 2400000000 bytes for each of 256 threads" in error.render()


def test_recursion_without_end() -> None:
    routine = """"gpu.func"() <{function_type = () -> ()}> ({
    llvm.call @r() : () -> ()
    "gpu.return"() : () -> ()
  }) {sym_name = "r"} : () -> ()"""
    bench = Bench("%x: !llvm.ptr", "llvm.call @r() : () -> ()", globals=routine)
    assert "recursion too deep" in failure(bench).render()
    assert bench.faults == {FaultKind.RECURSION}


def test_devices_are_smaller_where_addresses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    from accopt.runtime.sim import memory

    lazy = memory._lazy

    def short(size: int) -> np.ndarray:
        if size > LEAST_CAPACITY * 24:
            raise OSError(12, "Cannot allocate memory")
        return lazy(size)

    monkeypatch.setattr(memory, "_lazy", short)
    assert GlobalMemory(LEAST_CAPACITY * 16).capacity == LEAST_CAPACITY * 2
    monkeypatch.setattr(memory, "_lazy", lambda size: short(1 << 40))
    with pytest.raises(AccRuntimeError, match="cannot have"):
        GlobalMemory(LEAST_CAPACITY * 16)
