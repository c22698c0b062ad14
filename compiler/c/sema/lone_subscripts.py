"""
Single subscripts in lists of data clauses: `copyin(a[n])`. In the specification it is one element (OpenACC
3.4, 1.6, "var"); for early compilers it was the first `n` elements, and programs written for them use it so
throughout.

A subscript just past the end of an array of known size (`a[64]` of `int a[64]`, or `a[n + 2]` if the length
is written so) can only be such a length. In a file with one, all single subscripts are taken as lengths,
with a warning. In other files they are elements, with a warning where one element is unlikely to be meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...base.diagnostics import DiagnosticSink, error
from ...directives.records import Clause, Section, VarRefItem
from ..ast import BinaryOp, Cast, Expr, IntConst, Load, VarRef
from ..types import ArrayType, PointerType, is_arithmetic
from .constants import integer_value

_MAPS = ("copy", "copyin", "copyout", "create", "no_create", "present")
"""Clauses that map data, for which a single element is unlikely."""
_STYLED = (*_MAPS, "delete", "device", "self", "use_device")


@dataclass
class LoneSubscripts:
    """The single subscripts of one file."""

    _found: list[tuple[VarRefItem, Section]] = field(
        default_factory=list[tuple[VarRefItem, Section]]
    )
    _elements: list[tuple[VarRefItem, Section, Clause]] = field(
        default_factory=list[tuple[VarRefItem, Section, Clause]]
    )
    """The subscripts that select a number and are not followed by another bracket."""
    _proof: tuple[VarRefItem, Section, str] | None = None
    """A subscript that can only be a length, and that length."""

    def note(
        self, item: VarRefItem, section: Section, t: ArrayType | PointerType, clause: Clause
    ) -> None:
        """Records a subscript. Raises `CompileError` for one that is neither an index nor a length of the
        array."""
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
        """Decides, at the end of the file, whether the subscripts are elements or lengths."""
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
    """Whether two integer expressions consist of the same variables, constants and operators."""
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
