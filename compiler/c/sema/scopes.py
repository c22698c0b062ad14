"""Scopes and the meanings of names in them (C11 6.2.1 to 6.2.3)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass

from ...base.diagnostics import (
    CompileError,
    SourceLoc,
    error,
)
from ...base.library_headers import is_library
from ...base.similar import did_you_mean
from ..ast import FunctionDecl, VarDecl
from ..types import IntType, QualType, RecordType


@dataclass(frozen=True)
class TypedefName:
    """A typedef: `qual` is the type it names, `alignment` that of its variables in bytes if given (GNU)."""

    name: str
    qual: QualType
    loc: SourceLoc
    alignment: int | None = None


@dataclass(frozen=True)
class Enumerator:
    """An enumeration constant."""

    name: str
    value: int
    type: IntType
    loc: SourceLoc


@dataclass
class EnumTag:
    """`enum tag`: the integer type compatible with it, None while only mentioned."""

    type: IntType | None
    loc: SourceLoc


@dataclass(frozen=True)
class RecordTag:
    type: RecordType
    loc: SourceLoc


def defined_twice(what: str, first: SourceLoc, loc: SourceLoc) -> CompileError:
    """The error for a second definition of `what`, for example a tag in quotes."""
    return error(loc, f"{what} twice", "rename one of them", [(first, "first here")])


Symbol = VarDecl | FunctionDecl | TypedefName | Enumerator
Tag = RecordTag | EnumTag


class Scope:
    """
    One scope: ordinary identifiers and tags, and the scope around it. `broken`: names and tags whose
    declarations are lost to mistakes that have been reported. All three change only through the methods
    here, which keep a table from names to open scopes: looking up a name takes the same time at any depth.
    """

    def __init__(self, parent: Scope | None = None):
        self.parent = parent
        self.names: dict[str, Symbol] = {}
        self.tags: dict[str, Tag] = {}
        self.broken: set[str] = set()
        self._opened = 1 if parent is None else 0
        self._depth: int = 0 if parent is None else parent._depth + 1
        self._knowing: dict[str, list[Scope]] = {} if parent is None else parent._knowing
        """Name or tag → the open scopes that declare it, the innermost last, for all scopes of a file."""

    def declare(self, name: str, symbol: Symbol) -> None:
        self.names[name] = symbol
        self._know(name)

    def declare_tag(self, name: str, tag: Tag) -> None:
        self.tags[name] = tag
        self._know(name)

    def lose(self, name: str) -> None:
        """Marks a name or tag as broken."""
        self.broken.add(name)
        self._know(name)

    def _know(self, name: str) -> None:
        knowing = self._knowing.setdefault(name, [])
        if self not in knowing[-1:]:
            insort(knowing, self, key=lambda scope: scope._depth)

    def open(self) -> None:
        """Makes this the current scope; it stays open until as many calls of `close`."""
        self._opened += 1
        if self._opened == 1:
            for name in (*self.names, *self.tags, *self.broken):
                self._know(name)

    def close(self) -> None:
        """Leaves this scope; the one around it is current again."""
        self._opened -= 1
        if self._opened:
            return
        for name in {*self.names, *self.tags, *self.broken}:
            knowing = self._knowing[name]
            if knowing[-1] is self:
                knowing.pop()
            if self in knowing:
                self._knowing[name] = [scope for scope in knowing if scope is not self]

    def _visible(self, name: str) -> Iterator[Scope]:
        """The scopes that declare a name, from this one outwards. This must be the innermost open scope or
        the file's."""
        return iter((self,)) if self.parent is None else reversed(self._knowing.get(name, ()))

    def find(self, name: str) -> Symbol | None:
        """
        The symbol of `name` in this scope or the nearest around it; None if there is none. Raises a
        `CompileError` without diagnostics for a broken name.
        """
        for scope in self._visible(name):
            if name in scope.names:
                return scope.names[name]
            if name in scope.broken:
                raise CompileError(())
        return None

    def find_tag(self, name: str) -> Tag | None:
        for scope in self._visible(name):
            if name in scope.tags:
                return scope.tags[name]
            if name in scope.broken:
                raise CompileError(())
        return None

    def is_typedef(self, name: str) -> bool:
        return isinstance(self.find(name), TypedefName)

    @property
    def is_file(self) -> bool:
        return self.parent is None

    def did_you_mean(self, name: str) -> str:
        """The remedy that names the visible ordinary identifier most similar to `name`, empty if none is
        similar enough; library names need more similarity."""
        own: set[str] = set()
        library: set[str] = set()
        scope: Scope | None = self
        while scope is not None:
            for visible, symbol in scope.names.items():
                if not visible.startswith("__"):
                    (library if is_library(symbol.loc) else own).add(visible)
            scope = scope.parent
        return did_you_mean(name, own) or did_you_mean(name, library, 0.8)
