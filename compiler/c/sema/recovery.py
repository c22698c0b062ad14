"""
Recovery after a mistake, so that one compilation reports all mistakes that are independent of one another.

A mistake ends the check of the statement, clause or declaration that contains it. Names whose declarations
are lost become *broken*: looking one up raises a `CompileError` without diagnostics, so that no mistake is
reported that follows from another.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, Diagnostic
from ..ast import VarDecl
from .scopes import RecordTag

if TYPE_CHECKING:
    from .unit import Unit

MOST_MISTAKES = 20
"""The most mistakes that are reported in one file."""


class TooManyMistakes(Exception):
    """Ends the check of a file with more than the most mistakes."""


class Recovery:
    """Collects the mistakes of a unit, and lets checking go on after one."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.mistakes: list[Diagnostic] = []
        self.active = True
        """Whether mistakes are collected; otherwise they are raised (in functions of system headers)."""

    @contextmanager
    def going_on(self, node: Any = None) -> Generator[None]:
        """
        Collects a mistake raised in the `with` block, and restores the unit's state then. `node`: the
        declaration or statement that is lost by it.
        """
        unit = self.unit
        scope, function = unit.scope, unit.function
        depths = function.depths() if function is not None else None
        try:
            yield
        except CompileError as mistake:
            if not self.active:
                raise
            unit.scope, unit.function = scope, function
            if function is not None and depths is not None:
                function.unwind(depths)
            self._keep(mistake)
            for name in declared_names(node):
                tag, symbol = scope.tags.get(name), scope.names.get(name)
                if isinstance(tag, RecordTag) and not tag.type.is_complete:
                    del scope.tags[name]
                if isinstance(symbol, VarDecl) and not symbol.type.is_complete:
                    del scope.names[name]
                if name not in scope.names and name not in scope.tags:
                    scope.lose(name)

    def _keep(self, mistake: CompileError) -> None:
        self.mistakes += mistake.diagnostics
        if len(self.mistakes) >= MOST_MISTAKES:
            raise TooManyMistakes

    def undeclared(self, name: str) -> None:
        """Records that `name` has been reported, so that it is not reported again in this function."""
        scope = self.unit.scope
        while scope.parent is not None and scope.parent.parent is not None:
            scope = scope.parent
        scope.lose(name)


def in_order(mistakes: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The mistakes sorted by line, with files in the order of their first mistakes."""
    files = list(dict.fromkeys(each.loc.file for each in mistakes))
    return sorted(mistakes, key=lambda m: (files.index(m.loc.file), m.loc.line, m.loc.column))


def declared_names(node: Any) -> Iterator[str]:
    """The ordinary identifiers and tags that a declaration would declare, including tags inside it."""
    if node is None:
        return
    if isinstance(node, c_ast.FuncDef):
        yield node.decl.name
        return
    if isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Enumerator) and node.name is not None:
        yield node.name
    if isinstance(node, c_ast.Struct | c_ast.Union | c_ast.Enum) and node.name is not None:
        yield node.name
    if isinstance(node, _DECLARING):
        for child in node:
            yield from declared_names(child)


_DECLARING = (
    c_ast.Decl,
    c_ast.Typedef,
    c_ast.DeclList,
    c_ast.TypeDecl,
    c_ast.PtrDecl,
    c_ast.ArrayDecl,
    c_ast.Enum,
    c_ast.EnumeratorList,
)
