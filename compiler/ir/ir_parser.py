"""
xDSL's parser with what it lacks of MLIR's textual form (LangRef), so that it reads what `mlir-opt` writes.

- A hexadecimal literal of a floating-point type is its bit pattern everywhere; xDSL 0.74 converts those of
  `dense<…>` and `array<…>` as integers. A decimal integer is not a floating-point literal.
- Aliases may be used before they are defined: `mlir-opt --mlir-print-debuginfo` defines those of locations
  at the end of the file.
- Locations with a range (`"x.c":3:1 to :9`), and with metadata (`fused<…>[…]`), which are not kept.
- Default properties that the generic form shows of operations for which xDSL does not define them.

Any exception of a parser or constructor that bad text causes is a `ParseError` at its operation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    UnitAttr,
)
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ...dialects.volatility import set_volatile

_DEFINITION = re.compile(
    r'//[^\n]*|"(?:\\.|[^"\\])*"|^[ \t]*([#!][A-Za-z_][\w$.]*)\s*=', re.MULTILINE
)

_INSTEAD = {
    "func": "functions are llvm.func, with llvm.call and llvm.return",
    "memref": "memory is accessed by !llvm.ptr, with llvm.alloca, accx.element, llvm.load and llvm.store",
    "affine": "loops are acc.loop and scf.for, accesses accx.element, llvm.load and llvm.store",
    "fir": "lower Fortran's operations to llvm.func and !llvm.ptr first",
    "hlfir": "lower Fortran's operations to llvm.func and !llvm.ptr first",
    "cir": "lower the operations to llvm.func and !llvm.ptr first",
}
"""Dialects of other front ends, with what stands for them here (docs/design.md, "acc level")."""

_OVERFLOW = (
    (llvm.OverflowFlag.NO_SIGNED_WRAP, 1),
    (llvm.OverflowFlag.NO_UNSIGNED_WRAP, 2),
)
"""Flags with their bits in the integer as which `mlir-opt` 22 writes those of `llvm.trunc`."""


@dataclass
class _Element(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of `dense<…>`, of which a float may be a bit pattern."""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if not isinstance(type, AnyFloat):
            if not isinstance(self.value, int | float) and "0x" in self.span.text.lower():
                parser.raise_error(
                    "hexadecimal parts of complex numbers are not supported", self.span
                )
            return super().to_type(parser, type)
        if isinstance(self.value, tuple):
            parser.raise_error("expected a floating-point number, not a complex one", self.span)
        return float_of_literal(parser, self.value, self.span, type)


def float_of_literal(parser: AttrParser, value: float, span: Span[str], type: AnyFloat) -> float:
    """
    The number of type `type` that the literal `span` stands for, which was read as `value`: an integer if
    it is a bit pattern. Raises `ParseError` for other integers, and patterns with a sign or too many bits.
    """
    if isinstance(value, float):
        return value
    if not re.fullmatch(r"-?0[xX][0-9a-fA-F]+", span.text):
        parser.raise_error(
            "expected a floating-point literal: write a decimal point, or the bits in hexadecimal",
            span,
        )
    if value < 0 or span.text.startswith("-"):
        parser.raise_error("a hexadecimal floating-point literal has no minus sign", span)
    size = type.compile_time_size
    if value.bit_length() > type.bitwidth:
        parser.raise_error(f"the literal has more than the {type.bitwidth} bits of {type}", span)
    (found,) = type.iter_unpack(value.to_bytes(size, "little"))
    return found


def _move_properties(op: Operation) -> None:
    """Puts what `mlir-opt` 22 writes as a property, or as an attribute, where xDSL has it."""
    if isinstance(op, gpu.FuncOp):
        if "arg_attrs" in op.properties:
            op.attributes["arg_attrs"] = op.properties.pop("arg_attrs")
        if "gpu.kernel" in op.attributes:
            op.kernel = UnitAttr()
    elif isinstance(op, llvm.LoadOp) and op.properties.pop("volatile_", None) is not None:
        set_volatile(op)


class IRParser(Parser):
    """
    The parser of a text. `places` has the position of each operation that it has read in the text;
    `innermost` is that of the operation at which it stopped, if it failed.
    """

    def __init__(self, ctx: Context, text: str, name: str):
        super().__init__(ctx, text, name)
        self.places: dict[Operation, int] = {}
        self._open: list[Position] = []
        self._definitions: dict[str, Position] | None = None
        self._defined_ahead: set[str] = set()
        self._first_uses: dict[str, Span[str]] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """As xDSL's. Raises `ParseError` for every text that cannot be read."""
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError as e:
            undefined = next(iter(self.forward_ssa_references), None)
            if self._current_token.kind == MLIRTokenKind.EOF and undefined in self._first_uses:
                span = self._first_uses[undefined]
                raise ParseError(span, f"the value {span.text} is used but not defined") from e
            raise
        except RecursionError:
            raise
        except Exception as e:
            at = self._open[-1] if self._open else self._current_token.span.start
            if type(e).__module__.startswith("xdsl."):
                what = str(e)
            else:
                what = f"the operation is malformed ({type(e).__name__}: {e})"
            raise ParseError(Span(at, at, self.lexer.input), what) from e

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        self._open.append(start)
        op = super().parse_operation()
        self._open.pop()
        self.places[op] = start
        return op

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return value

    def _get_op_by_name(self, name: str) -> type[Operation]:
        dialect = name.partition(".")[0]
        instead = _INSTEAD.get(dialect)
        if instead is not None:
            self.raise_error(f"the dialect '{dialect}' is not one of accopt's: {instead}")
        return super()._get_op_by_name(name)

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        op = super()._parse_generic_operation(op_type)
        _move_properties(op)
        flags = op.properties.get("overflowFlags")
        if flags is None or not isinstance(op, IRDLOperation):
            return op
        if "overflowFlags" not in op.get_irdl_definition().properties:
            # A promise of no overflow may be left out.
            del op.properties["overflowFlags"]
        elif isinstance(op, llvm.TruncOp) and isinstance(flags, IntegerAttr):
            op.properties["overflowFlags"] = llvm.OverflowAttr(
                [flag for flag, bit in _OVERFLOW if flags.value.data & bit]
            )
        return op

    # Numbers

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        found = super()._parse_tensor_literal_element()
        return _Element(found.is_negative, found.value, found.span)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        start = self._current_token.span.start
        self.parse_characters("<", " in dense array")
        element = self.parse_attribute()
        if not isinstance(element, AnyFloat) or self._current_token.kind != MLIRTokenKind.COLON:
            self._resume_from(start)
            return super()._parse_builtin_densearray_attr()
        self.parse_characters(":", " in dense array")

        def number() -> float:
            found = self._parse_optional_bool_int_or_float()
            if found is None or isinstance(found[0], bool):
                self.raise_error("expected a floating-point literal")
            return float_of_literal(self, *found, element)

        values = self.parse_comma_separated_list(self.Delimiter.NONE, number)
        self.parse_characters(">", " in dense array")
        return DenseArrayBase.from_list(element, values)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        start = self._current_token.span.start
        number = self._parse_optional_bool_int_or_float()
        self._resume_from(start)
        if number is None or isinstance(number[0], bool | float):
            return super().parse_optional_builtin_int_or_float_attr()
        self._parse_bool_int_or_float()
        type = (
            self._parse_attribute_type()
            if self._current_token.kind == MLIRTokenKind.COLON
            else None
        )
        if isinstance(type, AnyFloat):
            return FloatAttr(float_of_literal(self, *number, type), type)
        self._resume_from(start)
        return super().parse_optional_builtin_int_or_float_attr()

    # Aliases and locations

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        alias = ("!" if is_type else "#") + attr_or_dialect_name
        if "." not in alias and alias not in self.attribute_aliases:
            self._define_ahead(alias)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def _define_ahead(self, alias: str) -> None:
        """Reads the definition of an alias that is further on in the text, if there is one."""
        if self._definitions is None:
            self._definitions = {}
            for found in _DEFINITION.finditer(self.lexer.input.content):
                if found.group(1):
                    self._definitions.setdefault(found.group(1), found.start(1))
        # None while it is being read: a definition by itself remains undefined.
        there = self._definitions.pop(alias, None)
        if there is not None:
            here = self._current_token.span.start
            self._resume_from(there)
            super()._parse_alias_def()
            self._resume_from(here)
            self._defined_ahead.add(alias)

    def _parse_alias_def(self) -> None:
        alias = self._current_token.text
        if alias in self._defined_ahead:
            self._defined_ahead.remove(alias)
            del self.attribute_aliases[alias]
        super()._parse_alias_def()

    def _parse_location(self) -> LocationAttr:
        if self.parse_optional_keyword("fused") is not None:
            if self.parse_optional_punctuation("<") is not None:
                self.parse_attribute()
                self.parse_punctuation(">")
            parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(tuple(parts), NoneAttr())
        found = super()._parse_location()
        if isinstance(found, FileLineColLoc) and self.parse_optional_keyword("to") is not None:
            self.parse_optional_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return found
