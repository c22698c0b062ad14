"""Atomic updates that one `atomicrmw` of the hardware can do."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import Float32Type, Float64Type, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.llvm_ext import AtomicBinOp

COMMUTATIVE: dict[type[Operation], AtomicBinOp] = {
    arith.AddiOp: AtomicBinOp.add,
    arith.AndIOp: AtomicBinOp.and_,
    arith.OrIOp: AtomicBinOp.or_,
    arith.XOrIOp: AtomicBinOp.xor,
    arith.MaxSIOp: AtomicBinOp.max,
    arith.MinSIOp: AtomicBinOp.min,
    arith.MaxUIOp: AtomicBinOp.umax,
    arith.MinUIOp: AtomicBinOp.umin,
    arith.AddfOp: AtomicBinOp.fadd,
}
"""The operations whose operands may be exchanged, with the operator of their atomic update."""


@dataclass(frozen=True)
class RmwMatch:
    """
    An update that one `atomicrmw` can do: `old <kind> operand`, the operand negated first if
    `negate` (a subtraction of floats is an addition). `op` is the operation it stands for.
    """

    kind: AtomicBinOp
    operand: SSAValue
    op: Operation
    negate: bool = False


def match_rmw(update: acc.AtomicUpdateOp) -> RmwMatch | None:
    """
    The `atomicrmw` for `update`; None if there is none. The last operation must be the only use of the old
    value.
    """
    block = update.region.block
    old, type = block.args[0], block.args[0].type
    if not isinstance(type, Float32Type | Float64Type) and type not in (i32, i64):
        return None
    uses = list(old.uses)
    end = block.last_op
    assert end is not None
    op = end.operands[0].owner
    if isinstance(op, Block) or len(uses) != 1 or uses[0].operation is not op:
        return None
    left, right = op.operands[0], op.operands[-1]
    kind = COMMUTATIVE.get(op.__class__)
    if kind is not None:
        return RmwMatch(kind, right if left is old else left, op)
    if left is old and isinstance(op, arith.SubiOp):
        return RmwMatch(AtomicBinOp.sub, right, op)
    if left is old and isinstance(op, arith.SubfOp):
        return RmwMatch(AtomicBinOp.fadd, right, op, negate=True)
    return None
