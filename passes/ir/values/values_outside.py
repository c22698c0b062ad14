"""Integer arithmetic of a construct on values defined before it, computed on the host before it."""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.ir import Operation, SSAValue

from ..ops.acc_ops import is_defined_inside
from ..ops.building import Cursor
from ..ops.fixed_values import CopiesBefore

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


def is_known_outside(value: SSAValue, place: Operation) -> bool:
    """Whether `value` is arithmetic on values defined before `place`, a construct or a loop in one."""
    if not is_defined_inside(value, place):
        return True
    op = value.owner
    return isinstance(op, ARITHMETIC) and all(is_known_outside(v, place) for v in op.operands)


class ValuesOutside(CopiesBefore):
    """Copies values of one construct, arithmetic that cannot trap, to the code before it, each once."""

    def __init__(self, construct: acc.ParallelOp):
        before = Cursor.before(construct)
        super().__init__(construct, before, lambda op: isinstance(op, ARITHMETIC))
