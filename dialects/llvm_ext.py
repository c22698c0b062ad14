"""
`llvm` operations of upstream MLIR that xDSL lacks, under upstream's names and syntax: atomics,
`switch`, the remaining conversions, C's variable arguments and more intrinsics.

`LLVM_EXT` is xDSL's `llvm` dialect and these operations, to be loaded in its place. Operations that
xDSL gains must be dropped here.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    I32,
    I64,
    AnyFloat,
    AnyFloatConstr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    LLVM,
    FastMathAttr,
    GenericCastOp,
    LLVMPointerType,
    LLVMStructType,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
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
        return f"_{self.ir_name}" if self.ir_name in ("xchg", "and", "or", "xor") else self.ir_name


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


def _pop_alignment(attrs: dict[str, Attribute]) -> int | None:
    alignment = attrs.pop("alignment", None)
    return alignment.value.data if isinstance(alignment, IntegerAttr) else None


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
                "syncscope": None if syncscope is None else StringAttr(syncscope),
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
                "volatile_": UnitAttr() if volatile else None,
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
        attrs = dict(self.attributes)
        if self.alignment is not None:
            attrs["alignment"] = self.alignment
        printer.print_op_attributes(attrs)
        printer.print_string(" : ")
        printer.print_list((self.ptr.type, self.val.type), printer.print_attribute)

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
        attrs = dict(parser.parse_optional_attr_dict())
        alignment = _pop_alignment(attrs)
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        val_type = parser.parse_type()
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
                "syncscope": None if syncscope is None else StringAttr(syncscope),
                "alignment": None if alignment is None else IntegerAttr(alignment, i64),
                "weak": UnitAttr() if weak else None,
                "volatile_": UnitAttr() if volatile else None,
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
        attrs = dict(self.attributes)
        if self.alignment is not None:
            attrs["alignment"] = self.alignment
        printer.print_op_attributes(attrs)
        printer.print_string(" : ")
        printer.print_list((self.ptr.type, self.val.type), printer.print_attribute)

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
        attrs = dict(parser.parse_optional_attr_dict())
        alignment = _pop_alignment(attrs)
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        val_type = parser.parse_type()
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
                VectorType(value.type, [len(cases)]), [number for number, _, _ in cases]
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
    """The same object's pointer in another address space."""

    name = "llvm.addrspacecast"


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """Stops poison: an arbitrary but fixed value where `val` is undefined."""

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


@irdl_op_definition
class VaStartOp(IRDLOperation):
    """Begins reading variable arguments into the `va_list` at `arg_list` (C17 7.16.1.4)."""

    name = "llvm.intr.vastart"
    arg_list = operand_def(LLVMPointerType)
    assembly_format = "$arg_list attr-dict `:` type($arg_list)"

    def __init__(self, arg_list: SSAValue | Operation):
        super().__init__(operands=[arg_list])


@irdl_op_definition
class VaEndOp(IRDLOperation):
    """Ends reading variable arguments (C17 7.16.1.3)."""

    name = "llvm.intr.vaend"
    arg_list = operand_def(LLVMPointerType)
    assembly_format = "$arg_list attr-dict `:` type($arg_list)"

    def __init__(self, arg_list: SSAValue | Operation):
        super().__init__(operands=[arg_list])


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
    """
    The next variable argument. On x86-64 LLVM's `va_arg` handles scalars that the ABI passes in
    registers or on the stack incorrectly for some types, so the printer expands it (see
    `llvmir/varargs.py`).
    """

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


class FloatIntrinsicOp(IRDLOperation, ABC):
    """Base of intrinsics on floating-point values of one type, with fast-math flags."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    args = var_operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    ARITY: ClassVar[int] = 1

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $args `)` attr-dict `:` functional-type($args, $res)"

    def __init__(self, *args: SSAValue | Operation, fast_math: FastMathAttr | None = None):
        super().__init__(
            operands=[list(args)],
            result_types=[SSAValue.get(args[0]).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )

    def verify_(self) -> None:
        if len(self.args) != self.ARITY:
            raise VerifyException(f"expected {self.ARITY} operands, got {len(self.args)}")


class IntegerIntrinsicOp(IRDLOperation, ABC):
    """Base of intrinsics on integers of one type."""

    T: ClassVar = VarConstraint(
        "T", SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
    )

    args = var_operand_def(T)
    res = result_def(T)

    ARITY: ClassVar[int] = 1

    traits = traits_def(Pure())
    assembly_format = "`(` $args `)` attr-dict `:` functional-type($args, $res)"

    def __init__(self, *args: SSAValue | Operation):
        super().__init__(operands=[list(args)], result_types=[SSAValue.get(args[0]).type])

    def verify_(self) -> None:
        if len(self.args) != self.ARITY:
            raise VerifyException(f"expected {self.ARITY} operands, got {len(self.args)}")


class ZeroPoisonIntrinsicOp(IRDLOperation, ABC):
    """Base of bit counts that may be undefined for zero (`is_zero_poison`)."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    arg = operand_def(T)
    res = result_def(T)
    is_zero_poison = prop_def(IntegerAttr[I1])

    traits = traits_def(Pure())

    def __init__(self, arg: SSAValue | Operation, *, is_zero_poison: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={"is_zero_poison": IntegerAttr.from_bool(is_zero_poison)},
        )


@irdl_op_definition
class CtlzOp(ZeroPoisonIntrinsicOp):
    """Number of leading zero bits."""

    name = "llvm.intr.ctlz"


@irdl_op_definition
class CttzOp(ZeroPoisonIntrinsicOp):
    """Number of trailing zero bits."""

    name = "llvm.intr.cttz"


@irdl_op_definition
class AbsOp(IRDLOperation):
    """Absolute value of a signed integer."""

    name = "llvm.intr.abs"

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    arg = operand_def(T)
    res = result_def(T)
    is_int_min_poison = prop_def(IntegerAttr[I1])

    traits = traits_def(Pure())

    def __init__(self, arg: SSAValue | Operation, *, is_int_min_poison: bool = False):
        super().__init__(
            operands=[arg],
            result_types=[SSAValue.get(arg).type],
            properties={"is_int_min_poison": IntegerAttr.from_bool(is_int_min_poison)},
        )


@irdl_op_definition
class IsFPClassOp(IRDLOperation):
    """Whether `arg` is in one of the classes of the mask `bit` (LLVM LangRef, `llvm.is.fpclass`)."""

    name = "llvm.intr.is.fpclass"

    arg = operand_def(AnyFloatConstr)
    res = result_def(I1)
    bit = prop_def(IntegerAttr[I32])

    traits = traits_def(Pure())

    NAN: ClassVar[int] = 0b11
    INFINITE: ClassVar[int] = 0b1000000100
    FINITE: ClassVar[int] = 0b0111111000
    NORMAL: ClassVar[int] = 0b0100001000
    NEGATIVE: ClassVar[int] = 0b0000111100

    def __init__(self, arg: SSAValue | Operation, bit: int):
        super().__init__(
            operands=[arg], result_types=[i1], properties={"bit": IntegerAttr(bit, i32)}
        )


@irdl_op_definition
class PowIOp(IRDLOperation):
    """`val` to an integer power."""

    name = "llvm.intr.powi"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    val = operand_def(T)
    power = operand_def(IntegerType)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        val: SSAValue | Operation,
        power: SSAValue | Operation,
        fast_math: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[val, power],
            result_types=[SSAValue.get(val).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


@irdl_op_definition
class RintOp(FloatIntrinsicOp):
    """Rounds to an integer in the current rounding mode, may raise inexact."""

    name = "llvm.intr.rint"


@irdl_op_definition
class NearbyintOp(FloatIntrinsicOp):
    """Rounds to an integer in the current rounding mode."""

    name = "llvm.intr.nearbyint"


@irdl_op_definition
class RoundOp(FloatIntrinsicOp):
    """Rounds half away from zero."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(FloatIntrinsicOp):
    """Rounds half to even."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class FTruncOp(FloatIntrinsicOp):
    """Rounds towards zero."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class Log10Op(FloatIntrinsicOp):
    """Logarithm to base 10."""

    name = "llvm.intr.log10"


@irdl_op_definition
class Exp10Op(FloatIntrinsicOp):
    """Power of 10."""

    name = "llvm.intr.exp10"


@irdl_op_definition
class TanOp(FloatIntrinsicOp):
    """Tangent."""

    name = "llvm.intr.tan"


@irdl_op_definition
class ASinOp(FloatIntrinsicOp):
    """Arc sine."""

    name = "llvm.intr.asin"


@irdl_op_definition
class ACosOp(FloatIntrinsicOp):
    """Arc cosine."""

    name = "llvm.intr.acos"


@irdl_op_definition
class ATanOp(FloatIntrinsicOp):
    """Arc tangent."""

    name = "llvm.intr.atan"


@irdl_op_definition
class SinhOp(FloatIntrinsicOp):
    """Hyperbolic sine."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class CoshOp(FloatIntrinsicOp):
    """Hyperbolic cosine."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class TanhOp(FloatIntrinsicOp):
    """Hyperbolic tangent."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class ATan2Op(FloatIntrinsicOp):
    """Arc tangent of a quotient in the right quadrant."""

    name = "llvm.intr.atan2"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class MaximumOp(FloatIntrinsicOp):
    """Maximum that propagates NaN (IEEE 754-2019 `maximum`)."""

    name = "llvm.intr.maximum"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class MinimumOp(FloatIntrinsicOp):
    """Minimum that propagates NaN (IEEE 754-2019 `minimum`)."""

    name = "llvm.intr.minimum"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class FMulAddOp(FloatIntrinsicOp):
    """`a * b + c`, fused where that is faster."""

    name = "llvm.intr.fmuladd"
    ARITY: ClassVar[int] = 3


@irdl_op_definition
class CtPopOp(IntegerIntrinsicOp):
    """Number of set bits."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class BSwapOp(IntegerIntrinsicOp):
    """Reverses the bytes."""

    name = "llvm.intr.bswap"


@irdl_op_definition
class BitReverseOp(IntegerIntrinsicOp):
    """Reverses the bits."""

    name = "llvm.intr.bitreverse"


@irdl_op_definition
class SMaxOp(IntegerIntrinsicOp):
    """Signed maximum."""

    name = "llvm.intr.smax"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class SMinOp(IntegerIntrinsicOp):
    """Signed minimum."""

    name = "llvm.intr.smin"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class UMaxOp(IntegerIntrinsicOp):
    """Unsigned maximum."""

    name = "llvm.intr.umax"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class UMinOp(IntegerIntrinsicOp):
    """Unsigned minimum."""

    name = "llvm.intr.umin"
    ARITY: ClassVar[int] = 2


@irdl_op_definition
class FshlOp(IntegerIntrinsicOp):
    """Funnel shift left (a rotation when both values are equal)."""

    name = "llvm.intr.fshl"
    ARITY: ClassVar[int] = 3


@irdl_op_definition
class FshrOp(IntegerIntrinsicOp):
    """Funnel shift right."""

    name = "llvm.intr.fshr"
    ARITY: ClassVar[int] = 3


LLVM_EXT = Dialect(
    "llvm",
    [
        *LLVM.operations,
        ACosOp,
        ASinOp,
        ATan2Op,
        ATanOp,
        AbsOp,
        AddrSpaceCastOp,
        AssumeOp,
        AtomicRMWOp,
        BSwapOp,
        BitReverseOp,
        CmpXchgOp,
        CoshOp,
        CtPopOp,
        CtlzOp,
        CttzOp,
        Exp10Op,
        ExpectOp,
        FMulAddOp,
        FPToSIOp,
        FPToUIOp,
        FTruncOp,
        FenceOp,
        FreezeOp,
        FshlOp,
        FshrOp,
        IsFPClassOp,
        Log10Op,
        MaximumOp,
        MemcpyOp,
        MemmoveOp,
        MemsetOp,
        MinimumOp,
        NearbyintOp,
        PoisonOp,
        PowIOp,
        RintOp,
        RoundEvenOp,
        RoundOp,
        SMaxOp,
        SMinOp,
        SinhOp,
        SwitchOp,
        TanOp,
        TanhOp,
        TrapOp,
        UIToFPOp,
        UMaxOp,
        UMinOp,
        VaArgOp,
        VaCopyOp,
        VaEndOp,
        VaStartOp,
    ],
    [*LLVM.attributes, ConstantRangeAttr],
)
