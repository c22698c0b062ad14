"""
`deviceid(n)` (a research extension): a directive for device n, whichever device is current.

Device n is made the thread's current device for the directive's own actions, and the former one is restored
after them; also for the body of a `data` or `host_data` construct, which is ordinary host code. If the
directive's `if` is false, n need not be the number of a device. A compute construct without `async` gets a
special async value, which tells the runtime that the host need not wait wherever the program cannot observe
that (docs/devices.md, "When the host waits").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from ....dialects.accx_devices import EnterDeviceOp, LeaveDeviceOp
from ...c import ast as c
from ...c.types import INT, QualType
from ...directives.records import Directive, DirectiveKind, ExprClause, ExprSlot
from .. import bodies
from ..function import FunctionState
from . import regions
from .common import condition_of, slot_i32

CLAUSE = "deviceid"
_NONE = -(1 << 63)

_BODIES = {DirectiveKind.DATA: regions.emit_data, DirectiveKind.HOST_DATA: regions.emit_host_data}


def emit(
    fn: FunctionState, s: c.AccStmt, emit_own: Callable[[FunctionState, c.AccStmt], None]
) -> None:
    """Emits a directive with `deviceid`; `emit_own` emits the directive without the clause."""
    directive = s.directive
    clause = directive.find(CLAUSE, ExprClause)
    assert clause is not None
    number = fn.b.resize(slot_i32(fn, clause.args[0]), i64, signed=True)
    rest = [other for other in directive.clauses if other.name != CLAUSE]
    directive = replace(directive, clauses=rest)
    condition = condition_of(fn, directive, "if")
    if condition is not None:
        directive = _with_condition(fn, directive, condition)
        none = fn.b.int(_NONE, i64)
        number = fn.b.value(arith.SelectOp(condition, number, none), "device")
    fn.b.at(directive.loc)
    former = fn.b.value(EnterDeviceOp(number), "former_device")
    own = replace(s, directive=directive)
    emit_region = _BODIES.get(directive.kind)
    if emit_region is None:
        emit_own(fn, own)
    else:
        emit_region(fn, own, lambda fn, body: _body(fn, directive, body, number, former))
    fn.b.at(directive.loc)
    fn.b.add(LeaveDeviceOp(former))


def _body(
    fn: FunctionState, directive: Directive, body: c.Stmt, number: SSAValue, former: SSAValue
) -> None:
    """Emits the body of a construct, with the former current device."""
    fn.b.at(directive.loc)
    fn.b.add(LeaveDeviceOp(former))
    bodies.emit_body(fn, body)
    fn.b.at(directive.loc)
    fn.b.add(EnterDeviceOp(number))


def _with_condition(fn: FunctionState, directive: Directive, condition: SSAValue) -> Directive:
    """The directive with the value of its `if` clause, which was evaluated once, in place of the clause's
    expression."""
    decl = c.VarDecl("condition", QualType(INT), directive.loc)
    fn.values[decl] = fn.b.value(arith.ExtUIOp(condition, i32), "condition")
    loc = directive.loc
    value = c.Load(type=INT, loc=loc, lvalue=c.VarRef(type=INT, loc=loc, decl=decl))
    slot = ExprSlot("condition", loc, value)
    clauses = [
        replace(clause, args=[slot])
        if isinstance(clause, ExprClause) and clause.name == "if"
        else clause
        for clause in directive.clauses
    ]
    return replace(directive, clauses=clauses)
