"""Loop-invariant values: recognising them, and computing them before the loop."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from .acc_ops import is_defined_inside
from .building import Cursor
from .purity import is_pure, may_trap


def is_fixed(value: SSAValue, loop: Operation) -> bool:
    """Whether `value` is loop-invariant: defined before `loop`, or computed in it from such values."""
    if not is_defined_inside(value, loop):
        return True
    op = value.owner
    if not isinstance(op, Operation) or op.regions or not is_pure(op) or may_trap(op):
        return False
    return all(is_fixed(operand, loop) for operand in op.operands)


def computed_before(value: SSAValue, loop: Operation) -> SSAValue:
    """The value of `value`, which must satisfy `is_fixed`, computed before `loop`."""
    op = value.owner
    if not is_defined_inside(value, loop) or not isinstance(op, Operation):
        return value
    known = {operand: computed_before(operand, loop) for operand in op.operands}
    return Cursor.before(loop).value(op.clone(known), value.name_hint)
