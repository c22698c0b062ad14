"""
The notation for the runtime's native code: LLVM IR with named fields of structures, and a few abbreviations
for sequences of instructions.

    %flags = %record->record.flags             load a field of the structure at %record
    %bytes = %records[i32 %i]->record.bytes    ... of the one with that number
    %sync = %row->row.sync as ptr              ... as a value of this type
    %count = %queue->queue.count acquire       ... atomically, with this ordering
    %at = &%cell->cell.open                    its address
    %cell->cell.open = 0                       store to it (with an ordering at the end: atomically)
    %first = load i64, ptr %words[i64 %i]      load the element with that number of an array of i64
    store i64 %first, ptr %words[i64 %i]       store to it
    %marked = %flags has i32 4                 whether one of these bits is set
    %good = all %a %b %c                       whether all of these hold (any: one of them)
    if eq i64 %a, %b: yes, no                  compare, and go to one of two blocks
    for i64 %i < %count: look, done            a loop: block look for each %i from 0, block done after it
    next %i                                    the end of its body, in the block from which it goes on

Lines of `phi` right after `for` belong to the loop. `structure` registers ctypes classes by name, so that
the layout of a structure is defined only once, in Python. `for` begins the block `i.test`, and the next
number is `%i.next`.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ...compiler.backend.cache import content_key

Class = TypeVar("Class", bound=type[ctypes.Structure])
_SCALARS = {
    ctypes.c_int64: "i64",
    ctypes.c_uint64: "i64",
    ctypes.c_int32: "i32",
    ctypes.c_uint32: "i32",
    ctypes.c_void_p: "ptr",
    ctypes.c_double: "double",
}


@dataclass(frozen=True)
class _Layout:
    """The layout of a structure: its type in LLVM IR, and name of a field → its number and type."""

    type: str
    fields: dict[str, tuple[int, str]]


_LAYOUTS: dict[str, _Layout] = {}


def structure(name: str) -> Callable[[Class], Class]:
    """Registers a class's fields for native code under a name."""

    def known(cls: Class) -> Class:
        kinds = [(field[0], _type(field[1])) for field in cls._fields_]
        fields = {field: (number, kind) for number, (field, kind) in enumerate(kinds)}
        _LAYOUTS[name] = _Layout(", ".join(kind for _, kind in kinds), fields)
        _NAMES[cls] = name
        return cls

    return known


_NAMES: dict[type, str] = {}


def _type(kind: Any) -> str:
    if kind in _NAMES:
        return f"%{_NAMES[kind]}"
    if issubclass(kind, ctypes.Array):
        return f"[{kind._length_} x {_type(kind._type_)}]"
    return _SCALARS[kind]


_VALUE = r"[%@][\w.]+"
_PLACE = rf"(?P<base>{_VALUE})(?:\[(?P<index>[^\]]+)\])?->(?P<name>\w+)\.(?P<field>\w+)"
_ORDER = r"(?: (?P<order>acquire|release|monotonic|seq_cst))?"
_LINE = re.compile(
    rf"  (?:(?P<to>{_VALUE}) = (?P<address>&)?{_PLACE}(?: as (?P<type>\w+))?{_ORDER}"
    rf"|{_PLACE.replace('P<', 'P<s_')} = (?P<value>\S+){_ORDER.replace('P<', 'P<s_')}"
    rf"|(?P<test>{_VALUE}) = (?P<word>{_VALUE}) has (?P<mask>i\d+ .+)"
    rf"|(?P<whole>{_VALUE}) = (?P<fold>all|any) (?P<parts>.+)"
    rf"|(?P<access>.*\b(?:load|store) (?:atomic |volatile )?(?P<element>\w+)(?: \S+)?, ptr )"
    rf"(?P<array>{_VALUE}|inttoptr \(.+?\))\[(?P<number>[^\]]+)\](?P<rest>.*)"
    r"|if (?P<relation>\w+ \w+ [^:]+): (?P<yes>\w+), (?P<no>\w+)"
    rf"|for (?P<kind>i\d+) %(?P<counter>[\w.]+) < (?P<limit>\S+): (?P<body>\w+), (?P<past>\w+)"
    r"|next %(?P<last>[\w.]+))"
)
_BYTES = {"i64": 8, "i32": 4, "ptr": 8}


_MENTIONED = re.compile(r"->(\w+)\.|%(\w+), ptr ")
_SOURCE = content_key(__loader__.get_data(__file__))


def form_of(text: str) -> str:
    """A digest of everything besides the text that its expansion depends on: layouts of structures, and
    this file."""
    names = {name for found in _MENTIONED.findall(text) for name in found} & _LAYOUTS.keys()
    return f"{_SOURCE} {[(name, _LAYOUTS[name]) for name in sorted(names)]}"


_USED = re.compile(r"%(\w+)(?=, ptr )")
_SHORT = re.compile(r"->| has i| = a(?:ll|ny) |^  for i|^  next %|^  if |, ptr [^,]*\[")
"""Matches lines that are abbreviations."""


def expanded(text: str) -> str:
    """
    The text as plain LLVM IR, with the types of its structures. Raises `KeyError` for an unknown structure
    or field.
    """
    plain = "\n".join(_Expansion(text).lines)
    used = set(_USED.findall(plain))
    types: list[str] = []
    for name, layout in reversed(_LAYOUTS.items()):
        if name in used:
            used.update(_USED.findall(layout.type.replace("]", ", ptr ")))
            types.append(f"%{name} = type {{ {layout.type} }}\n")
    return "".join(types) + plain


class _Expansion:
    """Expands a text line by line; `block` is the label of the current block."""

    def __init__(self, text: str):
        self.block = "entry"
        self.lines: list[str] = []
        self._made = 0
        """The number of names made so far."""
        self._loops: dict[str, tuple[int, str]] = {}
        """Counter of an open loop → the line of its `phi`, and its type."""
        self._head: list[str] = []
        """The lines that end the head of the loop that has just begun."""
        for line in text.split("\n"):
            if self._head and " = phi " not in line:
                self.lines += self._head
                self._head = []
            found = _LINE.fullmatch(line) if _SHORT.search(line) else None
            if found is not None:
                self.lines += self._rule(found)
                continue
            if line.startswith("define "):
                self.block = "entry"
            elif line[:1].isalnum() and line.partition(" ")[0].endswith(":"):
                self.block = line.partition(":")[0]
            self.lines.append(line)

    def _rule(self, found: re.Match[str]) -> Iterable[str]:
        given = found.groupdict()
        if given["to"]:
            return self._read(given)
        if given["s_base"]:
            return self._write(given)
        if given["test"]:
            return self._bits(given)
        if given["whole"]:
            return self._fold(given)
        if given["access"]:
            return self._element(given)
        if given["relation"]:
            return self._branch(given)
        return self._begin(given) if given["counter"] else self._end(given["last"])

    @staticmethod
    def _place(to: str, base: str, index: str | None, name: str, field: str) -> tuple[str, str]:
        """The line that computes the address of a field, and the field's type."""
        number, kind = _LAYOUTS[name].fields[field]
        which = index or "i32 0"
        return f"  {to} = getelementptr %{name}, ptr {base}, {which}, i32 {number}", kind

    def _read(self, given: dict[str, str]) -> Iterator[str]:
        to, address = given["to"], bool(given["address"])
        at = to if address else f"{to}.at"
        line, kind = self._place(at, given["base"], given["index"], given["name"], given["field"])
        yield line
        if not address:
            kind = given["type"] or kind
            order = given["order"]
            atomic, end = ("atomic ", f" {order}, align {_BYTES[kind]}") if order else ("", "")
            yield f"  {to} = load {atomic}{kind}, ptr {at}{end}"

    def _write(self, given: dict[str, str]) -> Iterator[str]:
        at = self._name("stored")
        line, kind = self._place(
            at, given["s_base"], given["s_index"], given["s_name"], given["s_field"]
        )
        yield line
        order = given["s_order"]
        atomic, end = ("atomic ", f" {order}, align {_BYTES[kind]}") if order else ("", "")
        yield f"  store {atomic}{kind} {given['value']}, ptr {at}{end}"

    def _name(self, what: str) -> str:
        """A new name for a value."""
        self._made += 1
        return f"%{what}.{self._made}"

    def _element(self, given: dict[str, str]) -> Iterator[str]:
        at = self._name("element")
        yield f"  {at} = getelementptr {given['element']}, ptr {given['array']}, {given['number']}"
        yield f"  {given['access']}{at}{given['rest']}"

    def _branch(self, given: dict[str, str]) -> Iterator[str]:
        holds = self._name("if")
        yield f"  {holds} = icmp {given['relation']}"
        yield f"  br i1 {holds}, label %{given['yes']}, label %{given['no']}"

    @staticmethod
    def _bits(given: dict[str, str]) -> Iterator[str]:
        kind, _, mask = given["mask"].partition(" ")
        yield f"  {given['test']}.bits = and {kind} {given['word']}, {mask}"
        yield f"  {given['test']} = icmp ne {kind} {given['test']}.bits, 0"

    @staticmethod
    def _fold(given: dict[str, str]) -> Iterator[str]:
        operation = "and" if given["fold"] == "all" else "or"
        first, *others = given["parts"].split()
        for number, other in enumerate(others, 1):
            to = given["whole"] if number == len(others) else f"{given['whole']}.{number}"
            yield f"  {to} = {operation} i1 {first}, {other}"
            first = to

    def _begin(self, given: dict[str, str]) -> list[str]:
        i, kind, before = given["counter"], given["kind"], self.block
        self.block = f"{i}.test"
        self._loops[i] = len(self.lines) + 2, kind
        self._head = [
            f"  %{i}.more = icmp ult {kind} %{i}, {given['limit']}",
            f"  br i1 %{i}.more, label %{given['body']}, label %{given['past']}",
        ]
        return [
            f"  br label %{self.block}",
            f"{self.block}:",
            f"  %{i} = phi {kind} [ 0, %{before} ], [ %{i}.next, %",
        ]

    def _end(self, i: str) -> list[str]:
        at, kind = self._loops.pop(i)
        self.lines[at] += f"{self.block} ]"
        return [f"  %{i}.next = add {kind} %{i}, 1", f"  br label %{i}.test"]
