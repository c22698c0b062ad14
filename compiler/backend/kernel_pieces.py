"""
Kernels that share nothing as pieces of a module, each compiled, and kept in the cache, by itself.

A module of kernels is in pieces if none of them names a function, a variable or assembly of the module
(`split`): LLVM then compiles each as if it were alone. `join` makes of the PTX of pieces what LLVM writes for
the whole module, where labels and stacks are numbered by function. A piece's name says in which line its
construct stands; that is taken out of what identifies it (`Piece.content`), so that a kernel stays known
when the lines above it change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_DEFINITION = re.compile(r"^define [^\n]*\n.*?^}\n", re.MULTILINE | re.DOTALL)
_KERNEL = re.compile(r"define ptx_kernel void @([\w$.-]+)\(")
_GLOBAL_NAME = re.compile(r"@([\w$.-]+|\")")
_METADATA = re.compile(r"^!(\d+) = (.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"!(\d+)\b")

_ENTRY = re.compile(r"^\t// \.globl\t(\S+)\n", re.MULTILINE)
_NUMBERED = re.compile(r"(\$L__BB|__local_depot)(\d+)(?!\d)")
_LAST_LINE = re.compile(r"\n}\n\Z")
_OF_MODULE = ("callseq", "brx.idx", ".func", "prototype_", ".global ", ".const ")
"""What is numbered, or declared, for a module: kernels do without it unless they share something."""
_NAME = "\0"
"""Stands for the name of a kernel in what is kept."""


@dataclass(frozen=True)
class Piece:
    """A kernel: its name, and its definition with the metadata it needs, but not its name."""

    name: str
    definition: str
    content: str


@dataclass(frozen=True)
class Module:
    """A module in pieces; `around` is its text without definitions."""

    pieces: tuple[Piece, ...]
    around: tuple[str, str]

    def text(self, pieces: Iterable[Piece]) -> str:
        """LLVM IR of some of the pieces."""
        before, after = self.around
        return before + "".join(piece.definition for piece in pieces) + after


def split(llvm_ir: str) -> Module | None:
    """The pieces of a module's text; None if its kernels share something, or there is only one."""
    found = list(_DEFINITION.finditer(llvm_ir))
    if len(found) < 2:
        return None
    before, after = llvm_ir[: found[0].start()], llvm_ir[found[-1].end() :]
    between = (llvm_ir[a.end() : b.start()].strip() for a, b in pairwise(found))
    if any(between) or _GLOBAL_NAME.search(before) or "!DI" in after or "@" in after:
        return None
    metadata = {int(number): text for number, text in _METADATA.findall(after)}
    outside = (before + _METADATA.sub("", after)).splitlines()
    around = "\n".join(line for line in outside if line)
    pieces: list[Piece] = []
    for match in found:
        piece = _piece(match[0], around, metadata)
        if piece is None:
            return None
        pieces.append(piece)
    return Module(tuple(pieces), (before, after))


def _piece(definition: str, around: str, metadata: dict[int, str]) -> Piece | None:
    """A definition as a piece; None if it is no kernel, or names something of the module."""
    kernel = _KERNEL.match(definition)
    if kernel is None or " asm " in definition:
        return None
    name = kernel[1]
    named = {other for other in _GLOBAL_NAME.findall(definition) if not other.startswith("llvm.")}
    if named != {name} or definition.count("@" + name) != 1:
        return None
    unnamed = definition.replace("@" + name, "@" + _NAME, 1)
    return Piece(name, definition, _renumbered(unnamed, around, metadata))


def _renumbered(definition: str, around: str, metadata: dict[int, str]) -> str:
    """A definition and the metadata it needs, numbered in the order in which it names them."""
    numbers: dict[int, int] = {}

    def number(reference: re.Match[str]) -> str:
        return f"!{numbers.setdefault(int(reference[1]), len(numbers))}"

    texts = [_REFERENCE.sub(number, around), _REFERENCE.sub(number, definition)]
    done = 0
    while done < len(numbers):
        for old in list(numbers)[done:]:
            texts.append(_REFERENCE.sub(number, metadata.get(old, "")))
            done += 1
    return "\n".join(texts)


def take_apart(ptx: str, names: Sequence[str]) -> tuple[str, list[str]] | None:
    """
    PTX of a module as its head and its kernels, each without its name and its number; None if it is not
    made of these kernels alone, in this order.
    """
    found = list(_ENTRY.finditer(ptx))
    if [match[1] for match in found] != list(names) or not _LAST_LINE.search(ptx):
        return None
    if any(word in ptx for word in _OF_MODULE):
        return None
    ends = [*(match.start() for match in found[1:]), len(ptx)]
    kernels: list[str] = []
    for index, (match, end) in enumerate(zip(found, ends, strict=True)):
        body = ptx[match.end() : end].lstrip("\n")
        if any(int(number) != index for _, number in _NUMBERED.findall(body)):
            return None
        own = re.compile(rf"\b{re.escape(match[1])}(?=_param_\d+\b|\b)")
        kernels.append(own.sub(_NAME, _NUMBERED.sub(r"\1" + _NAME, body)))
    return ptx[: found[0].start()], kernels


def join(head: str, names: Sequence[str], kernels: Sequence[str]) -> str:
    """The PTX of a module of these kernels."""
    parts = [head]
    for index, (name, kernel) in enumerate(zip(names, kernels, strict=True)):
        numbered = re.sub(rf"(\$L__BB|__local_depot){_NAME}", rf"\g<1>{index}", kernel)
        parts.append(f"\t// .globl\t{name}\n" + ("\n" if index == 0 else ""))
        parts.append(numbered.replace(_NAME, name))
    return "".join(parts)
