"""
`deviceid(n)` (a research extension): a construct of device n, whatever the current device is.

The current device is n while the directive's own actions are done and the former one again behind
them; in the body of a `data` construct, too, which is code of its own.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ....runtime.abi import DeviceType
from ...c import ast as c
from ...c.types import INT, FunctionType, QualType
from ...directives.records import Directive, DirectiveKind, ExprClause, ExprSlot
from ..function import FunctionState
from .common import slot_i32

CLAUSE = "deviceid"


def expand(fn: FunctionState, s: c.AccStmt) -> list[c.AccStmt]:
    """The statements that `s`, which has the clause, stands for."""
    directive = s.directive
    clause = directive.find(CLAUSE, ExprClause)
    assert clause is not None
    wanted = _variable(fn, directive, "device", slot_i32(fn, clause.args[0]))
    called = c.FunctionDecl("acc_get_device_num", FunctionType(INT, (INT,)), directive.loc)
    symbol = fn.module.function_symbol(called)
    current = llvm.CallOp(symbol, fn.b.int(int(DeviceType.CURRENT), i32), return_type=i32)
    former = _variable(fn, directive, "former_device", fn.b.value(current, "former_device"))
    rest = [other for other in directive.clauses if other.name != CLAUSE]
    body = s.body
    if directive.kind is DirectiveKind.DATA and body is not None:
        inside: list[c.Stmt] = [_set(directive, former), body, _set(directive, wanted)]
        body = c.Compound(loc=body.loc, body=inside)
    own = replace(s, directive=replace(directive, clauses=rest), body=body)
    return [_set(directive, wanted), own, _set(directive, former)]


def _variable(fn: FunctionState, directive: Directive, name: str, value: SSAValue) -> c.VarDecl:
    decl = c.VarDecl(name, QualType(INT), directive.loc)
    fn.values[decl] = value
    return decl


def _set(directive: Directive, device: c.VarDecl) -> c.AccStmt:
    """`set device_num(device)`."""
    loc = directive.loc
    value = c.Load(type=INT, loc=loc, lvalue=c.VarRef(type=INT, loc=loc, decl=device))
    slot = ExprSlot(device.name, loc, value)
    clause = ExprClause(name="device_num", spelling="device_num", loc=loc, args=[slot])
    return c.AccStmt(loc=loc, directive=Directive(DirectiveKind.SET, loc, "set", [clause]))
