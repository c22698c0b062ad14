"""Scopes and what names stand for (C11 6.2.1 to 6.2.3)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...base.diagnostics import CompileError, SourceLoc
from ...base.library_headers import is_library
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


Symbol = VarDecl | FunctionDecl | TypedefName | Enumerator
Tag = RecordTag | EnumTag


@dataclass
class Scope:
    """One scope: ordinary identifiers and tags, and the scope around it."""

    parent: Scope | None = None
    names: dict[str, Symbol] = field(default_factory=dict[str, Symbol])
    tags: dict[str, Tag] = field(default_factory=dict[str, Tag])
    broken: set[str] = field(default_factory=set[str])
    """Names and tags whose declarations are lost to mistakes that have been reported."""

    def _chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> Symbol | None:
        """
        What `name` means here, looking outwards. Raises a `CompileError` without diagnostics where that
        is lost to a mistake.
        """
        for scope in self._chain():
            if name in scope.names:
                return scope.names[name]
            if name in scope.broken:
                raise CompileError(())
        return None

    def find_tag(self, name: str) -> Tag | None:
        for scope in self._chain():
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

    def suggestion(self, name: str) -> str | None:
        """The visible ordinary identifier nearest to `name`, if one is near; very near, if a library's."""
        own: set[str] = set()
        library: set[str] = set()
        for scope in self._chain():
            for visible, symbol in scope.names.items():
                if not visible.startswith("__"):
                    (library if is_library(symbol.loc) else own).add(visible)
        return nearest(name, own) or nearest(name, library, cutoff=0.8)


def nearest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The candidate a user who wrote `name` probably meant; `cutoff`: how alike they must be, up to 1."""
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=cutoff)
    if found:
        return found[0]
    folded = {c.lower(): c for c in candidates}
    return folded.get(name.lower())
