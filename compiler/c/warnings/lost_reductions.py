"""
Warnings about reductions that lose a value (OpenACC 3.4, 2.5.14, 2.7, 2.9.11):

- a loop reduces a private copy of a directive around it, and nothing in the construct reads the copy after
  it (`lost-writes`);
- a reduction begins with the device's value of a variable that `copyout` or `create` has just allocated
  (`uninitialized`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from ...directives.records import Clause, Directive, DirectiveKind, ReductionClause, VarListClause
from .. import ast as c
from ..tree import Node, children, element_variable, walk

_NEW = frozenset(("copyout", "create"))


def lost_reductions(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """The warnings about the directives among `nodes`, which are those of a function."""
    directives = [node for node in nodes if isinstance(node, c.AccStmt)]
    if not any(node.directive.has("reduction") for node in directives):
        return
    mapped = {
        decl
        for node in directives
        if not node.directive.is_compute and node.directive.kind is not DirectiveKind.LOOP
        for name in ("copy", "copyin", "copyout", "create", "present")
        for decl in _named(node.directive, name)
    }
    for node in directives:
        if node.body is None:
            continue
        for name in ("private", "firstprivate"):
            for decl, clause in _named(node.directive, name).items():
                yield from _unread(node.body, decl, clause)
        for name in _NEW if node.directive.is_compute else ():
            for decl, clause in _named(node.directive, name).items():
                if decl.storage is c.Storage.AUTO and not decl.address_taken and decl not in mapped:
                    yield from _begins_without_value(node, decl, clause)


def _named(directive: Directive, name: str) -> dict[c.VarDecl, Clause]:
    """The variables in the clauses `name` that do not set memory to zero."""
    return {
        decl: clause
        for clause in directive.clauses
        if clause.name == name and isinstance(clause, VarListClause | ReductionClause)
        if not (isinstance(clause, VarListClause) and "zero" in clause.modifiers)
        for item in clause.items
        if (decl := c.item_variable(item)) is not None
    }


def _unread(body: c.Stmt, decl: c.VarDecl, clause: Clause) -> Iterator[Diagnostic]:
    """The warning that the results of all reductions of a private copy in `body` are lost."""
    found = _Reductions(decl)
    found.visit(body)
    if found.clauses and not found.used:
        yield warning(
            found.clauses[0].loc,
            f"the result of this reduction of '{decl.name}' is lost: it goes to a copy of '{clause.name}',"
            " which nothing reads",
            f"name '{decl.name}' in 'reduction' alone",
            [(clause.loc, f"'{clause.name}' is here")],
            option="lost-writes",
        )


def _begins_without_value(node: c.AccStmt, decl: c.VarDecl, clause: Clause) -> Iterator[Diagnostic]:
    found = _Reductions(decl)
    found.visit(node)
    assigned = (each.target for each in walk(node) if isinstance(each, c.Assign))
    own = [each for each in found.clauses if each in node.directive.clauses]
    is_set = any(_is_of(target, decl) for target in assigned) and not own
    if found.clauses and not is_set:
        yield warning(
            found.clauses[0].loc,
            f"this reduction begins with the device's value of '{decl.name}', which '{clause.name}' does"
            " not set",
            f"write 'copy({decl.name})', or leave out the data clause",
            [(clause.loc, f"'{clause.name}' is here")],
            option="uninitialized",
        )


def _is_of(target: c.Expr, decl: c.VarDecl) -> bool:
    return element_variable(target) is decl or (
        isinstance(target, c.VarRef) and target.decl is decl
    )


class _Reductions:
    """
    The reductions of a variable in code, without those of private copies in it; and whether code outside of
    these reductions uses the variable otherwise than by assigning it.
    """

    def __init__(self, decl: c.VarDecl) -> None:
        self._decl = decl
        self.clauses: list[Clause] = []
        self.used = False

    def visit(self, node: Node) -> None:
        if isinstance(node, c.AccStmt):
            reduced = _named(node.directive, "reduction").get(self._decl)
            if reduced is not None:
                self.clauses.append(reduced)
                return
            if any(self._decl in _named(node.directive, n) for n in ("private", "firstprivate")):
                return
        elif isinstance(node, c.Assign) and isinstance(node.target, c.VarRef):
            self.visit(node.value)
            return
        self.used |= isinstance(node, c.VarRef) and node.decl is self._decl
        for child in children(node):
            self.visit(child)
