"""
Directives that the specification does not allow, but that other compilers accept and old programs contain:
a `loop` whose `for` is in braces of its own (IPMACC), `private` on `kernels` (CAPS), `data` without clauses
(gcc), `cache` before a loop. Each gets a warning and the meaning that those compilers give it.
"""

from __future__ import annotations

from dataclasses import replace

from ...base.diagnostics import DiagnosticSink
from ...directives.records import (
    Directive,
    DirectiveKind,
    ReductionClause,
    VarListClause,
    VarRefItem,
)
from ...directives.rules import DIRECTIVES, Form
from .. import tree
from ..ast import (
    AccStmt,
    Assign,
    CompoundAssign,
    For,
    IncDec,
    Stmt,
    VarDecl,
    VarRef,
)
from ..types import is_scalar


def without_braces(directive: Directive, body: Stmt, sink: DiagnosticSink) -> Stmt:
    """The `for` loop in `body` if it is a block with nothing else; otherwise `body`."""
    inside = tree.unwrapped(body)
    found = inside[0] if len(inside) == 1 else body
    if found is not body and isinstance(found, For):
        sink.warn(
            body.loc,
            f"'{directive.kind.value}' is followed by a block: taken for the 'for' loop in it",
            "remove the braces around the loop",
        )
        return found
    return body


def warn_of_idle_cache(directive: Directive, sink: DiagnosticSink) -> None:
    """Warn of a `cache` directive outside of loops: there are no iterations that could reuse the data
    (2.10)."""
    sink.warn(
        directive.loc,
        "'cache' is not inside a loop: it has no effect",
        "put it at the top of the body of the loop whose iterations reuse the data",
    )


def without_data(directive: Directive, body: Stmt, sink: DiagnosticSink) -> list[Stmt] | None:
    """The statements that replace a `data` construct without data clauses (OpenACC 3.4, 2.6.5); None for
    other directives."""
    if directive.kind is not DirectiveKind.DATA:
        return None
    names = DIRECTIVES[DirectiveKind.DATA].clauses
    moves = any(names.get(c.name) in _MOVING or c.name == "default" for c in directive.clauses)
    if moves:
        return None
    sink.warn(
        directive.loc,
        "'data' without data clauses moves nothing",
        "name the data that stays on the device, or remove the directive",
    )
    waits = [clause for clause in directive.clauses if clause.name == "wait"]
    wait = replace(directive, kind=DirectiveKind.WAIT, clauses=waits)
    return [AccStmt(loc=directive.loc, directive=wait), body] if waits else [body]


_MOVING = (Form.VARS, Form.SECTIONS)


def private_on_loops(directive: Directive, body: Stmt, sink: DiagnosticSink) -> None:
    """
    Moves the `private` clauses of a `kernels` construct to those of its loop directives whose loops
    assign the variable: `kernels` constructs become several kernels, which have nothing private in
    common.
    """
    clauses = (
        directive.all("private", VarListClause) if directive.kind is DirectiveKind.KERNELS else ()
    )
    if not clauses:
        return
    loops = [
        s
        for s in tree.walk(body)
        if isinstance(s, AccStmt) and s.directive.kind is DirectiveKind.LOOP
    ]
    for clause in clauses:
        sink.warn(
            clause.loc,
            "'private' is not a clause of 'kernels': it is applied to the loops of the construct",
            "write it on their 'loop' directives",
        )
        directive.clauses.remove(clause)
        for loop in loops:
            items = [item for item in clause.items if _wants_copy(loop, item)]
            if items:
                loop.directive.clauses.append(replace(clause, items=items))


def _wants_copy(loop: AccStmt, item: VarRefItem) -> bool:
    for clause in loop.directive.clauses:
        if not isinstance(clause, VarListClause | ReductionClause):
            continue
        own = clause.name in ("private", "firstprivate", "reduction")
        if own and any(other.name == item.name for other in clause.items):
            return False
    variable = item.base.expr
    return isinstance(variable, VarRef) and _assigns(loop, variable.decl)


def _assigns(loop: AccStmt, decl: VarDecl) -> bool:
    """Whether the loop may assign the variable; true for arrays and structures that it mentions."""
    if not is_scalar(decl.type):
        return any(isinstance(e, VarRef) and e.decl is decl for e in tree.walk(loop))
    targets = (e.target for e in tree.walk(loop) if isinstance(e, Assign | CompoundAssign | IncDec))
    return any(isinstance(target, VarRef) and target.decl is decl for target in targets)
