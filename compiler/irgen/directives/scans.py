"""`scan` clauses → `accx.scan_step` in the loop's body (see `dialects/accx_scan.py`)."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.accx_scan import ScanStepOp
from ...c import ast as c
from ...c.types import IntType, PointerType, is_scalar
from ...diagnostics import error
from .. import arithmetic, expressions, lvalues
from ..function import FunctionState
from ..scan_form import ScanForm
from .recipes import KINDS


def identity(fn: FunctionState, scan: ScanForm) -> SSAValue | None:
    """The first element of an exclusive scan, evaluated before the loop; None for an inclusive one."""
    slot = scan.clause.identity
    assert slot.expr is not None
    if not is_scalar(slot.expr.type) or isinstance(slot.expr.type, PointerType):
        raise error(slot.loc, f"'{slot.text.strip()}' is not a number", "write the first element")
    if not scan.exclusive:
        return None
    value = expressions.rvalue(fn, slot.expr)
    return arithmetic.convert(fn.b, value, slot.expr.type, scan.target.type)


def mark(fn: FunctionState, scan: ScanForm, identity: SSAValue | None) -> None:
    """Says in the body of the loop what an iteration computes."""
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
    return lvalues.place(fn, lvalue).memory


def _is_unsigned(e: c.Expr) -> bool:
    return isinstance(e.type, IntType) and not e.type.signed
