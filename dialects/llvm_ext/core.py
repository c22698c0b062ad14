"""`switch`, conversions, `freeze` and `poison`, and ranges of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    I32,
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    i32,
)
from xdsl.dialects.llvm import (
    GenericCastOp,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure


@irdl_attr_definition
class ConstantRangeAttr(ParametrizedAttribute):
    """`#llvm.constant_range<i32, 0, 1024>`: the values from `lower` up to, not including, `upper`."""

    name = "llvm.constant_range"

    type: IntegerType
    lower: IntegerAttr
    upper: IntegerAttr

    @staticmethod
    def from_bounds(lower: int, upper: int, type: IntegerType = i32) -> ConstantRangeAttr:
        """The half-open range `[lower, upper)`."""
        return ConstantRangeAttr(type, IntegerAttr(lower, type), IntegerAttr(upper, type))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.type)
            printer.print_string(f", {self.lower.value.data}, {self.upper.value.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            type = parser.parse_type()
            if not isinstance(type, IntegerType):
                parser.raise_error("expected an integer type")
            parser.parse_punctuation(",")
            lower = parser.parse_integer()
            parser.parse_punctuation(",")
            upper = parser.parse_integer()
        return [type, IntegerAttr(lower, type), IntegerAttr(upper, type)]


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """Jumps to the case whose constant equals `value`, or to the default."""

    name = "llvm.switch"

    value = operand_def(IntegerType)
    default_operands = var_operand_def()
    case_operands = var_operand_def()

    case_values = opt_prop_def(DenseIntElementsAttr)
    case_operand_segments = prop_def(DenseArrayBase.constr(I32))

    default_destination = successor_def()
    case_destinations = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def __init__(
        self,
        value: SSAValue | Operation,
        default: Block,
        default_operands: Sequence[SSAValue] = (),
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]] = (),
    ):
        value = SSAValue.get(value)
        values = None
        if cases:
            values = DenseIntElementsAttr.from_list(
                VectorType(cast(IntegerType, value.type), [len(cases)]),
                [number for number, _, _ in cases],
            )
        super().__init__(
            operands=[
                value,
                list(default_operands),
                [operand for _, _, operands in cases for operand in operands],
            ],
            properties={
                "case_values": values,
                "case_operand_segments": DenseArrayBase.from_list(
                    i32, [len(operands) for _, _, operands in cases]
                ),
            },
            successors=[default, [block for _, block, _ in cases]],
        )

    @property
    def cases(self) -> list[tuple[int, Block, tuple[SSAValue, ...]]]:
        """Constant, destination and the destination's arguments of every case."""
        if self.case_values is None:
            return []
        out: list[tuple[int, Block, tuple[SSAValue, ...]]] = []
        start = 0
        for number, block, count in zip(
            self.case_values.get_values(),
            self.case_destinations,
            self.case_operand_segments.iter_values(),
            strict=True,
        ):
            out.append((int(number), block, tuple(self.case_operands[start : start + int(count)])))
            start += int(count)
        return out

    @staticmethod
    def _print_destination(printer: Printer, block: Block, operands: Sequence[SSAValue]) -> None:
        printer.print_block_name(block)
        if operands:
            printer.print_string("(")
            printer.print_list(operands, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list([operand.type for operand in operands], printer.print_attribute)
            printer.print_string(")")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        self._print_destination(printer, self.default_destination, self.default_operands)
        printer.print_string(" [")
        with printer.indented():
            for index, (number, block, operands) in enumerate(self.cases):
                printer.print_string("," if index else "")
                printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
                printer.print_string(f"{number}: ")
                self._print_destination(printer, block, operands)
        printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)

    @staticmethod
    def _parse_destination(parser: Parser) -> tuple[Block, list[SSAValue]]:
        block = parser.parse_successor()
        if parser.parse_optional_punctuation("(") is None:
            return block, []
        unresolved: list[UnresolvedOperand] = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation(")")
        return block, list(parser.resolve_operands(unresolved, types, parser.pos))

    @classmethod
    def parse(cls, parser: Parser) -> SwitchOp:
        def parse_case() -> tuple[int, Block, list[SSAValue]] | None:
            number = parser.parse_optional_integer(allow_boolean=False)
            if number is None:
                return None
            parser.parse_punctuation(":")
            return (number, *cls._parse_destination(parser))

        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation(",")
        default, default_operands = cls._parse_destination(parser)
        cases: list[tuple[int, Block, list[SSAValue]]] = []
        parser.parse_punctuation("[")
        while (case := parse_case()) is not None:
            cases.append(case)
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation("]")
        op = cls(value, default, default_operands, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op


@irdl_op_definition
class UIToFPOp(IRDLOperation):
    """Unsigned integer to floating point; `nneg`: poison if the signed value is negative."""

    name = "llvm.uitofp"

    arg = operand_def()
    result = result_def()
    non_neg = opt_prop_def(UnitAttr, prop_name="nonNeg")

    traits = traits_def(Pure())
    assembly_format = "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($result)"

    def __init__(self, arg: SSAValue | Operation, result_type: Attribute, *, non_neg: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[result_type],
            properties={"nonNeg": UnitAttr() if non_neg else None},
        )


@irdl_op_definition
class FPToSIOp(GenericCastOp):
    """Floating point to signed integer, towards zero; poison when it does not fit."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(GenericCastOp):
    """Floating point to unsigned integer, towards zero; poison when it does not fit."""

    name = "llvm.fptoui"


@irdl_op_definition
class AddrSpaceCastOp(GenericCastOp):
    """The pointer to the same object in another address space."""

    name = "llvm.addrspacecast"


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """Stops poison: `val`, or an arbitrary but fixed value if `val` is undef or poison."""

    name = "llvm.freeze"

    T: ClassVar = VarConstraint("T", AnyAttr())
    val = operand_def(T)
    res = result_def(T)

    assembly_format = "$val attr-dict `:` type($val)"

    def __init__(self, val: SSAValue | Operation):
        super().__init__(operands=[val], result_types=[SSAValue.get(val).type])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A value that must not be observed."""

    name = "llvm.mlir.poison"

    res = result_def()
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, result_type: Attribute):
        super().__init__(result_types=[result_type])
