"""Nests of parallel loops without other code, whose loops can change places, and how their accesses move."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from ...decisions.nest_order import Walk, best_order
from ..ops.acc_ops import child_loops, hands_on, is_defined_inside
from ..ops.building import constant_trips
from ..ops.levels import is_parallel, loop_levels
from ..ops.purity import is_pure
from ..values.addresses import base_of
from ..values.region_values import RegionSymbols
from ..values.strides import AccessCounter
from ..values.values_outside import is_known_outside


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether a loop is parallel, without tiles, and its iterations do not pass values on."""
    return (
        is_parallel(loop)
        and not loop.tile_operands
        and not loop.cache_operands
        and not loop.firstprivate_operands
        and loop.unstructured is None
        and len(loop.region.blocks) == 1
        and not hands_on(loop)
    )


def _only_child(loop: acc.LoopOp) -> acc.LoopOp | None:
    """The only loop in `loop`, if the rest of its body is pure or declares that loop's variables."""
    found: acc.LoopOp | None = None
    for op in loop.region.block.ops:
        if isinstance(op, acc.LoopOp) and found is None:
            found = op
        elif is_entry(op):
            if any(is_defined_inside(v, loop) and not is_entry(v.owner) for v in op.operands):
                return None
        elif not (op.has_trait(IsTerminator) or is_pure(op)):
            return None
    return found


def is_entry(op: Operation | Block) -> bool:
    """Whether an operation declares a variable of a loop."""
    return isinstance(op, acc.PrivateOp | acc.ReductionOp)


def _uses_own(loop: acc.LoopOp) -> bool:
    """Whether the body of `loop` uses its private variables, other than to declare those of inner loops."""
    return any(
        use.operation is not loop and not is_entry(use.operation)
        for value in loop.private_operands
        for use in value.uses
    )


def nest_from(loop: acc.LoopOp) -> list[acc.LoopOp]:
    """The loops of the nest that starts with `loop`, outermost first; empty if it cannot be reordered."""
    nest = _open_nest(loop)
    bounds = [v for x in nest for v in (*x.lowerbound, *x.upperbound, *x.step)]
    levels = any(loop_levels(x) for x in nest)
    return [] if levels or any(is_defined_inside(v, loop) for v in bounds) else nest


def is_in_columns(construct: acc.ParallelOp, rows: int) -> bool:
    """
    Whether a nest of `construct` would be reordered (`best_order`) if its loops had no levels, and their
    bounds were computed before it where they can be.
    """
    for root in child_loops(construct):
        nest = _open_nest(root)
        bounds = [v for x in nest for v in (*x.lowerbound, *x.upperbound, *x.step)]
        fixed = bool(nest) and all(is_known_outside(v, root) for v in bounds)
        if fixed and best_order(walks_of(nest, construct), rows) is not None:
            return True
    return False


def is_collapsed_across(construct: acc.ParallelOp) -> bool:
    """
    Whether a collapsed nest of `construct` walks along some arrays and across others in two of its loops, as
    transpositions do.
    """
    return any(
        sum(walk.both for walk in walks_of([loop], construct)) > 1
        for loop in child_loops(construct)
        if len(loop.lowerbound) > 1
    )


def walks_across(inner: scf.ForOp, loop: acc.LoopOp, construct: Operation) -> bool:
    """
    Whether `inner`, in `loop`, walks across memory, and `loop` along it, or each along some arrays and across
    others.
    """
    accesses, body = AccessCounter(RegionSymbols(construct)), list(inner.body.walk())
    counts = [
        accesses.count(body, v) for v in (loop.region.block.args[-1], inner.body.block.args[0])
    ]
    outer, own = (Walk(c.along, c.across) for c in counts)
    return (outer.along and own.across) or (outer.both and own.both)


def suits_lanes_better(loop: acc.LoopOp, inner: scf.ForOp, construct: Operation) -> bool:
    """
    Whether neighbouring iterations of `loop` access neighbouring elements more often than those of `inner`,
    in the accesses of `inner` that differ between iterations of `loop`; others are in caches.
    """
    accesses = AccessCounter(RegionSymbols(construct))
    outer, own = loop.region.block.args[-1], inner.body.block.args[0]
    score = 0
    for op in inner.body.walk():
        along = accesses.count((op,), outer)
        if along.contiguous or along.strided:
            mine = accesses.count((op,), own)
            score += along.along - along.across - mine.along + mine.across
    return score > 0


def _open_nest(loop: acc.LoopOp) -> list[acc.LoopOp]:
    nest: list[acc.LoopOp] = []
    inner: acc.LoopOp | None = loop
    while inner is not None and _is_open(inner):
        nest.append(inner)
        inner = _only_child(inner)
    if any(map(_uses_own, nest[:-1])) or len({bool(x.reduction_operands) for x in nest}) > 1:
        return []
    return [] if not nest or child_loops(nest[-1]) else nest


def _is_cached(op: Operation) -> bool:
    """Whether an operation loads from a section that a block copies to shared memory."""
    return isinstance(op, llvm.LoadOp) and isinstance(base_of(op.ptr).owner, acc.CacheOp)


def walks_of(nest: Sequence[acc.LoopOp], construct: Operation) -> list[Walk]:
    """
    How the accesses of a nest move with each of its variables, the outermost first. Those at addresses that
    are computed from data, or rounded, as `a[(int)(x * scale)]`, say nothing beside others.
    """
    accesses = AccessCounter(RegionSymbols(construct))
    every = [op for op in nest[-1].region.walk() if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    used = [op for op in every if not _is_cached(op)]
    body = [op for op in used if accesses.is_known(op)] or used
    walks: list[Walk] = []
    for loop in nest:
        for variable, *bounds in zip(
            loop.region.block.args, loop.lowerbound, loop.upperbound, loop.step, strict=True
        ):
            counts = accesses.count(body, variable)
            walks.append(Walk(counts.along, counts.across, constant_trips(*bounds)))
    return walks
