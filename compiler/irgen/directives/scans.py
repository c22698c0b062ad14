"""`scan` clauses → `accx.scan_step` in the loop's body (see `dialects/accx_scan.py`)."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.accx_scan import ScanStepOp
from ...base.diagnostics import error
from ...c import ast as c
from ...c.tree import walk
from ...c.types import IntType, PointerType, is_scalar
from .. import arithmetic
from ..function import FunctionState
from ..scan_form import ScanForm, key
from .recipes import KINDS


def identity(fn: FunctionState, scan: ScanForm) -> SSAValue | None:
    """The first element of an exclusive scan, evaluated before the loop; None for an inclusive one."""
    slot = scan.clause.identity
    assert slot.expr is not None
    if not is_scalar(slot.expr.type) or isinstance(slot.expr.type, PointerType):
        raise error(slot.loc, f"'{slot.text.strip()}' is not a number", "write the first element")
    if not scan.exclusive:
        return None
    value = fn.rvalue(slot.expr)
    return arithmetic.convert(fn.b, value, slot.expr.type, scan.target.type)


def check_running(fn: FunctionState, scan: ScanForm, loop: c.Stmt) -> None:
    """
    Raises `CompileError` if the variable of an exclusive scan in place does not begin as the identity, or
    is read after the loop, as the scan does not compute its last value.
    """
    running = scan.running
    if running is None:
        return
    assert fn.function is not None and fn.function.body is not None
    inside = {id(node) for node in walk(loop)}
    given = [] if running.init is None else [running.init.items[0][1]]
    for node in walk(fn.function.body):
        if id(node) in inside:
            continue
        if isinstance(node, c.Assign) and _names(node.target, running):
            given.append(node.value)
        elif isinstance(node, c.Load | c.CompoundAssign | c.IncDec | c.AddressOf):
            part = node.operand if isinstance(node, c.AddressOf) else None
            part = node.lvalue if isinstance(node, c.Load) else part
            if _names(getattr(node, "target", part), running):
                raise error(
                    node.loc,
                    f"the scan does not compute the last value of '{running.name}'",
                    "use a variable of its own in the scan's loop",
                    [(scan.clause.loc, "the scan clause is here")],
                )
    identity = scan.clause.identity.expr
    if not given or any(key(value) != key(identity) for value in given if identity is not None):
        raise error(
            scan.clause.loc,
            f"'{running.name}' does not begin as the identity of the scan",
            f"write '{running.name} = {scan.clause.identity.text.strip()}' before the loop",
        )


def _names(e: c.Expr | None, variable: c.VarDecl) -> bool:
    return isinstance(e, c.VarRef) and e.decl is variable


def mark(fn: FunctionState, scan: ScanForm, identity: SSAValue | None) -> None:
    """Adds the `accx.scan_step` of an iteration to the body of the loop."""
    target, source = _address(fn, scan.target), _address(fn, scan.source)
    fn.b.at(scan.clause.loc)
    fn.b.add(
        ScanStepOp(
            KINDS[scan.clause.operator],
            target,
            source,
            identity,
            fn.module.types.convert(scan.target.type),
            fn.module.types.convert(scan.source.type),
            unsigned=_is_unsigned(scan.target),
            source_unsigned=_is_unsigned(scan.source),
        )
    )


def _address(fn: FunctionState, lvalue: c.Expr) -> SSAValue:
    return fn.place(lvalue).memory


def _is_unsigned(e: c.Expr) -> bool:
    return isinstance(e.type, IntType) and not e.type.signed
