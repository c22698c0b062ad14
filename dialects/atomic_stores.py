"""
The text of `llvm.store` with its memory ordering, which xDSL's leaves out: IR that is saved and read again
would store without it. As in MLIR: `llvm.store %v, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr`.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.parser import Parser
from xdsl.printer import Printer

_ORDERINGS = {number: word for number, word in llvm.ATOMIC_ORDERING_KEYWORDS.items() if number}


def complete() -> None:
    """Gives `llvm.store` this text; again has none."""
    llvm.StoreOp.print = _print  # pyright: ignore[reportAttributeAccessIssue]
    llvm.StoreOp.parse = classmethod(_parse)  # pyright: ignore[reportAttributeAccessIssue]


def _print(op: llvm.StoreOp, printer: Printer) -> None:
    printer.print_string(" volatile " if op.volatile_ is not None else " ")
    printer.print_ssa_value(op.value)
    printer.print_string(", ")
    printer.print_ssa_value(op.ptr)
    if op.ordering is not None and op.ordering.value.data:
        printer.print_string(f" atomic {_ORDERINGS[op.ordering.value.data]}")
    attributes = dict(op.attributes)
    if op.alignment is not None:
        attributes["alignment"] = op.alignment
    if op.nontemporal is not None:
        attributes["nontemporal"] = op.nontemporal
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    printer.print_attribute(op.value.type)
    printer.print_string(", ")
    printer.print_attribute(op.ptr.type)


def _parse(cls: type[llvm.StoreOp], parser: Parser) -> llvm.StoreOp:
    volatile = parser.parse_optional_keyword("volatile") is not None
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    pointer = parser.parse_unresolved_operand()
    ordering = _parse_ordering(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    value_type = parser.parse_type()
    parser.parse_punctuation(",")
    pointer_type = parser.parse_type()
    alignment = attributes.pop("alignment", None)
    op = cls(
        parser.resolve_operand(value, value_type),
        parser.resolve_operand(pointer, pointer_type),
        alignment=alignment.value.data if isinstance(alignment, IntegerAttr) else None,
        ordering=ordering,
        volatile=volatile,
        nontemporal=attributes.pop("nontemporal", None) is not None,
    )
    op.attributes |= attributes
    return op


def _parse_ordering(parser: Parser) -> int:
    if parser.parse_optional_keyword("atomic") is None:
        return 0
    word = parser.parse_identifier()
    for number, known in _ORDERINGS.items():
        if known == word:
            return number
    parser.raise_error(
        f"unknown atomic ordering '{word}': it is one of {', '.join(_ORDERINGS.values())}"
    )
