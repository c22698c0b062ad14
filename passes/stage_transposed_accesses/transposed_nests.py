"""
Nests of two parallel loops that load across memory: which qualify, and which of their loads go through tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..ir.loops.jamming import body_of, check_body
from ..ir.ops.acc_ops import accessed_type, has_level
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure
from ..ir.ops.schedules import given_sizes
from ..ir.values.region_values import RegionSymbols
from .transposed import NestAccess, choose_lanes, direction_of


@dataclass(frozen=True)
class TransposedNest:
    """
    The loop `inner` in the loop `outer`, with the loops `middle` between them. The stores are contiguous in
    the variable of `lanes`, the other one of the two is `rows`. `ops`: the body, with the operations between
    the loops. `staged`: the loads that go through tiles.
    """

    construct: acc.ParallelOp
    outer: acc.LoopOp
    middle: tuple[acc.LoopOp, ...]
    inner: acc.LoopOp
    lanes: acc.LoopOp
    rows: acc.LoopOp
    ops: tuple[Operation, ...]
    staged: tuple[llvm.LoadOp, ...]


def _chain(construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """
    The loops of a construct that is one nest of loops with pure operations between them, the outermost
    first. Raises `Declined` for other constructs.
    """
    loops: list[acc.LoopOp] = []
    block = construct.region.block
    while found := [op for op in block.ops if isinstance(op, acc.LoopOp)]:
        if len(found) != 1 or not all(is_pure(op) and not op.regions for op in _rest(block)):
            raise Declined("it is not one nest of loops")
        loops += found
        block = body_of(found[0])
    return loops


def _rest(block: Block) -> list[Operation]:
    """The operations of a block except for a loop in it and its end."""
    return [op for op in block.ops if not isinstance(op, acc.LoopOp | acc.YieldOp)]


def _check_free(loop: acc.LoopOp, shortest: int) -> None:
    """
    Raises `Declined` unless the loop has one variable, no private variables, and not certainly fewer than
    `shortest` iterations.
    """
    if len(loop.lowerbound) != 1:
        raise Declined("its loops are not mapped to gangs and lanes")
    if loop.reduction_operands or loop.private_operands or loop.firstprivate_operands:
        raise Declined("a loop has variables of its own")
    if loop.tile_operands or loop.cache_operands:
        raise Declined("a loop has a tile or a cache")
    lower, upper, step = (
        constant_value(v[0]) for v in (loop.lowerbound, loop.upperbound, loop.step)
    )
    if lower is not None and upper is not None and upper - lower < shortest * (step or 1):
        raise Declined("a loop is shorter than a tile")


def find_nest(
    construct: acc.ParallelOp, shortest: int, *, on_threads: bool = False
) -> TransposedNest:
    """
    The nest of `construct` with its loads to stage, of loops that may have `shortest` iterations. CPU threads
    (`on_threads`) keep the launch sizes, and may have conditions in the body. Raises `Declined` with the
    reason if there is none.
    """
    if len(construct.region.blocks) != 1:
        raise Declined("the construct has control flow")
    if given_sizes(construct) and not on_threads:
        raise Declined("the program gives launch sizes")
    if (
        construct.private_operands
        or construct.firstprivate_operands
        or construct.reduction_operands
    ):
        raise Declined("the construct has variables of its own")
    loops = _chain(construct)
    if len(loops) < 2 or (len(loops) > 2 and not on_threads):
        raise Declined("it is not one nest of two loops")
    *around, inner = loops
    if any(has_level(loop.vector) for loop in around) or not has_level(inner.vector):
        raise Declined("its loops are not mapped to gangs and lanes")
    if not has_level(loops[0].gang) or (any(has_level(x.worker) for x in loops) and not on_threads):
        raise Declined("its loops are not mapped to gangs and lanes")
    check_body(inner)
    body = _rest(body_of(inner))
    if any(op.regions and not (on_threads and isinstance(op, scf.IfOp)) for op in body):
        raise Declined("the body has control flow")
    declined = Declined("no load is transposed")
    for number in reversed(range(len(around))):
        try:
            return _nest(construct, loops[number:], body, shortest)
        except Declined as found:
            declined = found
    raise declined


def _nest(
    construct: acc.ParallelOp,
    loops: Sequence[acc.LoopOp],
    body: Sequence[Operation],
    shortest: int,
) -> TransposedNest:
    """
    The nest whose loads go along the first or the last of `loops`, which are the innermost ones of a
    construct. Raises `Declined` if there is none.
    """
    outer, *middle, inner = loops
    for loop in loops:
        _check_free(loop, shortest if loop in (outer, inner) else 0)
    between = [op for loop in loops[:-1] for op in _rest(body_of(loop))]
    dependent = set[SSAValue]()
    for loop in loops[:-1]:
        dependent.update(loop.region.block.args)
    for op in between:
        if any(operand in dependent for operand in op.operands):
            dependent.update(op.results)
    if any(operand in dependent for loop in (*middle, inner) for operand in loop.operands):
        raise Declined("the inner loop's bounds change")
    accesses = _accesses(construct, inner, outer.region.block.args[0], inner.region.block.args[0])
    lanes_outside = choose_lanes(tuple(accesses.values()))
    if lanes_outside is None or (lanes_outside and middle):
        raise Declined("no load is transposed")
    staged = _staged(body, accesses, lanes_outside)
    lanes, rows = (outer, inner) if lanes_outside else (inner, outer)
    ops = (*between, *body)
    return TransposedNest(construct, outer, tuple(middle), inner, lanes, rows, ops, staged)


def _accesses(
    construct: acc.ParallelOp, loop: acc.LoopOp, outer: BlockArgument, inner: BlockArgument
) -> dict[Operation, NestAccess]:
    symbols = RegionSymbols(construct)
    found: dict[Operation, NestAccess] = {}
    for op in (op for top in body_of(loop).ops for op in top.walk()):
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            is_store = isinstance(op, llvm.StoreOp)
            element = size_of(accessed_type(op))
            sides = (direction_of(op.ptr, element, v, symbols) for v in (outer, inner))
            found[op] = NestAccess(is_store, *sides)
        elif not is_pure(op) and not isinstance(op, acc.YieldOp | scf.YieldOp | scf.IfOp):
            raise Declined(f"the body holds {op.name}")
    return found


def _staged(
    body: Sequence[Operation], accesses: dict[Operation, NestAccess], lanes_outside: bool
) -> tuple[llvm.LoadOp, ...]:
    """
    The loads to stage. All must come before the first store, since a tile contains the values from before
    it. Raises `Declined` otherwise.
    """
    staged: list[llvm.LoadOp] = []
    stored = False
    for op in body:
        stored |= any(isinstance(part, llvm.StoreOp) for part in op.walk())
        if not isinstance(op, llvm.LoadOp) or not accesses[op].is_transposed(lanes_outside):
            continue
        if stored:
            raise Declined("a store precedes a transposed load")
        if is_ordered(op):
            raise Declined("a transposed load is volatile or atomic")
        staged.append(op)
    return tuple(staged)


def operations_for(load: llvm.LoadOp, ops: Sequence[Operation]) -> list[Operation]:
    """The load and those of `ops` that compute its address, in order."""
    needed: set[Operation] = {load}
    for op in reversed(ops):
        if op in needed:
            needed |= {v.owner for v in op.operands if isinstance(v.owner, Operation)}
    return [op for op in ops if op in needed]


def bounds_outside(nest: TransposedNest) -> set[Operation]:
    """
    Moves what computes the inner loops' bounds, which do not depend on the outer ones, before the nest;
    returns these operations.
    """
    loops = (nest.outer, *nest.middle, nest.inner)
    between = [op for loop in loops[:-1] for op in _rest(body_of(loop))]
    needed = {v.owner for loop in loops[1:] for v in loop.operands}
    for op in reversed(between):
        if op in needed:
            needed |= {v.owner for v in op.operands}
    moved = [op for op in between if op in needed]
    at = Cursor.before(nest.outer)
    for op in moved:
        at.move(op)
    return set(moved)
