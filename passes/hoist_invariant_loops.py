"""
Hoist a sequential loop whose result is the same in every iteration of the parallel loop around it.

Iterations of a parallel loop are independent (OpenACC 3.4, 2.9.9), so none of them writes what all of them
read: a loop in the body that only reads, and does not depend on the parallel loop's variable, gives every
iteration the same values. Operations that LLVM can hoist by itself (arithmetic, single loads) stay.

Takes:  data level, before scheduling.
Leaves: before a parallel loop that is nested in another parallel loop, guarded by the condition that it has
        iterations: the sequential loops of its body that only read memory of data clauses or globals,
        depend on no varying value, and come before all writes of the body, if
        `decisions/invariant_loops.py` finds that it pays. `accx.note` on the parallel loop says so, or
        gives the reason why not.
Fails:  never.

Before:
  acc.loop control(%i : i32) = … {
    acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %k = … { … %a[%i, %k] … }
      llvm.store %sum, %b[%i, %j]
    }
  }
After:
  acc.loop control(%i : i32) = … {
    %runs = arith.cmpi slt, %c0, %n : i32
    %sum = scf.if %runs -> (f32) { scf.for %k = … { … %a[%i, %k] … } } else { %zero }
    acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %sum, %b[%i, %j]
    }
  }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import NOTE, UNROLL
from ..dialects.volatility import is_ordered
from .decisions.invariant_loops import Invariant, keep_inside, unroll_factor
from .ir.loops.loop_facts import constant_trip
from .ir.ops.acc_ops import MAPPING_OPS, is_defined_inside
from .ir.ops.building import Cursor, constant_trips, erase
from .ir.ops.levels import is_parallel
from .ir.ops.purity import is_pure
from .ir.values.addresses import base_of

_READING = (scf.ForOp, scf.IfOp, scf.YieldOp)


def is_plain_parallel(loop: acc.LoopOp) -> bool:
    """Whether the loop's iterations are independent, and counted by one variable."""
    return is_parallel(loop) and len(loop.lowerbound) == 1


def _is_shared(pointer: SSAValue) -> bool:
    """Whether `pointer` points to memory of a data clause or a global, not to a private copy."""
    owner = base_of(pointer).owner
    if isinstance(owner, acc.NoCreateOp):
        return False
    return isinstance(owner, (*MAPPING_OPS, llvm.AddressOfOp))


def _only_reads(op: Operation) -> bool:
    """
    Whether `op`, including its regions, only computes values from values and from shared memory that it
    reads.
    """
    for inner in op.walk():
        if isinstance(inner, llvm.LoadOp):
            if is_ordered(inner) or not _is_shared(inner.ptr):
                return False
        elif not (isinstance(inner, _READING) or is_pure(inner)):
            return False
    return True


def _writes(op: Operation) -> bool:
    """
    Whether `op` may write memory that other iterations can read; an iteration's own variables do not count.
    """
    for inner in op.walk():
        if isinstance(inner, llvm.StoreOp):
            owner = base_of(inner.ptr).owner
            if not isinstance(owner, llvm.AllocaOp):
                return True
        elif not (isinstance(inner, (*_READING, llvm.LoadOp, llvm.AllocaOp)) or is_pure(inner)):
            return True
    return False


def _has_loop(op: Operation) -> bool:
    return any(isinstance(inner, scf.ForOp) for inner in op.walk())


def _trips(op: Operation) -> int | None:
    """
    The largest number of iterations of a loop in `op`; None if the number of one of them is not constant.
    """
    most = 0
    for inner in op.walk():
        if isinstance(inner, scf.ForOp):
            trips = constant_trips(inner.lb, inner.ub, inner.step)
            if trips is None:
                return None
            most = max(most, trips)
    return most


@dataclass(frozen=True)
class HoistedLoops:
    """The `loops` of a parallel loop's body that can be hoisted, and all operations they need (`slice`)."""

    loops: tuple[Operation, ...]
    slice: tuple[Operation, ...]


def find_invariant(loop: acc.LoopOp) -> HoistedLoops | None:
    """
    The sequential loops in the body of `loop` that give the same result in every iteration; None if there
    are none.
    """
    if len(loop.region.blocks) != 1:
        return None
    steady: dict[SSAValue, Operation] = {}
    chosen: list[Operation] = []
    for op in loop.region.block.ops:
        if _writes(op):
            break
        if isinstance(op, acc.YieldOp) or not op.results or not _only_reads(op):
            continue
        if not _depends_only_on(op, steady, loop):
            continue
        steady.update(dict.fromkeys(op.results, op))
        typed = all(isinstance(r.type, IntegerType | AnyFloat) for r in op.results)
        if typed and isinstance(op, scf.ForOp | scf.IfOp) and _has_loop(op):
            chosen.append(op)
    if not chosen:
        return None
    needed: set[Operation] = set()
    pending = list(chosen)
    while pending:
        op = pending.pop()
        if op not in needed:
            needed.add(op)
            pending += [steady[v] for i in op.walk() for v in i.operands if v in steady]
    order = [op for op in loop.region.block.ops if op in needed]
    return HoistedLoops(tuple(chosen), tuple(order))


def _depends_only_on(op: Operation, steady: dict[SSAValue, Operation], loop: acc.LoopOp) -> bool:
    """Whether `op` uses, of the loop's body, only `steady` values and values that it defines itself."""
    return all(
        operand in steady or not is_defined_inside(operand, loop) or is_defined_inside(operand, op)
        for inner in op.walk()
        for operand in inner.operands
    )


def judge(found: HoistedLoops, loop: acc.LoopOp, outer: acc.LoopOp) -> str | None:
    """Why `found` is not worth hoisting; None if it is."""
    trips = [_trips(op) for op in found.loops]
    known = [t for t in trips if t is not None]
    others = any(
        isinstance(inner, scf.ForOp | scf.WhileOp | acc.LoopOp | llvm.CallOp)
        for op in loop.region.block.ops
        if op not in found.loops
        for inner in op.walk()
    )
    most = max(known) if len(known) == len(trips) else None
    return keep_inside(Invariant(most, constant_trip(loop), constant_trip(outer), others))


def hoist(found: HoistedLoops, loop: acc.LoopOp) -> None:
    """Moves the loops to before `loop`."""
    at = Cursor.before(loop)
    results = [result for op in found.loops for result in op.results]
    runs = at.value(arith.CmpiOp(loop.lowerbound[0], loop.upperbound[0], "slt"), "runs")
    then, otherwise = Block(), Block()
    branch = scf.IfOp(runs, [r.type for r in results], Region(then), Region(otherwise))
    at.insert(branch)
    inside = Cursor.at_end(then, loop.location)
    values: dict[SSAValue, SSAValue] = {}
    for op in found.slice:
        inside.loc = op.location
        copy = inside.insert(op.clone(values))
        if isinstance(copy, scf.ForOp) and UNROLL not in copy.attributes:
            _unroll(copy)
    inside.insert(scf.YieldOp(*(values[r] for r in results)))
    empty = Cursor.at_end(otherwise, loop.location)
    empty.insert(scf.YieldOp(*(empty.constant(0, r.type) for r in results)))
    for old, new in zip(results, branch.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in reversed(found.slice):
        if not any(result.uses for result in op.results):
            erase(op)


def _unroll(loop: scf.ForOp) -> None:
    """
    Asks for unrolling: all threads of a gang run the loop at the same time, so nothing else hides the
    latency of its loads.
    """
    simple = not any(op.regions for op in loop.body.block.ops)
    factor = unroll_factor(_trips(loop)) if simple else 0
    if factor:
        loop.attributes[UNROLL] = IntegerAttr(factor, i32)


@dataclass(frozen=True)
class HoistInvariantLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "hoist-invariant-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        loops = [loop for loop in op.walk() if isinstance(loop, acc.LoopOp)]
        for loop in reversed(loops):
            outer = loop.parent_op()
            if (
                not isinstance(outer, acc.LoopOp)
                or not is_plain_parallel(loop)
                or not is_plain_parallel(outer)
            ):
                continue
            found = find_invariant(loop)
            if found is None:
                continue
            reason = judge(found, loop, outer)
            if reason is not None:
                loop.attributes[NOTE] = StringAttr(
                    f"a loop that is the same for all iterations is not hoisted: {reason}"
                )
                continue
            hoist(found, loop)
            loop.attributes[NOTE] = StringAttr(
                "a loop that is the same for all iterations is hoisted: it runs once before them"
            )
