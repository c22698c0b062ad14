"""
Attributes of GNU C (`__attribute__((aligned(16), packed))`; GCC manual, "Attribute Syntax") that say more
than a hint. They occur where `_Alignas` may, and after declarators; an `Attributes` node is kept in the
list of alignments of its declaration, record or member.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from .gnu_expressions import GnuExpressions

REFUSED_ATTRIBUTES = {
    "scalar_storage_order": "convert the byte order with '__builtin_bswap32' and related functions",
    "naked": "put the assembly into a file of its own",
    "ms_abi": "call the function through a wrapper in another compiler's code",
    "stdcall": "call the function through a wrapper in another compiler's code",
    "fastcall": "call the function through a wrapper in another compiler's code",
    "regparm": "call the function through a wrapper in another compiler's code",
    "ifunc": "call through a pointer that 'main' sets",
    "address_space": "remove it",
    "overloadable": "use _Generic to choose by type",
    "ext_vector_type": "use 'vector_size', in bytes",
    "interrupt": "remove it",
}
"""Attributes that change layout, calls or control flow and are not honoured, with what to write."""

KEPT_ATTRIBUTES = frozenset(
    (
        *("packed", "aligned", "mode", "vector_size", "transparent_union", "cleanup"),
        *("constructor", "destructor", "weak", "alias", "section", "noreturn"),
    )
)
"""Those that are honoured; the others are hints."""

ATTRIBUTE_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Attribute:
    """`name(args)`: the name without underscores around it, pycparser's nodes, and the place."""

    name: str
    coord: Any
    args: list[Any] = field(default_factory=list[Any])


class Attributes(c_ast.Alignas):
    """One attribute list, `__attribute__((…))`."""

    __slots__ = ("attributes",)

    def __init__(self, attributes: list[Attribute], coord: Any):
        super().__init__(None, coord)
        self.attributes = attributes

    def children(self) -> Any:
        return ()


def attributes_of(items: Iterable[Any] | None, name: str) -> list[Attribute]:
    """The attributes of this name among the alignments `items` of a declaration or record."""
    lists = [item for item in items or () if isinstance(item, Attributes)]
    return [a for each in lists for a in each.attributes if a.name == name]


class AttributeParser(GnuExpressions):
    """pycparser with attributes."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(c23=c23)
        self.clex._keyword_map |= dict.fromkeys(("__attribute__", "__attribute"), "_ALIGNAS")

    def _parse_alignment_specifier(self) -> Any:
        token = self._peek()
        if token is None or not token.value.startswith("__attribute"):
            return super()._parse_alignment_specifier()
        coord = self._tok_coord(self._advance())
        self._expect("LPAREN")
        self._expect("LPAREN")
        found: list[Attribute] = []
        while self._peek_type() != "RPAREN":
            if not self._accept("COMMA"):
                found.append(self._parse_attribute())
        self._expect("RPAREN")
        self._expect("RPAREN")
        return Attributes(found, coord)

    def _parse_attribute(self) -> Attribute:
        token = self._advance()
        name = token.value.strip("_")
        found = Attribute(name, self._tok_coord(token))
        if not self._accept("LPAREN"):
            return found
        if name not in KEPT_ATTRIBUTES:
            self._skip_parentheses()
            return found
        while self._peek_type() != "RPAREN":
            found.args.append(self._parse_type_or_expression())
            self._accept("COMMA")
        self._expect("RPAREN")
        return found

    def _skip_parentheses(self) -> None:
        """Continues after the parenthesis that closes the one just read."""
        depth = 1
        while depth:
            kind = self._peek_type()
            if kind is None:
                self._parse_error("At end of input", None)
            depth += {"LPAREN": 1, "RPAREN": -1}.get(kind, 0)
            self._advance()
