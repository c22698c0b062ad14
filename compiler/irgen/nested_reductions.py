"""
Reductions over nested loops of which only the inner one says so.

A reduction that spans several `loop` directives must stand on each of them (OpenACC 3.4, 2.9.11). Where an
outer loop of the same construct uses the variable only through inner loops that reduce it, with one
operator, the clause can only have been forgotten: without it the outer loop's iterations would race.
It is added, with a remark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..c import ast as c
from ..diagnostics import DiagnosticSink
from ..directives.records import Directive, DirectiveKind, ReductionClause, VarRefItem
from .tree import children, clause_items, walk

_Found = dict[c.VarDecl, tuple[ReductionClause, VarRefItem]]


def spread_reductions(body: c.Stmt, sink: DiagnosticSink) -> None:
    """Adds the missing clauses in the compute constructs of a function's `body`, in place."""
    for statement in _outermost(body):
        if statement.body is None:
            continue
        if not statement.directive.is_compute:
            spread_reductions(statement.body, sink)
            continue
        own = _named(statement.directive, ("private", "firstprivate"))
        _spread(statement, own | _declared(statement.body), sink)


def _spread(statement: c.AccStmt, own: frozenset[c.VarDecl], sink: DiagnosticSink) -> None:
    """Inner loops first: a clause may be missing on several levels. `own`: copies of a gang."""
    assert statement.body is not None
    inner = [s for s in _outermost(statement.body) if s.body is not None]
    for loop in inner:
        _spread(loop, own, sink)
    directive = statement.directive
    is_loop = directive.kind is DirectiveKind.LOOP or directive.is_combined
    if not is_loop or directive.has("seq"):
        return
    named = _named(directive, ("private", "firstprivate", "reduction"))
    for variable, (clause, item) in _reduced(inner).items():
        if variable in named or variable in own or not _only_reduced(statement, inner, variable):
            continue
        directive.clauses.append(replace(clause, items=[item]))
        sink.remark(
            directive.loc,
            f"reduction({clause.operator}:{variable.name}) of an inner loop holds for this loop too",
        )


def _reduced(loops: list[c.AccStmt]) -> _Found:
    """The variables that `loops` reduce, each with one operator."""
    found: _Found = {}
    mixed: set[c.VarDecl] = set()
    for loop in loops:
        for clause in loop.directive.all("reduction", ReductionClause):
            for item in clause.items:
                base = item.base.expr
                if not isinstance(base, c.VarRef) or item.sections:
                    continue
                first, _ = found.setdefault(base.decl, (clause, item))
                if first.operator != clause.operator:
                    mixed.add(base.decl)
    return {v: where for v, where in found.items() if v not in mixed}


def _only_reduced(statement: c.AccStmt, loops: list[c.AccStmt], variable: c.VarDecl) -> bool:
    """Whether all uses of `variable` in the body are in loops that reduce it."""
    assert statement.body is not None
    reducing = [s for s in loops if variable in _named(s.directive, ("reduction",))]
    inside = sum(_uses(loop, variable) for loop in reducing)
    return _uses(statement.body, variable) == inside


def _uses(node: c.Stmt, variable: c.VarDecl) -> int:
    return sum(isinstance(n, c.VarRef) and n.decl is variable for n in walk(node))


def _named(directive: Directive, clauses: tuple[str, ...]) -> frozenset[c.VarDecl]:
    return frozenset(
        item.base.expr.decl
        for clause in directive.clauses
        if clause.name in clauses
        for item in clause_items(clause)
        if isinstance(item.base.expr, c.VarRef)
    )


def _declared(node: c.Stmt) -> frozenset[c.VarDecl]:
    """Every variable declared below `node`."""
    return frozenset(d for n in walk(node) if isinstance(n, c.DeclStmt) for d in n.decls)


def _outermost(node: c.Stmt) -> Iterator[c.AccStmt]:
    """The directives below `node` that stand in no other."""
    if isinstance(node, c.AccStmt):
        yield node
        return
    for child in children(node):
        if isinstance(child, c.Stmt):
            yield from _outermost(child)
