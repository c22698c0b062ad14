"""
Going on after a mistake, so that one compilation reports all that are independent of one another.

A mistake ends the statement, clause or declaration it stands in. Names whose declarations are lost become
*broken*: whoever asks a scope for one gets a `CompileError` without diagnostics, so that nothing is reported
because of another mistake.
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
"""How many are reported in one file."""


class TooManyMistakes(Exception):
    """The rest of the file is not checked."""


class Recovery:
    """The mistakes of a unit, and how checking goes on after one."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.mistakes: list[Diagnostic] = []
        self.active = True
        """Whether mistakes are kept; else they reach the caller (bodies of functions in system headers)."""

    @contextmanager
    def going_on(self, node: Any = None) -> Generator[None]:
        """
        Keeps a mistake made in the `with` block, and leaves the block with the unit's state as it was.
        `node`: the declaration or statement that is lost then.
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
        """`name` has been reported: not again in this function."""
        scope = self.unit.scope
        while scope.parent is not None and scope.parent.parent is not None:
            scope = scope.parent
        scope.lose(name)


def in_order(mistakes: Sequence[Diagnostic]) -> list[Diagnostic]:
    """By line, in the order in which their files come first."""
    files = list(dict.fromkeys(each.loc.file for each in mistakes))
    return sorted(mistakes, key=lambda m: (files.index(m.loc.file), m.loc.line, m.loc.column))


def declared_names(node: Any) -> Iterator[str]:
    """The ordinary identifiers and tags that a declaration, or what declares in it, would declare."""
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
