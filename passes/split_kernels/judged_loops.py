"""Judges loops of kernels constructs and `auto` loops, and makes the independent ones parallel (step 1)."""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, StringAttr, UnitAttr, i1
from xdsl.ir import Operation

from ...dialects.accx import CONDITIONAL, WHY
from ..decisions.device import WARP
from ..decisions.levels import Level
from ..ir.dependence.loop_classifier import LoopClassifier
from ..ir.dependence.loop_dependence import judge_loop
from ..ir.dependence.loop_verdicts import Verdict
from ..ir.dependence.parallel_nests import suits_lanes_better
from ..ir.kernels.constructs import one_before, set_one_gang
from ..ir.ops.acc_ops import (
    COMPUTE_OPS,
    NONE,
    enclosing,
    has_level,
    is_inside,
    loops_around,
    loops_in,
    replace_inside,
    set_prop,
)
from ..ir.ops.levels import is_parallel, loop_levels
from ..ir.ops.loop_bounds import LoopLike
from ..ir.ops.loop_order import confine_to_gang, make_sequential
from ..ir.ops.machine import machine_of
from ..ir.variables.scalar_classes import ScalarClass
from ..ir.variables.scalar_clauses import add_private
from .inner_loops import inner_loops
from .mixed_loops import is_mixed
from .ordered_tiles import drop_ordered_tiles
from .short_loops import has_at_most, is_short, may_fill_lanes

_HARMLESS = (ScalarClass.SHARED, ScalarClass.PRIVATE)


def _privatize_arrays(loop: acc.LoopOp, verdict: Verdict, module: ModuleOp) -> None:
    """Adds private clauses for the arrays that every iteration fills before reading them."""
    for variable in verdict.privates:
        replace_inside(loop, variable, add_private(loop, variable, module))


def to_acc_loop(loop: scf.ForOp) -> acc.LoopOp:
    """Replaces a counted loop by an `acc.loop`."""
    block = loop.parent_block()
    assert block is not None
    body = loop.detach_region(0)
    terminator = body.block.last_op
    assert terminator is not None
    body.block.erase_op(terminator)
    body.block.add_op(acc.YieldOp())
    directive = acc.LoopOp(
        region=body,
        lowerbound=[loop.lb],
        upperbound=[loop.ub],
        step=[loop.step],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
    )
    directive.location = loop.location
    block.insert_op_before(directive, loop)
    block.erase_op(loop)
    return directive


def _settle(
    loop: acc.LoopOp, verdict: Verdict, classifier: LoopClassifier, module: ModuleOp
) -> None:
    set_prop(loop, "auto_", None)
    if verdict.independent and classifier.uses_partial_sum(loop):
        make_sequential(loop, "auto: iterations use the value of a variable that they reduce")
        return
    if verdict.independent:
        set_prop(loop, "independent", NONE)
        make_parallel(loop, verdict, classifier, module)
        return
    make_sequential(loop, f"auto: {verdict.why}")


def make_parallel(
    loop: acc.LoopOp, verdict: Verdict, classifier: LoopClassifier, module: ModuleOp
) -> None:
    """
    Marks an independent loop: adds the clauses it needs, and `accx.conditional` if the host must test
    something.
    """
    for decision in verdict.scalars:
        classifier.scalars.write(loop, decision)
    _privatize_arrays(loop, verdict, module)
    _note_condition(loop, verdict)


def _note_condition(loop: acc.LoopOp, verdict: Verdict) -> None:
    if verdict.conditional:
        loop.attributes[CONDITIONAL] = UnitAttr()


def _leaves_lanes_outside(loop: scf.ForOp, construct: Operation) -> bool:
    """
    Whether a loop is known to have no more iterations than a warp has lanes, and the parallel loop around
    it suits them better.
    """
    around = enclosing(loop, acc.LoopOp)
    return (
        around is not None
        and is_inside(around, construct)
        and is_parallel(around)
        and has_at_most(loop, WARP)
        and suits_lanes_better(around, loop, construct)
    )


def _is_within_parallel(loop: scf.ForOp, construct: Operation) -> bool:
    return any(has_level(around.independent) for around in loops_around(loop, construct))


def _why_sequential(loop: scf.ForOp, construct: Operation) -> str | None:
    """Why a loop without a directive should be sequential, whether its iterations are independent or not."""
    if is_short(loop) and _is_within_parallel(loop, construct):
        return "it has few iterations"
    if _leaves_lanes_outside(loop, construct):
        return "it has few iterations, and the loop around it suits lanes better"
    return None


def decide_loops(
    parent: Operation, module: ModuleOp, classifier: LoopClassifier, *, plain_loops: bool
) -> None:
    """
    Decides the `auto` loops of a construct or function, outer before inner; with `plain_loops` counted
    loops without a directive become independent `acc.loop`s where that is proven. Conditions that the host
    can test before a construct are left to `guard-against-overlap`.
    """
    host = parent if isinstance(parent, COMPUTE_OPS) else None

    def is_free(inner: scf.ForOp) -> bool:
        return judge_loop(inner, host, classifier.scalars.of(inner)).independent

    by_lanes = machine_of(module).target != "host"
    joins = by_lanes and not machine_of(module).as_written
    left: set[Operation] = set()
    candidates: list[LoopLike] = [
        op
        for op in parent.walk()
        if (isinstance(op, acc.LoopOp) and (has_level(op.auto_) or plain_loops))
        or (plain_loops and isinstance(op, scf.ForOp))
    ]
    for loop in candidates:
        if loop in left:
            loop.attributes[WHY] = StringAttr(
                "a thread runs each iteration of the loop around it, which has a sequential loop"
            )
            continue
        why = None
        if isinstance(loop, scf.ForOp) and not (joins and may_fill_lanes(loop)):
            why = _why_sequential(loop, parent)
        if why is not None:
            loop.attributes[WHY] = StringAttr(why)
            continue
        if isinstance(loop, acc.LoopOp) and not has_level(loop.auto_):
            if is_parallel(loop):
                classifier.loop(loop, inside=True)
            continue
        verdict = judge_loop(loop, host, classifier.scalars.of(loop))
        if isinstance(loop, acc.LoopOp):
            _settle(loop, verdict, classifier, module)
        elif verdict.independent:
            if by_lanes and not _is_within_parallel(loop, parent) and is_mixed(loop, is_free):
                left.update(op for op in loop.body.walk() if isinstance(op, scf.ForOp))
            directive = to_acc_loop(loop)
            directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
            make_parallel(directive, verdict, classifier, module)
        else:
            loop.attributes[WHY] = StringAttr(verdict.why)
    drop_ordered_tiles(parent, classifier, classifier.messages)
    if candidates and isinstance(parent, acc.ParallelOp):
        confine_to_gang(parent)
        if not any(_may_share_gangs(loop) for loop in loops_in(parent)):
            _run_in_one_gang(parent)


def mark_inner_loops(construct: Operation, module: ModuleOp, classifier: LoopClassifier) -> None:
    """
    Makes loops without a directive that contain other loops parallel, if they are proved independent
    without reductions.
    """
    for loop in inner_loops(construct):
        decisions = classifier.scalars.of(loop)
        if any(decision.kind not in _HARMLESS for decision in decisions):
            continue
        verdict = judge_loop(loop, construct, decisions)
        if verdict.independent and not verdict.rows and not verdict.privates:
            directive = to_acc_loop(loop)
            directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
            make_parallel(directive, verdict, classifier, module)


def _may_share_gangs(loop: acc.LoopOp) -> bool:
    levels = loop_levels(loop)
    return is_parallel(loop) and (not levels or Level.GANG in levels)


def _run_in_one_gang(construct: acc.ParallelOp) -> None:
    """
    Sets one gang for a construct without a loop shared by gangs: otherwise each gang would repeat
    everything, and sums would be counted several times.
    """
    set_one_gang(construct, one_before(construct))
