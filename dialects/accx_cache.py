"""
Operations of `accx` for tiles of arrays in the memory that the threads of a gang share:
`promote-cache-to-shared` lowers `acc.cache` to them, and the GPU lowering turns them into the threads,
shared memory and barriers of a thread block.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float64Type,
    IntegerAttr,
    StringAttr,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from .nvvm import SHARED_POINTER, MmaOp, MMAShapeAttr


@irdl_op_definition
class GangThreadsOp(IRDLOperation):
    """
    Every thread of a gang runs the region once, independently. The block arguments (i32) are the
    thread's coordinates in a box of `shape` threads, outermost first; the last one is the lane. The gang
    has as many threads as the box.
    """

    name = "accx.gang_threads"

    shape = prop_def(ArrayAttr[IntegerAttr])
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    assembly_format = "$shape $body attr-dict"

    def __init__(self, shape: Sequence[int], body: Region):
        super().__init__(
            regions=[body],
            properties={"shape": ArrayAttr([IntegerAttr(size, i64) for size in shape])},
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The threads in each direction, outermost first."""
        return tuple(size.value.data for size in self.shape)


@irdl_op_definition
class SharedTileOp(IRDLOperation):
    """`bytes` of memory that the threads of a gang share, 16-byte aligned; `tile_name` is for symbols."""

    name = "accx.shared_tile"

    bytes = prop_def(IntegerAttr)
    tile_name = prop_def(StringAttr)
    result = result_def(LLVMPointerType)

    assembly_format = "$tile_name $bytes attr-dict `:` type($result)"

    def __init__(self, bytes: int, name: str):
        super().__init__(
            properties={"bytes": IntegerAttr(bytes, i64), "tile_name": StringAttr(name)},
            result_types=[SHARED_POINTER],
        )


@irdl_op_definition
class GangBarrierOp(IRDLOperation):
    """All threads of the gang wait for each other; writes before the barrier are visible after it."""

    name = "accx.gang_barrier"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class GangSumOp(IRDLOperation):
    """The sum of a value (i32) over all threads of the gang, available to all of them; includes a barrier."""

    name = "accx.gang_sum"

    value = operand_def(i32)
    result = result_def(i32)

    assembly_format = "$value attr-dict"

    def __init__(self, value: SSAValue | Operation):
        super().__init__(operands=[value], result_types=[i32])


@irdl_op_definition
class HoldsInBlockOp(IRDLOperation):
    """
    Whether a condition holds in this iteration, or in one of those that run with it in a block that shares
    tiles, which then all have the same result.
    """

    name = "accx.holds_in_block"

    condition = operand_def(i1)
    result = result_def(i1)

    traits = traits_def(Pure())
    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue | Operation):
        super().__init__(operands=[condition], result_types=[i1])


@irdl_op_definition
class CopyAsyncOp(IRDLOperation):
    """
    Starts a copy of `bytes` (4, 8 or 16, both sides aligned to them) from global memory into a
    shared tile; the bytes have arrived after the next `accx.wait_copies`.
    """

    name = "accx.copy_async"

    target = operand_def(LLVMPointerType)
    source = operand_def(LLVMPointerType)
    bytes = prop_def(IntegerAttr)

    assembly_format = "$source `to` $target $bytes attr-dict `:` type($source) `to` type($target)"

    def __init__(self, source: SSAValue | Operation, target: SSAValue | Operation, bytes: int):
        super().__init__(operands=[target, source], properties={"bytes": IntegerAttr(bytes, i64)})

    def verify_(self) -> None:
        if self.bytes.value.data not in (4, 8, 16):
            raise VerifyException(f"expected 4, 8 or 16 bytes, got {self.bytes.value.data}")


@irdl_op_definition
class WaitCopiesOp(IRDLOperation):
    """The thread waits for the copies it has started with `accx.copy_async`."""

    name = "accx.wait_copies"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WarpProductOp(IRDLOperation):
    """
    All lanes of a warp together add the product of two matrices of doubles to `sums`. Each lane has its
    fragment of the elements, as defined for `nvvm.mma.sync` of this shape. Each result is a chain of fused
    multiply-adds in the order of terms.
    """

    name = "accx.warp_product"

    left = var_operand_def(Float64Type)
    right = var_operand_def(Float64Type)
    sums = var_operand_def(Float64Type)
    added = var_result_def(Float64Type)
    shape = prop_def(MMAShapeAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$shape $left `by` $right `to` $sums attr-dict `:` type($added)"

    def __init__(
        self,
        shape: tuple[int, int, int],
        left: Sequence[SSAValue],
        right: Sequence[SSAValue],
        sums: Sequence[SSAValue],
    ):
        super().__init__(
            operands=[left, right, sums],
            result_types=[[f64] * len(sums)],
            properties={"shape": MMAShapeAttr.of(shape)},
        )

    def verify_(self) -> None:
        MmaOp.check_counts(self.shape, self.left, self.right, self.sums)


@irdl_op_definition
class OpaqueOp(IRDLOperation):
    """
    The operand (i32) as a value of which LLVM knows nothing, so that computations from it stay in the
    branch of this operation.
    """

    name = "accx.opaque"

    value = operand_def(i32)
    result = result_def(i32)

    assembly_format = "$value attr-dict"

    def __init__(self, value: SSAValue | Operation):
        super().__init__(operands=[value], result_types=[i32])


OPERATIONS = (
    GangThreadsOp,
    SharedTileOp,
    GangBarrierOp,
    GangSumOp,
    HoldsInBlockOp,
    CopyAsyncOp,
    WaitCopiesOp,
    WarpProductOp,
    OpaqueOp,
)
