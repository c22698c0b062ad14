"""Generates code for thread indices, barriers, shuffles and votes."""

from __future__ import annotations

from xdsl.dialects import gpu
from xdsl.ir import Operation

from ...dialects import nvvm
from .codegen import FunctionCompiler, Writer

_DIMENSIONS = {gpu.DimensionEnum.X: 0, gpu.DimensionEnum.Y: 1, gpu.DimensionEnum.Z: 2}


def _index(f: FunctionCompiler, op: Operation) -> None:
    """`gpu.thread_id` and similar operations."""
    assert isinstance(op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp)
    _coordinate(f, op, op.name.removeprefix("gpu."), _DIMENSIONS[op.dimension.data], "i64")


def _special_register(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.read.ptx.sreg.*`, which passes after the gpu level create."""
    register, _, axis = op.name.removeprefix("nvvm.read.ptx.sreg.").partition(".")
    _coordinate(f, op, _REGISTERS[register], "xyz".index(axis), "i32")


_REGISTERS = {"tid": "thread_id", "ctaid": "block_id", "ntid": "block_dim", "nctaid": "grid_dim"}


def _coordinate(f: FunctionCompiler, op: Operation, what: str, dimension: int, type: str) -> None:
    """Defines the result as a coordinate of a thread or block, or a size."""
    unit, _, kind = what.partition("_")
    if kind == "dim":
        f.uniform.add(op.results[0])
        f.result(op, f"{type}(rt.batch.{unit}[{dimension}])")
    else:
        wide = "" if type == "i64" else f".astype({type})"
        f.result(op, f"{f.threads}.of_batch(rt.{what}({dimension})){wide}")


def global_id(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, gpu.GlobalIdOp)
    d = _DIMENSIONS[op.dimension.data]
    f.result(
        op, f"{f.threads}.of_batch(rt.block_id({d}) * rt.batch.block[{d}] + rt.thread_id({d}))"
    )


def lane_id(f: FunctionCompiler, op: Operation) -> None:
    wide = ".astype(i64)" if op.name == "gpu.lane_id" else ""
    f.result(op, f"{f.threads}.of_batch(rt.batch.lane){wide}")


def subgroup_size(f: FunctionCompiler, op: Operation) -> None:
    f.uniform.add(op.results[0])
    f.result(op, "i64(32)" if op.name == "gpu.subgroup_size" else "i32(32)")


def barrier(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.barrier({f.threads}, {f.place(op)})")


def named_barrier(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.barrier`; with a number of threads, only a part of the block synchronises."""
    assert isinstance(op, nvvm.BarrierOp)
    if len(op.operands) < 2:
        barrier(f, op)
        return
    f.put(f"rt.part_barrier({f.threads}, {f.listed(op.operands[:2])}, {f.place(op)})")


def warp_barrier(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.clock.warp_barrier({f.threads})")


def shuffle(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.ShflOp)
    names = f.listed(op.operands)
    pair = f"rt.warps.shuffle({f.threads}, {f.place(op)}, {op.kind.data.value!r}, {names})"
    f.result(op, pair if op.return_value_and_is_valid is not None else f"{pair}[0]")


def vote(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.VoteSyncOp)
    names = f.listed((op.mask, op.pred))
    f.result(op, f"rt.warps.vote({f.threads}, {op.kind.data.value!r}, {names})")


def redux(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.ReduxOp)
    names = f.listed((op.val, op.mask_and_clamp))
    f.result(op, f"rt.warps.reduce({f.threads}, {op.kind.data.value!r}, {names})")


def matrix_product(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.MmaOp)
    groups = (op.operand_a, op.operand_b, op.operand_c)
    names = ", ".join(f"[{f.listed(group)}]" for group in groups)
    f.result(op, f"rt.warps.matrix_product({f.threads}, {f.place(op)}, {names})")


THREADS: dict[str, Writer] = {
    **{f"gpu.{what}": _index for what in _REGISTERS.values()},
    "gpu.global_id": global_id,
    "gpu.lane_id": lane_id,
    "gpu.subgroup_size": subgroup_size,
    "gpu.barrier": barrier,
    "nvvm.barrier0": barrier,
    "nvvm.barrier": named_barrier,
    "nvvm.bar.warp.sync": warp_barrier,
    "nvvm.shfl.sync": shuffle,
    "nvvm.vote.sync": vote,
    "nvvm.redux.sync": redux,
    "nvvm.mma.sync": matrix_product,
    "nvvm.read.ptx.sreg.laneid": lane_id,
    "nvvm.read.ptx.sreg.warpsize": subgroup_size,
    **{
        f"nvvm.read.ptx.sreg.{register}.{axis}": _special_register
        for register in _REGISTERS
        for axis in "xyz"
    },
}
"""Operation → the function that writes its code."""
