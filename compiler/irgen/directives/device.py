"""
`deviceid(n)` (a research extension): a construct of device n, whatever the current device is.

Device n is the thread's while the directive's own actions are done, and the former one again after them;
in the body of a `data` or `host_data` construct, too, which is code of its own. Where the directive's `if` is
false, n may be no device. A compute construct without `async` gets an async value of its own, by which the
runtime knows that the host need not wait where it cannot tell.
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
    """The directive, which has the clause; `emit_own` emits it without."""
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
    """The body of a construct, between its beginning and its end on the device."""
    fn.b.at(directive.loc)
    fn.b.add(LeaveDeviceOp(former))
    bodies.emit_body(fn, body)
    fn.b.at(directive.loc)
    fn.b.add(EnterDeviceOp(number))


def _with_condition(fn: FunctionState, directive: Directive, condition: SSAValue) -> Directive:
    """The directive with what its `if` clause gave, evaluated once."""
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
