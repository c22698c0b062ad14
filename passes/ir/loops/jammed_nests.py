"""Nests of which a thread processes several rows side by side (`jam-outer-iterations`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import acc
from xdsl.ir import Operation, SSAValue

from ...decisions.declined import Declined
from ..ops.acc_ops import child_loops, is_scalar
from ..ops.purity import is_pure
from ..ops.schedules import schedule_of
from ..values.region_values import RegionSymbols
from .jamming import body_of, check_body
from .joining import joined_reductions
from .loop_facts import is_tight


@dataclass(frozen=True)
class JammedNest:
    """
    A gang loop `outer`, the loop `inner` with the lanes, and the operations between them that depend on the
    outer variable (`sunk`), which move into the body: they are pure, or read what the nest does not change.
    """

    outer: acc.LoopOp
    inner: acc.LoopOp
    sunk: tuple[Operation, ...]
    elements: int


def _depends(op: Operation, values: set[SSAValue]) -> bool:
    return any(operand in values for inner in op.walk() for operand in inner.operands)


def _between(
    loop: acc.LoopOp, rows: set[SSAValue], sunk: list[Operation], symbols: RegionSymbols
) -> acc.LoopOp:
    """
    The single loop directly in `loop`. Adds values that depend on the row to `rows`, and their operations
    to `sunk`.
    """
    inner: acc.LoopOp | None = None
    tight = is_tight(loop, child_loops(loop), symbols)
    for op in body_of(loop).ops:
        if isinstance(op, acc.LoopOp):
            if inner is not None:
                raise Declined("the loop's body has several loops")
            inner = op
            if any(operand in rows for operand in op.operands):
                raise Declined("an inner loop's bounds change from row to row")
        elif isinstance(op, acc.ReductionOp) and op.var in loop.reduction_operands:
            continue
        elif not isinstance(op, acc.YieldOp):
            if inner is not None or not (tight or is_pure(op)):
                raise Declined("there is other code between the loops")
            if _depends(op, rows):
                rows.update(op.results)
                sunk.append(op)
    if inner is None:
        raise Declined("there is no loop inside")
    return inner


def _reduced(loops: Sequence[acc.LoopOp]) -> list[SSAValue]:
    """
    The reductions of the innermost of `loops`, of which each row can have a copy: those of the scalars that
    all loops reduce. Raises `Declined` if they reduce other variables.
    """
    if not any(loop.reduction_operands for loop in loops):
        return []
    for outer, inner in pairwise(loops):
        entries = joined_reductions(outer, inner)
        if entries is None or any(e.bounds or not is_scalar(e.var_type) for e in entries):
            raise Declined("the loops reduce different variables, or arrays")
    return list(loops[-1].reduction_operands)


def jammed_nest(outer: acc.LoopOp) -> JammedNest:
    """The nest of `outer`, checked for jamming. Raises `Declined` with the reason if it cannot be jammed."""
    count = schedule_of(outer).elements
    if outer.private_operands or outer.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    rows: set[SSAValue] = set(body_of(outer).args)
    sunk: list[Operation] = []
    symbols = RegionSymbols(outer)
    loops = [outer, _between(outer, rows, sunk, symbols)]
    while loops[-1].vector is None:
        loops.append(_between(loops[-1], rows, sunk, symbols))
    check_body(loops[-1], _reduced(loops))
    return JammedNest(outer, loops[-1], tuple(sunk), count)
