"""
Mark loads from memory that a construct does not change, so that a thread loads a pointer, the address of
a row or an index once.

A GPU's assembler does not know the types of C. After each store of a number, a thread would load again
the pointer in a structure, or in a table of rows, through which it reaches an array, and indices of
elements.

Takes:  transformed IR for a GPU, all accesses as they will run.
Leaves: `accx.unchanged` on plain loads, of declared types, through data operands of a construct, and
        through pointers that are so loaded, if none of its stores may be to that memory: by C's rules for
        types, by `restrict`, or by `accx.apart`. Constructs that call functions with effects, or have
        more than `MOST_STORES` different stores, are unchanged.
Fails:  never.

Before:
  %row = llvm.load %table[%i] : !llvm.ptr -> !llvm.ptr
  llvm.store %x, %row[%j] : f64, !llvm.ptr
After:
  %row = llvm.load %table[%i] {accx.unchanged} : !llvm.ptr -> !llvm.ptr
  llvm.store %x, %row[%j] : f64, !llvm.ptr

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i8
from xdsl.ir import Attribute, SSAValue

from ..dialects.accx import UNCHANGED
from ..dialects.volatility import is_ordered
from .ir.data.region_writes import Writes, writes_of
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.gpu_pass import GpuPass
from .ir.values.accesses import root_of
from .ir.values.addresses import base_of, steps_to

MOST_STORES = 16
"""The stores, different by array and type, with which loads are compared."""


def _is_mapped(load: llvm.LoadOp, construct: acc.ParallelOp) -> bool:
    """Whether a load is from memory of a data operation, or reached through a pointer in such memory."""
    base = base_of(load.ptr)
    while isinstance(base.owner, llvm.LoadOp):
        base = base_of(base.owner.ptr)
    return base in construct.data_clause_operands


def _is_declared(pointer: SSAValue, type_: Attribute) -> bool:
    """
    Whether memory is accessed by the type that the program gives it, not several elements at once or as
    words.
    """
    steps = list(steps_to(pointer))
    return bool(steps) and steps[-1].selected == type_


def _writes(construct: acc.ParallelOp) -> Writes:
    """What the construct may write, each once; stores by other than the declared type as bytes."""
    writes = writes_of(construct.region.block.ops)
    others = [
        (root_of(op.ptr), i8)
        for op in construct.walk()
        if isinstance(op, llvm.StoreOp) and not _is_declared(op.ptr, op.value.type)
    ]
    writes.stores = list(dict.fromkeys([*writes.stores, *others]))
    return writes


@dataclass(frozen=True)
class MarkUnchangedLoadsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "mark-unchanged-loads"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            loads = [op for op in construct.walk() if isinstance(op, llvm.LoadOp)]
            if not loads:
                continue
            writes = _writes(construct)
            if writes.unknown or len(writes.stores) > MOST_STORES:
                continue
            for load in loads:
                if is_ordered(load) or not _is_mapped(load, construct):
                    continue
                declared = _is_declared(load.ptr, load.dereferenced_value.type)
                if declared and not writes.may_change(load):
                    load.attributes[UNCHANGED] = UnitAttr()
