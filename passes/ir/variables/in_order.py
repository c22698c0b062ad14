"""
Sequential forms of the operations that several threads carry out together (`dialects/together.py`).
Passes that produce code for a single thread call `run_alone` and need not know the operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ....dialects.accx_scan import ScanOp
from ....dialects.together import TogetherOp
from ..ops.building import Cursor, erase
from .combiners import Kind, ScalarOperator, number_of, truth_of


def element_value(
    at: Cursor, value: SSAValue, type: Attribute, kind: Kind, *, unsigned: bool
) -> SSAValue:
    """An element of the source (`unsigned`: without sign), converted to the target's type as in C."""
    if kind in (Kind.LAND, Kind.LOR):
        return number_of(at, truth_of(at, value, "truth"), type)
    if value.type == type:
        return value
    if isinstance(type, AnyFloat):
        if isinstance(value.type, AnyFloat):
            return at.value(arith.ExtFOp(value, type))
        return at.value((arith.UIToFPOp if unsigned else arith.SIToFPOp)(value, type))
    assert isinstance(type, IntegerType) and isinstance(value.type, IntegerType)
    if value.type.width.data > type.width.data:
        return at.value(arith.TruncIOp(value, type))
    return at.value((arith.ExtUIOp if unsigned else arith.ExtSIOp)(value, type))


def operator_of(op: ScanOp) -> ScalarOperator:
    """The operator that combines the elements of a scan."""
    return ScalarOperator(Kind(op.operator.data), op.target_type, op.unsigned is not None)


def scan_in_order(at: Cursor, op: ScanOp) -> None:
    """Emits the scan as a sequential loop at the cursor."""
    operator, type = operator_of(op), op.target_type
    zero, one = at.i64(0), at.i64(1)
    some = at.value(arith.CmpiOp(op.steps, zero, "sgt"), "some")
    then = at.if_then(some)
    if op.identity is not None:
        _exclusive_in_order(then, op, op.identity)
        return
    start = then.load(op.target, type, "start")
    body = Block(arg_types=[i64, type])
    body.args[0].name_hint, body.args[1].name_hint = "step", "sum"
    then.insert(scf.ForOp(zero, op.steps, one, [start], Region(body)))
    inside = Cursor.at_end(body, at.loc)
    step, known = body.args
    following = inside.add(step, inside.i64(1), "next")
    value = _element(inside, op, following)
    known = operator.combine(inside, known, value, "combined")
    inside.store(known, inside.element(op.target, following, type, "target"))
    inside.insert(scf.YieldOp(known))


def _element(at: Cursor, op: ScanOp, position: SSAValue) -> SSAValue:
    """An element of the source in the target's type."""
    place = at.element(op.source, position, op.source_type, "source")
    value = at.load(place, op.source_type, "element")
    unsigned = op.source_unsigned is not None
    return element_value(at, value, op.target_type, Kind(op.operator.data), unsigned=unsigned)


def _exclusive_in_order(then: Cursor, op: ScanOp, identity: SSAValue) -> None:
    """
    Emits the loop of an exclusive scan. Each source element is read before the target element at its place
    is written, since the two arrays may be one.
    """
    operator, type = operator_of(op), op.target_type
    zero, one = then.i64(0), then.i64(1)
    last = then.value(arith.SubiOp(op.steps, one), "last")
    first = _element(then, op, zero)
    then.store(identity, op.target)
    body = Block(arg_types=[i64, type, type])
    for argument, hint in zip(body.args, ("step", "sum", "element"), strict=True):
        argument.name_hint = hint
    then.insert(scf.ForOp(zero, op.steps, one, [identity, first], Region(body)))
    inside = Cursor.at_end(body, then.loc)
    step, known, value = body.args
    following = inside.add(step, inside.i64(1), "next")
    ahead = _element(inside, op, inside.value(arith.MinSIOp(following, last)))
    known = operator.combine(inside, known, value, "combined")
    inside.store(known, inside.element(op.target, following, type, "target"))
    inside.insert(scf.YieldOp(known, ahead))


_IN_ORDER: dict[type[TogetherOp], Callable[[Cursor, Any], None]] = {ScanOp: scan_in_order}


def run_alone(op: TogetherOp) -> None:
    """Replaces the operation by its sequential form."""
    _IN_ORDER[type(op)](Cursor.before(op), op)
    erase(op)
