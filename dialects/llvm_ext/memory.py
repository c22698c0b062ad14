"""Intrinsics on memory, C's variable arguments, and hints to the optimiser."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    i64,
)
from xdsl.dialects.llvm import (
    LLVMPointerType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure


class MemoryTransferOp(IRDLOperation, ABC):
    """`memcpy` and `memmove`: `len` bytes from `src` to `dst`. Upstream has no own syntax for it."""

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(IntegerType)

    isVolatile = prop_def(IntegerAttr[I1])
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    def __init__(
        self,
        dst: SSAValue | Operation,
        src: SSAValue | Operation,
        len: SSAValue | Operation,
        *,
        volatile: bool = False,
        alignments: tuple[int | None, int | None] = (None, None),
    ):
        """`alignments` are the known alignments of `dst` and `src` in bytes."""
        super().__init__(
            operands=[dst, src, len],
            properties={
                "isVolatile": IntegerAttr.from_bool(volatile),
                "arg_attrs": _alignment_attrs((*alignments, None)),
            },
        )


def _alignment_attrs(alignments: Sequence[int | None]) -> ArrayAttr[DictionaryAttr] | None:
    if all(alignment is None for alignment in alignments):
        return None
    return ArrayAttr(
        DictionaryAttr({} if a is None else {"llvm.align": IntegerAttr(a, i64)}) for a in alignments
    )


@irdl_op_definition
class MemcpyOp(MemoryTransferOp):
    """Copies between regions that do not overlap (or are the same)."""

    name = "llvm.intr.memcpy"


@irdl_op_definition
class MemmoveOp(MemoryTransferOp):
    """Copies between regions that may overlap."""

    name = "llvm.intr.memmove"


@irdl_op_definition
class MemsetOp(IRDLOperation):
    """Fills `len` bytes with the byte `val`."""

    name = "llvm.intr.memset"

    dst = operand_def(LLVMPointerType)
    val = operand_def(IntegerType(8))
    len = operand_def(IntegerType)

    isVolatile = prop_def(IntegerAttr[I1])
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    def __init__(
        self,
        dst: SSAValue | Operation,
        val: SSAValue | Operation,
        len: SSAValue | Operation,
        *,
        volatile: bool = False,
        alignment: int | None = None,
    ):
        super().__init__(
            operands=[dst, val, len],
            properties={
                "isVolatile": IntegerAttr.from_bool(volatile),
                "arg_attrs": _alignment_attrs((alignment, None, None)),
            },
        )


class _VaListOp(IRDLOperation, ABC):
    """An operation on the `va_list` at `arg_list`."""

    arg_list = operand_def(LLVMPointerType)
    assembly_format = "$arg_list attr-dict `:` type($arg_list)"

    def __init__(self, arg_list: SSAValue | Operation):
        super().__init__(operands=[arg_list])


@irdl_op_definition
class VaStartOp(_VaListOp):
    """Begins reading variable arguments (C17 7.16.1.4)."""

    name = "llvm.intr.vastart"


@irdl_op_definition
class VaEndOp(_VaListOp):
    """Ends reading variable arguments (C17 7.16.1.3)."""

    name = "llvm.intr.vaend"


@irdl_op_definition
class VaCopyOp(IRDLOperation):
    """Copies the `va_list` at `src_list` to `dest_list` (C17 7.16.1.2)."""

    name = "llvm.intr.vacopy"
    dest_list = operand_def(LLVMPointerType)
    src_list = operand_def(LLVMPointerType)
    assembly_format = "$src_list `to` $dest_list attr-dict `:` type($src_list) `,` type($dest_list)"

    def __init__(self, dest_list: SSAValue | Operation, src_list: SSAValue | Operation):
        super().__init__(operands=[dest_list, src_list])


@irdl_op_definition
class VaArgOp(IRDLOperation):
    """The next variable argument, a scalar of C's promoted types (C17 7.16.1.1)."""

    name = "llvm.va_arg"
    arg_list = operand_def(LLVMPointerType)
    res = result_def()
    assembly_format = "$arg_list attr-dict `:` functional-type($arg_list, $res)"

    def __init__(self, arg_list: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[arg_list], result_types=[result_type])


@irdl_op_definition
class TrapOp(IRDLOperation):
    """Ends the program abnormally."""

    name = "llvm.intr.trap"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """The optimiser may assume `cond`."""

    name = "llvm.intr.assume"
    cond = operand_def(I1)
    assembly_format = "$cond attr-dict `:` type($cond)"

    def __init__(self, cond: SSAValue | Operation):
        super().__init__(operands=[cond])


@irdl_op_definition
class ExpectOp(IRDLOperation):
    """`val`, which is expected to equal `expected` (`__builtin_expect`)."""

    name = "llvm.intr.expect"

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)
    val = operand_def(T)
    expected = operand_def(T)
    res = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$val `,` $expected attr-dict `:` type($val)"

    def __init__(self, val: SSAValue | Operation, expected: SSAValue | Operation):
        super().__init__(operands=[val, expected], result_types=[SSAValue.get(val).type])
