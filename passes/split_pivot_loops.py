"""
Split a loop at its pivot: the iteration whose data all others read, and which has the number of an iteration
of a loop around it, as in Floyd-Warshall's three loops.

Takes:  acc level.
Leaves: in kernels constructs, and in parallel loops of other constructs, counted loops without a directive
        that are dependent as a whole, but not before and after their pivot, as three loops: over the
        iterations before it, the pivot, and those after it. The order of iterations is the same. The pivot
        certainly is an iteration, and the variable of a sequential loop around the parallel ones. It has no
        loop of its own if the body has none. Loops that carry values, contain directives, have long bodies
        or few iterations are untouched.
Fails:  never.

Before:
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 { d[i][j] = min(d[i][j], d[i][k] + d[k][j]) }
  }
After:
  scf.for %k = %c0 to %n step %c1 {
    %next = arith.addi %k, %c1 : i32
    scf.for %i = %c0 to %k step %c1 { … }
    scf.for %i = %k to %next step %c1 { … }
    scf.for %i = %next to %n step %c1 { … }
  }
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from .decisions.pivots import MOST_OPERATIONS, parts
from .decisions.polynomials import Polynomial
from .decisions.ranges import LoopRange
from .decisions.short_rows import MOST_SHORT_ITERATIONS
from .ir.dependence.loop_dependence import judge_loop
from .ir.ops.acc_ops import (
    COMPUTE_OPS,
    constructs_of,
    enclosing,
    has_more_operations,
    is_inside,
    operations_around,
)
from .ir.ops.building import Cursor, constant_value, erase
from .ir.ops.levels import is_parallel
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.machine import machine_of
from .ir.ops.same_values import same_value
from .ir.values.accesses import root_of, subscripts_of
from .ir.values.constant_ranges import most_trips
from .ir.values.loop_symbols import LoopSymbols
from .ir.variables.function_scalars import FunctionScalars, exposed_globals, global_scalars

_INSIDE = (scf.ForOp, scf.IfOp)
"""The operations with regions that a body may contain."""


def _may_split(loop: scf.ForOp) -> bool:
    """Whether a loop has the form that is split: not long, and nothing in it that must stay one operation."""
    if (
        loop.iter_args
        or constant_value(loop.step) != 1
        or not isinstance(loop.lb.type, IntegerType)
    ):
        return False
    if has_more_operations(loop, MOST_OPERATIONS) or _is_short(loop):
        return False
    return not any(
        isinstance(op, llvm.AllocaOp)
        or op.name.startswith("acc.")
        or (op.regions and not isinstance(op, _INSIDE))
        for op in loop.body.walk()
    )


def _is_short(loop: scf.ForOp) -> bool:
    most = most_trips(bounds_of(loop)[0])
    return most is not None and most <= MOST_SHORT_ITERATIONS


def _is_candidate(loop: scf.ForOp, construct: Operation) -> bool:
    """Whether only accesses make a loop sequential, and it may be split if these allow it."""
    in_order = isinstance(construct, acc.KernelsOp) or any(
        isinstance(op, acc.LoopOp) and is_parallel(op) for op in operations_around(loop, construct)
    )
    return in_order and _may_split(loop) and bool(_pivots(loop, construct))


def _place(
    pointer: SSAValue, loop: scf.ForOp, symbols: LoopSymbols
) -> tuple[SSAValue, set[Hashable]]:
    """The array of an access, for rows the array of pointers to them, and what its subscripts contain."""
    found: set[Hashable] = set()
    while True:
        root = root_of(pointer)
        for subscript in subscripts_of(pointer, symbols)[0]:
            found |= set() if subscript is None else subscript.symbols
        if not isinstance(root.owner, llvm.LoadOp) or not is_inside(root.owner, loop):
            return root, found
        pointer = root.owner.ptr


def _pivots(loop: scf.ForOp, construct: Operation) -> list[SSAValue]:
    """
    The variables of sequential loops around the parallel loops that `loop` may be in, or become, which
    subscripts contain of an array to which it stores.
    """
    around = [
        op.body.block.args[0]
        for op in operations_around(loop)
        if isinstance(op, scf.ForOp)
        and (op.parent_op() is construct or not is_inside(op, construct))
    ]
    symbols = LoopSymbols(loop, construct)
    stored: set[SSAValue] = set()
    found: dict[SSAValue, set[Hashable]] = {}
    for op in loop.body.walk() if around else ():
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            root, inside = _place(op.ptr, loop, symbols)
            found.setdefault(root, set()).update(inside)
            if isinstance(op, llvm.StoreOp):
                stored.add(root)
    named = {symbol for root in stored for symbol in found[root]}
    return [value for value in around if value in named]


def _range(loop: scf.ForOp, pivot: SSAValue, symbols: LoopSymbols) -> LoopRange:
    """The range of a loop; bounds that are those of the pivot's loop computed again are the same symbols."""
    around = pivot.owner.parent_op() if isinstance(pivot.owner, Block) else None
    assert isinstance(around, scf.ForOp)
    low, high = (
        theirs if same_value(own, theirs) else own
        for own, theirs in ((loop.lb, around.lb), (loop.ub, around.ub))
    )
    return symbols.range_of(loop.body.block.args[0], low, high, loop.step)


def _pivot(loop: scf.ForOp, construct: Operation, scalars: FunctionScalars) -> SSAValue | None:
    """The pivot at which `loop` should be split; None if there is none."""
    symbols, decisions = LoopSymbols(loop, construct), scalars.of(loop)
    if judge_loop(loop, construct, decisions).independent:
        return None
    for pivot in _pivots(loop, construct):
        own = _range(loop, pivot, symbols)
        found = parts(own, Polynomial.symbol(pivot), symbols.outer_ranges)
        if found is not None and all(
            judge_loop(loop, construct, decisions, part=part).independent for part in found
        ):
            return pivot
    return None


def _has_loops(loop: scf.ForOp) -> bool:
    return any(isinstance(op, scf.ForOp) for op in loop.body.walk())


def _split(loop: scf.ForOp, pivot: SSAValue) -> list[scf.ForOp]:
    """Replaces a loop by its parts; returns the loops in them."""
    cursor, type_ = Cursor.before(loop), loop.lb.type
    assert isinstance(type_, IntegerType)
    middle = cursor.to_integer(pivot, type_)
    after = cursor.add(middle, cursor.constant(1, type_), "after")
    made: list[scf.ForOp] = []
    for low, high in ((loop.lb, middle), (middle, after), (after, loop.ub)):
        if low is middle and not _has_loops(loop):
            known: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: middle}
            for op in loop.body.block.ops:
                if not op.has_trait(IsTerminator):
                    cursor.clone(op, known)
            continue
        part = cursor.clone(loop, {})
        part.operands[0], part.operands[1] = low, high
        made += [op for op in part.body.walk() if isinstance(op, scf.ForOp)]
    erase(loop)
    return made


def _split_all(loops: Sequence[scf.ForOp], scalars: FunctionScalars) -> list[scf.ForOp]:
    """Splits loops, outer before inner; returns the loops in their parts that may be split, too."""
    made: list[scf.ForOp] = []
    done: set[Operation] = set()
    for loop in loops:
        construct = enclosing(loop, *COMPUTE_OPS)
        if construct is None or any(around in done for around in operations_around(loop)):
            continue
        pivot = _pivot(loop, construct, scalars)
        if pivot is not None:
            done.add(loop)
            made += [op for op in _split(loop, pivot) if _is_candidate(op, construct)]
    return made


@dataclass(frozen=True)
class SplitPivotLoopsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "split-pivot-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if machine_of(op).as_written:
            return
        for function in op.body.block.ops:
            loops = [
                loop
                for construct in constructs_of(function, COMPUTE_OPS)
                for loop in construct.walk()
                if isinstance(loop, scf.ForOp) and _is_candidate(loop, construct)
            ]
            while loops:
                assert isinstance(function, llvm.FuncOp)
                scalars = FunctionScalars(function, op, global_scalars(op), exposed_globals(op))
                loops = _split_all(loops, scalars)
