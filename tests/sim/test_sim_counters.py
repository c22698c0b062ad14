"""Counts against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.runtime.sim.counters import LineCount, passes_of, sectors_of, table
from sim_kernels import TID, Bench, at, shared
from sim_programs import call, from_text


def count(bench: Bench, *args: np.ndarray, **launch: int) -> LineCount:
    """The total of one launch."""
    bench.run(*args, **launch)
    assert bench.device.counters is not None
    return bench.device.counters.total()


def strided_load(stride: int, type: str) -> Bench:
    body = f"""{TID}
    %s = arith.constant {stride} : i32
    %i = arith.muli %gid, %s : i32
    {at("%p", "%x", "%i", type)}
    %v = llvm.load %p : !llvm.ptr -> {type}"""
    return Bench("%x: !llvm.ptr", body, counters=True)


@pytest.mark.parametrize(
    ("stride", "type", "sectors", "ideal"),
    [
        (1, "f32", 4, 4),
        (1, "f64", 8, 8),
        (2, "f32", 8, 4),
        (8, "f32", 32, 4),
        (32, "f32", 32, 4),
        (0, "f32", 1, 1),
        (1, "i8", 1, 1),
    ],
)
def test_sectors_of_a_warp(stride: int, type: str, sectors: int, ideal: int) -> None:
    """256 threads are 8 warps; each moves `sectors` sectors of 32 bytes."""
    data = np.zeros(256 * 32 + 1, np.float64)
    total = count(strided_load(stride, type), data, grid=2, block=128)
    assert (total.requests, total.sectors, total.ideal_sectors) == (8, 8 * sectors, 8 * ideal)


def test_a_shifted_warp_touches_one_sector_more() -> None:
    body = f"""{TID}
    %one = arith.constant 1 : i32
    %i = arith.addi %gid, %one : i32
    {at("%p", "%x", "%i", "f32")}
    %v = llvm.load %p : !llvm.ptr -> f32"""
    bench = Bench("%x: !llvm.ptr", body, counters=True)
    total = count(bench, np.zeros(200, np.float32), block=32)
    assert (total.sectors, total.ideal_sectors) == (5, 4)


def shared_store(stride: int, type: str) -> Bench:
    body = f"""{TID}
    %k = arith.constant {stride} : i32
    %i = arith.muli %tid, %k : i32
    %v = arith.constant 0 : {type}
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    {at("%p", "%s", "%i", type, "<3>")}
    llvm.store %v, %p : {type}, !llvm.ptr<3>"""
    return Bench("%x: !llvm.ptr", body, globals=shared("s", 1056, type), counters=True)


@pytest.mark.parametrize(
    ("stride", "type", "passes", "ideal"),
    [
        (1, "i32", 1, 1),
        (2, "i32", 2, 1),
        (32, "i32", 32, 1),
        (33, "i32", 1, 1),
        (0, "i32", 1, 1),
        (1, "i64", 2, 2),
        (16, "i64", 32, 2),
    ],
)
def test_bank_conflicts(stride: int, type: str, passes: int, ideal: int) -> None:
    total = count(shared_store(stride, type), np.zeros(1), block=32, grid=3)
    assert total.shared_requests == 3
    assert (total.passes, total.ideal_passes) == (3 * passes, 3 * ideal)


def test_divergence() -> None:
    """Of each warp 8 lanes run the two operations of the branch."""
    body = f"""{TID}
    %c7 = arith.constant 7 : i32
    %c31 = arith.constant 31 : i32
    %lane = arith.andi %tid, %c31 : i32
    %few = arith.cmpi sle, %lane, %c7 : i32
    scf.if %few {{
      %a = arith.addi %tid, %c7 : i32
      %b2 = arith.addi %a, %c7 : i32
    }}"""
    bench = Bench("%x: !llvm.ptr", body, counters=True)
    total = count(bench, np.zeros(1), block=64)
    outside = 8 + 3 + 1  # of TID (casts included), of the body, and the return
    assert total.instructions == 64 * outside + 16 * 2
    assert total.warp_instructions == 2 * outside + 2 * 2


PROGRAM = """void f(int n, float *x, float *y)
{
#pragma acc parallel loop copyin(x[0:n*32]) copyout(y[0:n])
  for (int i = 0; i < n; i++) {
    float near = x[i];
    float far = x[i * 32];
    y[i] = near + far;
  }
}
"""


def test_lines_of_a_program(tmp_path: Path) -> None:
    program = from_text(tmp_path, PROGRAM, counters=True)
    n = 1024
    call(program, "f", n, np.zeros(32 * n, np.float32), np.zeros(n, np.float32))
    lines = {c.line: c for c in program.simulator.lines}
    assert (lines[5].requests, lines[5].sectors, lines[5].efficiency) == (32, 128, 1.0)
    assert (lines[6].sectors, lines[6].ideal_sectors) == (1024, 128)
    assert lines[7].sectors == 128
    assert program.simulator.lines[0].line == 6, "the costliest line comes first"
    assert program.simulator.counters is not None
    assert program.simulator.counters.launches == {"f_3_kernel": 1}
    text = table(program.simulator.lines)
    assert "float far = x[i * 32];" in text.splitlines()[2]


def test_counts_do_not_depend_on_batches(tmp_path: Path) -> None:
    totals = []
    for batch in (64, 1 << 16):
        bench = strided_load(3, "f32")
        body = bench.device.options
        bench.device.options = type(body)(
            memory=body.memory, counters=True, batch_threads=batch, report=body.report
        )
        totals.append(count(bench, np.zeros(256 * 32, np.float32), grid=7, block=32))
    assert totals[0] == totals[1]


def test_the_counting_functions() -> None:
    warps = np.repeat(np.arange(2), 32)
    addresses = np.concatenate([np.arange(32) * 4, np.zeros(32, np.int64)])
    assert sectors_of(warps, addresses, 4) == (5, 5)
    assert passes_of(warps, addresses, 4) == (2, 2)
    assert passes_of(warps, addresses * 32, 4) == (33, 2)


def test_no_counters_by_default(tmp_path: Path) -> None:
    program = from_text(tmp_path, PROGRAM)
    assert program.simulator.lines == []
