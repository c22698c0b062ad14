"""Warnings about statements whose value is not used (`unused-value`): `a == b;` for `a = b;`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from .. import ast as c
from ..tree import Node, walk
from ..types import VoidType

_EFFECTS = (
    c.Assign,
    c.CompoundAssign,
    c.IncDec,
    c.Call,
    c.Asm,
    c.AtomicOp,
    c.StatementExpr,
    c.VaArg,
    c.VaOp,
    c.Conditional,
)


def without_effect(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about expression statements without an effect."""
    for node in nodes:
        if not isinstance(node, c.ExprStmt):
            continue
        e = node.expr
        while isinstance(e, c.Cast) and e.implicit:
            e = e.operand
        if isinstance(e, c.Cast) and isinstance(e.type, VoidType):
            continue
        if isinstance(e, c.BinaryOp | c.UnaryOp | c.PtrAdd | c.PtrDiff) and not any(
            isinstance(each, _EFFECTS) or (isinstance(each, c.Load) and each.volatile)
            for each in walk(e)
        ):
            compares = isinstance(e, c.BinaryOp) and e.op == "=="
            remedy = "write '=' to assign" if compares else "use the value, or remove the statement"
            yield warning(node.loc, "the statement has no effect", remedy, option="unused-value")
