"""Atomic read-modify-write, compare and exchange, and fences."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    AnyFloat,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.llvm import (
    LLVMPointerType,
    LLVMStructType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


class AtomicOrdering(IntEnum):
    """Memory orderings with upstream's numbers (LLVM LangRef, "Atomic Memory Ordering Constraints")."""

    not_atomic = 0
    unordered = 1
    monotonic = 2
    acquire = 4
    release = 5
    acq_rel = 6
    seq_cst = 7


class AtomicBinOp(IntEnum):
    """The update `llvm.atomicrmw` applies, with upstream's numbers."""

    xchg = 0
    add = 1
    sub = 2
    and_ = 3
    nand = 4
    or_ = 5
    xor = 6
    max = 7
    min = 8
    umax = 9
    umin = 10
    fadd = 11
    fsub = 12
    fmax = 13
    fmin = 14
    uinc_wrap = 15
    udec_wrap = 16
    usub_cond = 17
    usub_sat = 18

    @property
    def ir_name(self) -> str:
        """The operation's name in LLVM IR."""
        return self.name.rstrip("_")

    @property
    def keyword(self) -> str:
        """The operation's keyword in MLIR, where names of C++ keywords start with `_`."""
        return f"_{self.ir_name}" if self.ir_name in ("and", "or", "xor") else self.ir_name


_BIN_OP_BY_KEYWORD = {op.keyword: op for op in AtomicBinOp}


def _ordering_attr(ordering: AtomicOrdering | str) -> IntegerAttr[IntegerType]:
    if isinstance(ordering, str):
        ordering = AtomicOrdering[ordering]
    return IntegerAttr(int(ordering), i64)


def _parse_ordering(parser: Parser) -> AtomicOrdering:
    position = parser.pos
    keyword = parser.parse_identifier(" for atomic ordering")
    if keyword not in AtomicOrdering.__members__:
        parser.raise_error(f"unknown atomic ordering '{keyword}'", position)
    return AtomicOrdering[keyword]


def _parse_syncscope(parser: Parser) -> str | None:
    if parser.parse_optional_keyword("syncscope") is None:
        return None
    with parser.in_parens():
        return parser.parse_str_literal()


def _print_syncscope(printer: Printer, syncscope: StringAttr | None) -> None:
    if syncscope is not None:
        printer.print_string(" syncscope(")
        printer.print_string_literal(syncscope.data)
        printer.print_string(")")


def _access_properties(
    syncscope: str | None, alignment: int | None, volatile: bool
) -> dict[str, Attribute | None]:
    """The properties that an exchange and an update have in common."""
    return {
        "syncscope": None if syncscope is None else StringAttr(syncscope),
        "alignment": None if alignment is None else IntegerAttr(alignment, i64),
        "volatile_": UnitAttr() if volatile else None,
    }


def _print_end(op: AtomicRMWOp | CmpXchgOp, printer: Printer) -> None:
    """Prints the attributes, the alignment among them, and the types of the pointer and the value."""
    attrs = dict(op.attributes)
    if op.alignment is not None:
        attrs["alignment"] = op.alignment
    printer.print_op_attributes(attrs)
    printer.print_string(" : ")
    printer.print_list((op.ptr.type, op.val.type), printer.print_attribute)


def _parse_end(
    parser: Parser,
) -> tuple[dict[str, Attribute], int | None, Attribute, Attribute]:
    """The attributes, the alignment, and the types of the pointer and the value (`_print_end`)."""
    attrs = dict(parser.parse_optional_attr_dict())
    alignment = attrs.pop("alignment", None)
    known = alignment.value.data if isinstance(alignment, IntegerAttr) else None
    parser.parse_punctuation(":")
    ptr_type = parser.parse_type()
    parser.parse_punctuation(",")
    return attrs, known, ptr_type, parser.parse_type()


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """
    Reads, updates and writes one memory location atomically; the result is the old value.
    `syncscope` "device" and "block" are NVPTX's `.gpu` and `.cta` scopes, absent means `.sys`.
    """

    name = "llvm.atomicrmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    ptr = operand_def(LLVMPointerType)
    val = operand_def(T)
    res = result_def(T)

    bin_op = prop_def(IntegerAttr[I64])
    ordering = prop_def(IntegerAttr[I64])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[I64])
    volatile_ = opt_prop_def(UnitAttr)

    def __init__(
        self,
        bin_op: AtomicBinOp,
        ptr: SSAValue | Operation,
        val: SSAValue | Operation,
        ordering: AtomicOrdering | str = AtomicOrdering.monotonic,
        *,
        syncscope: str | None = None,
        alignment: int | None = None,
        volatile: bool = False,
    ):
        super().__init__(
            operands=[ptr, val],
            result_types=[SSAValue.get(val).type],
            properties={
                "bin_op": IntegerAttr(int(bin_op), i64),
                "ordering": _ordering_attr(ordering),
                **_access_properties(syncscope, alignment, volatile),
            },
        )

    @property
    def kind(self) -> AtomicBinOp:
        """The update as an enum."""
        return AtomicBinOp(self.bin_op.value.data)

    def print(self, printer: Printer) -> None:
        if self.volatile_ is not None:
            printer.print_string(" volatile")
        printer.print_string(f" {self.kind.keyword} ")
        printer.print_list((self.ptr, self.val), printer.print_ssa_value)
        _print_syncscope(printer, self.syncscope)
        printer.print_string(f" {AtomicOrdering(self.ordering.value.data).name}")
        _print_end(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> AtomicRMWOp:
        volatile = parser.parse_optional_keyword("volatile") is not None
        position = parser.pos
        keyword = parser.parse_identifier(" for atomic operation")
        if keyword not in _BIN_OP_BY_KEYWORD:
            parser.raise_error(f"unknown atomic operation '{keyword}'", position)
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        syncscope = _parse_syncscope(parser)
        ordering = _parse_ordering(parser)
        attrs, alignment, ptr_type, val_type = _parse_end(parser)
        op = cls(
            _BIN_OP_BY_KEYWORD[keyword],
            parser.resolve_operand(ptr, ptr_type),
            parser.resolve_operand(val, val_type),
            ordering,
            syncscope=syncscope,
            alignment=alignment,
            volatile=volatile,
        )
        op.attributes |= attrs
        return op

    def verify_(self) -> None:
        code = self.bin_op.value.data
        if code not in AtomicBinOp._value2member_map_:
            raise VerifyException(f"unknown atomic operation number {code}")
        is_float = isinstance(self.val.type, AnyFloat)
        if is_float and self.kind not in (
            AtomicBinOp.fadd,
            AtomicBinOp.fsub,
            AtomicBinOp.fmax,
            AtomicBinOp.fmin,
            AtomicBinOp.xchg,
        ):
            raise VerifyException(f"'{self.kind.ir_name}' needs an integer, got {self.val.type}")
        if not is_float and self.kind.ir_name.startswith("f"):
            raise VerifyException(
                f"'{self.kind.ir_name}' needs a floating-point type, got {self.val.type}"
            )


@irdl_op_definition
class CmpXchgOp(IRDLOperation):
    """
    Atomic compare and exchange; the result is `(old value, whether it was replaced)` as a struct.
    """

    name = "llvm.cmpxchg"

    T: ClassVar = VarConstraint("T", AnyAttr())

    ptr = operand_def(LLVMPointerType)
    cmp = operand_def(T)
    val = operand_def(T)
    res = result_def(LLVMStructType)

    success_ordering = prop_def(IntegerAttr[I64])
    failure_ordering = prop_def(IntegerAttr[I64])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[I64])
    weak = opt_prop_def(UnitAttr)
    volatile_ = opt_prop_def(UnitAttr)

    def __init__(
        self,
        ptr: SSAValue | Operation,
        cmp: SSAValue | Operation,
        val: SSAValue | Operation,
        success: AtomicOrdering | str = AtomicOrdering.monotonic,
        failure: AtomicOrdering | str = AtomicOrdering.monotonic,
        *,
        syncscope: str | None = None,
        alignment: int | None = None,
        weak: bool = False,
        volatile: bool = False,
    ):
        super().__init__(
            operands=[ptr, cmp, val],
            result_types=[LLVMStructType.from_type_list([SSAValue.get(val).type, i1])],
            properties={
                "success_ordering": _ordering_attr(success),
                "failure_ordering": _ordering_attr(failure),
                "weak": UnitAttr() if weak else None,
                **_access_properties(syncscope, alignment, volatile),
            },
        )

    def print(self, printer: Printer) -> None:
        if self.weak is not None:
            printer.print_string(" weak")
        if self.volatile_ is not None:
            printer.print_string(" volatile")
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_syncscope(printer, self.syncscope)
        printer.print_string(f" {AtomicOrdering(self.success_ordering.value.data).name}")
        printer.print_string(f" {AtomicOrdering(self.failure_ordering.value.data).name}")
        _print_end(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> CmpXchgOp:
        weak = parser.parse_optional_keyword("weak") is not None
        volatile = parser.parse_optional_keyword("volatile") is not None
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        cmp = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        syncscope = _parse_syncscope(parser)
        success = _parse_ordering(parser)
        failure = _parse_ordering(parser)
        attrs, alignment, ptr_type, val_type = _parse_end(parser)
        op = cls(
            parser.resolve_operand(ptr, ptr_type),
            parser.resolve_operand(cmp, val_type),
            parser.resolve_operand(val, val_type),
            success,
            failure,
            syncscope=syncscope,
            alignment=alignment,
            weak=weak,
            volatile=volatile,
        )
        op.attributes |= attrs
        return op

    def verify_(self) -> None:
        expected = LLVMStructType.from_type_list([self.val.type, i1])
        if self.res.type != expected:
            raise VerifyException(f"expected the result type {expected}, got {self.res.type}")


@irdl_op_definition
class FenceOp(IRDLOperation):
    """Orders memory accesses around it; scopes as for `llvm.atomicrmw`."""

    name = "llvm.fence"

    ordering = prop_def(IntegerAttr[I64])
    syncscope = opt_prop_def(StringAttr)

    def __init__(
        self,
        ordering: AtomicOrdering | str = AtomicOrdering.seq_cst,
        *,
        syncscope: str | None = None,
    ):
        super().__init__(
            properties={
                "ordering": _ordering_attr(ordering),
                "syncscope": None if syncscope is None else StringAttr(syncscope),
            }
        )

    def print(self, printer: Printer) -> None:
        _print_syncscope(printer, self.syncscope)
        printer.print_string(f" {AtomicOrdering(self.ordering.value.data).name}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> FenceOp:
        syncscope = _parse_syncscope(parser)
        op = cls(_parse_ordering(parser), syncscope=syncscope)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def verify_(self) -> None:
        ordering = AtomicOrdering(self.ordering.value.data)
        if ordering in (
            AtomicOrdering.not_atomic,
            AtomicOrdering.unordered,
            AtomicOrdering.monotonic,
        ):
            raise VerifyException(
                f"expected acquire, release, acq_rel or seq_cst, got {ordering.name}"
            )
