"""Special registers: the place of a thread in its grid (PTX ISA, chapter 10)."""

from __future__ import annotations

from abc import ABC
from typing import NamedTuple

from xdsl.dialects.builtin import (
    i32,
)
from xdsl.ir import (
    Attribute,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ..llvm_ext import ConstantRangeAttr


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


SPECIAL_REGISTERS: tuple[type[SpecialRegisterOp], ...] = (
    *THREAD_ID,
    *BLOCK_DIM,
    *BLOCK_ID,
    *GRID_DIM,
    LaneIdOp,
    WarpIdOp,
    WarpSizeOp,
)
