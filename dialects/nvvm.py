"""
`nvvm`: the operations of upstream MLIR's dialect that accopt's kernels use, under upstream's names
and syntax. Chapters are those of the PTX ISA 8.8 manual.

Kernels are `llvm.func`s with the discardable attribute `nvvm.kernel`; `nvvm.reqntid`,
`nvvm.maxntid` (arrays of up to three i32) and `nvvm.minctasm` (i32) are the performance-tuning
directives of chapter 11.4.
"""

from __future__ import annotations

from abc import ABC
from typing import NamedTuple

from xdsl.dialects.builtin import (
    I1,
    I32,
    Float32Type,
    IntegerAttr,
    NoneAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Dialect,
    Operation,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .llvm_ext import ConstantRangeAttr

KERNEL = "nvvm.kernel"
REQNTID = "nvvm.reqntid"
MAXNTID = "nvvm.maxntid"
MINCTASM = "nvvm.minctasm"

ADDRESS_SPACE_GLOBAL = 1
ADDRESS_SPACE_SHARED = 3
ADDRESS_SPACE_CONSTANT = 4
ADDRESS_SPACE_LOCAL = 5


class SpecialRegisterOp(IRDLOperation, ABC):
    """Base of reads of special registers (PTX ISA 10): an i32, optionally with its known range."""

    range = opt_prop_def(ConstantRangeAttr)
    res = result_def(i32)

    traits = traits_def(Pure())

    def __init__(self, range: tuple[int, int] | None = None):
        """`range` is the half-open interval of possible values."""
        super().__init__(
            properties={"range": None if range is None else ConstantRangeAttr.from_bounds(*range)},
            result_types=[i32],
        )

    def print(self, printer: Printer) -> None:
        if self.range is not None:
            printer.print_string(" range ")
            self.range.print_parameters(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> SpecialRegisterOp:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("range") is not None:
            properties["range"] = ConstantRangeAttr.new(ConstantRangeAttr.parse_parameters(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )


@irdl_op_definition
class ThreadIdXOp(SpecialRegisterOp):
    """`%tid.x`: the thread's position in the block (PTX ISA 10.1)."""

    name = "nvvm.read.ptx.sreg.tid.x"


@irdl_op_definition
class ThreadIdYOp(SpecialRegisterOp):
    """`%tid.y` (PTX ISA 10.1)."""

    name = "nvvm.read.ptx.sreg.tid.y"


@irdl_op_definition
class ThreadIdZOp(SpecialRegisterOp):
    """`%tid.z` (PTX ISA 10.1)."""

    name = "nvvm.read.ptx.sreg.tid.z"


@irdl_op_definition
class BlockDimXOp(SpecialRegisterOp):
    """`%ntid.x`: threads per block (PTX ISA 10.2)."""

    name = "nvvm.read.ptx.sreg.ntid.x"


@irdl_op_definition
class BlockDimYOp(SpecialRegisterOp):
    """`%ntid.y` (PTX ISA 10.2)."""

    name = "nvvm.read.ptx.sreg.ntid.y"


@irdl_op_definition
class BlockDimZOp(SpecialRegisterOp):
    """`%ntid.z` (PTX ISA 10.2)."""

    name = "nvvm.read.ptx.sreg.ntid.z"


@irdl_op_definition
class LaneIdOp(SpecialRegisterOp):
    """`%laneid`: the thread's lane in its warp (PTX ISA 10.3)."""

    name = "nvvm.read.ptx.sreg.laneid"


@irdl_op_definition
class WarpIdOp(SpecialRegisterOp):
    """`%warpid`: the warp's slot, which may change (PTX ISA 10.4)."""

    name = "nvvm.read.ptx.sreg.warpid"


@irdl_op_definition
class WarpSizeOp(SpecialRegisterOp):
    """`WARP_SZ`: lanes of a warp (PTX ISA 4.5)."""

    name = "nvvm.read.ptx.sreg.warpsize"


@irdl_op_definition
class BlockIdXOp(SpecialRegisterOp):
    """`%ctaid.x`: the block's position in the grid (PTX ISA 10.6)."""

    name = "nvvm.read.ptx.sreg.ctaid.x"


@irdl_op_definition
class BlockIdYOp(SpecialRegisterOp):
    """`%ctaid.y` (PTX ISA 10.6)."""

    name = "nvvm.read.ptx.sreg.ctaid.y"


@irdl_op_definition
class BlockIdZOp(SpecialRegisterOp):
    """`%ctaid.z` (PTX ISA 10.6)."""

    name = "nvvm.read.ptx.sreg.ctaid.z"


@irdl_op_definition
class GridDimXOp(SpecialRegisterOp):
    """`%nctaid.x`: blocks of the grid (PTX ISA 10.7)."""

    name = "nvvm.read.ptx.sreg.nctaid.x"


@irdl_op_definition
class GridDimYOp(SpecialRegisterOp):
    """`%nctaid.y` (PTX ISA 10.7)."""

    name = "nvvm.read.ptx.sreg.nctaid.y"


@irdl_op_definition
class GridDimZOp(SpecialRegisterOp):
    """`%nctaid.z` (PTX ISA 10.7)."""

    name = "nvvm.read.ptx.sreg.nctaid.z"


class SpecialRegisterFamily(NamedTuple):
    """The x, y and z register of one quantity."""

    x: type[SpecialRegisterOp]
    y: type[SpecialRegisterOp]
    z: type[SpecialRegisterOp]


THREAD_ID = SpecialRegisterFamily(ThreadIdXOp, ThreadIdYOp, ThreadIdZOp)
BLOCK_DIM = SpecialRegisterFamily(BlockDimXOp, BlockDimYOp, BlockDimZOp)
BLOCK_ID = SpecialRegisterFamily(BlockIdXOp, BlockIdYOp, BlockIdZOp)
GRID_DIM = SpecialRegisterFamily(GridDimXOp, GridDimYOp, GridDimZOp)


@irdl_op_definition
class Barrier0Op(IRDLOperation):
    """`barrier.sync 0`: waits for all threads of the block (PTX ISA 9.7.13.1)."""

    name = "nvvm.barrier0"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    `barrier.sync id, n`: waits until `number_of_threads` threads (a multiple of the warp size; all
    if absent) have arrived at the barrier `barrier_id`, 0 to 15 (PTX ISA 9.7.13.1).
    """

    name = "nvvm.barrier"

    barrier_id = opt_operand_def(I32)
    number_of_threads = opt_operand_def(I32)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "(`id` `=` $barrier_id^)? (`number_of_threads` `=` $number_of_threads^)? attr-dict"
    )

    def __init__(
        self,
        barrier_id: SSAValue | Operation | None = None,
        number_of_threads: SSAValue | Operation | None = None,
    ):
        super().__init__(operands=[barrier_id, number_of_threads])

    def verify_(self) -> None:
        if self.number_of_threads is not None and self.barrier_id is None:
            raise VerifyException("a number of threads needs a barrier id")


@irdl_op_definition
class SyncWarpOp(IRDLOperation):
    """`bar.warp.sync`: waits for the lanes of `mask` and orders their memory (PTX ISA 9.7.13.2)."""

    name = "nvvm.bar.warp.sync"
    mask = operand_def(I32)
    assembly_format = "$mask attr-dict `:` type($mask)"

    def __init__(self, mask: SSAValue | Operation):
        super().__init__(operands=[mask])


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
    """What a vote computes of the predicates of its lanes."""

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


class MemScope(StrEnum):
    """The threads among which an operation orders memory (PTX ISA 8.5)."""

    CTA = "cta"
    CLUSTER = "cluster"
    GPU = "gpu"
    SYS = "sys"


@irdl_attr_definition
class MemScopeAttr(EnumAttribute[MemScope]):
    name = "nvvm.mem_scope"

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemScope:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)


@irdl_op_definition
class MemoryBarrierOp(IRDLOperation):
    """
    `membar`: orders the thread's memory accesses for the threads of `scope`: `cta` block, `gpu`
    device, `sys` system (PTX ISA 9.7.13.4). Upstream before 22 had one operation per scope
    (`nvvm.membar.cta`, …).
    """

    name = "nvvm.memory.barrier"

    scope = prop_def(MemScopeAttr)

    def __init__(self, scope: MemScope):
        super().__init__(properties={"scope": MemScopeAttr(scope)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.scope.print_parameter(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> MemoryBarrierOp:
        if parser.parse_optional_punctuation("<") is not None:
            scope = parser.parse_str_enum(MemScope)
            parser.parse_punctuation(">")
        else:
            attribute = parser.parse_attribute()
            if not isinstance(attribute, MemScopeAttr):
                parser.raise_error("expected a memory scope")
            scope = attribute.data
        op = cls(scope)
        op.attributes |= parser.parse_optional_attr_dict()
        return op


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
        """`cp_size`: bytes really read, the rest of `size` is filled with zeros."""
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
        for operand, space in ((self.dst, ADDRESS_SPACE_SHARED), (self.src, ADDRESS_SPACE_GLOBAL)):
            assert isinstance(operand.type, LLVMPointerType)
            found = operand.type.addr_space
            if isinstance(found, NoneAttr) or found.data != space:
                raise VerifyException(f"expected !llvm.ptr<{space}>, got {operand.type}")


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


_SPECIAL_REGISTERS: tuple[type[SpecialRegisterOp], ...] = (
    *THREAD_ID,
    *BLOCK_DIM,
    *BLOCK_ID,
    *GRID_DIM,
    LaneIdOp,
    WarpIdOp,
    WarpSizeOp,
)

NVVM = Dialect(
    "nvvm",
    [
        *_SPECIAL_REGISTERS,
        Barrier0Op,
        BarrierOp,
        CpAsyncCommitGroupOp,
        CpAsyncOp,
        CpAsyncWaitGroupOp,
        MemoryBarrierOp,
        ReduxOp,
        ShflOp,
        SyncWarpOp,
        VoteSyncOp,
    ],
    [
        LoadCacheModifierAttr,
        MemScopeAttr,
        ReduxKindAttr,
        ShflKindAttr,
        VoteSyncKindAttr,
    ],
)
