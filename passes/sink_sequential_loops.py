"""
Sink sequential loops into the parallel loop that is their body, where the elements that it changes stay the
same.

Products are often written as rows that are added to the result, `for (k …) for (j …) c[i][j] += a[i][k] *
b[k][j]`, which suits caches: the loop over `j` is parallel, and the one over the terms around it is not. On a
GPU each lane would load and store its element of the result in every step. With the loop over the terms
inside, the element stays in a register, the nest is the product that `find-shared-sections` knows, and a loop
that clears the row before becomes one with it (`fuse-sibling-loops`).

Takes:  data level, levels still open and bounds hoisted.
Leaves: inside another parallel loop, a sequential loop whose body is a parallel loop, apart from computations
        and loads, is inside that loop, if it does not change the parallel loop's bounds nor the addresses of
        what is stored, and the iterations of the parallel loop are still independent, with what the host has
        found of the construct's arrays. Each element gets the same values in the same order. Loops with
        levels, tiles or variables of their own are untouched. A note on the construct says so.
Fails:  never.

Before:
  scf.for %k = … { acc.loop control(%j : i32) = … { c[i, j] += a[i, k] * b[k, j] } }
After:
  acc.loop control(%j : i32) = … { scf.for %k = … { c[i, j] += a[i, k] * b[k, j] } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ..dialects.volatility import is_ordered
from .ir.dependence.loop_dependence import is_independent
from .ir.loops.open_loops import is_open
from .ir.loops.seq_loops import is_plain_seq, to_for_loops
from .ir.ops.acc_ops import has_level, is_defined_inside, parallel_constructs
from .ir.ops.building import Cursor, erase
from .ir.ops.expressions import parts_of
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel
from .ir.ops.loop_bounds import LoopLike, body_of, bounds_of
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure

_NOTE = "around the sequential loop that it was the body of, whose sums stay in registers"


def _is_sequential(op: Operation) -> bool:
    """Whether `op` is a sequential loop of one variable that hands no values on."""
    match op:
        case scf.ForOp():
            return not op.iter_args
        case acc.LoopOp():
            return has_level(op.seq) and len(op.region.blocks) == 1 and len(op.lowerbound) == 1
        case _:
            return False


def _is_in_parallel_loop(loop: Operation) -> bool:
    """Whether only sequential loops are between `loop` and a parallel one around them."""
    around = loop.parent_op()
    while around is not None and _is_sequential(around):
        around = around.parent_op()
    return isinstance(around, acc.LoopOp) and is_parallel(around)


def _row_in(loop: LoopLike) -> acc.LoopOp | None:
    """The open parallel loop that is the body of `loop`, apart from computations and loads before it."""
    rows = [op for op in body_of(loop).block.ops if isinstance(op, acc.LoopOp)]
    if len(rows) != 1 or not is_open(row := rows[0]):
        return None
    before = True
    for op in body_of(loop).block.ops:
        if op is row:
            before = False
        elif isinstance(op, llvm.LoadOp):
            if is_ordered(op) or not before:
                return None
        elif not (is_pure(op) or op.has_trait(IsTerminator)):
            return None
    return row


def _is_same_in_all(value: SSAValue, loop: LoopLike) -> bool:
    """Whether a value inside `loop` is computed from what its iterations do not change, without loads."""
    variable = bounds_of(loop)[0][0]

    def is_outside(part: SSAValue) -> bool:
        return not is_defined_inside(part, loop)

    return all(
        is_outside(part)
        or (is_pure(part.owner) if isinstance(part.owner, Operation) else part is not variable)
        for part in parts_of(value, is_outside)
    )


def _may_sink(loop: LoopLike, row: acc.LoopOp) -> bool:
    """Whether `loop` leaves alone the bounds of `row` and the addresses of all that is stored."""
    bounds = (bound for _, *bounds in bounds_of(row) for bound in bounds)
    if any(is_defined_inside(bound, loop) for bound in bounds):
        return False
    stores: list[llvm.StoreOp] = []
    for op in row.walk():
        match op:
            case llvm.StoreOp():
                stores.append(op)
            case llvm.LoadOp() | scf.ForOp() | scf.IfOp():
                pass
            case _ if op is not row and not (is_pure(op) or op.has_trait(IsTerminator)):
                return False
            case _:
                pass
    return bool(stores) and all(
        not is_ordered(store) and _is_same_in_all(store.ptr, loop) for store in stores
    )


def sink(loop: LoopLike, construct: acc.ParallelOp) -> acc.LoopOp | None:
    """
    Puts `loop` into the parallel loop that is its body, and returns that one; None, and nothing is changed,
    if that is not possible.
    """
    row = _row_in(loop)
    if row is None or not _may_sink(loop, row):
        return None
    whole = Cursor.before(loop).clone(loop, {})
    made = next(op for op in body_of(whole).block.ops if isinstance(op, acc.LoopOp))
    inside = Cursor.before(made)
    for op in list(made.region.block.ops):
        if not op.has_trait(IsTerminator):
            inside.move(op)
    Cursor.before(whole).move(made)
    end = made.region.block.last_op
    assert end is not None
    Cursor.before(end).move(whole)
    if isinstance(whole, acc.LoopOp) and is_plain_seq(whole):
        to_for_loops(whole)
    if is_independent(made, construct):
        erase(loop)
        return made
    erase(made)
    return None


@dataclass(frozen=True)
class SinkSequentialLoopsPass(GpuPass):
    """See the module's description."""

    name = "sink-sequential-loops"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            for op in reversed(list(construct.walk())):
                if not isinstance(op, LoopLike) or not _is_sequential(op):
                    continue
                if _is_in_parallel_loop(op) and (row := sink(op, construct)) is not None:
                    text = _NOTE
                    note(construct, [(row, text)])
