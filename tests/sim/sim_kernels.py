"""Kernels written as IR of the gpu level, run in the simulator on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from accopt.compiler.ir.context import make_context
from accopt.runtime.device import SimImage, Strips
from accopt.runtime.sim.device import SimDevice
from accopt.runtime.sim.findings import FaultKind, Finding
from accopt.runtime.sim.launching import SimOptions
from numpy.typing import NDArray
from xdsl.dialects import gpu
from xdsl.parser import Parser

Array = NDArray[Any]
Triple = tuple[int, int, int]


class Bench:
    """
    One kernel and a simulated device. `args` is the block argument list (`%x: !llvm.ptr, %n: i32`);
    `body` its operations without the return; `globals` what stands before it in the module.
    """

    def __init__(
        self, args: str, body: str, *, globals: str = "", blocks: str = "", **options: Any
    ):
        types = ", ".join(part.split(":", 1)[1].strip() for part in args.split(",") if part.strip())
        text = f"""
"gpu.module"() <{{sym_name = "m"}}> ({{
  {globals}
  "gpu.func"() <{{function_type = ({types}) -> (), kernel}}> ({{
  ^bb0({args}):
    {body}
    {"" if blocks else '"gpu.return"() : () -> ()'}
  {blocks}
  }}) {{sym_name = "k", gpu.kernel}} : () -> ()
}}) : () -> ()
"""
        module = Parser(make_context(), text, "kernel.mlir").parse_module()
        op = next(op for op in module.walk() if isinstance(op, gpu.ModuleOp))
        op.detach()
        self.reported: list[Finding] = []
        self.device = SimDevice(SimOptions(memory=1 << 26, report=self.reported.append, **options))
        self.device.load(SimImage(op))
        self.types = types

    def run(
        self,
        *args: Array | np.generic,
        grid: int | Triple = 1,
        block: int | Triple = 32,
        unset: Sequence[int] = (),
    ) -> list[Array]:
        """
        Launches; arrays are copied to the device and back (but those at positions `unset` are not
        copied in). The arrays as the kernel left them.
        """
        device, queue = self.device, self.device.sync_queue
        values: list[Any] = []
        copies: list[tuple[int, Array]] = []
        for position, arg in enumerate(args):
            if isinstance(arg, np.ndarray):
                address = device.allocate(arg.nbytes, queue)
                if position not in unset:
                    device.copy_in(address, arg.ctypes.data, Strips(0, arg.nbytes), queue)
                copies.append((address, arg.copy()))
                values.append(np.int64(address))
            else:
                values.append(arg)
        grids = (grid, 1, 1) if isinstance(grid, int) else grid
        threads = (block, 1, 1) if isinstance(block, int) else block
        device.runs.run(device._kernel("k"), grids, threads, values)
        for address, array in copies:
            device.copy_out(array.ctypes.data, address, Strips(0, array.nbytes), queue)
            device.free(address, queue)
        return [array for _, array in copies]

    @property
    def faults(self) -> set[FaultKind]:
        return {finding.fault for finding in self.device.findings}


TID = """%t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %tid = arith.index_cast %t : index to i32
    %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %bid = arith.index_cast %b : index to i32
    %d = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
    %dim = arith.index_cast %d : index to i32
    %start = arith.muli %bid, %dim : i32
    %gid = arith.addi %start, %tid : i32"""
"""Defines %tid, %bid, %dim and %gid, all i32."""


def shared(name: str, count: int, type: str) -> str:
    """A shared array."""
    return (
        f"llvm.mlir.global internal @{name}() {{addr_space = 3 : i32, alignment = 16 : i64}}"
        f" : !llvm.array<{count} x {type}>"
    )


def at(result: str, base: str, index: str, type: str, space: str = "") -> str:
    """A GEP of an i32 index."""
    pointer = f"!llvm.ptr{space}"
    return f"{result} = llvm.getelementptr {base}[{index}] : ({pointer}, i32) -> {pointer}, {type}"


def host_address(array: Array) -> int:
    """Where an array lies in host memory."""
    return ctypes.c_void_p(array.ctypes.data).value or 0
