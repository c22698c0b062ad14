"""
Splits a module of kernels that share nothing into pieces, each compiled and cached separately.

A module can be split if no kernel names a function of the module or has inline assembly of more than one
instruction, and each variable of the module is in shared memory and is named by only one kernel (`split`):
LLVM then compiles each kernel independently. `join` combines the PTX of the pieces to the text that LLVM
writes for the whole module, where labels and stacks are numbered by function, and variables are listed
before all kernels. The name of a kernel contains the line of its construct; the name is not a part of the
cache key (`SeparateKernel.content`), so that the cache finds a kernel when only the lines above it have
changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .module_text import TYPE, renumbered, with_own_types

_KERNEL = re.compile(r"define ptx_kernel void @([\w$.-]+)\(")
_GLOBAL_NAME = re.compile(r"@([\w$.-]+|\")")
_VARIABLE = re.compile(r"^@([\w$.-]+) = internal addrspace\(3\) global [^\n@]*\n", re.MULTILINE)
_PLAIN_ASSEMBLY = re.compile(
    r' asm (?:sideeffect )?"[a-z][\w.:]*(?: (?:\$\d+|\[\$\d+\]|%\w+|-?\d+|, )+)?;"'
)
"""Matches assembly of one instruction with operands, special registers and numbers, without labels and
names of the module."""
_METADATA = re.compile(r"^!(\d+) = (.*)$", re.MULTILINE)
_ENTRY = re.compile(r"^\t// \.globl\t(\S+)\n", re.MULTILINE)
_NUMBERED = re.compile(r"(\$L__BB|__local_depot)(\d+)(?!\d)")
_DEMOTED = re.compile(r"// (\S+?)((?:_\$_\d+)*) has been demoted\n")
"""Matches LLVM's comment, before all kernels, on a variable that a kernel declares; its parts are
numbered."""
_LAST_LINE = re.compile(r"\n}\n\Z")
_OF_MODULE = ("callseq", "brx.idx", ".func", "prototype_", ".global ", ".const ")
"""Matches text that is numbered or declared for the whole module, and that kernels which share nothing do
not have."""
_NAME = "\0"
"""What stands for the name of a kernel in cached text."""


@dataclass(frozen=True)
class SeparateKernel:
    """
    A kernel: its name; its definition; its variables, each with its position among those of the module; and
    `content`, all of that with the types and metadata it needs but without its name.
    """

    name: str
    definition: str
    variables: Mapping[str, int]
    content: str

    @property
    def own_name(self) -> re.Pattern[str]:
        """A pattern for its name, alone and as the prefix of the names of its parameters and variables."""
        return _own_name(self.name, self.variables)


def _own_name(name: str, variables: Iterable[str]) -> re.Pattern[str]:
    rests = [re.escape(v.removeprefix(name)) for v in variables if v.startswith(name + "_")]
    ends = "".join(rf"|{rest}(?:\b|_\$_)" for rest in rests)
    text = re.escape(name)
    # The name comes first, as Python finds constant text in a tenth of the time of a boundary.
    return re.compile(rf"{text}(?<!\w{text})(?=_param_\d+\b|\b{ends})")


@dataclass(frozen=True)
class Module:
    """A module in pieces; `around` is its text without definitions."""

    pieces: tuple[SeparateKernel, ...]
    around: tuple[str, str]

    def text(self, pieces: Iterable[SeparateKernel]) -> str:
        """LLVM IR of some of the pieces."""
        before, after = self.around
        chosen = list(pieces)
        wanted = {variable for piece in chosen for variable in piece.variables}
        before = _VARIABLE.sub(lambda found: found[0] if found[1] in wanted else "", before)
        return before + "".join(piece.definition for piece in chosen) + after


@lru_cache(maxsize=1)
def split(llvm_ir: str) -> Module | None:
    """The pieces of a module's text; None if its kernels share something, or there is only one."""
    found = _definitions(llvm_ir)
    if len(found) < 2:
        return None
    before, after = llvm_ir[: found[0].start], llvm_ir[found[-1].stop :]
    between = (llvm_ir[a.stop : b.start].strip() for a, b in pairwise(found))
    plain = _VARIABLE.sub("", before)
    if any(between) or _GLOBAL_NAME.search(plain) or "!DI" in after or "@" in after:
        return None
    variables = {match[1]: match[0] for match in _VARIABLE.finditer(before)}
    metadata = {int(number): text for number, text in _METADATA.findall(after)}
    types = dict(TYPE.findall(plain + after))
    outside = TYPE.sub("", plain + _METADATA.sub("", after)).splitlines()
    around = "\n".join(line for line in outside if line)
    pieces: list[SeparateKernel] = []
    for definition in found:
        piece = _piece(llvm_ir[definition], around, variables, types, metadata)
        if piece is None:
            return None
        pieces.append(piece)
    if sum(len(piece.variables) for piece in pieces) != len(variables):
        return None  # several kernels use a variable, or none does
    return Module(tuple(pieces), (before, after))


def _definitions(llvm_ir: str) -> list[slice]:
    """The places of the definitions of functions in a text, each with its last line."""
    text = "\n" + llvm_ir
    found: list[slice] = []
    start = text.find("\ndefine ")
    while start >= 0 and (end := text.find("\n}\n", start)) >= 0:
        found.append(slice(start, end + 2))
        start = text.find("\ndefine ", end + 2)
    return found


def _piece(
    definition: str,
    around: str,
    variables: Mapping[str, str],
    types: Mapping[str, str],
    metadata: Mapping[int, str],
) -> SeparateKernel | None:
    """A definition as a piece; None if it is not a kernel, or names other symbols of the module."""
    kernel = _KERNEL.match(definition)
    if kernel is None or definition.count(" asm ") != len(_PLAIN_ASSEMBLY.findall(definition)):
        return None
    name = kernel[1]
    named = {other for other in _GLOBAL_NAME.findall(definition) if not other.startswith("llvm.")}
    if name not in named or not named - {name} <= variables.keys():
        return None
    own = {variable: i for i, variable in enumerate(variables) if variable in named}
    declared = "".join(variables[variable] for variable in own)
    if len(_own_name(name, ()).findall(definition)) != 1:
        return None
    unnamed = _own_name(name, own).sub(_NAME, declared + definition)
    unnamed, own_types = with_own_types(unnamed, types)
    texts, nodes = renumbered([around, unnamed], metadata)
    return SeparateKernel(name, definition, own, "\n".join([*own_types, *texts, *nodes]))


def take_apart(ptx: str, pieces: Sequence[SeparateKernel]) -> tuple[str, list[str]] | None:
    """
    Splits the PTX of a module into its head and its kernels, each without its name and its number; None if
    the PTX does not consist of exactly these kernels in this order.
    """
    found = list(_ENTRY.finditer(ptx))
    if [match[1] for match in found] != [piece.name for piece in pieces]:
        return None
    if not _LAST_LINE.search(ptx) or any(word in ptx for word in _OF_MODULE):
        return None
    ends = [*(match.start() for match in found[1:]), len(ptx)]
    texts = [ptx[match.end() : end] for match, end in zip(found, ends, strict=True)]
    said = list(_DEMOTED.finditer(texts[0]))
    texts[0] = _DEMOTED.sub("", texts[0])
    if not texts[0].startswith("\n.visible .entry "):
        return None
    kernels: list[str] = []
    for index, (piece, text) in enumerate(zip(pieces, texts, strict=True)):
        if any(int(number) != index for _, number in _NUMBERED.findall(text)):
            return None
        own = "".join(match[0] for match in said if match[1] in piece.variables)
        body = own + _NUMBERED.sub(r"\1" + _NAME, text.lstrip("\n"))
        kernels.append(piece.own_name.sub(_NAME, body))
    return ptx[: found[0].start()], kernels


def join(head: str, pieces: Sequence[SeparateKernel], kernels: Sequence[str]) -> str:
    """The PTX of a module of these kernels."""
    said: list[tuple[int, str]] = []
    parts: list[str] = []
    for index, (piece, kernel) in enumerate(zip(pieces, kernels, strict=True)):
        numbered = re.sub(rf"(\$L__BB|__local_depot){_NAME}", rf"\g<1>{index}", kernel)
        body = numbered.replace(_NAME, piece.name)
        own = list(_DEMOTED.finditer(body))
        said += [(piece.variables[match[1]], match[0]) for match in own]
        parts.append(f"\t// .globl\t{piece.name}\n")
        parts.append(body[own[-1].end() :] if own else body)
    said.sort(key=lambda entry: entry[0])
    parts.insert(1, "".join(text for _, text in said) + "\n")
    return head + "".join(parts)
