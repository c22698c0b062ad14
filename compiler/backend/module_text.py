"""The text of a module of LLVM IR: its functions, its types, and the numbers of its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

DEFINITION = re.compile(r"^define [^\n]*\n.*?^}\n", re.MULTILINE | re.DOTALL)
TYPE = re.compile(r'^%([\w.$-]+|"[^"\n]*") = type (.*)$', re.MULTILINE)
"""Matches the definition of a type."""
_TYPE_LINE = re.compile(TYPE.pattern + r"\n?", re.MULTILINE)
_OWN_TYPE = "type."
"""The prefix of types that are named in the order of use."""
_REFERENCE = re.compile(r"!(\d+)\b")


def renumbered(texts: Sequence[str], metadata: Mapping[int, str]) -> tuple[list[str], list[str]]:
    """The texts with their metadata numbered in the order of use, and that metadata, by its new numbers;
    `metadata` is that of the whole module."""
    numbers: dict[int, int] = {}

    def number(reference: re.Match[str]) -> str:
        return f"!{numbers.setdefault(int(reference[1]), len(numbers))}"

    found = [_REFERENCE.sub(number, text) for text in texts]
    nodes: list[str] = []
    while len(nodes) < len(numbers):
        for old in list(numbers)[len(nodes) :]:
            nodes.append(_REFERENCE.sub(number, metadata.get(old, "")))
    return found, nodes


def with_own_types(text: str, types: Mapping[str, str]) -> tuple[str, list[str]]:
    """
    The text with its types named in the order of use, and their definitions; `types` are those of the whole
    module, by name. So the result does not depend on types that the text does not use.
    """
    if not types:
        return text, []
    if f"%{_OWN_TYPE}" in text:
        return text, [f"%{name} = type {body}" for name, body in types.items()]
    start = re.escape(_common_beginning(min(types), max(types)))
    # Types are rare among names, so that their common beginning saves most of the time.
    name = re.compile(rf'"[^"\n]*"|%("[^"\n]*"|{start}[\w.$-]*)')
    numbers: dict[str, int] = {}

    def own(found: re.Match[str]) -> str:
        if found[1] not in types:
            return found[0]
        return f"%{_OWN_TYPE}{numbers.setdefault(found[1], len(numbers))}"

    text = name.sub(own, text)
    bodies: list[str] = []
    while len(bodies) < len(numbers):
        bodies += [name.sub(own, types[used]) for used in list(numbers)[len(bodies) :]]
    return text, [f"%{_OWN_TYPE}{i} = type {body}" for i, body in enumerate(bodies)]


def content(llvm_ir: str) -> str:
    """A module's text for keys of caches: it does not depend on the names of types, nor on unused ones."""
    text, types = with_own_types(_TYPE_LINE.sub("", llvm_ir), dict(TYPE.findall(llvm_ir)))
    return "\n".join([*types, text])


def _common_beginning(one: str, other: str) -> str:
    length = 0
    while one[length : length + 1] == other[length : length + 1] != "":
        length += 1
    return one[:length]
