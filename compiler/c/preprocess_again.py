"""
Headers that do what they did in another file of the program: most files of a program include the same ones.

What including a header comes to follows from what some names are before: those that were looked up for it and
for what it includes, and those in the text of macros among them. Where all of these are the same macros
again, or again none, the text that was written then is written again, and macros are defined and removed as
they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .preprocess_expand import Macro
from .preprocess_lexer import LexedFile
from .preprocess_output import Written

Key = tuple[Path, int, bool]
"""A header, the folder of the search that has it, and whether the system's headers are searched."""

_MOST = 8
"""Ways of including a header that are kept."""
_OF_FILES = frozenset(("__FILE__", "__LINE__"))
"""Names that mean something else in each file, and the same in the same header."""


@dataclass
class Seen:
    """
    What happens while a header is read: `asked` are names that were looked up, `made` the macros that were
    defined, by name, `changed` their names and those that were removed; `files` are those that were included
    or left out as they had been read, in order.
    """

    asked: set[str] = field(default_factory=set[str])
    made: dict[str, list[Macro]] = field(default_factory=dict[str, list[Macro]])
    changed: set[str] = field(default_factory=set[str])
    files: dict[Path, LexedFile] = field(default_factory=dict[Path, LexedFile])

    def define(self, name: str, macro: Macro) -> None:
        """A macro was defined."""
        self.made.setdefault(name, []).append(macro)
        self.changed.add(name)

    def add(self, other: Seen) -> None:
        """Adds what happened while a header was read that this one includes."""
        self.asked |= other.asked
        for name, macros in other.made.items():
            self.made.setdefault(name, []).extend(macros)
        self.changed |= other.changed
        self.files.update(other.files)


@dataclass(frozen=True)
class Inclusion:
    """
    What including a header did: `before` is what `names` meant, and `once` which files were not to be read
    again; `defined`, `removed`, `now_once` and `absent`, the files looked for in vain, are what changed.
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
        """Whether it does the same with these macros, and these files that are not to be read again."""
        if [*map(table.get, self.names)] != self.before:
            return False
        return all((path in once) == before for path, before in self.once.items())


class Inclusions:
    """Those that are known."""

    def __init__(self) -> None:
        self._known: dict[Key, list[Inclusion]] = {}

    def find(self, key: Key, table: Mapping[str, Macro], once: set[Path]) -> Inclusion | None:
        """One that does the same again, if there is one."""
        return next((i for i in self._known.get(key, ()) if i.is_again(table, once)), None)

    def keep(self, key: Key, inclusion: Inclusion) -> None:
        """Keeps one, and forgets the oldest of many."""
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
    """What was `seen` of a header; macros, and files that are not to be read again, before and after."""
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
