"""Integer arithmetic of a construct on values defined before it, computed on the host before it."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ..ops.acc_ops import bit_width, is_defined_inside
from ..ops.building import constant_value
from ..ops.fixed_values import CopiesBefore
from ..ops.purity import may_trap

ARITHMETIC = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.ConstantOp,
)
"""Operations that may be computed even if the construct's code would not run: none of them traps."""

_DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)
_SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)
_BITS = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)


def is_arithmetic(op: Operation) -> bool:
    """
    Whether `op` is integer arithmetic that may be computed even if the construct's code would not run: also
    a division by a constant other than 0 and -1, and a shift by a constant number of bits.
    """
    if isinstance(op, _DIVISIONS):
        return not may_trap(op)
    if isinstance(op, _SHIFTS):
        bits, width = constant_value(op.rhs), bit_width(op.result.type)
        return bits is not None and width is not None and 0 <= bits < width
    return isinstance(op, (*ARITHMETIC, *_BITS))


def is_known_outside(value: SSAValue, place: Operation) -> bool:
    """Whether `value` is arithmetic on values defined before `place`, a construct or a loop in one."""
    if not is_defined_inside(value, place):
        return True
    op = value.owner
    if not isinstance(op, Operation) or not is_arithmetic(op):
        return False
    return all(is_known_outside(v, place) for v in op.operands)


class ValuesOutside(CopiesBefore):
    """
    Copies values of `place`, a construct or the choice between its versions, to the code before it, each
    once: arithmetic that cannot trap.
    """

    def __init__(self, place: Operation):
        super().__init__(place, is_arithmetic)
