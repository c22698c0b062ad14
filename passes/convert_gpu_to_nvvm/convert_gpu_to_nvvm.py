"""
Turn the code in `gpu.module`s into functions for NVIDIA GPUs: kernels, special registers, barriers,
and libdevice in place of C's library (PTX ISA, chapters 9 and 10).

Takes:  the gpu level without `scf`; host code is not touched.
Leaves: `llvm.func`, kernels with `nvvm.kernel` and `nvvm.reqntid`; no `gpu` operation except the
        modules; no calls of C library functions.
Fails:  on functions that GPUs do not have, at the call, on `long double`, on variable arguments, and on
        other `gpu` operations.

Variables in shared memory marked `accx.dynamic` become offsets in the launch's dynamic shared memory, which
may be larger than the memory that a kernel can declare (`dynamic_shared.py`).

After recursion, the lanes of a warp are synchronised before they shuffle (`warp_convergence.py`).

Thread and block indices remain i32: casts of them to i32 are removed, and an `index` is made only for other
uses.

Before:
  gpu.func @k(%x : !llvm.ptr) kernel attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    gpu.barrier
    gpu.return
  }
After:
  llvm.func @k(%x : !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %i = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
    nvvm.barrier0
    llvm.return
  }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import llvm_ext, nvvm
from ...dialects.dense import integers
from ...dialects.layout import is_long_double
from ..decisions.device_math import LLVM_OPERATIONS, MATH_OPERATIONS
from ..ir.ops.building import Cursor, erase
from ..ir.ops.machine import machine_of
from .dynamic_shared import place_dynamic_tiles
from .gpu_library_calls import LibraryCalls
from .warp_convergence import bring_lanes_together

_DIMENSIONS = {gpu.DimensionEnum.X: 0, gpu.DimensionEnum.Y: 1, gpu.DimensionEnum.Z: 2}
_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = ((1 << 31) - 1, 65535, 65535)
"""The launch limits from compute capability 5.0 on (CUDA C++ Programming Guide, Technical Specifications)."""

_WARP_SIZE = 32

_VARIABLE_ARGUMENTS = (llvm_ext.VaStartOp, llvm_ext.VaEndOp, llvm_ext.VaCopyOp, llvm_ext.VaArgOp)


def register_range(
    family: nvvm.SpecialRegisterFamily, dimension: int, block: Sequence[int] | None
) -> tuple[int, int]:
    """The range `[low, high)` of a special register in kernels with this block size (None: unknown)."""
    size = _MAX_BLOCK[dimension] if block is None else block[dimension]
    if family is nvvm.THREAD_ID:
        return 0, size
    if family is nvvm.BLOCK_DIM:
        return (1 if block is None else size), size + 1
    if family is nvvm.BLOCK_ID:
        return 0, _MAX_GRID[dimension]
    return 1, _MAX_GRID[dimension] + 1 if dimension else _MAX_GRID[dimension]


def _replace_index(op: Operation, value: SSAValue, cursor: Cursor) -> None:
    """
    Replaces the `index` result of `op` by the i32 `value`: casts to i32 become the value itself, casts to
    i64 extensions, other uses get an `index`.
    """
    result = op.results[0]
    value.name_hint = result.name_hint
    others = False
    for use in tuple(result.uses):
        user = use.operation
        if not isinstance(user, arith.IndexCastOp):
            others = True
            continue
        target = user.results[0]
        replacement = value
        if target.type != i32:
            type = cast(IntegerType, target.type)
            extend_or_cut = arith.ExtSIOp if type.width.data > 32 else arith.TruncIOp
            replacement = cursor.value(extend_or_cut(value, type))
        hint = target.name_hint
        target.replace_all_uses_with(replacement)
        replacement.name_hint = hint or result.name_hint
        erase(user)
    if others:
        index = cursor.value(arith.IndexCastOp(value, IndexType()), result.name_hint)
        result.replace_all_uses_with(index)
    erase(op)


def _register(family: nvvm.SpecialRegisterFamily) -> Callable[[KernelLowering, Operation], None]:
    def lower(lowering: KernelLowering, op: Operation) -> None:
        assert isinstance(op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp)
        dimension = _DIMENSIONS[op.dimension.data]
        cursor = Cursor.before(op)
        low, high = register_range(family, dimension, lowering.block_size)
        if high - low == 1:
            value = cursor.value(arith.ConstantOp(IntegerAttr(low, i32)))
        else:
            value = cursor.value(family[dimension]((low, high)))
        _replace_index(op, value, cursor)

    return lower


def _global_id(lowering: KernelLowering, op: Operation) -> None:
    """Lowers to `block id * block dimension + thread id`, in i64 as it may exceed i32."""
    assert isinstance(op, gpu.GlobalIdOp)
    dimension = _DIMENSIONS[op.dimension.data]
    cursor = Cursor.before(op)
    thread, size, block = (
        cursor.value(
            arith.ExtSIOp(
                cursor.value(
                    family[dimension](register_range(family, dimension, lowering.block_size))
                ),
                i64,
            )
        )
        for family in (nvvm.THREAD_ID, nvvm.BLOCK_DIM, nvvm.BLOCK_ID)
    )
    start = cursor.value(arith.MuliOp(block, size))
    total = cursor.value(arith.AddiOp(start, thread))
    index = cursor.value(arith.IndexCastOp(total, IndexType()), op.result.name_hint)
    op.result.replace_all_uses_with(index)
    erase(op)


def _lane_id(lowering: KernelLowering, op: Operation) -> None:
    cursor = Cursor.before(op)
    _replace_index(op, cursor.value(nvvm.LaneIdOp((0, _WARP_SIZE))), cursor)


def _subgroup_size(lowering: KernelLowering, op: Operation) -> None:
    cursor = Cursor.before(op)
    _replace_index(op, cursor.value(arith.ConstantOp(IntegerAttr(_WARP_SIZE, i32))), cursor)


def _barrier(lowering: KernelLowering, op: Operation) -> None:
    Cursor.before(op).insert(nvvm.Barrier0Op())
    erase(op)


def _return(lowering: KernelLowering, op: Operation) -> None:
    Cursor.before(op).insert(llvm.ReturnOp(op.operands[0] if op.operands else None))
    erase(op)


@dataclass
class KernelLowering:
    """Lowers the bodies of one module's functions; `block_size` is that of the current kernel, if known."""

    calls: LibraryCalls
    block_size: Sequence[int] | None = field(default=None)

    def region(self, region: Region) -> None:
        """Lowers the operations of a region in one walk."""
        for block in region.blocks:
            for argument in block.args:
                _check_type(argument.type, SourceLoc.from_attr(argument.location))
            for op in tuple(block.ops):
                self._operation(op)

    def _operation(self, op: Operation) -> None:
        for inner in op.regions:
            self.region(inner)
        if op.parent is None:
            return  # erased together with the value that it casts
        for result in op.results:
            _check_type(result.type, SourceLoc.from_attr(op.location))
        lower = _LOWERINGS.get(op.__class__)
        if lower is not None:
            lower(self, op)
        elif isinstance(op, llvm.CallOp):
            self.calls.call(op)
        elif op.name in MATH_OPERATIONS or op.name in LLVM_OPERATIONS:
            self.calls.operation(op)
        elif isinstance(op, _VARIABLE_ARGUMENTS):
            raise error(
                SourceLoc.from_attr(op.location),
                "functions with variable arguments are not available on GPUs",
                "pass the arguments one by one or in an array",
            )
        elif op.name.startswith("gpu."):
            raise error(
                SourceLoc.from_attr(op.location),
                f"'{op.name}' cannot be lowered for NVIDIA GPUs",
                "use the operations of the gpu level (docs/design.md), or nvvm",
            )


def _check_type(type: Attribute, loc: SourceLoc) -> None:
    if is_long_double(type):
        raise error(
            loc, "GPUs have no type as wide as 'long double'", "use double in compute regions"
        )


_LOWERINGS: dict[type[Operation], Callable[[KernelLowering, Operation], None]] = {
    gpu.ThreadIdOp: _register(nvvm.THREAD_ID),
    gpu.BlockIdOp: _register(nvvm.BLOCK_ID),
    gpu.BlockDimOp: _register(nvvm.BLOCK_DIM),
    gpu.GridDimOp: _register(nvvm.GRID_DIM),
    gpu.GlobalIdOp: _global_id,
    gpu.LaneIdOp: _lane_id,
    gpu.SubgroupSizeOp: _subgroup_size,
    gpu.BarrierOp: _barrier,
    gpu.ReturnOp: _return,
}


def _block_size(func: Operation) -> tuple[int, ...] | None:
    size = func.attributes.get("gpu.known_block_size")
    if not isinstance(size, DenseArrayBase):
        return None
    values = integers(size)
    return values + (1,) * (3 - len(values))


def _legal(type: Attribute) -> Attribute:
    return i64 if isinstance(type, IndexType) else type


def _convert_function(func: gpu.FuncOp) -> None:
    """Replaces a `gpu.func` by an `llvm.func` with the same body."""
    type = func.function_type
    outputs = type.outputs.data
    attributes: dict[str, Attribute] = {
        name: value
        for name, value in func.attributes.items()
        if name not in ("sym_name", "arg_attrs") and not name.startswith("gpu.")
    }
    if func.kernel is not None:
        attributes[nvvm.KERNEL] = UnitAttr()
        size = _block_size(func)
        if size is not None:
            attributes[nvvm.REQNTID] = DenseArrayBase.from_list(i32, size)
    body = Region()
    func.body.move_blocks(body)
    new = llvm.FuncOp(
        func.sym_name.data,
        llvm.LLVMFunctionType(
            [_legal(t) for t in type.inputs], _legal(outputs[0]) if outputs else None
        ),
        llvm.LinkageAttr("external"),
        body=body,
        other_props={"arg_attrs": func.attributes.get("arg_attrs")},
        extra_attrs=attributes,
    )
    new.location = func.location
    block = func.parent
    assert block is not None
    block.insert_op_before(new, func)
    erase(func)


def convert_module(module: gpu.ModuleOp, *, approximate: bool = False) -> None:
    """Converts one `gpu.module` in place."""
    calls = LibraryCalls(module, approximate=approximate)
    functions = [op for op in module.body.ops if isinstance(op, gpu.FuncOp | llvm.FuncOp)]
    for func in functions:
        lowering = KernelLowering(calls, _block_size(func))
        lowering.region(func.body)
    calls.remove_declarations()
    place_dynamic_tiles(module)
    bring_lanes_together(module)
    for func in functions:
        if isinstance(func, gpu.FuncOp):
            _convert_function(func)


@dataclass(frozen=True)
class ConvertGpuToNvvmPass(ModulePass):
    """
    See the module's docstring.

    approximate_math: use libdevice's faster and less accurate f32 functions (`__nv_fast_sinf`).
    """

    name = "convert-gpu-to-nvvm"

    approximate_math: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        approximate = self.approximate_math
        if approximate is None:
            approximate = machine_of(op).fast_math
        for module in op.ops:
            if isinstance(module, gpu.ModuleOp):
                convert_module(module, approximate=approximate)
