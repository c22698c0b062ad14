"""
Loops without a directive that are the whole body of a parallel loop. If their iterations are independent
too, they are marked so for a GPU, and the nest is scheduled like one with a directive on every loop.
For CPU threads this is done if the outer loop walks along memory and the inner one across it, so that
`order-nests` interchanges them (`inner_loops.py` finds others).

With `parallel loop` only on the outermost loop of a nest, one thread often processes a row of an array
sequentially, which neighbouring threads could read and write together.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from ...dialects.accx import WHY
from ...dialects.volatility import is_ordered
from ..ir.dependence.loop_classifier import LoopClassifier
from ..ir.dependence.loop_dependence import judge_loop
from ..ir.dependence.loop_verdicts import Verdict
from ..ir.dependence.parallel_nests import walks_along_outer
from ..ir.ops.building import constant_value
from ..ir.ops.levels import is_parallel
from ..ir.ops.machine import machine_of
from ..ir.ops.purity import is_pure
from ..ir.values.region_values import RegionSymbols
from ..ir.values.values_outside import is_known_outside
from ..ir.variables.scalar_classes import ScalarClass
from .judged_loops import is_short, make_parallel, to_acc_loop
from .row_loops import decide_row_loops, row_loops

_OWN = (ScalarClass.PRIVATE, ScalarClass.SHARED)


def inner_loop(loop: acc.LoopOp) -> scf.ForOp | None:
    """
    The loop without a directive that is all of the body of `loop`, apart from computations and reads for
    it, if its bounds are the same in all iterations or it is a triangle around another loop; else None.
    Levels and tiles of `loop` do not matter: they are advice (`free-mapping`), or leave no level to the
    inner loop.
    """
    if not is_parallel(loop) or loop.reduction_operands or len(loop.region.blocks) != 1:
        return None
    found: scf.ForOp | None = None
    for op in loop.region.block.ops:
        if isinstance(op, scf.ForOp) and found is None:
            found = op
        elif not (op.has_trait(IsTerminator) or is_pure(op) or _only_reads(op)):
            return None
    if found is None or found.results or is_short(found):
        return None
    bounds = (found.lb, found.ub, found.step)
    fixed = all(is_known_outside(value, loop) for value in bounds)
    return found if fixed or _is_triangle(found, loop) else None


def _is_triangle(inner: scf.ForOp, loop: acc.LoopOp) -> bool:
    """
    Whether the trip count of `inner` changes by a constant from one iteration of `loop` to the next, and
    `inner` contains another loop, which gives it enough work for lanes.
    """
    if not any(isinstance(op, scf.ForOp) for op in inner.body.block.ops):
        return False
    symbols = RegionSymbols(loop, at_once=False)
    low, high = symbols.polynomial(inner.lb), symbols.polynomial(inner.ub)
    if low is None or high is None:
        return False
    parts = (high - low).split(loop.region.block.args[-1])
    return parts is not None and bool(parts[1].as_constant)


def _only_reads(op: Operation) -> bool:
    return isinstance(op, llvm.LoadOp) and not is_ordered(op)


def _is_wanted(
    inner: scf.ForOp | None, loop: acc.LoopOp, construct: Operation, *, for_threads: bool
) -> bool:
    return inner is not None and (not for_threads or walks_along_outer(inner, loop, construct))


def has_inner_loops(construct: Operation, *, for_threads: bool) -> bool:
    """
    Whether a parallel loop of a construct has an `inner_loop`, or, for GPUs, `row_loops`; dependences are not
    judged.
    """
    return isinstance(construct, acc.ParallelOp) and any(
        _is_wanted(inner_loop(op), op, construct, for_threads=for_threads)
        or (not for_threads and bool(row_loops(op)))
        for op in construct.walk()
        if isinstance(op, acc.LoopOp)
    )


def decide_inner_loops(
    construct: acc.ParallelOp, module: ModuleOp, classifier: LoopClassifier, *, for_threads: bool
) -> None:
    """
    Marks as parallel each `inner_loop` of a construct's parallel loops that is independent, outer ones first;
    for CPU threads, only those that will change places, for GPUs also `row_loops` where there is none.
    """
    if machine_of(module).as_written or any(constant_value(v) == 1 for v in construct.num_gangs):
        return
    loops = [op for op in construct.walk() if isinstance(op, acc.LoopOp)]
    for loop in loops:
        inner = inner_loop(loop)
        if inner is None and not for_threads:
            decide_row_loops(loop, construct, module, classifier)
        if inner is None or not _is_wanted(inner, loop, construct, for_threads=for_threads):
            continue
        verdict = judge_loop(inner, construct, classifier.scalars.of(inner))
        if not _is_free(verdict):
            continue
        directive = to_acc_loop(inner)
        directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
        make_parallel(directive, verdict, classifier, module)
        loops.append(directive)


def _is_free(verdict: Verdict) -> bool:
    """Whether iterations are independent without conditions, and need private scalars only."""
    own = all(decision.kind in _OWN for decision in verdict.scalars)
    return verdict.independent and own and not verdict.privates and not verdict.rows
