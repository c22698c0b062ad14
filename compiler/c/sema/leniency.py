"""
Directives that the specification does not allow, but that other compilers accept and old programs contain:
a `loop` whose `for` is in braces of its own (IPMACC), `private` on `kernels` (CAPS), `data` without clauses
(gcc), `cache` before a loop. Each gets a warning and the meaning that those compilers give it.
"""

from __future__ import annotations

from dataclasses import replace

from ...base.diagnostics import DiagnosticSink, error
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
    Compound,
    CompoundAssign,
    DeclStmt,
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


def private_on_loops(directive: Directive, body: Stmt, sink: DiagnosticSink) -> Stmt:
    """
    The body of a `kernels` construct, without the `private` clauses of its directive: those of its loop
    directives whose loops assign the variable get them, as `kernels` constructs become several kernels, which
    have nothing private in common; elsewhere in the construct, the variable is one that the body declares,
    but a scalar that the construct does not assign keeps the value that it has before.
    Raises `CompileError` for a section or array of variable length that no loop directive gets. Other
    directives keep theirs.
    """
    if directive.kind is not DirectiveKind.KERNELS:
        return body
    loops = [
        s
        for s in tree.walk(body)
        if isinstance(s, AccStmt) and s.directive.kind is DirectiveKind.LOOP
    ]
    own: dict[VarDecl, VarDecl] = {}
    for clause in directive.all("private", VarListClause):
        sink.warn(
            clause.loc,
            "'private' is not a clause of 'kernels': it is applied to the loops of the construct",
            "write it on their 'loop' directives",
        )
        directive.clauses.remove(clause)
        for item in clause.items:
            takers = [loop for loop in loops if _wants_copy(loop, item)]
            for loop in takers:
                loop.directive.clauses.append(replace(clause, items=[item]))
            variable = item.base.expr
            decl = variable.decl if isinstance(variable, VarRef) and not item.sections else None
            if decl is not None and not (decl.address_taken or _assigns(body, decl, False)):
                continue
            if decl is not None and not any(tree.type_expressions(decl.type)):
                own[decl] = VarDecl(decl.name, decl.qual, decl.loc, alignment=decl.alignment)
                own[decl].address_taken = decl.address_taken
            elif not takers:
                raise error(
                    item.loc,
                    f"'{item.name}' is private to no loop: no 'loop' directive in the construct uses it",
                    "write private on a 'loop' directive of the loop that uses it",
                )
    for node in tree.walk(body):
        if isinstance(node, VarRef) and node.decl in own:
            node.decl = own[node.decl]
    declared = DeclStmt(loc=body.loc, decls=list(own.values()))
    return Compound(loc=body.loc, body=[declared, body]) if own else body


def _wants_copy(loop: AccStmt, item: VarRefItem) -> bool:
    for clause in loop.directive.clauses:
        if not isinstance(clause, VarListClause | ReductionClause):
            continue
        own = clause.name in ("private", "firstprivate", "reduction")
        if own and any(other.name == item.name for other in clause.items):
            return False
    variable = item.base.expr
    return isinstance(variable, VarRef) and _assigns(loop, variable.decl, bool(item.sections))


def _assigns(loop: Stmt, decl: VarDecl, pointed: bool) -> bool:
    """Whether a statement may assign the variable, or with `pointed` its elements; true for arrays and
    structures that it mentions."""
    if pointed or not is_scalar(decl.type):
        return any(isinstance(e, VarRef) and e.decl is decl for e in tree.walk(loop))
    targets = (e.target for e in tree.walk(loop) if isinstance(e, Assign | CompoundAssign | IncDec))
    return any(isinstance(target, VarRef) and target.decl is decl for target in targets)
