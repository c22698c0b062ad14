"""
Run several iterations of a loop over lanes side by side in each thread, so that several loads are in
flight.

The schedule gives a thread n iterations of such a loop (`elements = n`), each the number of threads of a
block apart. If the body is straight-line code, they are interleaved operation by operation, loads before
stores: iterations of a partitioned loop are independent.

Takes:  scheduled IR whose bodies are final.
Leaves: in the body of every loop over lanes with several elements and a short body of straight-line code
        `accx.side_by_side`: n iterations, and a single one for the rest. The loop has n copies of its
        private variables and reductions, one for each of these iterations. In other loops, and on the host
        target, a thread runs its iterations one after the other.
Fails:  never.

Options: `most`: the most operations of a body that is coarsened.

Before:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    %v = llvm.load %a_i : !llvm.ptr -> f32
    llvm.store %v, %b_i : f32, !llvm.ptr
  } attributes {accx.schedule = #accx.schedule<elements = 2>}
After:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    accx.side_by_side {
    ^bb0(%i_1 : i32, %i_2 : i32):
      %v_1 = llvm.load %a_i_1 : !llvm.ptr -> f32
      %v_2 = llvm.load %a_i_2 : !llvm.ptr -> f32
      llvm.store %v_1, %b_i_1 : f32, !llvm.ptr
      llvm.store %v_2, %b_i_2 : f32, !llvm.ptr
    } else each {
      %v = llvm.load %a_i : !llvm.ptr -> f32
      llvm.store %v, %b_i : f32, !llvm.ptr
    }
  } attributes {accx.schedule = #accx.schedule<elements = 2>}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects import llvm_ext
from ..dialects.accx_element import ElementOp
from ..dialects.accx_side_by_side import SideBySideOp
from .ir.kernels.routine_calls import CallKind, Calls
from .ir.loops.jamming import Jam, copies_of_own
from .ir.ops.acc_ops import PRIVATIZING_OPS, has_level, own_copies
from .ir.ops.building import Cursor, constant_value
from .ir.ops.machine import machine_of
from .ir.ops.schedules import schedule_of
from .ir.values.addresses import base_of, way_to_base


def _length(op: Operation) -> int:
    """
    The number of operations that `op` counts as: two for each subscript of an `accx.element`, one for
    others.
    """
    return 2 * sum(1 for _ in op.steps()) if isinstance(op, ElementOp) else 1


def is_simple(loop: acc.LoopOp, calls: Calls, most: int) -> bool:
    """
    Whether the loop's body is straight-line code of at most `most` operations that accesses only arrays
    (whose elements are independent between iterations) and variables of which each iteration has its own
    copy, so that operations of several iterations may be interleaved.
    """
    if len(loop.region.blocks) != 1:
        return False
    body = list(loop.region.block.ops)
    if len(body) == 1 or sum(map(_length, body)) > most:
        return False
    own = set(own_copies(loop))
    return all(_is_constant_size(v) for v in loop.reduction_operands) and not any(
        op.regions or not _is_simple(op, own, loop, calls) for op in body
    )


def _is_constant_size(reduced: SSAValue) -> bool:
    """Whether the copies of a reduction have a constant size."""
    owner = reduced.owner
    assert isinstance(owner, acc.ReductionOp)
    if not owner.bounds:
        return True
    bound = owner.bounds[0].owner
    assert isinstance(bound, acc.DataBoundsOp) and bound.extent is not None
    return constant_value(bound.extent) is not None


def _is_simple(op: Operation, own: set[SSAValue], loop: acc.LoopOp, calls: Calls) -> bool:
    match op:
        case llvm.StoreOp():
            return _is_shared_or_own(op.ptr, own, loop)
        case llvm.CallOp():
            return calls.kind(op) is CallKind.PURE
        case llvm_ext.MemcpyOp() | llvm_ext.MemmoveOp() | llvm_ext.MemsetOp():
            return False
        case llvm_ext.FenceOp() | llvm.InlineAsmOp():
            return False
        case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp():
            return False
        case _:
            return True


def _is_shared_or_own(pointer: SSAValue, own: set[SSAValue], loop: acc.LoopOp) -> bool:
    """
    Whether a store through `pointer` may run side by side with those of other iterations: it goes to an
    array, whose elements lanes may share, or to the iteration's own copy of a variable. A thread-private
    scalar that outlives the iteration is shared by iterations that run side by side.
    """
    if not own.isdisjoint(way_to_base(pointer)):
        return True
    owner = base_of(pointer).owner
    if isinstance(owner, llvm.AllocaOp):
        own_block = owner.parent_block() is loop.region.block
        return own_block or (constant_value(owner.size) or 0) > 1
    return not isinstance(owner, PRIVATIZING_OPS)


def coarsen(loop: acc.LoopOp, count: int) -> None:
    """Rewrites the body of the loop for `count` iterations at a time (see the contract above)."""
    block = loop.region.block
    end = block.last_op
    assert end is not None
    originals = [op for op in block.ops if op is not end]
    several = Block(arg_types=[v.type for v in block.args] * count)
    arguments = iter(several.args)
    maps = copies_of_own(loop, count)
    for values in maps:
        for variable in block.args:
            values[variable] = next(arguments)
            values[variable].name_hint = variable.name_hint
    Jam(maps).operations(originals, Cursor.at_end(several, loop.location))
    for op in originals:
        op.detach()
    op = SideBySideOp(Region(several), Region(Block(originals)))
    Cursor.before(end, loop.location).insert(op)


@dataclass(frozen=True)
class CoarsenThreadsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "coarsen-threads"

    most: int = 200

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if machine_of(op).target == "host":
            return  # a CPU thread's iterations follow each other, and LLVM puts them side by side
        wanted = [
            loop
            for loop in op.walk()
            if isinstance(loop, acc.LoopOp)
            and schedule_of(loop).elements > 1
            and has_level(loop.vector)
        ]
        if not wanted:
            return
        calls = Calls.of(op)
        for loop in wanted:
            if is_simple(loop, calls, self.most):
                coarsen(loop, schedule_of(loop).elements)
