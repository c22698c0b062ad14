"""What scans are made of on every target: elements in the target's type, and the scan in order."""

from __future__ import annotations

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..dialects.accx_scan import ScanOp
from .building import Cursor
from .reduction_ops import combine

Kind = acc.ReductionOpKind


def element_value(
    at: Cursor, value: SSAValue, type: Attribute, kind: Kind, *, unsigned: bool
) -> SSAValue:
    """An element of the source (`unsigned`: without sign) in the target's type, as C converts it."""
    if kind in (Kind.LAND, Kind.LOR):
        return _truth(at, value, type)
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


def _truth(at: Cursor, value: SSAValue, type: Attribute) -> SSAValue:
    """1 or 0 in `type`."""
    zero = at.constant(0, value.type)
    if isinstance(value.type, AnyFloat):
        truth = at.value(arith.CmpfOp(value, zero, "une"), "truth")
    else:
        truth = at.value(arith.CmpiOp(value, zero, "ne"), "truth")
    if isinstance(type, AnyFloat):
        return at.value(arith.UIToFPOp(truth, type))
    assert isinstance(type, IntegerType)
    return truth if type == i1 else at.value(arith.ExtUIOp(truth, type))


def scan_in_order(at: Cursor, op: ScanOp) -> None:
    """The scan by one thread, at the cursor."""
    kind, type = Kind(op.operator.data), op.target_type
    zero, one = at.i64(0), at.i64(1)
    some = at.value(arith.CmpiOp(op.steps, zero, "sgt"), "some")
    then = at.if_then(some)
    if op.identity is None:
        start = then.load(op.target, type, "start")
    else:
        start = op.identity
        then.store(start, op.target)
    body = Block(arg_types=[i64, type])
    body.args[0].name_hint, body.args[1].name_hint = "step", "sum"
    then.insert(scf.ForOp(zero, op.steps, one, [start], Region(body)))
    inside = Cursor.at_end(body, at.loc)
    step, known = body.args
    following = inside.add(step, inside.i64(1), "next")
    taken = following if op.identity is None else step
    source = inside.element(op.source, taken, op.source_type, "source")
    value = inside.load(source, op.source_type, "element")
    value = element_value(inside, value, type, kind, unsigned=op.source_unsigned is not None)
    known = combine(inside, kind, known, value, op.unsigned is None)
    inside.store(known, inside.element(op.target, following, type, "target"))
    inside.insert(scf.YieldOp(known))
