"""
Compressed arrays in the IR: the packed element type, and the operations and attributes that connect it with
data operations.

| name | on | meaning |
|---|---|---|
| `accx.packed` | data entry operations | the array is packed on the device: its `!accx.packed` type |
| `accx.decodes` | data entry operations of a compute construct | the kernel decodes this array |
| `accx.counted` | `accx.coefficients`, operations that make codes to store | number of the array |
| `accx.estimate` | data entry operations of a compute construct | whether compression pays, for remarks |

`accx.counted`: stores to this array that saturate are to be counted (`count-saturated-stores`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..compiler.base.packed import Code, PackedFormat, check_format

PACKED = "accx.packed"
DECODES = "accx.decodes"
ESTIMATE = "accx.estimate"
COUNTED = "accx.counted"
CODES = tuple(code.name.lower() for code in Code)


@irdl_attr_definition
class PackedType(ParametrizedAttribute, TypeAttribute):
    """
    A number of type `base` kept in `bits` bits by `code` (one of `CODES`). The range is a run-time value:
    `accx.range` sets it, `accx.coefficients` gives the coefficients computed from it. `bits` is 0 until
    `compress-arrays` fills in the default of its options.

    With `members`, an array of structures of that many numbers is one array per member on the device.

    `!accx.packed<f32, 16, range>`, `!accx.packed<f32, 16, half, 3>`
    """

    name = "accx.packed"

    base: Float32Type | Float64Type
    bits: IntAttr
    code: StringAttr
    members: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            base = parser.parse_type()
            parser.parse_punctuation(",")
            bits = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(",")
            code = parser.parse_identifier()
            members = 1
            if parser.parse_optional_punctuation(",") is not None:
                members = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return [base, IntAttr(bits), StringAttr(code), IntAttr(members)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.base)
            members = f", {self.members.data}" if self.members.data > 1 else ""
            printer.print_string(f", {self.bits.data}, {self.code.data}{members}")

    def verify(self) -> None:
        if self.code.data not in CODES:
            raise VerifyException(f"expected a code ({', '.join(CODES)}), found {self.code.data}")
        problem = check_format(self.format) if self.bits.data else None
        if problem is not None:
            raise VerifyException(problem)

    @property
    def format(self) -> PackedFormat:
        """The runtime's description of the same format."""
        width = 32 if isinstance(self.base, Float32Type) else 64
        code = Code[self.code.data.upper()]
        return PackedFormat(width, code, self.bits.data, self.members.data)

    @staticmethod
    def of(base: Float32Type | Float64Type, bits: int, code: str, members: int = 1) -> PackedType:
        """The type with these parameters."""
        return PackedType(base, IntAttr(bits), StringAttr(code), IntAttr(members))


@irdl_op_definition
class RangeOp(IRDLOperation):
    """
    Sets the range of the compressed array at device address `device`: its numbers lie between `minimum` and
    `maximum`.
    """

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
    The coefficients for code that accesses the compressed array `device`: decoding is t · c0 + c1, encoding
    x · inverse + 1.5, or x · inverse + offset if it is centred. `plane`: bytes from one member's array to
    the next. `counter`: the address of i64 words in device memory, whose sum is the number of stores that
    saturated. For structures, the coefficients are those of one member: `member`, by default the first.
    """

    name = "accx.coefficients"

    device = operand_def(LLVMPointerType)
    c0 = result_def(Float32Type | Float64Type)
    c1 = result_def(Float32Type | Float64Type)
    inverse = result_def(Float32Type | Float64Type)
    offset = result_def(Float32Type | Float64Type)
    plane = result_def(i64)
    counter = result_def(LLVMPointerType())
    member = opt_attr_def(IntegerAttr)

    assembly_format = (
        "$device attr-dict `:` type($device) `->` type($c0) `,` type($c1) `,` type($inverse)"
        " `,` type($offset)"
    )

    def __init__(self, device: SSAValue, base: Float32Type | Float64Type, member: int = 0):
        super().__init__(
            operands=[device],
            result_types=[base, base, base, base, i64, LLVMPointerType()],
            attributes={"member": IntegerAttr(member, i32)} if member else {},
        )

    @property
    def number(self) -> int:
        """The member whose coefficients these are."""
        return 0 if self.member is None else self.member.value.data


COMPRESSION_OPS = (RangeOp, CoefficientsOp)
