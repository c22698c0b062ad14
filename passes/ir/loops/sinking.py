"""Sequential loops that go into the loop that is their body: the form, the test and the rewriting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ....dialects.volatility import is_ordered
from ..ops.acc_ops import has_level, is_defined_inside
from ..ops.building import Cursor, erase
from ..ops.expressions import parts_of
from ..ops.loop_bounds import LoopLike, body_of, bounds_of
from ..ops.purity import is_pure, may_trap
from .open_loops import is_bare, is_open
from .seq_loops import is_plain_seq, to_for_loops

LoopT = TypeVar("LoopT", acc.LoopOp, scf.ForOp)


def is_sequential(op: Operation) -> bool:
    """Whether `op` is a sequential loop of one variable and no others, that hands no values on."""
    match op:
        case scf.ForOp():
            return not op.iter_args
        case acc.LoopOp():
            return has_level(op.seq) and is_bare(op) and len(op.lowerbound) == 1
        case _:
            return False


def _row_in(loop: LoopLike, kind: type[LoopT]) -> LoopT | None:
    """
    The loop that is the body of `loop`, apart from computations and loads before it: of one kind, which no
    directive has settled.
    """
    body = body_of(loop).block.ops
    rows = [op for op in body if isinstance(op, acc.LoopOp | scf.ForOp)]
    if len(rows) != 1 or not isinstance(row := rows[0], kind):
        return None
    if not (is_open(row) if isinstance(row, acc.LoopOp) else is_sequential(row)):
        return None
    before = True
    for op in body:
        if op is row:
            before = False
        elif isinstance(op, llvm.LoadOp):
            if is_ordered(op) or not before:
                return None
        elif not (is_pure(op) or op.has_trait(IsTerminator)):
            return None
    return row


def _is_same_in_all(value: SSAValue, loop: LoopLike) -> bool:
    """Whether a value inside `loop` is computed from what its iterations do not change, without loads."""
    variable = bounds_of(loop)[0][0]

    def is_outside(part: SSAValue) -> bool:
        return not is_defined_inside(part, loop)

    return all(
        is_outside(part)
        or (is_pure(part.owner) if isinstance(part.owner, Operation) else part is not variable)
        for part in parts_of(value, is_outside)
    )


def _may_sink(loop: LoopLike, row: LoopLike) -> bool:
    """Whether `loop` leaves alone the bounds of `row` and the addresses of all that is stored."""
    bounds = (bound for _, *bounds in bounds_of(row) for bound in bounds)
    if not all(_is_same_in_all(bound, loop) for bound in bounds):
        return False
    stores: list[llvm.StoreOp] = []
    for op in row.walk():
        match op:
            case llvm.StoreOp():
                stores.append(op)
            case llvm.LoadOp():
                if is_ordered(op):
                    return False
            case scf.ForOp() | scf.IfOp():
                pass
            case _ if op is not row and not (is_pure(op) or op.has_trait(IsTerminator)):
                return False
            case _:
                pass
    return bool(stores) and all(
        not is_ordered(store) and _is_same_in_all(store.ptr, loop) for store in stores
    )


def _hoist(loop: LoopLike) -> None:
    """Moves what the iterations of `loop` compute from values outside before it."""
    before = Cursor.before(loop)
    for op in list(body_of(loop).block.ops):
        inside = any(is_defined_inside(operand, loop) for operand in op.operands)
        fixed = inside or op.regions or op.has_trait(IsTerminator)
        if is_pure(op) and not fixed and not may_trap(op):
            before.move(op)


def sink(
    loop: LoopLike, kind: type[LoopT], is_independent: Callable[[LoopLike], bool]
) -> LoopT | None:
    """
    Puts `loop`, which is sequential or found to be, into the loop of a kind that is its body, and returns
    that one; None if that is not possible, or if the iterations of the result would not be independent.
    """
    row = _row_in(loop, kind)
    if row is None or not _may_sink(loop, row):
        return None
    _hoist(loop)
    if any(is_defined_inside(b, loop) for _, *bounds in bounds_of(row) for b in bounds):
        return None
    whole = Cursor.before(loop).clone(loop, {})
    made = next(op for op in body_of(whole).block.ops if isinstance(op, kind))
    inside = Cursor.before(made)
    for op in list(body_of(made).block.ops):
        if not op.has_trait(IsTerminator):
            inside.move(op)
    Cursor.before(whole).move(made)
    end = body_of(made).block.last_op
    assert end is not None
    Cursor.before(end).move(whole)
    if isinstance(whole, acc.LoopOp) and (is_plain_seq(whole) or has_level(whole.auto_)):
        to_for_loops(whole)
    if is_independent(made):
        erase(loop)
        return made
    erase(made)
    return None
