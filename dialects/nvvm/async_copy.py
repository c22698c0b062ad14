"""Asynchronous copies from global to shared memory (PTX ISA, 9.7.9.25)."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    I32,
    IntegerAttr,
    i32,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Operation,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .address_spaces import GLOBAL_POINTER, SHARED_POINTER, check_pointer


class LoadCacheModifier(StrEnum):
    """Which caches a copy goes through: all levels (`ca`) or the second level only (`cg`)."""

    CA = "ca"
    CG = "cg"


@irdl_attr_definition
class LoadCacheModifierAttr(EnumAttribute[LoadCacheModifier], SpacedOpaqueSyntaxAttribute):
    name = "nvvm.load_cache_modifier"


@irdl_op_definition
class CpAsyncOp(IRDLOperation):
    """
    `cp.async`: copies 4, 8 or 16 bytes from global to shared memory without registers, from sm_80
    on; `cg` only with 16 bytes (PTX ISA 9.7.9.25.3).
    """

    name = "nvvm.cp.async.shared.global"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    cp_size = opt_operand_def(I32)

    size = prop_def(IntegerAttr[I32])
    modifier = prop_def(LoadCacheModifierAttr)

    def __init__(
        self,
        dst: SSAValue | Operation,
        src: SSAValue | Operation,
        size: int,
        modifier: LoadCacheModifier = LoadCacheModifier.CA,
        cp_size: SSAValue | Operation | None = None,
    ):
        """`cp_size`: the bytes actually read; the rest of `size` is filled with zeros."""
        super().__init__(
            operands=[dst, src, cp_size],
            properties={
                "size": IntegerAttr(size, i32),
                "modifier": LoadCacheModifierAttr(modifier),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.dst, self.src), printer.print_ssa_value)
        printer.print_string(f", {self.size.value.data}, cache = {self.modifier.data.value}")
        if self.cp_size is not None:
            printer.print_string(", ")
            printer.print_ssa_value(self.cp_size)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([operand.type for operand in self.operands], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> CpAsyncOp:
        dst = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        src = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        size = parser.parse_integer()
        parser.parse_punctuation(",")
        parser.parse_keyword("cache")
        parser.parse_punctuation("=")
        modifier = parser.parse_str_enum(LoadCacheModifier)
        unresolved = [dst, src]
        if parser.parse_optional_punctuation(",") is not None:
            unresolved.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        to, source, *rest = parser.resolve_operands(unresolved, types, parser.pos)
        op = cls(to, source, size, modifier, rest[0] if rest else None)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        size, modifier = self.size.value.data, self.modifier.data
        if size not in (4, 8, 16):
            raise VerifyException(f"expected a size of 4, 8 or 16 bytes, got {size}")
        if modifier == LoadCacheModifier.CG and size != 16:
            raise VerifyException(f"the cache modifier cg needs 16 bytes, got {size}")
        check_pointer(self.dst, SHARED_POINTER)
        check_pointer(self.src, GLOBAL_POINTER)


@irdl_op_definition
class CpAsyncCommitGroupOp(IRDLOperation):
    """`cp.async.commit_group`: makes the thread's copies so far one group (PTX ISA 9.7.9.25.3)."""

    name = "nvvm.cp.async.commit.group"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CpAsyncWaitGroupOp(IRDLOperation):
    """`cp.async.wait_group n`: waits until at most `n` groups are pending (PTX ISA 9.7.9.25.3)."""

    name = "nvvm.cp.async.wait.group"

    n = prop_def(IntegerAttr[I32])
    assembly_format = "$n attr-dict"

    def __init__(self, n: int):
        super().__init__(properties={"n": IntegerAttr(n, i32)})
