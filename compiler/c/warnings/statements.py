"""
Warnings about statements with a misleading form: empty bodies, conditions that assign, and returned
addresses of local variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, source_line, warning
from .. import ast as c
from ..sema.constants import constant_value
from ..tree import Node, strip_casts

_CONDITIONAL = (c.If, c.For, c.While, c.DoWhile)
_BEFORE_CONDITION = re.compile(r"\b(if|while)\s*\($|;\s*$")
"""Matches the text before a condition without parentheses of its own, which would mark an assignment as
intended."""


def empty_bodies(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about loops and `if`s whose body is a `;` on their line, before a block (`empty-body`)."""
    for node in nodes:
        if not isinstance(node, c.Compound):
            continue
        for statement, following in zip(node.body, node.body[1:], strict=False):
            body = _body(statement)
            if not isinstance(body, c.Null) or not isinstance(following, c.Compound):
                continue
            if body.loc.line == statement.loc.line:
                yield warning(
                    body.loc,
                    "this ';' is the whole body: the block after it is executed once",
                    "remove the ';'",
                    option="empty-body",
                )


def _body(statement: c.Stmt) -> c.Stmt | None:
    match statement:
        case c.For() | c.While():
            return statement.body
        case c.If(otherwise=None):
            return statement.then
        case c.AccStmt(body=c.For() as loop):
            return loop.body
        case _:
            return None


def assigned_conditions(nodes: Sequence[Node], *, wall: bool) -> Iterator[Diagnostic]:
    """
    Warnings about conditions that are an assignment (`parentheses`); without `wall`, only of a constant,
    with which the condition always has the same value.
    """
    for node in nodes:
        if not isinstance(node, _CONDITIONAL):
            continue
        condition = node.condition
        if not isinstance(condition, c.Assign):
            continue
        known = constant_value(condition.value)
        value = known if isinstance(known, int) else None
        line = source_line(condition.loc)
        if line is None or not (wall or value is not None):
            continue
        if _BEFORE_CONDITION.search(line[: condition.loc.column - 1]):
            outcome = "" if value is None else f" and is always {'true' if value else 'false'}"
            yield warning(
                condition.loc,
                f"the condition is an assignment{outcome}",
                "write '==' to compare, or parentheses around the assignment",
                option="parentheses",
            )


def returned_locals(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about returned addresses of local variables (`return-local-addr`)."""
    for node in nodes:
        if not isinstance(node, c.Return) or node.value is None:
            continue
        value = strip_casts(node.value)
        if not isinstance(value, c.Decay | c.AddressOf) or not isinstance(value.operand, c.VarRef):
            continue
        decl = value.operand.decl
        if decl.storage is c.Storage.AUTO:
            yield warning(
                node.loc,
                f"the address of '{decl.name}' is returned, but the variable ends with the function",
                "allocate it with malloc, declare it static, or have the caller pass an array",
                [(decl.loc, "declared here")],
                option="return-local-addr",
            )
