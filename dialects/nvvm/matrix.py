"""Matrix instructions of a warp on doubles (PTX ISA, 9.7.14.5: `mma.sync` of type `.f64`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float64Type, IntAttr, f64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SSAValue,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .enums import InAngleBrackets

MMA_SHAPES = {(8, 8, 4): 80, (16, 8, 4): 90, (16, 8, 8): 90, (16, 8, 16): 90}
"""(Rows, columns, terms) of a product of doubles → the first compute capability that has the instruction."""
WARP = 32


class MMALayout(StrEnum):
    """The storage order of an operand matrix: by rows or by columns."""

    ROW = "row"
    COL = "col"


@irdl_attr_definition
class MMALayoutAttr(InAngleBrackets, EnumAttribute[MMALayout]):
    name = "nvvm.mma_layout"


@irdl_attr_definition
class MMAShapeAttr(ParametrizedAttribute):
    """`#nvvm.shape<m = 8, n = 8, k = 4>`: m × k elements times k × n elements."""

    name = "nvvm.shape"

    m: IntAttr
    n: IntAttr
    k: IntAttr

    @classmethod
    def of(cls, sizes: tuple[int, int, int]) -> MMAShapeAttr:
        """The attribute for m, n and k."""
        return cls(*map(IntAttr, sizes))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """m, n and k."""
        return self.m.data, self.n.data, self.k.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        found: list[Attribute] = []
        with parser.in_angle_brackets():
            for name in "mnk":
                if found:
                    parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                found.append(IntAttr(parser.parse_integer(allow_boolean=False)))
        return found

    def print_parameters(self, printer: Printer) -> None:
        m, n, k = self.sizes
        printer.print_string(f"<m = {m}, n = {n}, k = {k}>")


@irdl_op_definition
class MmaOp(IRDLOperation):
    """
    `mma.sync`: all lanes of a warp together compute D = A B + C of doubles, with m × n,
    m × k and k × n elements in their registers. Lane 4 g + t holds of A rows g, g + 8, … for k = t, t + 4,
    … (rows change fastest), of B column g for the same k, and of C and D columns 2 t and 2 t + 1 of these
    rows (PTX ISA 9.7.14.5.1 and 9.7.14.5.10 to 13). Each result is a chain of fused multiply-adds.
    """

    name = "nvvm.mma.sync"

    operand_a = var_operand_def(Float64Type)
    operand_b = var_operand_def(Float64Type)
    operand_c = var_operand_def(Float64Type)
    res = result_def(LLVMStructType)
    shape = prop_def(MMAShapeAttr)
    layout_a = prop_def(MMALayoutAttr, prop_name="layoutA")
    layout_b = prop_def(MMALayoutAttr, prop_name="layoutB")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        shape: tuple[int, int, int],
        a: Sequence[SSAValue],
        b: Sequence[SSAValue],
        c: Sequence[SSAValue],
    ):
        super().__init__(
            operands=[a, b, c],
            result_types=[LLVMStructType.from_type_list([f64] * len(c))],
            properties={
                "shape": MMAShapeAttr.of(shape),
                "layoutA": MMALayoutAttr(MMALayout.ROW),
                "layoutB": MMALayoutAttr(MMALayout.COL),
            },
        )

    def print(self, printer: Printer) -> None:
        for name, group in (("A", self.operand_a), ("B", self.operand_b), ("C", self.operand_c)):
            printer.print_string(f" {name}[")
            printer.print_list(group, printer.print_ssa_value)
            printer.print_string("]")
        shown = ("layoutA", "layoutB", "shape")
        attributes = {**self.attributes, **{key: self.properties[key] for key in shown}}
        printer.print_op_attributes(attributes)
        printer.print_string(" : (")
        groups = (self.operand_a, self.operand_b, self.operand_c)
        printer.print_list([group[0].type for group in groups], printer.print_attribute)
        printer.print_string(") -> ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> MmaOp:
        groups: list[list[SSAValue]] = []
        for name in "ABC":
            parser.parse_keyword(name)
            found = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_unresolved_operand
            )
            groups.append([parser.resolve_operand(each, f64) for each in found])
        attributes = dict(parser.parse_optional_attr_dict())
        properties = {
            key: attributes.pop(key) for key in ("shape", "layoutA", "layoutB") if key in attributes
        }
        parser.parse_punctuation(":")
        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        return cls.build(
            operands=groups,
            result_types=[result],
            properties=properties,
            attributes=attributes,
        )

    @staticmethod
    def check_counts(
        shape: MMAShapeAttr, a: Sequence[SSAValue], b: Sequence[SSAValue], c: Sequence[SSAValue]
    ) -> None:
        """
        Raises `VerifyException` for an unknown shape, or a number of elements other than a lane's fragment.
        """
        sizes = shape.sizes
        if sizes not in MMA_SHAPES:
            known = ", ".join("×".join(map(str, each)) for each in MMA_SHAPES)
            raise VerifyException(
                f"expected one of the shapes {known} of doubles, got {'×'.join(map(str, sizes))}"
            )
        m, n, k = sizes
        for name, group, elements in (("A", a, m * k), ("B", b, k * n), ("C", c, m * n)):
            if len(group) != elements // WARP:
                raise VerifyException(
                    f"expected {elements // WARP} elements of {name} in each lane, got {len(group)}"
                )

    def verify_(self) -> None:
        if (self.layout_a.data, self.layout_b.data) != (MMALayout.ROW, MMALayout.COL):
            raise VerifyException("expected A by rows and B by columns")
        self.check_counts(self.shape, self.operand_a, self.operand_b, self.operand_c)
        expected = LLVMStructType.from_type_list([f64] * len(self.operand_c))
        if self.res.type != expected:
            raise VerifyException(f"expected the result type {expected}, got {self.res.type}")


ATTRIBUTES: tuple[type[Attribute], ...] = (MMALayoutAttr, MMAShapeAttr)
