"""
Move structures by their scalars in device code, and make their members variables of their own.

The analyses and transformations of loops know loads and stores of scalars, and local scalars. A structure
that is copied as a block of memory, or is one local variable, hides from them what `b[i].x = 2 * a[i].x`
shows; and LLVM cannot merge the loads and stores of such copies with others.

Takes:  acc level.
Leaves: in compute constructs and in the functions that they call
        - a copy (`llvm.intr.memcpy`, `llvm.intr.memmove`, calls of `memcpy` and `memmove`) of objects of a
          known type, aligned as that type is, is a load of each scalar, then a store of each, where
          `decisions/record_copies.py` finds that it pays; padding is not copied. A local structure that is
          filled with zeros gets a zero for each scalar;
        - a store of a first-class structure is a store of each scalar, an `llvm.extractvalue` from one that
          was loaded or put together is that scalar;
        - a local structure whose address has no other uses than accesses is a variable for each scalar, and
          for each array with subscripts that are not constant; scalars become values where
          `passes/ir/variables/promotion.py` can, and unused loads of scalars are gone.
        Volatile and packed objects stay as they are.
Fails:  never.

Before:
  %p = llvm.alloca %one x !llvm.struct<"struct.p", (f32, f32)> : (i32) -> !llvm.ptr
  %a_i = accx.element %a[%i] of !llvm.struct<"struct.p", (f32, f32)> : i32
  "llvm.intr.memcpy"(%p, %a_i, %c8) …
  %p_y = llvm.getelementptr inbounds %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"struct.p", (f32, f32)>
  %y = llvm.load %p_y : !llvm.ptr -> f32
After:
  %a_i_y = accx.element %a[%i, 1] of !llvm.struct<"struct.p", (f32, f32)> : i32
  %y = llvm.load %a_i_y : !llvm.ptr -> f32
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects.llvm_ext import MemcpyOp, MemmoveOp, MemsetOp
from ...dialects.volatility import is_ordered
from ..ir.ops.acc_ops import COMPUTE_OPS, callee_of
from ..ir.ops.building import erase
from ..ir.ops.inlining import defined_functions
from ..ir.values.addresses import ADDRESS_OPS
from .record_values import RecordValues, split_call, split_clearing, split_copy
from .record_variables import split_variable


def _device_code(module: ModuleOp) -> list[Operation]:
    """The compute constructs, and the functions that they call."""
    functions = defined_functions(module)
    work: list[Operation] = [op for op in module.walk() if isinstance(op, COMPUTE_OPS)]
    found = dict.fromkeys(work)
    while work:
        for op in work.pop().walk():
            name = callee_of(op)
            function = None if name is None else functions.get(name)
            if function is not None and function not in found:
                found[function] = None
                work.append(function)
    return list(found)


def _drop_unused(load: Operation) -> None:
    """Removes an unused load, and the computation of its address."""
    unused = isinstance(load, llvm.LoadOp) and not is_ordered(load) and not load.results[0].uses
    if unused:
        address = load.operands[0].owner
        erase(load)
        if isinstance(address, ADDRESS_OPS) and not address.result.uses:
            erase(address)


def _split(code: Sequence[Operation]) -> None:
    """Splits the structures of device code: copies first, which then are accesses to scalars."""
    ops = [op for each in code for op in each.walk()]
    records = RecordValues()
    for op in ops:
        match op:
            case MemcpyOp() | MemmoveOp():
                split_copy(op)
            case MemsetOp():
                split_clearing(op)
            case llvm.CallOp():
                split_call(op)
            case llvm.StoreOp():
                records.split_store(op)
            case llvm.ExtractValueOp():
                records.split_extract(op)
            case _:
                pass
    records.erase_unused()
    for op in ops:
        if isinstance(op, llvm.AllocaOp):
            split_variable(op)
    for op in [op for each in code for op in each.walk()]:
        _drop_unused(op)


@dataclass(frozen=True)
class SplitRecordsPass(ModulePass):
    """See the module's description."""

    name = "split-records"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _split(_device_code(op))
