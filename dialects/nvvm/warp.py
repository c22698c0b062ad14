"""Operations of all lanes of a warp: shuffles, votes, reductions (PTX ISA, 9.7.9 and 9.7.13)."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    I1,
    I32,
    Float32Type,
    IntegerAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.dialects.llvm import LLVMStructType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Operation,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class ShflKind(StrEnum):
    """How the source lane of a shuffle follows from the lane and the offset."""

    BFLY = "bfly"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


@irdl_attr_definition
class ShflKindAttr(EnumAttribute[ShflKind], SpacedOpaqueSyntaxAttribute):
    name = "nvvm.shfl_kind"


@irdl_op_definition
class ShflOp(IRDLOperation):
    """
    `shfl.sync`: the value of another lane among `thread_mask` (PTX ISA 9.7.9.6). `mask_and_clamp`
    is 31 for whole warps (0 for `up`). With `return_value_and_is_valid` the result is a struct of
    the value and whether the source lane was in range.
    """

    name = "nvvm.shfl.sync"

    thread_mask = operand_def(I32)
    val = operand_def(I32 | Float32Type)
    offset = operand_def(I32)
    mask_and_clamp = operand_def(I32)
    res = result_def(I32 | Float32Type | LLVMStructType)

    kind = prop_def(ShflKindAttr)
    return_value_and_is_valid = opt_prop_def(UnitAttr)

    def __init__(
        self,
        kind: ShflKind,
        thread_mask: SSAValue | Operation,
        val: SSAValue | Operation,
        offset: SSAValue | Operation,
        mask_and_clamp: SSAValue | Operation,
        *,
        return_value_and_is_valid: bool = False,
    ):
        result_type = SSAValue.get(val).type
        if return_value_and_is_valid:
            result_type = LLVMStructType.from_type_list([result_type, i1])
        super().__init__(
            operands=[thread_mask, val, offset, mask_and_clamp],
            result_types=[result_type],
            properties={
                "kind": ShflKindAttr(kind),
                "return_value_and_is_valid": UnitAttr() if return_value_and_is_valid else None,
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        attributes = dict(self.attributes)
        if self.return_value_and_is_valid is not None:
            attributes["return_value_and_is_valid"] = UnitAttr()
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.val.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> ShflOp:
        kind = parser.parse_str_enum(ShflKind)
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        val_type = parser.parse_type()
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        properties: dict[str, Attribute] = {"kind": ShflKindAttr(kind)}
        if attributes.pop("return_value_and_is_valid", None) is not None:
            properties["return_value_and_is_valid"] = UnitAttr()
        return cls.create(
            operands=parser.resolve_operands(operands, [i32, val_type, i32, i32], parser.pos),
            result_types=[result_type],
            properties=properties,
            attributes=attributes,
        )

    def verify_(self) -> None:
        expected = self.val.type
        if self.return_value_and_is_valid is not None:
            expected = LLVMStructType.from_type_list([expected, i1])
        if self.res.type != expected:
            raise VerifyException(f"expected the result type {expected}, got {self.res.type}")


class VoteSyncKind(StrEnum):
    """The result of a vote on the predicates of its lanes."""

    ANY = "any"
    ALL = "all"
    BALLOT = "ballot"
    UNI = "uni"


@irdl_attr_definition
class VoteSyncKindAttr(EnumAttribute[VoteSyncKind], SpacedOpaqueSyntaxAttribute):
    name = "nvvm.vote_sync_kind"


@irdl_op_definition
class VoteSyncOp(IRDLOperation):
    """`vote.sync`: i1 for `any`, `all` and `uni`, an i32 with a bit per lane for `ballot` (9.7.13.10)."""

    name = "nvvm.vote.sync"

    mask = operand_def(I32)
    pred = operand_def(I1)
    res = result_def(I32 | I1)
    kind = prop_def(VoteSyncKindAttr)

    def __init__(self, kind: VoteSyncKind, mask: SSAValue | Operation, pred: SSAValue | Operation):
        super().__init__(
            operands=[mask, pred],
            result_types=[i32 if kind == VoteSyncKind.BALLOT else i1],
            properties={"kind": VoteSyncKindAttr(kind)},
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> VoteSyncOp:
        kind = parser.parse_str_enum(VoteSyncKind)
        mask = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        pred = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[parser.resolve_operand(mask, i32), parser.resolve_operand(pred, i1)],
            result_types=[parser.parse_type()],
            properties={"kind": VoteSyncKindAttr(kind)},
            attributes=attributes,
        )

    def verify_(self) -> None:
        expected = i32 if self.kind.data == VoteSyncKind.BALLOT else i1
        if self.res.type != expected:
            raise VerifyException(f"expected the result type {expected}, got {self.res.type}")


class ReduxKind(StrEnum):
    """The operator of a warp reduction on integers."""

    ADD = "add"
    AND = "and"
    MAX = "max"
    MIN = "min"
    OR = "or"
    UMAX = "umax"
    UMIN = "umin"
    XOR = "xor"


@irdl_attr_definition
class ReduxKindAttr(EnumAttribute[ReduxKind], SpacedOpaqueSyntaxAttribute):
    name = "nvvm.redux_kind"


@irdl_op_definition
class ReduxOp(IRDLOperation):
    """`redux.sync`: reduces an i32 over the lanes of a mask, from sm_80 on (PTX ISA 9.7.13.14)."""

    name = "nvvm.redux.sync"

    val = operand_def(I32)
    mask_and_clamp = operand_def(I32)
    res = result_def(I32)

    kind = prop_def(ReduxKindAttr)
    abs = prop_def(IntegerAttr[I1], default_value=IntegerAttr.from_bool(False))
    nan = prop_def(IntegerAttr[I1], default_value=IntegerAttr.from_bool(False))

    def __init__(self, kind: ReduxKind, val: SSAValue | Operation, mask: SSAValue | Operation):
        super().__init__(
            operands=[val, mask], result_types=[i32], properties={"kind": ReduxKindAttr(kind)}
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i32 -> i32")

    @classmethod
    def parse(cls, parser: Parser) -> ReduxOp:
        kind = parser.parse_str_enum(ReduxKind)
        val = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        mask = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        val_type = parser.parse_type()
        parser.parse_punctuation("->")
        parser.parse_type()
        op = cls(kind, parser.resolve_operand(val, val_type), parser.resolve_operand(mask, i32))
        op.attributes |= attributes
        return op
