"""Nests of which a thread processes several rows side by side (`jam-outer-iterations`)."""

from __future__ import annotations

from dataclasses import dataclass

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


def _reduced(outer: acc.LoopOp, inner: acc.LoopOp) -> list[SSAValue]:
    """
    The reductions of `inner`, of which each row can have a copy: those of the scalars that `outer` reduces.
    Raises `Declined` if the loops reduce other variables.
    """
    entries = joined_reductions(outer, inner) if inner.parent_op() is outer else None
    if not (outer.reduction_operands or inner.reduction_operands):
        return []
    if entries is None or any(e.bounds or not is_scalar(e.var_type) for e in entries):
        raise Declined("the loops reduce different variables, or arrays")
    return list(inner.reduction_operands)


def jammed_nest(outer: acc.LoopOp) -> JammedNest:
    """The nest of `outer`, checked for jamming. Raises `Declined` with the reason if it cannot be jammed."""
    count = schedule_of(outer).elements
    if outer.private_operands or outer.firstprivate_operands:
        raise Declined("the loop has variables of its own")
    rows: set[SSAValue] = set(body_of(outer).args)
    sunk: list[Operation] = []
    symbols = RegionSymbols(outer)
    inner = _between(outer, rows, sunk, symbols)
    while inner.vector is None:
        inner = _between(inner, rows, sunk, symbols)
    check_body(inner, _reduced(outer, inner))
    return JammedNest(outer, inner, tuple(sunk), count)
