"""Generates code for thread indices, barriers, shuffles and votes."""

from __future__ import annotations

from xdsl.dialects import gpu
from xdsl.ir import Operation

from ...dialects import nvvm
from .codegen import FunctionCompiler, Unsupported, Writer

_DIMENSIONS = {gpu.DimensionEnum.X: 0, gpu.DimensionEnum.Y: 1, gpu.DimensionEnum.Z: 2}


def _index(method: str) -> Writer:
    def write(f: FunctionCompiler, op: Operation) -> None:
        assert isinstance(op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp)
        dimension = _DIMENSIONS[op.dimension.data]
        if method in ("block", "grid"):
            f.uniform.add(op.results[0])
            f.result(op, f"i64(rt.batch.{method}[{dimension}])")
        else:
            f.result(op, f"{f.threads}.of_batch(rt.{method}({dimension}))")

    return write


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


def _special_register(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.read.ptx.sreg.*`, which passes after the gpu level create."""
    register, _, axis = op.name.removeprefix("nvvm.read.ptx.sreg.").partition(".")
    methods = {"tid": "thread_id", "ctaid": "block_id", "ntid": "block", "nctaid": "grid"}
    if register not in methods:
        raise Unsupported(f"operation '{op.name}'")
    d = "xyz".index(axis)
    if register in ("ntid", "nctaid"):
        f.result(op, f"i32(rt.batch.{methods[register]}[{d}])")
    else:
        f.result(op, f"{f.threads}.of_batch(rt.{methods[register]}({d})).astype(i32)")


def barrier(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.barrier({f.threads}, {f.place(op)})")


def named_barrier(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.barrier`; with a number of threads, only a part of the block synchronises."""
    assert isinstance(op, nvvm.BarrierOp)
    if len(op.operands) < 2:
        barrier(f, op)
        return
    names = ", ".join(f.name_of(operand) for operand in op.operands[:2])
    f.put(f"rt.part_barrier({f.threads}, {names}, {f.place(op)})")


def warp_barrier(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.clock.warp_barrier({f.threads})")


def shuffle(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.ShflOp)
    names = ", ".join(f.name_of(operand) for operand in op.operands)
    pair = f"rt.warps.shuffle({f.threads}, {f.place(op)}, {op.kind.data.value!r}, {names})"
    f.result(op, pair if op.return_value_and_is_valid is not None else f"{pair}[0]")


def vote(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.VoteSyncOp)
    names = f"{f.name_of(op.mask)}, {f.name_of(op.pred)}"
    f.result(op, f"rt.warps.vote({f.threads}, {op.kind.data.value!r}, {names})")


def redux(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.ReduxOp)
    names = f"{f.name_of(op.val)}, {f.name_of(op.mask_and_clamp)}"
    f.result(op, f"rt.warps.reduce({f.threads}, {op.kind.data.value!r}, {names})")


def matrix_product(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.MmaOp)
    a, b, c = (
        "[" + ", ".join(f.name_of(value) for value in group) + "]"
        for group in (op.operand_a, op.operand_b, op.operand_c)
    )
    f.result(op, f"rt.warps.matrix_product({f.threads}, {f.place(op)}, {a}, {b}, {c})")


THREADS: dict[str, Writer] = {
    "gpu.thread_id": _index("thread_id"),
    "gpu.block_id": _index("block_id"),
    "gpu.block_dim": _index("block"),
    "gpu.grid_dim": _index("grid"),
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
        for register in ("tid", "ctaid", "ntid", "nctaid")
        for axis in "xyz"
    },
}
"""Operation → the function that writes its code."""
