"""
Warnings about reduction variables that parallel iterations only assign (`assigned-reduction`; OpenACC 3.4,
2.5.15, 2.9.11). Each thread's copy then has the value of its last iteration, and the copies are combined: the
result depends on which thread runs which iteration.

Reported are scalars whose every use in the construct is such an assignment, in each iteration. Assignments
under a condition often run in one iteration only, and those of the same value in all iterations make no
difference where combining it with itself gives it again (`max`, `||`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ...base.diagnostics import Diagnostic, warning
from ...directives.records import ReductionClause
from .. import ast as c
from ..tree import Node, assigned_variable, children, walk
from ..types import is_scalar

_IDEMPOTENT = frozenset(("max", "min", "&", "|", "&&", "||"))


def assigned_reductions(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """A warning for each such variable of the constructs and loops among `nodes`, at its first assignment."""
    told: set[c.VarDecl] = set()
    for node in nodes:
        if not isinstance(node, c.AccStmt) or node.body is None:
            continue
        reduced = list(_reduced(node))
        if not reduced or _may_leave(node.body):
            continue
        for decl, clause in reduced:
            uses = _Uses(decl)
            uses.visit(node.body, parallel=_is_parallel(node))
            if decl in told or uses.other or not uses.assigned:
                continue
            if clause.operator in _IDEMPOTENT and not any(map(_varies(node), uses.assigned)):
                continue
            told.add(decl)
            yield warning(
                uses.assigned[0].loc,
                f"'{decl.name}' is assigned here by all iterations of a parallel loop, so the result of"
                f" 'reduction({clause.operator}:{decl.name})' depends on how many each thread runs",
                f"combine it with its old value, as in '{_update(decl.name, clause.operator)}',"
                " or use a private variable",
                [(clause.loc, "reduced here")],
                option="assigned-reduction",
            )


def _reduced(node: c.AccStmt) -> Iterator[tuple[c.VarDecl, ReductionClause]]:
    for clause in node.directive.clauses:
        if not isinstance(clause, ReductionClause):
            continue
        for item in clause.items:
            decl = c.item_variable(item)
            if decl is not None and is_scalar(decl.type):
                yield decl, clause


def _may_leave(body: c.Stmt) -> bool:
    """Whether iterations may skip statements by a jump."""
    return any(isinstance(each, c.Continue | c.Break | c.Goto) for each in walk(body))


def _is_parallel(node: c.AccStmt) -> bool:
    """Whether a directive divides the iterations of a loop among threads."""
    directive = node.directive
    alone = directive.has("seq") or directive.kind.construct == "serial"
    return isinstance(node.body, c.For) and not alone


def _update(name: str, operator: str) -> str:
    if operator in ("max", "min"):
        return f"if (… {'>' if operator == 'max' else '<'} {name}) {name} = …"
    return f"{name} = {name} {operator} …"


def _varies(construct: c.AccStmt) -> Callable[[c.Assign], bool]:
    """A predicate: whether the value of an assignment may differ between iterations."""
    changed = {assigned_variable(each) for each in walk(construct)}
    changed |= {d for each in walk(construct) if isinstance(each, c.DeclStmt) for d in each.decls}

    def varies(assign: c.Assign) -> bool:
        return any(
            isinstance(each, c.Call | c.PtrAdd | c.Deref)
            or (isinstance(each, c.VarRef) and each.decl in changed)
            for each in walk(assign.value)
        )

    return varies


@dataclass
class _Uses:
    """The unconditional assignments to a variable in parallel loops, and whether it is used otherwise."""

    decl: c.VarDecl
    assigned: list[c.Assign] = field(default_factory=list[c.Assign])
    other: bool = False

    def visit(self, node: Node, *, parallel: bool, sure: bool = True) -> None:
        match node:
            case c.VarRef():
                self.other |= node.decl is self.decl
            case c.Assign(target=c.VarRef(decl=self.decl)):
                self.visit(node.value, parallel=parallel, sure=sure)
                if parallel and sure:
                    self.assigned.append(node)
                else:
                    self.other = True
            case c.AccStmt():
                if node.body is not None:
                    self.visit(node.body, parallel=parallel or _is_parallel(node), sure=sure)
            case c.If() | c.Conditional() | c.Switch() | c.While() | c.BinaryOp(op="&&" | "||"):
                self._parts(node, parallel=parallel, sure=False)
            case _:
                self._parts(node, parallel=parallel, sure=sure)

    def _parts(self, node: Node, *, parallel: bool, sure: bool) -> None:
        for child in children(node):
            self.visit(child, parallel=parallel, sure=sure)
