"""
Loops without a directive that are the whole body of a parallel loop. If their iterations are independent
too, they are marked so for a GPU, and the nest is scheduled like one with a directive on every loop.
For CPU threads this is done if the outer loop walks along memory and the inner one across it, so that
`order-nests` interchanges them (`inner_loops.py` finds others).

With `parallel loop` only on the outermost loop of a nest, one thread often processes a row of an array
sequentially, which neighbouring threads could read and write together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.accx import WHY
from ...dialects.volatility import is_ordered
from ..decisions.short_rows import MOST_SHORT_ITERATIONS
from ..ir.data.cached_accesses import Symbols
from ..ir.dependence.loop_classifier import LoopClassifier
from ..ir.dependence.loop_dependence import judge_loop
from ..ir.dependence.loop_verdicts import Verdict
from ..ir.dependence.parallel_nests import walks_across
from ..ir.loops.product_loads import offset_of
from ..ir.ops.acc_ops import (
    child_loops,
    is_defined_inside,
    is_inside,
    loops_around,
    reduces_elements,
)
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.levels import is_parallel
from ..ir.ops.machine import machine_of
from ..ir.ops.purity import is_pure
from ..ir.values.loop_symbols import ends_of
from ..ir.values.region_values import RegionSymbols
from ..ir.values.values_outside import is_known_outside
from ..ir.variables.scalar_classes import ScalarClass
from ..ir.variables.scalar_uses import Decision
from .judged_loops import make_parallel, to_acc_loop
from .row_loops import allow_wrapping, decide_row_loops, refuse, row_loops
from .short_loops import fills_lanes, is_short, only_reads

_OWN = (ScalarClass.PRIVATE, ScalarClass.SHARED)


def inner_loop(loop: acc.LoopOp, *, for_threads: bool) -> scf.ForOp | None:
    """
    The loop without a directive that is all of the body of `loop`, apart from computations and reads for
    it and declarations, if its bounds are nearly the same in all iterations or it is a triangle around
    another loop; else None. For a GPU, stores may stand beside a product, as `separate-products` will move
    them away. Levels and tiles of `loop` do not matter: they are advice (`free-mapping`), or leave no level
    to the inner loop.
    """
    if not is_parallel(loop) or len(loop.region.blocks) != 1:
        return None
    # Each thread has its own copy of an array: lanes must not share its elements.
    if any(reduces_elements(around) for around in (loop, *loops_around(loop))):
        return None
    found: scf.ForOp | None = None
    stores = False
    for op in loop.region.block.ops:
        if isinstance(op, scf.ForOp) and found is None:
            found = op
        elif isinstance(op, llvm.StoreOp) and not is_ordered(op):
            stores = True
        elif not (
            op.has_trait(IsTerminator)
            or is_pure(op)
            or only_reads(op)
            or isinstance(op, llvm.AllocaOp)
        ):
            return None
    if found is None or found.results:
        return None
    if is_short(found) and (for_threads or not fills_lanes(found, loop)):
        return None
    if stores and (for_threads or not _is_product(found, loop)):
        return None
    bounds = (found.lb, found.ub, found.step)
    fits = _are_alike(bounds, loop) or _has_one_length(found, loop) or _is_triangle(found, loop)
    return found if fits else None


def _has_one_length(inner: scf.ForOp, loop: acc.LoopOp) -> bool:
    """
    Whether a loop has as many iterations in each iteration of `loop`, from different ones on: a block of
    elements; it may be cut off by a minimum with another bound.
    """
    symbols = RegionSymbols(loop, at_once=False)
    low = symbols.polynomial(inner.lb)
    ends = ends_of(inner.ub, arith.MinSIOp) or (inner.ub,)
    lengths = [
        None if low is None or (end := symbols.polynomial(v)) is None else end - low for v in ends
    ]
    return is_known_outside(inner.step, loop) and any(
        length is not None
        and not any(_is_of(symbol, loop) for symbol in length.symbols)
        and (length.as_constant is None or length.as_constant > MOST_SHORT_ITERATIONS)
        for length in lengths
    )


def _is_of(symbol: Hashable, loop: acc.LoopOp) -> bool:
    """Whether a symbol is a value that `loop` computes, or its variable."""
    return isinstance(symbol, SSAValue) and is_defined_inside(symbol, loop)


def _are_alike(bounds: Sequence[SSAValue], loop: acc.LoopOp) -> bool:
    """Whether the bounds of a loop are the same in all iterations of `loop`, apart from a few iterations."""
    spreads = [_spread(value, loop) for value in bounds]
    known = [spread for spread in spreads if spread is not None]
    return len(known) == len(spreads) and sum(known) <= MOST_SHORT_ITERATIONS


def _spread(value: SSAValue, loop: acc.LoopOp) -> int | None:
    """The most by which a value differs between iterations of `loop`; None if that is not known."""
    if is_known_outside(value, loop):
        return 0
    match value.owner:
        case arith.RemSIOp() | arith.RemUIOp() | arith.AndIOp() as op:
            number = constant_value(op.rhs)
            if number is None or number <= 0:
                return None
            return number if isinstance(op, arith.AndIOp) else 2 * (number - 1)
        case arith.SelectOp() as op:
            ends = [constant_value(end) for end in (op.lhs, op.rhs)]
            known = [end for end in ends if end is not None]
            return max(known) - min(known) if len(known) == len(ends) else None
        case arith.AddiOp() | arith.SubiOp() | arith.XOrIOp() as op:
            left, right = _spread(op.lhs, loop), _spread(op.rhs, loop)
            return None if left is None or right is None else left + right
        case arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp() as op:
            return _spread(op.operands[0], loop)
        case _:
            return None


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


def _is_product(inner: scf.ForOp, loop: acc.LoopOp) -> bool:
    """Whether a loop in `inner` reads elements that move with it and one of the loops around it only."""
    rows, columns = loop.region.block.args[-1], inner.body.block.args[0]
    for terms in (op for op in inner.body.block.ops if isinstance(op, scf.ForOp)):
        symbols = Symbols(terms)
        offsets = [
            offset_of(op.ptr, symbols)[1].symbols
            for op in terms.body.block.ops
            if isinstance(op, llvm.LoadOp)
        ]
        moving = [found for found in offsets if terms.body.block.args[0] in found]
        sides = {(rows in found, columns in found) for found in moving}
        if {(True, False), (False, True)} <= sides:
            return True
    return False


def _is_wanted(
    inner: scf.ForOp | None, loop: acc.LoopOp, construct: Operation, *, for_threads: bool
) -> bool:
    return inner is not None and (not for_threads or walks_across(inner, loop, construct))


def has_inner_loops(construct: Operation, *, for_threads: bool) -> bool:
    """
    Whether a parallel loop of a construct has an `inner_loop`, or, for GPUs, `row_loops`; dependences are not
    judged.
    """
    return isinstance(construct, acc.ParallelOp) and any(
        _is_wanted(inner_loop(op, for_threads=for_threads), op, construct, for_threads=for_threads)
        or (not for_threads and bool(row_loops(op)))
        for op in construct.walk()
        if isinstance(op, acc.LoopOp)
    )


def decide_inner_loops(
    construct: acc.ParallelOp, module: ModuleOp, classifier: LoopClassifier, *, for_threads: bool
) -> None:
    """
    Marks as parallel each `inner_loop` of a construct's parallel loops that is independent, outer ones first;
    for CPU threads, only those that will change places or get tiles, for GPUs also `row_loops` where there is
    none.
    """
    if machine_of(module).as_written or any(constant_value(v) == 1 for v in construct.num_gangs):
        return
    loops = [op for op in construct.walk() if isinstance(op, acc.LoopOp)]
    for loop in loops:
        inner = inner_loop(loop, for_threads=for_threads)
        if inner is None and not for_threads:
            loops += decide_row_loops(loop, construct, module, classifier)
        if inner is None or not _is_wanted(inner, loop, construct, for_threads=for_threads):
            continue
        verdict = judge_loop(inner, construct, classifier.scalars.of(inner))
        if not _is_free(verdict, inner, classifier):
            refuse(inner, verdict, classifier)
            if not for_threads:
                loops += decide_row_loops(loop, construct, module, classifier)
            continue
        for decision in verdict.scalars:
            if decision.kind is ScalarClass.REDUCTION:
                allow_wrapping(decision.uses)
        verdict = _with_declarations_inside(verdict, inner, classifier)
        directive = to_acc_loop(inner)
        directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
        make_parallel(directive, verdict, classifier, module)
        loops.append(directive)


def has_rows(construct: acc.ParallelOp) -> bool:
    """Whether the outermost loop of a construct has `row_loops`; dependences are not judged."""
    return any(row_loops(loop) for loop in child_loops(construct))


def decide_rows(construct: acc.ParallelOp, module: ModuleOp, classifier: LoopClassifier) -> None:
    """
    Marks the `row_loops` of a construct that was a kernels construct, whose other loops are decided, and
    loops inside of them.
    """
    decide_inner_loops(construct, module, classifier, for_threads=False)


def _is_free(verdict: Verdict, inner: scf.ForOp, classifier: LoopClassifier) -> bool:
    """
    Whether iterations are independent, except for variables that they may have of their own, and those that a
    clause of the loop around them reduces.
    """
    return (
        verdict.independent
        and not verdict.rows
        and all(_may_have_own(decision, classifier) for decision in verdict.scalars)
        and all(_is_used_within(array, inner) for array in verdict.privates)
    )


def _may_have_own(decision: Decision, classifier: LoopClassifier) -> bool:
    if decision.kind is not ScalarClass.REDUCTION:
        return decision.kind in _OWN
    clause = classifier.scalars.variable(decision).owner
    return isinstance(clause, acc.ReductionOp) and (
        classifier.scalars.clauses.get(clause) == decision.operator
    )


def _is_used_within(variable: SSAValue, inner: scf.ForOp) -> bool:
    """Whether a local variable is declared beside `inner` and used only in it."""
    return (
        isinstance(variable.owner, llvm.AllocaOp)
        and variable.owner.parent_block() is inner.parent_block()
        and all(is_inside(use.operation, inner) for use in variable.uses)
    )


def _with_declarations_inside(
    verdict: Verdict, inner: scf.ForOp, classifier: LoopClassifier
) -> Verdict:
    """
    Moves variables that every iteration sets before reading them into the body of `inner`, where they need
    no clause; the verdict on the others.
    """
    others: list[Decision] = []
    for decision in verdict.scalars:
        variable = classifier.scalars.variable(decision)
        if decision.kind is ScalarClass.PRIVATE and _is_used_within(variable, inner):
            _declare_inside(variable, inner)
        else:
            others.append(decision)
    for array in verdict.privates:
        _declare_inside(array, inner)
    return replace(verdict, scalars=tuple(others), privates=())


def _declare_inside(variable: SSAValue, inner: scf.ForOp) -> None:
    declaration, first = variable.owner, inner.body.block.first_op
    assert isinstance(declaration, llvm.AllocaOp)
    assert first is not None
    declaration.detach()
    declaration.operands[0] = Cursor.before(first).i32(1)
    inner.body.block.insert_op_before(declaration, first)
