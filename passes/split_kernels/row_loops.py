"""
Loops without a directive in a parallel loop that has other statements, too. If the iterations of all of them
are independent, or only reduce scalars exactly, they are marked parallel for a GPU: lanes share each row,
where one thread would process all of it. Statements beside them run as those of a `gang` loop around a
`vector` loop: every lane computes values, one lane stores. Of several loops in a row some may add up floats,
whose order counts: they are marked `accx.in_order`, and `keep-sum-order` lets lanes compute the terms. Loops
that are parallel already, by a directive or as loops of a kernels construct, may be among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import IsTerminator

from ...dialects.accx import IN_ORDER, WHY
from ...dialects.volatility import is_ordered
from ..decisions.levels import Level
from ..decisions.short_rows import thread_below
from ..ir.dependence.loop_classifier import LoopClassifier, is_parallel
from ..ir.dependence.loop_dependence import judge_loop
from ..ir.dependence.loop_verdicts import Verdict
from ..ir.loops.conditional_sums import split_conditional_sums
from ..ir.loops.dependent_ops import depending_on
from ..ir.loops.kept_sums import keep_sums
from ..ir.loops.row_bounds import (
    Bounds,
    follow_each_other,
    loaded_bounds,
    triangle_length,
)
from ..ir.ops.acc_ops import accessed_type, child_loops, is_scalar, variable_name
from ..ir.ops.building import Cursor, constant_trips, constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.levels import loop_levels
from ..ir.ops.loop_bounds import LoopLike, body_of, bounds_of
from ..ir.ops.machine import machine_of
from ..ir.ops.purity import only_computes
from ..ir.ops.versions import can_have_versions
from ..ir.values.accesses import root_of
from ..ir.values.region_values import RegionSymbols
from ..ir.values.strides import AccessCounter
from ..ir.values.values_outside import is_known_outside
from ..ir.variables.reduction_forms import Kind, Operator
from ..ir.variables.scalar_classes import ScalarClass
from ..ir.variables.scalar_clauses import add_reduction, replace_in, scalar_type
from ..ir.variables.scalar_uses import Decision
from .carried_values import LOOPS, declare, in_variables, operators_of, uses_of
from .judged_loops import make_parallel, to_acc_loop
from .searches import ExtremeSearch, find_search, split_search
from .short_loops import is_short, only_loop

_ACCESSES = (llvm.LoadOp, llvm.StoreOp)
_OWN = (ScalarClass.PRIVATE, ScalarClass.SHARED)
_SHARED = tuple(kind for kind in LOOPS if kind is not scf.ForOp)
"""Loops that may not be in one that lanes share by its directive."""
_EXTREMES = (Kind.MAX, Kind.MIN)


# Which loops.


def row_loops(loop: acc.LoopOp, ordered: Collection[Operation] = ()) -> list[LoopLike]:
    """
    The loops in the body of the only outermost loop of a construct, also in its conditional statements, if
    one of them has no directive, all other statements may stand beside loops that lanes share, and lanes
    would access neighbouring elements where iterations of `loop` do not; else an empty list. They have the
    same number of iterations for all rows, so that `keep-short-rows` can give a thread to short rows at
    launch, or as many as arrays have for each row, or those of a triangle, so that `choose-lanes` can. Loops
    in `ordered` are sequential, and those in them are such loops.
    """
    construct = loop.parent_op()
    if not isinstance(construct, acc.ParallelOp) or not can_have_versions(construct):
        return []
    if not is_parallel(loop) or len(loop.lowerbound) != 1 or len(child_loops(construct)) != 1:
        return []
    if loop.reduction_operands or loop.tile_operands or len(loop.region.blocks) != 1:
        return []
    found: list[LoopLike] = []
    if not _collect(loop.region.block, found, ordered) or not _undecided(found):
        return []
    if all(_is_fixed(inner, loop) for inner in found):
        suits = not _are_short(found) and _walks_rows(loop, found)
    elif _are_triangular(loop, found):
        suits = _walks_rows(loop, found)
    else:
        suits = loaded_rows(loop, found) is not None and _walks_rows(loop, found, loaded=True)
    return found if suits else []


def loaded_rows(loop: acc.LoopOp, found: Sequence[LoopLike]) -> Bounds | None:
    """The bounds of the loops `found`, which each iteration of `loop` loads, if all have the same."""
    construct = loop.parent_op()
    assert isinstance(construct, acc.ParallelOp)
    symbols = RegionSymbols(construct)
    bounds = {loaded_bounds(inner, loop, symbols) for inner in found}
    return bounds.pop() if len(bounds) == 1 else None


def _are_triangular(loop: acc.LoopOp, found: Sequence[LoopLike]) -> bool:
    """Whether the loops, without others inside, have the lengths of rows of triangles, or equal ones."""
    construct = loop.parent_op()
    assert isinstance(construct, acc.ParallelOp)
    symbols = RegionSymbols(construct)
    return not any(len(_nest(inner)) > 1 for inner in found) and all(
        triangle_length(inner, loop, symbols) is not None for inner in found
    )


def _are_apart(loop: acc.LoopOp, found: Sequence[LoopLike]) -> bool:
    """Whether rows have lengths of their own, but do not follow each other, so that they are not staged."""
    if not all(_is_fixed(inner, loop) for inner in found) and _are_triangular(loop, found):
        return True
    bounds = loaded_rows(loop, found)
    return bounds is not None and not follow_each_other(bounds, loop)


def _undecided(found: Sequence[LoopLike]) -> list[scf.ForOp]:
    """The loops without a directive."""
    return [inner for inner in found if isinstance(inner, scf.ForOp)]


def _is_shared(loop: acc.LoopOp) -> bool:
    """Whether lanes may share a loop by its directive."""
    one = len(loop.lowerbound) == 1 and len(loop.region.blocks) == 1 and not loop.tile_operands
    return one and is_parallel(loop) and Level.GANG not in loop_levels(loop)


def _collect(block: Block, found: list[LoopLike], ordered: Collection[Operation]) -> bool:
    """
    Adds the loops in a block to `found`, those in sequential loops for these (`ordered`, or short ones);
    whether all other operations may stand beside them.
    """
    for op in block.ops:
        match op:
            case scf.IfOp():
                inside = (inner for region in op.regions for inner in region.blocks)
                if not all(_collect(inner, found, ordered) for inner in inside):
                    return False
            case scf.ForOp() if op in ordered or (is_short(op) and _has_long_loop(op)):
                if not _collect(op.body.block, found, ordered):
                    return False
            case scf.ForOp() if not is_short(op):
                found.append(op)
            case acc.LoopOp():
                inside = (inner for b in op.region.blocks for inner in b.walk())
                if any(isinstance(inner, _SHARED) for inner in inside) or not _is_shared(op):
                    return False
                found.append(op)
            case _ if not _may_stand_beside(op):
                return False
            case _:
                pass
    return True


def _has_long_loop(op: scf.ForOp) -> bool:
    """Whether a loop contains others with more iterations than one thread should run."""
    return any(isinstance(inner, scf.ForOp) and not is_short(inner) for inner in op.body.walk())


def _nest(loop: LoopLike) -> list[LoopLike]:
    """`loop` and the loops that are, one after the other, the whole body of the one before."""
    nest = [loop]
    while (deeper := only_loop(body_of(nest[-1]).block)) is not None and not is_short(deeper):
        nest.append(deeper)
    return nest


def _may_stand_beside(op: Operation) -> bool:
    """
    Whether an operation may be run by all lanes, or by one of them, without many instructions or storage that
    lanes would have to share.
    """
    match op:
        case llvm.LoadOp() | llvm.StoreOp():
            return not is_ordered(op)
        case llvm.AllocaOp():
            return is_scalar(op.elem_type)
        case acc.ReductionOp() | acc.PrivateOp():  # of a loop beside
            return True
        case scf.ForOp():
            return all(_may_stand_beside(inner) for inner in op.body.block.ops)
        case _:
            return only_computes(op) or op.has_trait(IsTerminator)


def _is_fixed(inner: LoopLike, loop: acc.LoopOp) -> bool:
    """Whether `inner` has the same number of iterations, in steps of 1, in all iterations of `loop`."""
    ((_, low, high, step),) = bounds_of(inner)
    return all(is_known_outside(v, loop) for v in (low, high)) and constant_value(step) == 1


def _are_short(found: Sequence[LoopLike]) -> bool:
    """Whether the loops are known to be so short that a thread processes a row faster."""
    accesses = [op for row in found for op in body_of(row).walk() if isinstance(op, _ACCESSES)]
    bytes_ = max((size_of(accessed_type(op)) for op in accesses), default=1)
    least = thread_below(bytes_, stores=any(isinstance(op, llvm.StoreOp) for op in accesses))
    trips = [
        constant_trips(*bounds[1:])
        for row in found
        for part in _nest(row)
        for bounds in bounds_of(part)
    ]
    return all(count is not None and count < least for count in trips)


def _walks_rows(loop: acc.LoopOp, found: Sequence[LoopLike], *, loaded: bool = False) -> bool:
    """
    Whether the loops `found`, or those that are all of their bodies, access neighbouring elements in most
    accesses that move with them, and `loop` does not: its next iteration begins elsewhere if bounds are
    `loaded`. Elements at subscripts from memory are wherever they are for any lanes.
    """
    construct = loop.parent_op()
    assert isinstance(construct, acc.ParallelOp)
    accesses = AccessCounter(RegionSymbols(construct))
    along = across = 0
    for inner in found:
        variable = body_of(_nest(inner)[-1]).block.args[0]
        ops = (op for op in body_of(inner).walk() if isinstance(op, _ACCESSES))
        counts = [(op, accesses.count([op], variable)) for op in ops]
        moving = [
            (op, own)
            for op, own in counts
            if own.contiguous or (own.strided and accesses.is_known(op))
        ]
        outer = accesses.count((op for op, _ in moving), loop.region.block.args[-1])
        along += sum(own.along - own.across for _, own in moving)
        across += outer.along - outer.across
    moves = loaded and any(constant_value(bounds_of(inner)[0][1]) is None for inner in found)
    return along > 0 > across or (along > 0 == across and moves)


# Their reductions.


def _is_exact(operator: Operator, type_: Attribute, *, fast: bool) -> bool:
    """Whether values of a type can be combined by an operator in any order with the same result."""
    return fast or not isinstance(type_, AnyFloat) or operator.kind in _EXTREMES


def _have_no_order(loop: scf.ForOp, operators: Sequence[Operator], *, fast: bool) -> bool:
    """Whether the values that `loop` combines by `operators` are the same in any order."""
    types = [value.type for value in loop.iter_args]
    return all(_is_exact(op, type_, fast=fast) for op, type_ in zip(operators, types, strict=True))


def allow_wrapping(uses: Iterable[Operation]) -> None:
    """Lets the integer operations wrap around that combine values with a variable, as their order changes."""
    work = [op.dereferenced_value for op in uses if isinstance(op, llvm.LoadOp)]
    while work:
        for use in work.pop().uses:
            op = use.operation
            if isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
                op.overflow_flags = arith.IntegerOverflowAttr("none")
            if not isinstance(op, llvm.StoreOp):
                work += op.results


def _reduce(loop: scf.ForOp, operators: Sequence[Operator], module: ModuleOp) -> acc.LoopOp:
    """Replaces `loop` by an `acc.loop` with a reduction for each value that it carries."""
    before, after = Cursor.before(loop), Cursor.after(loop)
    initial = list(loop.iter_args)
    slots = in_variables(loop)
    uses = [uses_of(slot) for slot in slots]
    for slot, value, result in zip(slots, initial, loop.results, strict=True):
        declare(slot, before, result.name_hint)
        before.store(value, slot.res)
        result.replace_all_uses_with(after.load(slot.res, value.type, result.name_hint))
    directive = to_acc_loop(loop)
    for slot, operator, inside in zip(slots, operators, uses, strict=True):
        allow_wrapping(inside)
        replace_in(inside, slot.res, add_reduction(directive, slot.res, operator, module))
    return directive


# Marking them.


def _reduced(verdict: Verdict) -> list[Decision]:
    return [decision for decision in verdict.scalars if decision.kind is ScalarClass.REDUCTION]


def _has_order(decision: Decision, *, fast: bool) -> bool:
    """Whether the order counts in which a variable is reduced."""
    assert decision.operator is not None
    type_ = scalar_type(root_of(decision.pointer))
    return not _is_exact(decision.operator, type_, fast=fast)


def _may_be_shared(verdict: Verdict) -> bool:
    """Whether lanes may share a loop with this verdict, apart from the order of its reductions."""
    kinds = (*_OWN, ScalarClass.REDUCTION)
    known = all(decision.kind in kinds for decision in verdict.scalars)
    return known and verdict.independent and not verdict.privates and not verdict.rows


@dataclass(frozen=True)
class _Plan:
    """The operators by which a loop combines what it carries, the verdict on it, and if order counts."""

    operators: Sequence[Operator]
    verdict: Verdict
    in_order: bool


def _plan(
    inner: scf.ForOp, construct: acc.ParallelOp, classifier: LoopClassifier, *, fast: bool
) -> _Plan | None:
    """How lanes share a loop, and those that are all of its body; None if they may not."""
    operators = operators_of(inner) if inner.iter_args else []
    if operators is None:
        return None
    verdict = judge_loop(inner, construct, classifier.scalars.of(inner), reduced=True)
    if not _may_be_shared(verdict):
        return None
    for deeper in _nest(inner)[1:]:
        if not judge_loop(deeper, construct, classifier.scalars.of(deeper)).independent:
            return None
    reduced = _reduced(verdict)
    free = _have_no_order(inner, operators, fast=fast)
    in_order = not free or any(_has_order(decision, fast=fast) for decision in reduced)
    if in_order and not _has_terms(inner, reduced):
        return None
    return _Plan(operators, verdict, in_order)


def _has_terms(loop: scf.ForOp, reduced: Sequence[Decision]) -> bool:
    """
    Whether what depends on the values that `loop` reduces only computes, so that lanes may run the rest of
    its iterations before.
    """
    if any(isinstance(op, LOOPS) for op in loop.body.walk()):
        return False
    uses = {use for decision in reduced for use in decision.uses}
    pointers = [decision.pointer for decision in reduced]
    ordered = depending_on(loop.body.block, [*loop.body.block.args[1:], *pointers])
    return all(op in uses or only_computes(op) for op in ordered)


def refuse(inner: scf.ForOp, verdict: Verdict, classifier: LoopClassifier) -> None:
    """Notes for remarks why lanes may not share a loop."""
    why = verdict.why
    if verdict.rows:
        rows = dict.fromkeys(f"'{variable_name(apart.root)}'" for apart in verdict.rows)
        why = f"rows that pointers in {', '.join(rows)} point to may overlap"
    elif verdict.independent:
        names = [
            f"'{variable_name(classifier.scalars.variable(decision))}'"
            for decision in verdict.scalars
            if decision.kind not in _OWN
        ]
        why = "the order of its iterations counts"
        if names:
            why += f", as they assign or combine {', '.join(dict.fromkeys(names))}"
    inner.attributes[WHY] = StringAttr(why)


def _ordered_loops(
    loop: acc.LoopOp, construct: acc.ParallelOp, classifier: LoopClassifier, *, fast: bool
) -> set[Operation]:
    """
    The loops in the body of `loop` that lanes may not share, with loops in them that they may: the steps of a
    row. All rows have as many, and they pass on values through memory only.
    """
    ordered: set[Operation] = set()
    while True:
        for inner in _undecided(row_loops(loop, ordered)):
            same = all(is_known_outside(value, loop) for value in (inner.lb, inner.ub, inner.step))
            same = same and not inner.iter_args
            if (
                same
                and _has_long_loop(inner)
                and _plan(inner, construct, classifier, fast=fast) is None
            ):
                ordered.add(inner)
                break
        else:
            return ordered


def decide_row_loops(
    loop: acc.LoopOp, construct: acc.ParallelOp, module: ModuleOp, classifier: LoopClassifier
) -> list[acc.LoopOp]:
    """
    Marks the `row_loops` of `loop` as parallel if lanes may share all of them, else none, and returns their
    directives. Those that search the greatest or least value of a row are split into loops that lanes may
    share. A single loop of sums in order is left to `stage-ordered-sums`, unless that cannot stage its rows.
    """
    fast = machine_of(module).fast_math
    ordered = _ordered_loops(loop, construct, classifier, fast=fast)
    found = row_loops(loop, ordered)
    alone = len(found) == 1 and not _are_apart(loop, found)
    if (
        found and not alone
    ):  # sums in elements of arrays, as keep-sums-in-registers keeps them later
        for inner in _undecided(found):
            keep_sums(inner)
        found = row_loops(loop, ordered)
        for inner in _undecided(found):
            split_conditional_sums(inner)
    undecided = _undecided(found)
    plans: dict[scf.ForOp, _Plan] = {}
    searches: list[ExtremeSearch] = []
    for inner in undecided:
        plan = _plan(inner, construct, classifier, fast=fast)
        search = find_search(inner) if plan is None else None
        if search is not None:
            searches.append(search)
        elif plan is not None:
            plans[inner] = plan
        else:
            verdict = judge_loop(inner, construct, classifier.scalars.of(inner), reduced=True)
            refuse(inner, verdict, classifier)
            return []
    if alone and any(plan.in_order for plan in plans.values()):
        return []
    for search in searches:
        for part in split_search(search, in_one=True):
            plan = _plan(part, construct, classifier, fast=fast)
            if plan is not None:
                plans[part] = plan
    directives: list[acc.LoopOp] = []
    for inner, plan in plans.items():
        verdict = plan.verdict
        directive = _reduce(inner, plan.operators, module)
        directive.attributes[WHY] = StringAttr(f"found independent: {verdict.why}")
        if plan.in_order:
            directive.attributes[IN_ORDER] = UnitAttr()
        for decision in _reduced(verdict):
            allow_wrapping(decision.uses)
        make_parallel(directive, verdict, classifier, module)
        directives.append(directive)
    return directives
