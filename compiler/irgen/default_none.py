"""
`default(none)`: every variable that a compute construct uses must have a data attribute, either from a
clause of the construct, of a data construct or of a `declare` around it, or predetermined (OpenACC 3.4,
2.6.1 to 2.6.3): variables declared inside, and those of `loop` directives.

This is checked on the typed tree, which still has all names: in IR a variable may have become a constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..base.diagnostics import error
from ..c import ast as c
from ..c.tree import (
    assigned_variable,
    children,
    clause_items,
    walk,
)
from ..directives.records import DefaultClause, Directive, DirectiveKind, ReductionClause
from .facts import loop_depth


def check_default_none(function: c.FunctionDecl, declared: frozenset[c.VarDecl]) -> None:
    """
    Raises `CompileError` for a variable without attribute in a construct under `default(none)`.
    `declared`: the global variables in `declare` clauses of the file.
    """
    assert function.body is not None
    named = declared | _named(d for d in function.directives if d.kind is DirectiveKind.DECLARE)
    for node in _outermost(function.body):
        if node.directive.kind is DirectiveKind.DECLARE:
            named |= _named([node.directive])
    _search(function.body, _Scope(named, None))


@dataclass(frozen=True)
class _Scope:
    """The variables with an attribute at a statement, and the `default` clause that applies to it."""

    known: frozenset[c.VarDecl]
    default: DefaultClause | None


def _outermost(node: c.Stmt) -> Iterator[c.AccStmt]:
    """The directives below `node` that are not inside another one."""
    for child in children(node):
        if isinstance(child, c.AccStmt):
            yield child
        elif isinstance(child, c.Stmt):
            yield from _outermost(child)


def _search(node: c.Stmt, scope: _Scope) -> None:
    """Checks the compute constructs below `node`."""
    found = [node] if isinstance(node, c.AccStmt) else _outermost(node)
    for statement in found:
        directive = statement.directive
        if statement.body is None:
            continue
        inner = _Scope(
            scope.known | _named([directive]),
            directive.find("default", DefaultClause) or scope.default,
        )
        if not directive.is_compute:
            _search(statement.body, inner)
        elif inner.default is not None and inner.default.value == "none":
            own = _loop_variables(statement) | _reductions(statement.body)
            _check(statement.body, replace(inner, known=inner.known | own))


def _check(node: c.Expr | c.Stmt, scope: _Scope) -> None:
    """Raises `CompileError` for a name used below `node`, a part of a construct, that has no attribute."""
    match node:
        case c.VarRef():
            decl = node.decl
            if decl not in scope.known and not _is_constant(decl):
                assert scope.default is not None
                raise error(
                    node.loc,
                    f"variable '{decl.name}' has no data attribute, which default(none) requires",
                    f"add a clause that names it, for example copyin({decl.name}) or "
                    f"firstprivate({decl.name})",
                    [(scope.default.loc, "default(none) is here")],
                )
            return
        case c.DeclStmt():
            scope = replace(scope, known=scope.known | frozenset(node.decls))
        case c.Compound():
            inside = (d for s in node.body if isinstance(s, c.DeclStmt) for d in s.decls)
            scope = replace(scope, known=scope.known | frozenset(inside))
        case c.For():
            scope = replace(scope, known=scope.known | _variables(node))
        case c.CompoundLiteral():
            scope = replace(scope, known=scope.known | {node.decl})
        case c.AccStmt():
            own = _named([node.directive]) | _loop_variables(node)
            scope = replace(scope, known=scope.known | own)
        case _:
            pass
    for child in children(node):
        _check(child, scope)


def _is_constant(decl: c.VarDecl) -> bool:
    """Whether a variable is one of the compiler's constants: `__func__`, or a compound literal at file
    scope."""
    return decl.storage is not c.Storage.AUTO and decl.name.startswith((".", "__func__"))


def _named(directives: Iterator[Directive] | Sequence[Directive]) -> frozenset[c.VarDecl]:
    """The variables that clauses of `directives` name; for a member or section, its outermost variable."""
    return frozenset(
        decl
        for directive in directives
        for clause in directive.clauses
        for item in clause_items(clause)
        if item.base.expr is not None and (decl := _root(item.base.expr)) is not None
    )


def _root(e: c.Expr) -> c.VarDecl | None:
    while not isinstance(e, c.VarRef):
        below = [x for x in children(e) if isinstance(x, c.Expr)]
        if not below:
            return None
        e = below[0]
    return e.decl


def _loop_variables(statement: c.AccStmt) -> frozenset[c.VarDecl]:
    """The variables of the loops that a `loop` or combined directive covers."""
    directive = statement.directive
    if directive.kind is not DirectiveKind.LOOP and not directive.is_combined:
        return frozenset()
    found: set[c.VarDecl] = set()
    current: c.Stmt | None = statement.body
    for _ in range(loop_depth(statement)):
        while isinstance(current, c.Compound) and current.body:
            current = next((s for s in current.body if isinstance(s, c.For)), None)
        if not isinstance(current, c.For):
            break
        found |= _variables(current)
        current = current.body
    return frozenset(found)


def _variables(loop: c.For) -> frozenset[c.VarDecl]:
    """The variables that a `for` declares or counts in, which are private to each execution, with or
    without a directive."""
    if isinstance(loop.init, c.DeclStmt):
        return frozenset(loop.init.decls)
    if loop.init is None or loop.step is None:
        return frozenset()
    first, then = ({assigned_variable(n) for n in walk(part)} for part in (loop.init, loop.step))
    return frozenset(v for v in first & then if v is not None)


def _reductions(body: c.Stmt) -> frozenset[c.VarDecl]:
    """The variables of reductions on loops inside, which the construct copies (2.6.2)."""
    found: frozenset[c.VarDecl] = frozenset()
    for node in [body] if isinstance(body, c.AccStmt) else _outermost(body):
        clauses = node.directive.all("reduction", ReductionClause)
        found |= _named([replace(node.directive, clauses=list(clauses))])
        if node.body is not None:
            found |= _reductions(node.body)
    return found
