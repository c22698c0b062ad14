"""
Warnings about private copies that are read before they are assigned (`uninitialized`): scalars, arrays
without an assigned element, and pointers where the program means the array that they point to.

As in `unassigned.py`, only if no path in the construct, or in an iteration of its loop, assigns the copy
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.diagnostics import Diagnostic, warning
from ...directives.records import VarListClause
from .. import ast as c
from ..tree import Node, element_variable, walk
from ..types import ArrayType, PointerType, is_scalar
from .unassigned import Search


def read_unassigned_copies(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """
    Warnings about the first such use of each private variable of the constructs and loops among `nodes`.
    """
    for node in nodes:
        if not isinstance(node, c.AccStmt) or node.body is None:
            continue
        copies = {decl: item for item, decl in _copies(node)}
        if not copies or any(isinstance(each, c.Label | c.Asm) for each in walk(node.body)):
            continue
        search = _Search(set(copies), directive_loop=node.body)
        search.visit(node.body)
        for decl, use in search.found.items():
            yield warning(
                use.loc,
                f"'{decl.name}' is read here, and its private copy has no value yet",
                _remedy(decl),
                [(copies[decl], "made private here")],
                option="uninitialized",
            )


def _copies(node: c.AccStmt) -> Iterator[tuple[c.SourceLoc, c.VarDecl]]:
    for clause in node.directive.clauses:
        if not isinstance(clause, VarListClause) or clause.name != "private":
            continue
        for item in clause.items:
            decl = c.item_variable(item)
            if decl is not None and not item.sections and _is_followed(decl):
                yield item.loc, decl


def _is_followed(decl: c.VarDecl) -> bool:
    """
    Whether the search sees all accesses of a variable: for scalars if the address is not taken, for arrays
    if all are by subscripts.
    """
    if decl.qual.volatile or decl.storage is not c.Storage.AUTO:
        return False
    return isinstance(decl.type, ArrayType) or (is_scalar(decl.type) and not decl.address_taken)


def _remedy(decl: c.VarDecl) -> str:
    if isinstance(decl.type, PointerType):
        return (
            f"a copy of the pointer alone is private: write private({decl.name}[0:N]) for the N"
            " elements that it points to, or declare an array in the loop"
        )
    if isinstance(decl.type, ArrayType):
        return "assign its elements first, or write firstprivate for copies with values"
    return "assign it first, or write firstprivate for copies with a value"


class _Search(Search):
    """Follows private copies; an assignment to one element of an array counts for all."""

    def __init__(self, candidates: set[c.VarDecl], directive_loop: c.Stmt) -> None:
        super().__init__(candidates)
        self.unassigned |= candidates
        self._directive_loop = directive_loop

    def visit(self, node: Node) -> None:
        if not self.unassigned:
            return  # all candidates are declared outside of the construct
        match node:
            case c.For() if node is self._directive_loop:
                # Each iteration has its own copies, to which earlier iterations have not assigned.
                for part in (node.init, node.condition, node.body):
                    if part is not None:
                        self.visit(part)
            case c.Load() if (decl := _element_of(node.lvalue)) is not None:
                self._subscripts(node.lvalue)
                self._read(decl, node)
            case c.CompoundAssign() | c.IncDec() if (decl := _element_of(node.target)) is not None:
                self._read(decl, node.target)
                super().visit(node)
            case c.VarRef() if isinstance(node.decl.type, ArrayType):
                # Its address is taken, or an element assigned.
                self.unassigned.discard(node.decl)
            case _:
                super().visit(node)

    def _subscripts(self, lvalue: c.Expr) -> None:
        for each in walk(lvalue):
            if isinstance(each, c.PtrAdd):
                self.visit(each.index)


def _element_of(lvalue: c.Expr) -> c.VarDecl | None:
    """The array variable of which an lvalue is an element."""
    decl = element_variable(lvalue)
    return decl if decl is not None and isinstance(decl.type, ArrayType) else None
