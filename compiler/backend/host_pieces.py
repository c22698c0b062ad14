"""
Splits host code into pieces: functions of a module that share nothing with the rest of it, each compiled
and cached separately.

A function is a piece if other code can call it, nothing in the module names it, and it names nothing that
the module defines: LLVM then compiles it and the rest of the module independently. Kernels are such
functions. The name of a kernel contains the line of its construct; a piece has instead a symbol made from
its text (`Piece.symbol`), so that the cache finds it when only the lines above it have changed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .cache import content_key
from .module_text import DEFINITION, TYPE, renumbered, with_own_types

_WORTH_IT = 60_000
"""The characters of LLVM IR from which a module is split; smaller ones compile fast enough."""
_HEAD = re.compile(r"define (?!internal |private )[^@\n]*@([\w$.-]+)\(")
_NAME = re.compile(r'@([\w$.-]+|"[^"\n]*")')
_GLOBAL = re.compile(r'@([\w$.-]+|"[^"\n]*") = (external )?')
_DECLARED = re.compile(r'declare [^@\n]*@([\w$.-]+|"[^"\n]*")\(')
_NUMBERED = re.compile(r"!(\d+) = (.*)")
_FOR_ALL = re.compile(r"attributes #|![\w.]*[A-Za-z][\w.]* = |source_filename|;|$")
"""Matches lines that every piece gets: attributes, named metadata."""


_OF_HOST = " null_pointer_is_valid"
"""The attribute of all functions but kernels (`llvmir/functions.py`)."""
_KERNEL = re.compile(rf"^define (?!internal |private |[^\n]*{_OF_HOST})", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """The function `name` of a program, as the LLVM IR `text` of a module that defines it as `symbol`."""

    name: str
    symbol: str
    text: str


@dataclass(frozen=True)
class Pieces:
    """A module: its pieces, and the text of the `rest`."""

    pieces: tuple[Piece, ...]
    rest: str


class Surroundings:
    """The lines of a module outside of definitions, by the names that they declare."""

    def __init__(self, lines: list[str]) -> None:
        self.for_all: list[str] = []
        self.types: dict[str, str] = {}
        self.declared: dict[str, str] = {}
        self.metadata: dict[int, str] = {}
        self.defined: set[str] = set()
        self.is_known = True
        for line in lines:
            self._sort(line)

    def _sort(self, line: str) -> None:
        if found := _NUMBERED.match(line):
            self.metadata[int(found[1])] = found[2]
        elif found := TYPE.match(line):
            self.types[found[1]] = found[2]
        elif found := _DECLARED.match(line):
            self.declared[found[1]] = line
        elif found := _GLOBAL.match(line):
            if found[2]:
                self.declared[found[1]] = line
            else:
                self.defined.add(found[1])
        elif _FOR_ALL.match(line):
            self.for_all += [line] if line else []
        else:
            self.is_known = False  # module-level assembly, or a form that this code does not know

    def text(self, definition: str) -> str:
        """A module of one definition, with its types and metadata numbered in the order of use."""
        names = dict.fromkeys(_NAME.findall(definition))
        lines = [*self.for_all, *(self.declared[n] for n in names if n in self.declared)]
        text, types = with_own_types("\n".join([*lines, definition]), self.types)
        (text,), nodes = renumbered([text], self.metadata)
        # types come first: LLVM needs their sizes
        return "\n".join([*types, text, *(f"!{n} = {node}" for n, node in enumerate(nodes)), ""])


def split(llvm_ir: str, *, kernels_only: bool = False) -> Pieces:
    """
    The pieces of a module; none for a small module. With `kernels_only`, other functions are none, as in a
    program of several modules, which may name them.
    """
    if len(llvm_ir) < _WORTH_IT or (kernels_only and not _KERNEL.search(llvm_ir)):
        return Pieces((), llvm_ir)
    found = list(DEFINITION.finditer(llvm_ir))
    around = Surroundings(DEFINITION.sub("", llvm_ir).splitlines()) if found else None
    if around is None or not around.is_known:
        return Pieces((), llvm_ir)
    used = Counter(_NAME.findall(llvm_ir))
    defined = set(around.defined)
    for match in found:
        defined.update(_NAME.findall(match[0].partition("(")[0]))
    pieces: dict[str, Piece] = {}
    for match in found:
        head = _HEAD.match(match[0])
        if head is None or used[head[1]] > 1 or "!dbg" in match[0] or " asm " in match[0]:
            continue
        if kernels_only and _OF_HOST in match[0].partition("\n")[0]:
            continue
        if defined.isdisjoint({*_NAME.findall(match[0])} - {head[1]}):
            pieces[match[0]] = _piece(head[1], match[0], around)
    rest = DEFINITION.sub(lambda match: "" if match[0] in pieces else match[0], llvm_ir)
    return Pieces(tuple(pieces.values()), rest)


def _piece(name: str, definition: str, around: Surroundings) -> Piece:
    unnamed = around.text(definition.replace(f"@{name}(", "@(", 1))
    symbol = f"__accopt_piece_{content_key(unnamed)}"
    return Piece(name, symbol, unnamed.replace("@(", f"@{symbol}(", 1))
