"""
Uses of a variable's value in a loop that reduces it, other than in its update.

Such a use sees a partial result, which depends on how iterations are distributed (OpenACC 3.4, 2.9.11). In
a loop that one thread runs alone it can see the variable itself, as in C.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.accx import FROM_KERNELS, FROM_SERIAL
from ..data.callees import is_harmless
from ..ops.acc_ops import (
    drop_operands,
    has_level,
    is_defined_inside,
    is_inside,
    loops_around,
    loops_in,
    replace_inside,
)


def use_of_partial_sum(accesses: Sequence[Operation]) -> Operation | None:
    """
    A load, among all operations of a loop on a reduced variable (`accesses`), whose value is used other
    than to update the variable: stored to other memory, passed to a call, or used in a condition of these.
    None if there is none.
    """
    own = set(accesses)
    return next(
        (op for op in accesses if isinstance(op, llvm.LoadOp) and _leaves(op, own)),
        None,
    )


def _leaves(load: llvm.LoadOp, own: set[Operation]) -> bool:
    work: list[SSAValue] = list(load.results)
    seen = set(work)
    while work:
        for use in work.pop().uses:
            op = use.operation
            if op in own:
                continue
            results = list(op.results)
            if isinstance(op, scf.YieldOp):
                parent = op.parent_op()
                results = list(parent.results) if isinstance(parent, scf.IfOp) else []
            elif isinstance(op, scf.IfOp):
                if any(_has_effect(inner, own) for inner in op.walk()):
                    return True
            elif _has_effect(op, own):
                return True
            new = [value for value in results if value not in seen]
            seen.update(new)
            work += new
    return False


def _has_effect(op: Operation, own: set[Operation]) -> bool:
    """Whether an operation has an effect other than on the variable, whose operations are `own`."""
    if op in own or isinstance(op, scf.IfOp) or op.has_trait(IsTerminator):
        return False
    if isinstance(op, llvm.CallOp):
        return not is_harmless(op)
    return isinstance(op, llvm.StoreOp) or op.name.startswith("acc.atomic")


def reduce_in_place(construct: Operation) -> None:
    """
    Makes sequential loops of a compute construct that use the value of a variable they reduce work on the
    variable itself, where one thread runs each of them: the copy of a reduction would start at the neutral
    value.
    """
    loops = list(loops_in(construct))
    for loop in loops:
        if not loop.reduction_operands or not _is_in_order(loop, construct):
            continue
        if _is_run_once(loop, loops, construct):
            _reduce_in_place(loop)


def _reduce_in_place(loop: acc.LoopOp) -> None:
    found: list[SSAValue] = []
    for copy in loop.reduction_operands:
        uses = [use.operation for use in copy.uses if is_inside(use.operation, loop)]
        if isinstance(copy.owner, acc.ReductionOp) and use_of_partial_sum(uses) is not None:
            found.append(copy)
    if found:
        use_variables(loop, found)


def use_variables(loop: acc.LoopOp, copies: Sequence[SSAValue]) -> None:
    """
    Makes a loop that one thread runs from start to end work on the variables themselves instead of these
    copies of its reduction clauses.
    """
    for copy in copies:
        reduction = copy.owner
        assert isinstance(reduction, acc.ReductionOp)
        replace_inside(loop, copy, reduction.var)
    drop_operands(loop, "reduction_operands", copies)


def reduces_own(loop: acc.LoopOp) -> bool:
    """
    Whether the loop reduces variables, all of which belong to an iteration of the loop around it, or to a
    condition's branch in one.
    """
    parent = loop.parent_op()
    while isinstance(parent, scf.IfOp):
        parent = parent.parent_op()
    entries = [value.owner for value in loop.reduction_operands]
    return bool(entries) and all(
        isinstance(entry, acc.ReductionOp)
        and parent is not None
        and is_defined_inside(entry.var, parent)
        for entry in entries
    )


def _is_in_order(loop: acc.LoopOp, construct: Operation) -> bool:
    return has_level(loop.seq) or FROM_SERIAL in construct.attributes


def _is_run_once(loop: acc.LoopOp, loops: Sequence[acc.LoopOp], construct: Operation) -> bool:
    """Whether no other thread runs a sequential loop on the same variables."""
    if FROM_KERNELS in construct.attributes or FROM_SERIAL in construct.attributes:
        return True
    if any(not has_level(around.seq) for around in loops_around(loop, construct)):
        return True
    return (
        isinstance(construct, acc.ParallelOp)
        and not construct.num_gangs
        and all(has_level(other.seq) for other in loops)
    )
