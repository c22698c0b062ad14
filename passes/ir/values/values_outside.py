"""Integer arithmetic of a construct on values defined before it, computed on the host before it."""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.ir import Operation, SSAValue

from ..ops.acc_ops import is_defined_inside
from ..ops.building import Cursor

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


class ValuesOutside:
    """Copies values of one construct to the code before it, each once."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.cursor = Cursor.before(construct)
        self.known: dict[SSAValue, SSAValue | None] = {}

    def value(self, value: SSAValue) -> SSAValue | None:
        """The copy of `value` before the construct; None if it is known only in the construct."""
        if not is_defined_inside(value, self.construct):
            return value
        if value not in self.known:
            self.known[value] = self._copy(value)
        return self.known[value]

    def _copy(self, value: SSAValue) -> SSAValue | None:
        op = value.owner
        if not isinstance(op, ARITHMETIC):
            return None
        operands = [self.value(operand) for operand in op.operands]
        if None in operands:
            return None
        copy = op.clone()
        copy.operands = [operand for operand in operands if operand is not None]
        self.cursor.insert(copy)
        copy.location = op.location
        return copy.results[0]
