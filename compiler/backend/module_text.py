"""The text of a module of LLVM IR: its functions, and the numbers of its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

DEFINITION = re.compile(r"^define [^\n]*\n.*?^}\n", re.MULTILINE | re.DOTALL)
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
