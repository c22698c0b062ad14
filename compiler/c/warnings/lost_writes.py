"""
Warnings about host reads of variables that a construct wrote and whose data clause does not copy back
(`lost-writes`; OpenACC 3.4, 2.7: `copyin`, `create`).

A read is reported only if nothing after the construct can have copied the result back: no directive of the
function names the variable in another data clause or in `update`, and no code in between has its address. A
data region around the function makes no difference: while it is open, it copies nothing back either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...base.diagnostics import Diagnostic, warning
from ...base.library_headers import is_library
from ...directives.records import VarListClause, VarRefItem
from .. import ast as c
from ..tree import Node, children, element_variable, walk
from ..types import PointerType, is_scalar

_ONE_WAY = frozenset(("copyin", "create"))
_WRITES = (c.Assign, c.CompoundAssign, c.IncDec)
_HARMLESS = _ONE_WAY | {"present", "no_create", "reduction"}


@dataclass(frozen=True)
class _Write:
    """An assignment in a construct, and the clause that keeps its result on the device."""

    node: Node
    clause: VarListClause


def lost_writes(function: c.FunctionDecl, nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about the first such read after each construct or data region of `function`, whose nodes are
    `nodes`."""
    named = _named(nodes)
    kept = {decl for decl, names in named.items() if names <= _HARMLESS and names & _ONE_WAY}
    if not kept or any(isinstance(node, c.Label | c.Asm | c.TeamStmt) for node in nodes):
        return
    assert function.body is not None
    search = _Search(kept, plain=not any(isinstance(node, c.StatementExpr) for node in nodes))
    search.visit(function.body)
    for read, decl, write in search.found:
        clause = write.clause.spelling
        yield warning(
            read.loc,
            f"'{decl.name}' is read here, but the construct's writes to it are not copied back",
            f"write 'copy' in place of '{clause}', or 'update self' in the region",
            [
                (write.node.loc, "written here"),
                (write.clause.loc, f"'{clause}' copies nothing back"),
            ],
            option="lost-writes",
        )


def _named(nodes: Sequence[Node]) -> dict[c.VarDecl, set[str]]:
    """The clauses that name each variable, or a part of it, in the directives among `nodes`."""
    named: dict[c.VarDecl, set[str]] = {}
    for node in nodes:
        for clause in node.directive.clauses if isinstance(node, c.AccStmt) else ():
            for part in clause.parts():
                if isinstance(part, VarRefItem) and part.base.expr is not None:
                    for decl in _variables(part.base.expr):
                        named.setdefault(decl, set()).add(clause.name)
    return named


def _variables(node: Node) -> Iterator[c.VarDecl]:
    return (each.decl for each in walk(node) if isinstance(each, c.VarRef))


class _Search:
    """
    Searches a function in the order of its text. `pending`: the writes of constructs to device copies of
    variables, as long as nothing may have copied them to the host. In a `plain` function no expression holds
    statements, so that it passes over expressions while there are none.
    """

    def __init__(self, kept: set[c.VarDecl], *, plain: bool) -> None:
        self._kept, self._plain = kept, plain
        self._pending: dict[c.VarDecl, _Write] = {}
        self.found: list[tuple[Node, c.VarDecl, _Write]] = []

    def visit(self, node: Node) -> None:
        if not self._pending and self._plain and isinstance(node, c.Expr | c.ExprStmt):
            return
        match node:
            case c.AccStmt():
                self._construct(node)
            case c.Load() if (decl := _data_of(node.lvalue)) is not None:
                self._subscripts(node.lvalue)
                self._read(decl, node)
            case c.CompoundAssign() | c.IncDec() if (decl := _data_of(node.target)) is not None:
                if isinstance(node, c.CompoundAssign):
                    self.visit(node.value)
                self._subscripts(node.target)
                self._read(decl, node.target)
            case c.Assign() if (decl := _data_of(node.target)) is not None:
                self.visit(node.value)
                self._subscripts(node.target)
                self._pending.pop(decl, None)
            case c.VarRef():
                self._pending.pop(node.decl, None)
            case c.If():
                self.visit(node.condition)
                self._apart(node.then, *([node.otherwise] if node.otherwise is not None else []))
            case c.Call():
                self._parts(node)
                self._call(node)
            case _:
                self._parts(node)

    def _parts(self, node: Node) -> None:
        for child in children(node):
            self.visit(child)

    def _subscripts(self, lvalue: c.Expr) -> None:
        for each in walk(lvalue):
            if isinstance(each, c.PtrAdd):
                self.visit(each.index)

    def _read(self, decl: c.VarDecl, use: Node) -> None:
        write = self._pending.pop(decl, None)
        if write is not None:
            self.found.append((use, decl, write))

    def _call(self, call: c.Call) -> None:
        """Removes the writes that a call may copy to the host: a function of the program may update
        variables that are visible to it, or whose address it may have."""
        if not _is_library(call):
            self._pending = {d: w for d, w in self._pending.items() if _is_own(d)}

    def _apart(self, *branches: c.Stmt) -> None:
        """Searches branches of which at most one is taken; a write is still pending after them only if it
        is pending after each."""
        before = dict(self._pending)
        after: dict[c.VarDecl, _Write] = dict(before)
        new: dict[c.VarDecl, _Write] = {}
        for branch in branches:
            self._pending = dict(before)
            self.visit(branch)
            if not _ends(branch):
                after = {d: w for d, w in after.items() if d in self._pending}
                new |= {d: w for d, w in self._pending.items() if d not in before}
        self._pending = after | new

    def _construct(self, node: c.AccStmt) -> None:
        directive = node.directive
        for part in children(node) if self._pending else ():
            if part is not node.body:
                for decl in _variables(part):
                    self._pending.pop(decl, None)
        if node.body is None:
            return
        if not directive.is_compute:
            self.visit(node.body)
        elif self._pending:
            for decl in _variables(node.body):
                self._pending.pop(decl, None)
        if not directive.has("if") and not directive.has("self"):
            self._pending |= self._written(node)

    def _written(self, node: c.AccStmt) -> dict[c.VarDecl, _Write]:
        """The writes of a construct, or of the constructs in a region, to variables that its clauses keep
        on the device."""
        assert node.body is not None
        clauses = {
            decl: clause
            for clause in node.directive.clauses
            if isinstance(clause, VarListClause) and clause.name in _ONE_WAY
            for item in clause.items
            if (decl := c.item_variable(item)) in self._kept
        }
        if not clauses:
            return {}
        region = _Region()
        region.visit(node)
        return {
            decl: _Write(region.writes[decl], clause)
            for decl, clause in clauses.items()
            if decl in region.writes
            and decl not in region.mentioned
            and (_is_own(decl) or not region.calls)
        }


class _Region:
    """The writes of the constructs in a region, the variables that its host code names, and whether that
    calls functions."""

    def __init__(self) -> None:
        self.writes: dict[c.VarDecl, Node] = {}
        self.mentioned: set[c.VarDecl] = set()
        self.calls = False

    def visit(self, node: Node) -> None:
        if isinstance(node, c.AccStmt) and node.directive.is_compute:
            for each in walk(node.body) if node.body is not None else ():
                if isinstance(each, _WRITES):
                    decl = _data_of(each.target)
                    if decl is not None:
                        self.writes.setdefault(decl, each)
        elif isinstance(node, c.AccStmt):
            if node.body is not None:
                self.visit(node.body)
        else:
            if isinstance(node, c.VarRef):
                self.mentioned.add(node.decl)
            self.calls |= isinstance(node, c.Call) and not _is_library(node)
            for child in children(node):
                self.visit(child)


def _data_of(lvalue: c.Expr) -> c.VarDecl | None:
    """The variable that data clauses name for an lvalue: a scalar itself, or the array or pointer of an
    element."""
    if isinstance(lvalue, c.VarRef):
        scalar = is_scalar(lvalue.decl.type) and not isinstance(lvalue.decl.type, PointerType)
        return lvalue.decl if scalar else None
    return element_variable(lvalue)


def _is_library(call: c.Call) -> bool:
    return isinstance(call.callee, c.FunctionRef) and is_library(call.callee.decl.loc)


def _is_own(decl: c.VarDecl) -> bool:
    """Whether the variable is local to the function."""
    return decl.storage is c.Storage.AUTO


def _ends(statement: c.Stmt) -> bool:
    """Whether control never reaches the statement after a branch."""
    while isinstance(statement, c.Compound) and statement.body:
        statement = statement.body[-1]
    return isinstance(statement, c.Return | c.Break | c.Continue | c.Goto)
