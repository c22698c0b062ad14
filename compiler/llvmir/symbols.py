"""
The functions and variables of a module as texts of their own, and a module made of such texts.

A module printed as a whole (`printer.py`) numbers metadata, and lists types and declarations, in the order
of first use by its functions. `join` does the same with texts that were printed separately, so that the
result is identical.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .metadata import Metadata

_REFERENCE = re.compile(r"!(\d+)\b")


@dataclass(frozen=True)
class SymbolText:
    """
    A symbol of a module: its text, the types it names with their definitions, the functions it calls that the
    module does not declare, and its metadata, numbered from 0.
    """

    name: str
    text: str
    is_function: bool
    types: tuple[tuple[str, str], ...]
    declarations: tuple[str, ...]
    nodes: tuple[str, ...]


def join(symbols: Iterable[SymbolText], header: str, flag: str | None) -> str:
    """The module of these symbols, in their order; `flag` is the only entry of its `llvm.module.flags`."""
    types: dict[str, str] = {}
    declarations: dict[str, str] = {}
    metadata = Metadata()
    globals_: list[str] = []
    bodies: list[str] = []
    for symbol in symbols:
        types.update((name, body) for name, body in symbol.types)
        for line in symbol.declarations:
            declarations.setdefault(line.partition("(")[0], line)
        text = _numbered(symbol, metadata)
        (bodies if symbol.is_function else globals_).append(text)
    if flag is not None:
        metadata.named["llvm.module.flags"] = [metadata.node(flag)]
    sections = [
        header,
        "\n".join(f"{name} = type {body}" for name, body in types.items()),
        "\n".join(globals_),
        "\n".join(declarations.values()),
        "\n".join(bodies),
        metadata.text(),
    ]
    return "\n".join(section for section in sections if section) + "\n"


def _numbered(symbol: SymbolText, metadata: Metadata) -> str:
    """The text of a symbol with its metadata renumbered for the module."""
    if not symbol.nodes:
        return symbol.text
    numbers: dict[str, str] = {}

    def number(reference: re.Match[str]) -> str:
        return numbers[reference[1]]

    for own, body in enumerate(symbol.nodes):
        if body.startswith("distinct "):  # the node may refer to itself
            numbers[str(own)] = metadata.next()
            metadata.distinct(_REFERENCE.sub(number, body.removeprefix("distinct ")))
        else:
            numbers[str(own)] = metadata.node(_REFERENCE.sub(number, body))
    return _REFERENCE.sub(number, symbol.text)
