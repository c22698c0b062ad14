"""
Warnings about variables that are read before they are assigned (`uninitialized`).

Only if no path to the use assigns the variable: a variable that may have been assigned before, in a branch
or in an earlier iteration of an enclosing loop, counts as assigned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from .. import ast as c
from ..tree import Node, assigned_variable, children, clause_slots, walk
from ..types import VoidType, is_scalar

_UPDATES = (c.CompoundAssign, c.IncDec)
_SEARCHED = frozenset(
    (
        *(c.DeclStmt, c.Cast, c.Load, c.Assign, *_UPDATES),
        *(c.BinaryOp, c.Conditional, c.If, c.Switch, c.For, c.While, c.DoWhile),
    )
)
"""Kinds of nodes of which a search does more than to search their parts."""


def read_unassigned(function: c.FunctionDecl, nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about the first such use of each variable of `function`, whose nodes are `nodes`."""
    if any(isinstance(node, c.Label | c.Asm) for node in nodes):
        return  # control may come from anywhere
    assert function.body is not None
    candidates = _candidates(nodes)
    if not candidates:
        return
    search = Search(candidates, declares=any(isinstance(node, c.StatementExpr) for node in nodes))
    search.visit(function.body)
    for decl, use in search.found.items():
        yield warning(
            use.loc,
            f"'{decl.name}' is read here, and has no value yet",
            "initialise it where it is declared",
            [(decl.loc, "declared here")],
            option="uninitialized",
        )


def _candidates(nodes: Sequence[Node]) -> set[c.VarDecl]:
    """The scalars without initial values that only plain loads and assignments touch."""
    declared = {
        decl
        for node in nodes
        if isinstance(node, c.DeclStmt)
        for decl in node.decls
        if decl.init is None
        and is_scalar(decl.type)
        and not decl.address_taken
        and not decl.qual.volatile
        and "." not in decl.name
    }
    in_clauses = {
        part.decl
        for node in nodes
        if isinstance(node, c.AccStmt)
        for clause in node.directive.clauses
        for slot in clause_slots(clause)
        if slot.expr is not None
        for part in walk(slot.expr)
        if isinstance(part, c.VarRef)
    }
    return (declared - in_clauses) & _read(nodes) if declared else declared


def _read(nodes: Sequence[Node]) -> set[c.VarDecl]:
    """The variables that are read under their own name; others need no search."""
    read: set[c.VarDecl] = set()
    for node in nodes:
        place = None
        if isinstance(node, c.Load):
            place = node.lvalue
        elif isinstance(node, _UPDATES):
            place = node.target
        if isinstance(place, c.VarRef):
            read.add(place.decl)
    return read


class Search:
    """
    Goes through a function in the order of evaluation; past expressions while no variable is unassigned,
    unless one may declare some (`declares`).
    """

    def __init__(self, candidates: set[c.VarDecl], *, declares: bool = True) -> None:
        self.candidates, self._declares = candidates, declares
        self.unassigned: set[c.VarDecl | None] = set()
        """The variables declared so far that no path has assigned."""
        self.found: dict[c.VarDecl, c.Expr] = {}

    def visit(self, node: Node) -> None:
        if not self.unassigned and not self._declares and isinstance(node, c.Expr | c.ExprStmt):
            return
        if type(node) not in _SEARCHED:
            for child in children(node):
                self.visit(child)
            return
        match node:
            case c.DeclStmt():
                for child in children(node):
                    self.visit(child)
                self.unassigned |= self.candidates & set(node.decls)
            case c.Cast() if isinstance(node.type, VoidType) and isinstance(node.operand, c.Load):
                pass  # `(void)x;` says that it is not used
            case c.Load() if isinstance(node.lvalue, c.VarRef):
                self._read(node.lvalue.decl, node)
            case c.Assign():
                self.visit(node.value)
                self._target(node.target)
            case c.CompoundAssign():
                self.visit(node.value)
                self._update(node.target)
            case c.IncDec():
                self._update(node.target)
            case c.BinaryOp() if node.op in ("&&", "||"):
                self.visit(node.lhs)
                self._apart(node.rhs)
            case c.Conditional():
                self.visit(node.condition)
                self._apart(node.then, node.otherwise)
            case c.If():
                self.visit(node.condition)
                self._apart(node.then, *([node.otherwise] if node.otherwise is not None else []))
            case c.Switch():
                self.visit(node.value)
                self._cases(node.body)
            case c.For() | c.While() | c.DoWhile():
                self._loop(node)
            case _:
                for child in children(node):
                    self.visit(child)

    def _read(self, decl: c.VarDecl, use: c.Expr) -> None:
        if decl in self.unassigned:
            self.found.setdefault(decl, use)
            self.unassigned.discard(decl)

    def _target(self, target: c.Expr) -> None:
        if isinstance(target, c.VarRef):
            self.unassigned.discard(target.decl)
        else:
            self.visit(target)

    def _update(self, target: c.Expr) -> None:
        if isinstance(target, c.VarRef):
            self._read(target.decl, target)
        self._target(target)

    def _apart(self, *branches: Node) -> None:
        """Searches branches of which at most one is taken: each begins with the state before them."""
        before = set(self.unassigned)
        after = set(before)
        for branch in branches:
            self.unassigned = set(before)
            self.visit(branch)
            after &= self.unassigned
        self.unassigned = after

    def _cases(self, body: c.Stmt) -> None:
        """Searches the body of a `switch`: a variable that a case assigns counts as assigned in the
        following cases."""
        before = set(self.unassigned)
        self.visit(body)
        self.unassigned &= before

    def _loop(self, loop: c.For | c.While | c.DoWhile) -> None:
        """Searches a loop: a variable that it assigns counts as assigned by an earlier iteration."""
        step = loop.step if isinstance(loop, c.For) else None
        if isinstance(loop, c.For) and loop.init is not None:
            self.visit(loop.init)
        for part in (loop.condition, loop.body, step):
            if part is not None and self.unassigned:
                self.unassigned -= {assigned_variable(node) for node in walk(part)}
        for part in (loop.condition, loop.body, step):
            if part is not None:
                self.visit(part)
