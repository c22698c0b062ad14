"""
Compressed arrays in the IR: the packed element type, and what ties it to data operations.

| name | on | meaning |
|---|---|---|
| `accx.packed` | data entry operations | the array is packed on the device: its `!accx.packed` type |
| `accx.decodes` | data entry operations of a compute construct | the kernel decodes this array |
| `accx.estimate` | data entry operations of a compute construct | whether that pays, for remarks |
"""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, Float64Type, IntAttr, StringAttr, f64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..runtime.packed import Code, PackedFormat, check_format

PACKED = "accx.packed"
DECODES = "accx.decodes"
ESTIMATE = "accx.estimate"


@irdl_attr_definition
class PackedType(ParametrizedAttribute, TypeAttribute):
    """
    A number of type `base` kept in `bits` bits by `code` (`range`, `half` or `bfloat16`). The
    range itself is a run-time value: `accx.range` gives it, `accx.coefficients` what follows from
    it. `bits` is 0 until `compress-arrays` fills in the default of its options.

    `!accx.packed<f32, 16, range>`
    """

    name = "accx.packed"

    base: Float32Type | Float64Type
    bits: IntAttr
    code: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            base = parser.parse_type()
            parser.parse_punctuation(",")
            bits = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(",")
            code = parser.parse_identifier()
        return [base, IntAttr(bits), StringAttr(code)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.base)
            printer.print_string(f", {self.bits.data}, {self.code.data}")

    def verify(self) -> None:
        if self.code.data not in ("range", "half", "bfloat16"):
            raise VerifyException(
                f"expected the code range, half or bfloat16, found {self.code.data}"
            )
        problem = check_format(self.format) if self.bits.data else None
        if problem is not None:
            raise VerifyException(problem)

    @property
    def format(self) -> PackedFormat:
        """The runtime's description of the same format."""
        width = 32 if isinstance(self.base, Float32Type) else 64
        return PackedFormat(width, Code[self.code.data.upper()], self.bits.data)

    @staticmethod
    def of(base: Float32Type | Float64Type, bits: int, code: str) -> PackedType:
        return PackedType(base, IntAttr(bits), StringAttr(code))


@irdl_op_definition
class RangeOp(IRDLOperation):
    """The numbers of the compressed array behind `device` lie between `minimum` and `maximum`."""

    name = "accx.range"

    device = operand_def(LLVMPointerType)
    minimum = operand_def(f64)
    maximum = operand_def(f64)

    assembly_format = "$device `from` $minimum `to` $maximum attr-dict `:` type($device)"

    def __init__(self, device: SSAValue, minimum: SSAValue, maximum: SSAValue):
        super().__init__(operands=[device, minimum, maximum])


@irdl_op_definition
class CoefficientsOp(IRDLOperation):
    """
    What code that uses the compressed array `device` needs to know: decoding is t · c0 + c1,
    encoding x · inverse + 1.5.
    """

    name = "accx.coefficients"

    device = operand_def(LLVMPointerType)
    c0 = result_def(Float32Type | Float64Type)
    c1 = result_def(Float32Type | Float64Type)
    inverse = result_def(Float32Type | Float64Type)

    assembly_format = (
        "$device attr-dict `:` type($device) `->` type($c0) `,` type($c1) `,` type($inverse)"
    )

    def __init__(self, device: SSAValue, base: Float32Type | Float64Type):
        super().__init__(operands=[device], result_types=[base, base, base])


COMPRESSION_OPS = (RangeOp, CoefficientsOp)
