"""
Splits a large module of host code into parts, which are compiled in parallel and cached separately. A part
is a run of consecutive functions, so that an edit of a function recompiles only its part.

Internal names of the module that several parts need become hidden names of the program. A part also
contains copies of small functions of other parts that it calls, for LLVM to inline
(`available_externally`), and the variables and functions that only it uses. The end of a part is determined
by the names of functions and its length, so that an edit moves functions at most into the next part;
strings are numbered in each part. LLVM does not inline larger functions of other parts, as in large
programs of several files (`compiler/files_apart.py`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field

from .host_pieces import Surroundings
from .module_text import DEFINITION

WORTH_IT = 1_500_000
"""The characters of LLVM IR that take LLVM some seconds."""
LEAST, MOST = 300_000, 800_000
"""The characters of a part: from the first number on it may end, and at the second it does."""
SMALL = 1200
"""The most characters of a function of which other parts get a copy."""
_DATA = -1
"""The number of the part for variables that several others need."""
_OWN = ".own"
"""The suffix of internal names that become names of the program."""

_FUNCTION = re.compile(r"define (internal )?([^@\n]*@([\w$.-]+)\([^\n]*) \{\n")
_VARIABLE = re.compile(
    r"@([\w$.-]+) = (internal |private unnamed_addr )?((?:unnamed_addr )?(?:global|constant) )(.*)"
)
_SHOWN = re.compile(
    rf"^(?:define hidden [^@\n]*)?@([\w$.-]+{re.escape(_OWN)})(?:\(| = hidden )", re.M
)
_ALIGNED = re.compile(r", align \d+$")
_NAME = re.compile(r'"[^"\n]*"|@([\w$.-]+)')
_BLOCKS = re.compile(r"blockaddress\(@([\w$.-]+)")
_ASSEMBLY = re.compile(r' asm (?:\w+ )*"([^"\n]*)"')
_CONSTANT = re.compile(r' c"[^"\n]*"')
_REFUSED = re.compile(
    r'[@%]"|^module |!dbg|\bthread_local\b|\bcomdat\b|^@[^\n]* = [^\n"]*\b(?:alias|ifunc) '
    r"|\bsection \"|^define (?:weak|linkonce|available|private|hidden|protected)",
    re.MULTILINE,
)
_MAY_BE_REFUSED = (
    *('@"', '%"', "module ", "!dbg", "thread_local", "comdat", " alias ", " ifunc ", 'section "'),
    *(
        f"define {word}"
        for word in ("weak", "linkonce", "available", "private", "hidden", "protected")
    ),
)
"""A text that `_REFUSED` matches contains one of these, which are found much faster."""


@dataclass
class _Item:
    """A function or variable that the module defines: its `part`, and the other parts that name it."""

    name: str
    text: str
    is_internal: bool
    is_function: bool
    names: tuple[str, ...] = ()
    """The names of the module that it uses, in the order of use."""
    part: int = _DATA
    users: set[int] = field(default_factory=set[int])

    @property
    def is_string(self) -> bool:
        """Whether it is a constant whose address is insignificant, of which each part gets its own copy."""
        return self.text.startswith(f"@{self.name} = private unnamed_addr constant")

    @property
    def is_promoted(self) -> bool:
        return self.is_internal and not self.is_string and bool(self.users - {self.part})

    @property
    def is_small(self) -> bool:
        """Whether other parts get a copy of it. Functions with addresses of blocks are not copied, as these
        must be the function's own."""
        return self.is_function and len(self.text) <= SMALL and "indirectbr" not in self.text

    def defined(self) -> str:
        """Its definition in its own part."""
        return self.text.replace("internal ", "hidden ", 1) if self.is_promoted else self.text

    def copied(self) -> str:
        """A function's definition for inlining."""
        return self.defined().replace("define ", "define available_externally ", 1)

    def declared(self) -> str:
        """Its declaration in other parts."""
        hidden = "hidden " if self.is_promoted else ""
        if self.is_function:
            head = _FUNCTION.match(self.text)
            assert head is not None
            return f"declare {hidden}{head[2]}"
        found = _VARIABLE.match(self.text)
        assert found is not None
        kind = found[3].replace("unnamed_addr ", "")
        aligned = _ALIGNED.search(self.text)
        ending = aligned[0] if aligned else ""
        return f"@{self.name} = external {hidden}{kind}{_type_before(found[4])}{ending}"


def parted(llvm_ir: str) -> list[str]:
    """The parts of a module; the module itself if it is small or contains constructs that are not supported
    here."""
    if len(llvm_ir) < WORTH_IT or _is_refused(_CONSTANT.sub("", llvm_ir)):
        return [llvm_ir]
    found = _items(llvm_ir)
    if found is None or any(name + _OWN in found[0] for name in found[0]):
        return [llvm_ir]
    items, around = found
    _place(items.values())
    parts = {part: _contents(items, part) for part in sorted({i.part for i in items.values()})}
    for part, (own, copies) in parts.items():
        for item in (*own, *copies):
            for name in item.names:
                items[name].users.add(part)
    texts = [_text(items, around, *contents) for contents in parts.values()]
    return [text for text in texts if text]


def _is_refused(text: str) -> bool:
    return any(word in text for word in _MAY_BE_REFUSED) and _REFUSED.search(text) is not None


def names_between_parts(parts: Iterable[str]) -> Iterator[str]:
    """The internal names of a module that its parts made names of the program."""
    for part in parts:
        yield from _SHOWN.findall(part)


def _items(llvm_ir: str) -> tuple[dict[str, _Item], Surroundings] | None:
    """The definitions of a module by name, and the other lines; None if it contains constructs that are not
    supported here."""
    items: dict[str, _Item] = {}
    rest: list[str] = []
    for line in DEFINITION.sub("", llvm_ir).splitlines():
        if found := _VARIABLE.match(line):
            items[found[1]] = _Item(found[1], line + "\n", found[2] is not None, is_function=False)
        else:
            rest.append(line)
    around = Surroundings(rest)
    if not around.is_known or around.defined:
        return None
    for match in DEFINITION.finditer(llvm_ir):
        head = _FUNCTION.match(match[0])
        if head is None:
            return None
        items[head[3]] = _Item(head[3], match[0], head[1] is not None, is_function=True)
    for template in set(_ASSEMBLY.findall(llvm_ir)):
        if not items.keys().isdisjoint(re.findall(r"[\w.$]+", template)):
            return None  # the template may name an internal symbol of the module
    for item in items.values():
        named = dict.fromkeys(_NAME.findall(item.text))
        item.names = tuple(name for name in named if name in items and name != item.name)
    return items, around


def _place(items: Iterable[_Item]) -> None:
    """
    Assigns parts: functions by their order; an internal variable to the part of all functions that name it,
    if there is only one such part.
    """
    part = size = 0
    users: dict[str, set[int]] = {}
    for item in items:
        if item.is_function:
            item.part = part
            size += len(item.text)
            is_end = zlib.crc32(item.name.encode()) % 4 == 0
            if size >= MOST or (size >= LEAST and is_end):
                part, size = part + 1, 0
        for name in item.names:
            users.setdefault(name, set()).add(item.part)
    parts = {item.name: item.part for item in items if item.is_function}
    for item in items:
        of_blocks = _BLOCKS.search(item.text)
        if item.is_function:
            continue
        if of_blocks is not None:
            item.part = parts[of_blocks[1]]
        elif item.is_internal and len(users.get(item.name, ())) == 1:
            (item.part,) = users[item.name]


def _contents(items: Mapping[str, _Item], part: int) -> tuple[list[_Item], list[_Item]]:
    """
    The items defined in a part, strings included; and the small functions of other parts that its functions
    call, directly or through such functions.
    """
    own = {i.name: i for i in items.values() if i.part == part and not i.is_string}
    copies: dict[str, _Item] = {}
    level = [item for item in own.values() if item.is_function]
    for _ in range(2):
        named = [items[name] for item in level for name in item.names]
        level = [i for i in named if i.is_small and i.name not in own and i.name not in copies]
        copies.update((item.name, item) for item in level)
    strings: dict[str, _Item] = {}
    pending = [*own.values(), *copies.values()]
    while pending:
        for name in pending.pop().names:
            if items[name].is_string and name not in strings:
                strings[name] = items[name]
                pending.append(items[name])
    return [*strings.values(), *own.values()], list(copies.values())


def _text(
    items: Mapping[str, _Item], around: Surroundings, own: list[_Item], copies: list[_Item]
) -> str:
    """The module of a part; empty if it would contain only strings."""
    here = {item.name for item in (*own, *copies)}
    if all(item.is_string for item in own):
        return ""
    body = "".join([*(i.defined() for i in own), *(i.copied() for i in copies)])
    others = dict.fromkeys(n for i in (*own, *copies) for n in i.names if n not in here)
    renamed: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        item = items.get(found[1] or "")
        if item is None:
            return found[0]
        if item.is_string:
            return "@" + renamed.setdefault(item.name, f".string.{len(renamed)}")
        return f"@{item.name}{_OWN}" if item.is_promoted else found[0]

    declared = {_renamed(items[n]): _NAME.sub(name, items[n].declared()) for n in others}
    surroundings = copy(around)
    surroundings.declared = {**around.declared, **declared}
    return surroundings.text(_NAME.sub(name, body))


def _renamed(item: _Item) -> str:
    return item.name + _OWN if item.is_promoted else item.name


def _type_before(text: str) -> str:
    """The type at the beginning of a text."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "[{(<") - (character in "]})>")
        if character == " " and depth == 0:
            return text[:at]
    return text
