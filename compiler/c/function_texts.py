"""
The functions of a preprocessed file as texts: which parts of the file are their bodies, and the file without
some of these bodies.

A body that is left out is replaced by a label that no program uses (C11 7.1.3), so that the file still says
that the function is defined; the lines of the rest do not change. `is_left_out` finds such a function in the
typed tree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .parse import blank
from .shared_declarations import MARKS

if TYPE_CHECKING:
    from .ast import Compound, TranslationUnit, VarDecl

_LABEL = "__accopt_left_out"
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_MARKER = re.compile(r"^[ \t]*#[ \t]*(?:line[ \t]+)?\d+(?=[ \t]|$)", re.MULTILINE)
_BREAKS = re.compile(r"\s*\n\s*")
_NO_FUNCTIONS = frozenset(("__attribute__", "__attribute", "asm", "__asm__", "__asm", "_Alignas"))
"""Words with parentheses that may end the head of something else than a function."""


_PLACE = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"([^"\n]*)")?[^\n]*', re.MULTILINE)


@dataclass(frozen=True)
class FunctionText:
    """
    A function: its name, its body with braces, where that begins in the text of its file, and where the
    declaration before the function ends (`head`).
    """

    name: str
    body: str
    start: int
    head: int

    @cached_property
    def words(self) -> frozenset[str]:
        """The names and keywords in the body, and words of its strings."""
        return frozenset(_WORD.findall(self.body))

    @property
    def content(self) -> str:
        """The body without the numbers of lines in line markers."""
        return _MARKER.sub("#", self.body)


@dataclass(frozen=True)
class FileText:
    """
    A preprocessed file: `functions` are those whose bodies have several lines and whose names are defined
    once, by name, in order; `others` are the other bodies, with an empty name where that is not known or
    where the body may be something else; `outline` is the text without the bodies of `functions`, numbers of
    lines and empty lines.
    """

    text: str
    functions: Mapping[str, FunctionText]
    others: tuple[FunctionText, ...] = ()

    @cached_property
    def outline(self) -> str:
        return _BREAKS.sub("\n", _MARKER.sub("#", self._with(lambda _: "{}", self.functions)))

    def lines(self, file: str) -> dict[str, tuple[str, int, int]]:
        """
        The file, the first and the last line of each function, from the declaration before it on; none for a
        function with lines of several files. `file` is the one that the text begins with.
        """
        found: dict[str, tuple[str, int, int]] = {}
        position, line = 0, 1
        markers = iter([*_PLACE.finditer(self.text), None])
        marker = next(markers)

        def move(to: int) -> None:
            nonlocal position, line, file, marker
            while marker is not None and marker.end() <= to:
                position, line, file = marker.end() + 1, int(marker[1]), marker[2] or file
                marker = next(markers)
            line += self.text.count("\n", position, to)
            position = max(position, to)

        for function in self.functions.values():
            move(function.head)
            first, of_head = line, file
            end = function.start + len(function.body)
            while marker is not None and marker.end() <= end:
                move(marker.end())
                if line < first or file != of_head:
                    of_head = ""
            move(end)
            if of_head:
                found[function.name] = file, first, line
        return found

    def without(self, names: Collection[str], uses: Callable[[str], Collection[str]]) -> str:
        """
        The text in which the bodies of these functions are left out; each still mentions the functions that
        it `uses`.
        """

        def left_out(function: FunctionText) -> str:
            mentioned = "".join(f"{name};" for name in uses(function.name))
            return f"{{{_LABEL}:;{mentioned}{blank(function.body[1:-1])}}}"

        return self._with(left_out, names)

    def _with(self, body: Callable[[FunctionText], str], names: Collection[str]) -> str:
        out: list[str] = []
        done = 0
        for function in self.functions.values():
            if function.name in names:
                out += [self.text[done : function.start], body(function)]
                done = function.start + len(function.body)
        return "".join([*out, self.text[done:]])


@dataclass(frozen=True)
class ProgramText:
    """
    The files of a program, or of a part of one. `functions` are those of all files whose names only one file
    defines; `others` are the other bodies.
    """

    files: tuple[FileText, ...]

    @cached_property
    def functions(self) -> Mapping[str, FunctionText]:
        return {n: f for file in self.files for n, f in file.functions.items() if self._is_alone(n)}

    @cached_property
    def others(self) -> tuple[FunctionText, ...]:
        repeated = (
            f for file in self.files for n, f in file.functions.items() if not self._is_alone(n)
        )
        return *repeated, *(f for file in self.files for f in file.others)

    @cached_property
    def _times(self) -> Counter[str]:
        return Counter(
            name
            for file in self.files
            for name in {*file.functions, *(other.name for other in file.others)}
        )

    def _is_alone(self, name: str) -> bool:
        return self._times[name] == 1

    @cached_property
    def outlines(self) -> tuple[str, ...]:
        """The outlines of the files."""
        return tuple(file.outline for file in self.files)


def file_text(text: str) -> FileText:
    """Finds the functions of a preprocessed file."""
    found: list[FunctionText] = []
    depth = start = end = 0
    for mark in MARKS.finditer(text):
        match mark.group():
            case "{":
                if depth == 0:
                    start = mark.start()
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    name = _function_of(text[end:start]) or ""
                    found.append(FunctionText(name, text[start : mark.end()], start, end))
                    end = mark.end()
                elif depth < 0:
                    return FileText(text, {})
            case ";":
                end = mark.end() if depth == 0 else end
            case _:  # a literal, or the line of a directive
                pass
    times = Counter(function.name for function in found)
    functions = {f.name: f for f in found if f.name and times[f.name] == 1 and "\n" in f.body}
    others = [f for f in found if f.name not in functions and ";" in f.body]
    return FileText(text, functions, tuple(others))


def _function_of(head: str) -> str | None:
    """The name of the function whose body follows this text; None if that may be something else."""
    head = head.rstrip()
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth <= 0:
            words = _WORD.findall(head[max(at - 200, 0) : at])
            before = head[:at].rstrip()
            named = words and before.endswith(words[-1]) and words[-1] not in _NO_FUNCTIONS
            return words[-1] if depth == 0 and head[at] == "(" and named else None
    return None


def is_left_out(body: Compound) -> bool:
    """Whether a typed body is that of a function whose text was left out."""
    from .ast import Label

    return bool(body.body) and isinstance(first := body.body[0], Label) and first.name == _LABEL


def without_bodies(unit: TranslationUnit, names: Collection[str]) -> Callable[[], None]:
    """
    Makes the typed tree of a file that of the file without the texts of these functions, and returns a
    function that reverses it.
    """
    left_out = {f.name: (f, f.body) for f in unit.functions if f.name in names and f.body}
    variables = unit.variables
    unit.variables = [v for v in variables if _function_of_static(v) not in left_out]
    for function, body in left_out.values():
        function.body = _left_out_body(body)

    def restore() -> None:
        unit.variables = variables
        for function, body in left_out.values():
            function.body = body

    return restore


def _function_of_static(variable: VarDecl) -> str | None:
    """The name of the function that a variable is a static one of."""
    from .ast import Storage

    if variable.storage is not Storage.STATIC_LOCAL or variable.symbol is None:
        return None
    return variable.symbol.partition(".")[0]


def _left_out_body(body: Compound) -> Compound:
    """The typed body of a function whose text was left out, in place of `body`."""
    from .ast import Compound, Label, Null

    return Compound(loc=body.loc, body=[Label(loc=body.loc, name=_LABEL, body=Null(loc=body.loc))])
