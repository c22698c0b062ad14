"""The simulator finds waits for bulk copies that would not end on a GPU, and copies that are not aligned."""

from __future__ import annotations

import numpy as np
import pytest
from accopt.runtime.errors import AccRuntimeError
from accopt.runtime.sim.findings import FaultKind
from sim_kernels import TID, Bench, shared

FIRST = "%first = arith.cmpi eq, %tid, %c0 : i32\n"
START = f"""{TID}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c8 = arith.constant 8 : i32
    {FIRST}
    %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %from = llvm.getelementptr %x[SKIP] : (!llvm.ptr) -> !llvm.ptr, i8
    %far = llvm.addrspacecast %from : !llvm.ptr to !llvm.ptr<1>
    scf.if %first {{
      nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }}
    nvvm.barrier0
    """
EXPECT = "nvvm.mbarrier.arrive.expect_tx %bar, %c64 : !llvm.ptr<3>, i32\n"
COPY = (
    "nvvm.cp.async.bulk.shared.cluster.global %tile, %far, %bar, %c64"
    " : !llvm.ptr<3>, !llvm.ptr<1>\n"
)
WAIT = "nvvm.mbarrier.try_wait.parity %bar, %c{}, %c64 : !llvm.ptr<3>, i32, i32\n"
END = """
    %in = arith.cmpi slt, %tid, %c8 : i32
    scf.if %in {
      %p = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %v = llvm.load %p : !llvm.ptr<3> -> f32
      %q = llvm.getelementptr %y[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %v, %q : f32, !llvm.ptr
    }
"""


def bench(body: str, skip: int = 0) -> Bench:
    return Bench(
        "%x: !llvm.ptr, %y: !llvm.ptr",
        START.replace("SKIP", str(skip)) + body + END,
        globals=shared("bar", 1, "i64") + "\n" + shared("tile", 32, "f32"),
    )


def turn(*ops: str) -> str:
    return "scf.if %first {\n" + "".join(ops) + "}\n"


def run(body: str, skip: int = 0) -> tuple[str, np.ndarray]:
    """The message of a fault if there is one, and what the first block's threads found."""
    kernel, x, y = bench(body, skip), np.arange(64, dtype=np.float32), np.zeros(8, np.float32)
    try:
        return "", kernel.run(x, y, block=64)[1]
    except AccRuntimeError as fault:
        return fault.render(), y


def test_two_phases() -> None:
    message, found = run(
        turn(EXPECT, COPY)
        + WAIT.format(0)
        + "nvvm.barrier0\n"
        + turn(COPY, EXPECT)
        + WAIT.format(1)
    )
    assert message == ""
    np.testing.assert_array_equal(found, np.arange(8))


@pytest.mark.parametrize(
    ("body", "skip", "expected"),
    [
        (turn(EXPECT, COPY) + WAIT.format(1), 0, "does not complete"),
        (turn(EXPECT) + WAIT.format(0), 0, "does not complete"),
        (turn(COPY) + WAIT.format(0), 0, "does not complete"),
        (turn(EXPECT, COPY, COPY) + WAIT.format(0), 0, ""),
        (EXPECT + turn(COPY) + WAIT.format(0), 0, "more threads arrive"),
        (turn(EXPECT, COPY) + WAIT.format(0), 4, FaultKind.MISALIGNED.value),
        (
            turn("nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32\n"),
            0,
            "mbarrier.init at the address of another barrier",
        ),
        (turn(EXPECT, "nvvm.mbarrier.inval %bar : !llvm.ptr<3>\n"), 0, "in the middle of a phase"),
    ],
)
def test_faults(body: str, skip: int, expected: str) -> None:
    assert expected in run(body, skip)[0]
