"""What directives share: refusals, and the `if`, `self`, `async`, `wait` and size clauses."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, IntegerAttr, i32
from xdsl.ir import SSAValue

from ...base.diagnostics import error
from ...c.types import IntType
from ...directives.records import Directive, ExprClause, ExprSlot, WaitClause
from .. import expressions
from ..function import FunctionState

NONE = acc.DeviceTypeAttr(acc.DeviceType.NONE)
DEFAULT_DEVICE = ArrayAttr([NONE])


def slot_value(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    """The value of a clause argument."""
    assert slot.expr is not None
    return expressions.rvalue(fn, slot.expr)


def slot_i32(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    """An integer clause argument as i32."""
    value = slot_value(fn, slot)
    assert slot.expr is not None
    if not isinstance(slot.expr.type, IntType):
        raise error(slot.loc, f"'{slot.text.strip()}' is not an integer", "write an integer")
    return fn.b.resize(value, i32, signed=slot.expr.type.signed)


def condition_of(fn: FunctionState, directive: Directive, name: str) -> SSAValue | None:
    """The i1 of an `if(…)` or `self(…)` clause; None without an argument."""
    clause = directive.find(name, ExprClause)
    if clause is None or not clause.args:
        return None
    assert clause.args[0].expr is not None
    value = expressions.condition(fn, clause.args[0].expr)
    fn.b.at(directive.loc)
    return value


def single_i32(fn: FunctionState, directive: Directive, name: str) -> SSAValue | None:
    """The first argument of clause `name` as i32."""
    clause = directive.find(name, ExprClause)
    if clause is None or not clause.args:
        return None
    return slot_i32(fn, clause.args[0])


@dataclass
class Queues:
    """The `async` and `wait` clauses of one directive."""

    async_operand: SSAValue | None = None
    async_bare: bool = False
    wait_operands: list[SSAValue] = field(default_factory=list[SSAValue])
    wait_devnum: SSAValue | None = None
    wait_bare: bool = False

    @property
    def async_operands(self) -> list[SSAValue]:
        return [] if self.async_operand is None else [self.async_operand]

    @property
    def async_types(self) -> ArrayAttr[acc.DeviceTypeAttr] | None:
        return DEFAULT_DEVICE if self.async_operand is not None else None

    @property
    def async_only(self) -> ArrayAttr[acc.DeviceTypeAttr] | None:
        return DEFAULT_DEVICE if self.async_bare else None

    @property
    def wait_group(self) -> list[SSAValue]:
        """The wait operands as one group, the device number first."""
        return ([] if self.wait_devnum is None else [self.wait_devnum]) + self.wait_operands

    @property
    def wait_types(self) -> ArrayAttr[acc.DeviceTypeAttr] | None:
        return DEFAULT_DEVICE if self.wait_group else None

    @property
    def wait_segments(self) -> DenseArrayBase | None:
        return DenseArrayBase.from_list(i32, [len(self.wait_group)]) if self.wait_group else None

    @property
    def has_devnum(self) -> ArrayAttr[BoolAttr] | None:
        if not self.wait_group:
            return None
        return ArrayAttr([IntegerAttr.from_bool(self.wait_devnum is not None)])

    @property
    def wait_only(self) -> ArrayAttr[acc.DeviceTypeAttr] | None:
        return DEFAULT_DEVICE if self.wait_bare else None


def queues(fn: FunctionState, directive: Directive) -> Queues:
    """Evaluates `async` and `wait` (OpenACC 3.4, 2.16)."""
    out = Queues()
    clause = directive.find("async", ExprClause)
    if clause is not None:
        if clause.args:
            out.async_operand = slot_value(fn, clause.args[0])
        else:
            out.async_bare = True
    for wait in directive.all("wait", WaitClause):
        if wait.devnum is not None:
            out.wait_devnum = slot_value(fn, wait.devnum)
        out.wait_operands += [slot_value(fn, q) for q in wait.queues]
        if not wait.queues and wait.devnum is None:
            out.wait_bare = True
    if out.wait_operands:
        out.wait_bare = False
    fn.b.at(directive.loc)
    return out
