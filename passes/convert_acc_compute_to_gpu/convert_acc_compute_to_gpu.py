"""
Turn compute constructs into GPU kernels and their launches (OpenACC 3.4, 2.5 and 2.9).

Takes:  the scheduled level; atomics lowered to `llvm.atomicrmw` and `llvm.cmpxchg`.
Leaves: the gpu level: no `acc.parallel`, no `acc.loop` in kernels, no private, firstprivate or
        reduction operations of constructs; a kernel per construct and copies of the routines and
        globals it reaches in `gpu.module @accopt_kernels`; a declare site for each declared global;
        data operations untouched.
Fails:  on constructs without a GPU form, by name: a reduction of an unsuitable type, a gang's array of
        unknown length, a directive inside the construct, a called function without a body, a global
        variable without `declare`.

Before:
  acc.parallel dataOperands(%x : !llvm.ptr) num_gangs({%g : i32}) num_workers(%c1 : i32)
      vector_length(%c128 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { … }
    acc.yield
  }
After:
  gpu.launch_func @accopt_kernels::@f_3_kernel <%queue> blocks in (%g, %c1, %c1)
      threads in (%c128, %c1, %c1) args(%n, %x)
  gpu.module @accopt_kernels {
    gpu.func @f_3_kernel(%n : i32, %x : !llvm.ptr) kernel { … }
  }

Options: `reduction_strategy`: how gangs' results are combined (`last-block`: in a fixed order, at the end
of the same kernel; `atomic`: one atomic operation per gang where the operator has one; `auto` is
`last-block`). `exchange`: how the threads of a gang combine (`shuffle`, or `shared`, for
comparison). `redux`: 32-bit integer warp reductions in one instruction; the pipeline sets it from
sm_80 on. `watch`: mark, for the simulator, scalars of a gang or worker that a partitioned loop
assigns without a clause (`convert_acc_compute_to_gpu/watches.py`); the pipeline sets it for the target sim.
`longest`: the most gangs in the second and third dimension; a grid of more is launched in parts
(`launch_parts.py`), or its gangs loop.
Results are the same on every run with one grid, except for atomically combined floats.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..decisions.reduction_strategy import ExchangeOption, StrategyOption
from ..ir.ops.acc_ops import parallel_constructs
from ..ir.ops.machine import machine_of
from .launch import ModuleLowering, Options
from .launch_parts import LONGEST


@dataclass(frozen=True)
class ConvertAccComputeToGpuPass(ModulePass):
    """See the file's docstring."""

    name = "convert-acc-compute-to-gpu"

    reduction_strategy: StrategyOption = "auto"
    redux: bool | None = None
    exchange: ExchangeOption = "shuffle"
    watch: bool | None = None
    longest: int = LONGEST

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constructs = parallel_constructs(op)
        declared = any(
            isinstance(inner, llvm.GlobalOp) and "acc.declare" in inner.attributes
            for inner in op.body.block.ops
        )
        if not constructs and not declared:
            return
        machine = machine_of(op)
        redux = machine.has_redux if self.redux is None else self.redux
        watch = machine.simulated if self.watch is None else self.watch
        lowering = ModuleLowering(
            op, Options(self.reduction_strategy, redux, self.exchange, watch, self.longest)
        )
        lowering.declare_variables()
        for construct in constructs:
            lowering.construct(construct)
        lowering.finish()
