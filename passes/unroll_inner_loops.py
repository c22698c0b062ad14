"""
Unroll the sequential innermost loops of kernels, so that several loads are in flight.

Takes:  scheduled IR, after jam-outer-iterations and jam-strided-iterations, which change the size of a
        body.
Leaves: `accx.unroll = n` on the `scf.for`s in compute constructs that contain no other loop and have a
        short body; lower-scf-to-cf passes it to LLVM, which unrolls. Loops over arrays that an iteration
        declares are unrolled completely if the arrays then fit into registers. A loop that has
        `accx.unroll` keeps it. No change for other targets than GPUs: LLVM unrolls and vectorises for the
        CPU by itself.
Fails:  never.

Before:
  acc.parallel {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %p = accx.element %a[%j] of f32 : i32
      %v = llvm.load %p : !llvm.ptr -> f32
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
  }
After: the loop has the attribute {accx.unroll = 8 : i32}.

Options: `target`: only `nvptx` does anything. `factor`: the factor for all such loops (0: by the
loop's body).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import UNROLL
from ..dialects.accx_element import ElementOp
from .decisions.device_functions import PURE_FUNCTIONS
from .decisions.schedule import Target
from .decisions.unrolling import LoopBody, unroll_factor
from .ir.ops.acc_ops import (
    PRIVATIZING_OPS,
    alloca_count,
    callee_of,
    loops_around,
    parallel_constructs,
)
from .ir.ops.building import constant_trips
from .ir.ops.layout import size_of
from .ir.ops.machine import machine_of
from .ir.values.addresses import ADDRESS_OPS, base_of

_LOOPS = (scf.ForOp, scf.WhileOp, acc.LoopOp)
_REGISTERS = (*PRIVATIZING_OPS, llvm.AllocaOp)
"""Operations that make scalars which LLVM keeps in registers."""
_CALL_OPERATIONS = 8
"""The number of operations that a mathematical function counts as."""


def _index_arithmetic(loop: scf.ForOp) -> set[Operation]:
    """The integer operations in the body that only subscripts use, directly or through others."""
    found: set[Operation] = set()
    for op in reversed(list(loop.body.walk())):
        if not op.results or not isinstance(op.results[0].type, IntegerType):
            continue
        if op.name.startswith("arith.") and all(
            isinstance(use.operation, ADDRESS_OPS) or use.operation in found
            for use in op.results[0].uses
        ):
            found.add(op)
    return found


def _own_array(pointer: SSAValue, loop: scf.ForOp) -> llvm.AllocaOp | None:
    """The array of the thread's, declared in the iteration that contains `loop`, that an address is in."""
    owner = base_of(pointer).owner
    if pointer is base_of(pointer) or not isinstance(owner, llvm.AllocaOp):
        return None
    same = next(loops_around(owner), None) is next(loops_around(loop), None)
    return owner if same and alloca_count(owner) == 1 else None


def read_body(loop: scf.ForOp) -> LoopBody:
    """The properties of an innermost loop by which the unroll factor is decided."""
    loads = operations = 0
    opaque = False
    own: dict[llvm.AllocaOp, None] = {}
    subscripts = _index_arithmetic(loop)
    for op in loop.body.walk():
        match op:
            case llvm.LoadOp() | llvm.StoreOp() if isinstance(op.ptr.owner, _REGISTERS):
                pass
            case llvm.LoadOp() | llvm.StoreOp() if array := _own_array(op.ptr, loop):
                own[array] = None
                loads += isinstance(op, llvm.LoadOp)
                operations += 1
            case llvm.LoadOp():
                loads += 1
                operations += 1
            case llvm.CallOp():
                opaque = opaque or callee_of(op) not in PURE_FUNCTIONS
                operations += _CALL_OPERATIONS
            case llvm.StoreOp():
                operations += 1
            case scf.ExecuteRegionOp() | scf.IndexSwitchOp():
                opaque = True
            case (
                arith.ConstantOp() | llvm.AddressOfOp() | llvm.GEPOp() | ElementOp() | scf.YieldOp()
            ):
                pass
            case _ if op.name.startswith("acc."):
                opaque = True
            case _ if op not in subscripts:
                operations += 1
            case _:
                pass
    words = sum(-(-size_of(array.elem_type) // 4) for array in own)
    return LoopBody(loads, operations, constant_trips(loop.lb, loop.ub, loop.step), opaque, words)


def innermost_loops(module: ModuleOp) -> Iterator[scf.ForOp]:
    """The innermost `scf.for`s in compute constructs."""
    for construct in parallel_constructs(module):
        for op in construct.region.walk():
            if isinstance(op, scf.ForOp) and not any(
                isinstance(inner, _LOOPS) for inner in op.body.walk()
            ):
                yield op


@dataclass(frozen=True)
class UnrollInnerLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "unroll-inner-loops"

    target: Target | None = None
    factor: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        if target != "nvptx":
            return
        for loop in innermost_loops(op):
            if UNROLL in loop.attributes:
                continue
            factor = self.factor or unroll_factor(read_body(loop))
            if factor is not None:
                loop.attributes[UNROLL] = IntegerAttr(factor, i32)
