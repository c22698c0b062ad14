"""
Single subscripts in lists of data clauses: `copyin(a[n])`. The specification makes it one element (OpenACC
3.4, 1.6, "var"); early compilers made it the first `n` elements, and programs that were written with them
say it so throughout.

A subscript that is just behind the end of an array of known size (`a[64]` of `int a[64]`, or `a[n + 2]` where
that is how the length is written) can only be such a length. A file that has one is in that style: all its
single subscripts are lengths then, with a warning.
In other files one element it is, with a warning where that is an unlikely thing to map.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...base.diagnostics import DiagnosticSink, error
from ...directives.records import Clause, Section, VarRefItem
from ..ast import BinaryOp, Cast, Expr, IntConst, Load, VarRef
from ..types import ArrayType, PointerType, is_arithmetic
from .constants import integer_value

_MAPS = ("copy", "copyin", "copyout", "create", "no_create", "present")
"""Clauses that map data, which one element of an array hardly is."""
_STYLED = (*_MAPS, "delete", "device", "self", "use_device")


@dataclass
class LoneSubscripts:
    """Those of one file."""

    _found: list[tuple[VarRefItem, Section]] = field(
        default_factory=list[tuple[VarRefItem, Section]]
    )
    _elements: list[tuple[VarRefItem, Section, Clause]] = field(
        default_factory=list[tuple[VarRefItem, Section, Clause]]
    )
    """Those of which the element is a number, and no other bracket follows."""
    _proof: tuple[VarRefItem, Section, str] | None = None
    """A subscript that can only be a length, and that length."""

    def note(
        self, item: VarRefItem, section: Section, t: ArrayType | PointerType, clause: Clause
    ) -> None:
        """Raises `CompileError` for a subscript that is no element and no length."""
        if clause.name not in _STYLED or section.lower is None or section.lower.expr is None:
            return
        self._found.append((item, section))
        index = integer_value(section.lower.expr)
        extent = t.length if isinstance(t, ArrayType) else None
        if isinstance(index, int) and isinstance(extent, int) and not 0 <= index < extent:
            if index != extent:
                raise error(
                    section.loc,
                    f"'{item.name}[{index}]' is outside of its {extent} elements",
                    "write [lower:length]",
                )
            self._proof = self._proof or (item, section, str(extent))
        elif isinstance(extent, Expr) and _same(section.lower.expr, extent):
            self._proof = self._proof or (item, section, section.lower.text.strip())
        element = t.element.type if isinstance(t, ArrayType) else t.pointee.type
        if index is None and clause.name in _MAPS and is_arithmetic(element):
            self._elements.append((item, section, clause))

    def settle(self, sink: DiagnosticSink) -> None:
        """At the end of the file: what they are."""
        if self._proof is None:
            for item, section, clause in self._elements:
                if len(item.sections) == 1:
                    _warn_of_element(item, section, clause, sink)
            return
        item, section, extent = self._proof
        sink.warn(
            section.loc,
            f"'{item.name}' has {extent} elements: [{extent}], and single subscripts in all data clauses of"
            " this file, are taken as lengths",
            f"write [0:{extent}]",
        )
        for _, section in self._found:
            section.lower, section.length, section.is_index = None, section.lower, False


def _same(one: Expr, other: Expr) -> bool:
    """Whether two integer expressions are written alike, of variables, constants and operators."""
    match one, other:
        case Cast(), _:
            return _same(one.operand, other)
        case _, Cast():
            return _same(one, other.operand)
        case IntConst(), IntConst():
            return one.value == other.value
        case VarRef(), VarRef():
            return one.decl is other.decl
        case Load(), Load():
            return _same(one.lvalue, other.lvalue)
        case BinaryOp(), BinaryOp():
            return one.op == other.op and _same(one.lhs, other.lhs) and _same(one.rhs, other.rhs)
        case _:
            return False


def _warn_of_element(
    item: VarRefItem, section: Section, clause: Clause, sink: DiagnosticSink
) -> None:
    assert section.lower is not None
    text = section.lower.text.strip()
    sink.warn(
        section.loc,
        f"'{item.name}[{text}]' in '{clause.spelling}' is one element",
        f"write {item.name}[0:{text}] for the first {text} elements, {item.name}[{text}:1] for one",
    )
