"""
Reuses the preprocessed text of headers between files of a program, most of which include the same headers.

The result of including a header depends only on the macros among some names: those that were looked up for
it and for the headers that it includes, and those in the texts of macros among them. If all of these names
are the same macros as before, or again not macros, the same text is written again, and the same macros are
defined and removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .preprocess_expand import Macro
from .preprocess_lexer import LexedFile
from .preprocess_output import Written

Key = tuple[Path, int, bool]
"""A header, the searched folder that contains it, and whether the system's headers are searched."""

_MOST = 8
"""The most inclusions with different results that are kept for a header."""
_OF_FILES = frozenset(("__FILE__", "__LINE__"))
"""Names whose meaning differs between files but not between inclusions of the same header."""


@dataclass
class Seen:
    """
    Records the events while a header is read: `asked` are names that were looked up, `made` the macros that
    were defined, by name, `changed` their names and those of removed macros; `files` are the files that
    were included, or skipped because they had been read, in order.
    """

    asked: set[str] = field(default_factory=set[str])
    made: dict[str, list[Macro]] = field(default_factory=dict[str, list[Macro]])
    changed: set[str] = field(default_factory=set[str])
    files: dict[Path, LexedFile] = field(default_factory=dict[Path, LexedFile])

    def define(self, name: str, macro: Macro) -> None:
        """Records the definition of a macro."""
        self.made.setdefault(name, []).append(macro)
        self.changed.add(name)

    def add(self, other: Seen) -> None:
        """Adds the events of a header that this one includes."""
        self.asked |= other.asked
        for name, macros in other.made.items():
            self.made.setdefault(name, []).extend(macros)
        self.changed |= other.changed
        self.files.update(other.files)


@dataclass(frozen=True)
class Inclusion:
    """
    The effect of including a header. Conditions: `before` are the macros of `names`, and `once` the files
    that were not to be read again. Effects: `defined` and `removed` macros, `now_once`, and `absent`, the
    files that were looked for and not found.
    """

    names: Sequence[str]
    before: Sequence[Macro | None]
    once: Mapping[Path, bool]
    seen: Seen
    defined: Mapping[str, Macro]
    removed: Sequence[str]
    now_once: frozenset[Path]
    absent: frozenset[str]
    written: Written | None

    def is_again(self, table: Mapping[str, Macro], once: set[Path]) -> bool:
        """Whether the inclusion has the same effect with these macros and these files that are not to be
        read again."""
        if [*map(table.get, self.names)] != self.before:
            return False
        return all((path in once) == before for path, before in self.once.items())


class Inclusions:
    """The known inclusions of headers."""

    def __init__(self) -> None:
        self._known: dict[Key, list[Inclusion]] = {}

    def find(self, key: Key, table: Mapping[str, Macro], once: set[Path]) -> Inclusion | None:
        """An inclusion that would have the same effect again; None if there is none."""
        return next((i for i in self._known.get(key, ()) if i.is_again(table, once)), None)

    def keep(self, key: Key, inclusion: Inclusion) -> None:
        """Keeps an inclusion; discards the oldest of too many."""
        known = self._known.setdefault(key, [])
        known.insert(0, inclusion)
        del known[_MOST:]


def inclusion_of(
    seen: Seen,
    tables: tuple[Mapping[str, Macro], Mapping[str, Macro]],
    once: tuple[set[Path], set[Path]],
    absent: set[str],
    written: Written | None,
) -> Inclusion:
    """The inclusion made from the events `seen`; `tables` and `once` are the macros, and the files that are
    not to be read again, before and after."""
    before, after = tables
    names = _names(before, seen)
    return Inclusion(
        names,
        [before.get(name) for name in names],
        {path: path in once[0] for path in seen.files},
        seen,
        {name: after[name] for name in seen.changed if name in after},
        [name for name in seen.changed if name not in after],
        frozenset(once[1] - once[0]),
        frozenset(absent),
        written,
    )


def _names(before: Mapping[str, Macro], seen: Seen) -> list[str]:
    """The names that were looked up, and those in the text of macros among them."""
    names = set(seen.asked)
    pending = list(names)
    while pending:
        name = pending.pop()
        macros = seen.made.get(name, ())
        for macro in (before[name], *macros) if name in before else macros:
            found = {token.value for token in macro.value if token.type == "CPP_ID"} - names
            names |= found
            pending += found
    return list(names - _OF_FILES)
