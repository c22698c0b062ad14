"""Loop-invariant values: recognising them, and computing them before the loop."""

from __future__ import annotations

from collections.abc import Callable

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


class CopiesBefore:
    """
    Copies expressions in `place`, a loop or an operation around a construct, to the code before it, each
    operation once. Only operations for which `may_copy` holds are copied. All that a copy uses is defined
    before `place`: the copies go just before it, or to `at`, a cursor there.
    """

    def __init__(
        self, place: Operation, may_copy: Callable[[Operation], bool], at: Cursor | None = None
    ):
        assert at is None or at.point.insert_before is place, "copies go just before their place"
        self.place = place
        self.at = Cursor.before(place) if at is None else at
        self.may_copy = may_copy
        self.known: dict[SSAValue, SSAValue | None] = {}

    def value(self, value: SSAValue) -> SSAValue | None:
        """`value`, or its copy before the place; None if it depends on what is known only inside."""
        if not is_defined_inside(value, self.place):
            return value
        if value not in self.known:
            op = value.owner
            self.known[value] = self.copy(op) if isinstance(op, Operation) else None
        return self.known[value]

    def copy(self, op: Operation) -> SSAValue | None:
        """The first result of a copy of `op`; None if it cannot be copied."""
        if op.regions or not self.may_copy(op):
            return None
        known = {operand: self.value(operand) for operand in op.operands}
        operands = {old: new for old, new in known.items() if new is not None}
        if len(operands) < len(known):
            return None
        return self.at.value(op.clone(operands), op.results[0].name_hint)


def computed_before(value: SSAValue, loop: Operation, at: Cursor | None = None) -> SSAValue:
    """The value of `value`, which must satisfy `is_fixed`, computed just before `loop`."""
    found = CopiesBefore(loop, is_pure, at).value(value)
    assert found is not None
    return found
