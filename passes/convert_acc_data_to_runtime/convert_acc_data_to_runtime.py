"""
Turn data operations, data constructs, launches and the executable directives of host code into
calls of the runtime (docs/runtime.md; OpenACC 3.4, 2.6, 2.7, 2.14, 2.16).

The data operations before a construct become one `__accopt_data_enter`, those after it one
`__accopt_data_exit` with the same records. Records and launch arguments live in stack slots of the
function's entry block, so that a construct in a loop does not use up the stack. Constant data goes to the
site table (`ir/kernels/sites.py`).

Takes:  IR without acc.parallel, acc.loop and atomics; `gpu.launch_func` and `accx.launch_host`.
Leaves: no acc, accx or gpu operation in host functions; a gpu.module is untouched.
Fails:  on sections in data clauses that are certainly not contiguous.

Before:
  %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x"}
  accx.launch_host @f_3_host gangs(%g) queue(%q) args(%x_dev) {accx.site = 0 : i32} : !llvm.ptr
  acc.delete accPtr(%x_dev : !llvm.ptr) bounds(%b) {name = "x"}
After:
  llvm.call @__accopt_data_enter(%site, %records, %c1, %q)
  llvm.call @__accopt_launch(%c0, %launch)
  llvm.call @__accopt_data_exit(%site, %records, %c1, %q)
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects import accx_devices
from ...dialects.accx import LaunchHostOp
from ..ir.kernels.outline import symbol_table
from ..ir.kernels.runtime_calls import RuntimeCalls
from ..ir.kernels.sites import SiteTable
from .data_regions import HostFunctionLowering

_TRIGGERS: tuple[type[Operation], ...] = (
    LaunchHostOp,
    gpu.LaunchFuncOp,
    *accx_devices.OPERATIONS,
)


def _needs_work(function: llvm.FuncOp) -> bool:
    return any(
        isinstance(op, _TRIGGERS) or op.name.startswith("acc.") for op in function.body.walk()
    )


@dataclass(frozen=True)
class ConvertAccDataToRuntimePass(ModulePass):
    """See the contract at the top of this file."""

    name = "convert-acc-data-to-runtime"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sites = SiteTable.of(op)
        calls = RuntimeCalls(op, symbol_table(op))
        for function in list(op.body.block.ops):
            if isinstance(function, llvm.FuncOp) and _needs_work(function):
                HostFunctionLowering(function, sites, calls).run()
        sites.store(op)
