"""Code shared by directives: refusals, and the `if`, `self`, `async`, `wait` and size clauses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, IntegerAttr, i32
from xdsl.ir import SSAValue

from ...base.diagnostics import error
from ...c.tree import int_constant
from ...c.types import IntType
from ...directives.records import (
    Directive,
    ExprClause,
    ExprSlot,
    GangClause,
    WaitClause,
)
from ..function import FunctionState

NONE = acc.DeviceTypeAttr(acc.DeviceType.NONE)
DEFAULT_DEVICE = ArrayAttr([NONE])


def slot_value(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    """The value of a clause argument."""
    assert slot.expr is not None
    return fn.rvalue(slot.expr)


def slot_i32(fn: FunctionState, slot: ExprSlot) -> SSAValue:
    """An integer clause argument as i32."""
    assert slot.expr is not None
    if not isinstance(slot.expr.type, IntType):
        raise error(slot.loc, f"'{slot.text.strip()}' is not an integer", "write an integer")
    return fn.integer(slot.expr, i32)


def condition_of(fn: FunctionState, directive: Directive, name: str) -> SSAValue | None:
    """The i1 of an `if(…)` or `self(…)` clause; None without an argument."""
    clause = directive.find(name, ExprClause)
    if clause is None or not clause.args:
        return None
    assert clause.args[0].expr is not None
    value = fn.condition(clause.args[0].expr)
    fn.b.at(directive.loc)
    return value


def gang_dimension(gang: GangClause | None) -> int:
    """The dimension in `gang(dim:n)`, 1 without one (2.9.2). Raises `CompileError` for any but 1 to 3."""
    if gang is None or gang.dim is None:
        return 1
    value = int_constant(gang.dim.expr)
    if value not in (1, 2, 3):
        raise error(
            gang.dim.loc,
            f"gang(dim:{gang.dim.text.strip()}) is not a constant from 1 to 3",
            "write gang(dim:1), gang(dim:2) or gang(dim:3)",
        )
    return value


def single_i32(fn: FunctionState, directive: Directive, name: str) -> SSAValue | None:
    """The first argument of clause `name` as i32."""
    clause = directive.find(name, ExprClause)
    if clause is None or not clause.args:
        return None
    return slot_i32(fn, clause.args[0])


_ByDevice = ArrayAttr[acc.DeviceTypeAttr] | None


class Plain(TypedDict):
    """Operands of operations whose clauses cannot differ by device type."""

    async_operand: SSAValue | None
    async_attr: bool
    wait_devnum: SSAValue | None
    wait_operands: list[SSAValue]
    wait_attr: bool


class ByDevice(TypedDict):
    """Operands of operations that have a group of operands for each device type."""

    async_operands: list[SSAValue]
    async_operands_device_type: _ByDevice
    async_only: _ByDevice
    wait_operands: list[SSAValue]
    wait_operands_segments: DenseArrayBase | None
    wait_operands_device_type: _ByDevice
    has_wait_devnum: ArrayAttr[BoolAttr] | None
    wait_only: _ByDevice


@dataclass
class Queues:
    """The `async` and `wait` clauses of one directive."""

    async_operand: SSAValue | None = None
    async_bare: bool = False
    wait_operands: list[SSAValue] = field(default_factory=list[SSAValue])
    wait_devnum: SSAValue | None = None
    wait_bare: bool = False

    @property
    def plain(self) -> Plain:
        return Plain(
            async_operand=self.async_operand,
            async_attr=self.async_bare,
            wait_devnum=self.wait_devnum,
            wait_operands=self.wait_operands,
            wait_attr=self.wait_bare,
        )

    @property
    def by_device(self) -> ByDevice:
        """The operands as one group, for all device types; its wait operands begin with the device
        number."""
        number = [] if self.wait_devnum is None else [self.wait_devnum]
        waits = number + self.wait_operands
        return ByDevice(
            async_operands=[] if self.async_operand is None else [self.async_operand],
            async_operands_device_type=DEFAULT_DEVICE if self.async_operand is not None else None,
            async_only=DEFAULT_DEVICE if self.async_bare else None,
            wait_operands=waits,
            wait_operands_segments=DenseArrayBase.from_list(i32, [len(waits)]) if waits else None,
            wait_operands_device_type=DEFAULT_DEVICE if waits else None,
            has_wait_devnum=ArrayAttr([IntegerAttr.from_bool(bool(number))]) if waits else None,
            wait_only=DEFAULT_DEVICE if self.wait_bare else None,
        )


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
