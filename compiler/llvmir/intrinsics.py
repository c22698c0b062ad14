"""Operations that are printed as calls of LLVM intrinsics: `llvm.intr.*` and `nvvm.*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float32Type, IntegerAttr
from xdsl.ir import Operation

from ...dialects import llvm_ext, nvvm
from ...dialects.nvvm import LoadCacheModifier, MemScope, ReduxKind, VoteSyncKind
from .bulk_copies import BULK_EMITTERS
from .types import overload_suffix

if TYPE_CHECKING:
    from .functions import FunctionPrinter

Emitter = Callable[["FunctionPrinter", Operation], None]

_SAME_TYPE: tuple[type[Operation], ...] = (
    llvm.FAbsOp,
    llvm.FCeilOp,
    llvm.FCopySignOp,
    llvm.FCosOp,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FFloorOp,
    llvm.FLog2Op,
    llvm.FLogOp,
    llvm.FMAOp,
    llvm.FPowOp,
    llvm.FSinOp,
    llvm.FSqrtOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
    llvm_ext.ACosOp,
    llvm_ext.ASinOp,
    llvm_ext.ATan2Op,
    llvm_ext.ATanOp,
    llvm_ext.BSwapOp,
    llvm_ext.BitReverseOp,
    llvm_ext.CoshOp,
    llvm_ext.CtPopOp,
    llvm_ext.Exp10Op,
    llvm_ext.ExpectOp,
    llvm_ext.FMulAddOp,
    llvm_ext.FTruncOp,
    llvm_ext.FshlOp,
    llvm_ext.FshrOp,
    llvm_ext.Log10Op,
    llvm_ext.MaximumOp,
    llvm_ext.MinimumOp,
    llvm_ext.NearbyintOp,
    llvm_ext.RintOp,
    llvm_ext.RoundEvenOp,
    llvm_ext.RoundOp,
    llvm_ext.SMaxOp,
    llvm_ext.SMinOp,
    llvm_ext.SinhOp,
    llvm_ext.TanOp,
    llvm_ext.TanhOp,
    llvm_ext.UMaxOp,
    llvm_ext.UMinOp,
)
"""Intrinsics overloaded on one type, named as in LLVM after `llvm.intr.`."""

_FLAGGED: dict[type[Operation], str] = {
    llvm_ext.CtlzOp: "is_zero_poison",
    llvm_ext.CttzOp: "is_zero_poison",
    llvm_ext.AbsOp: "is_int_min_poison",
}
"""Intrinsics with a second, constant i1 operand, which is a property in MLIR."""

_SPECIAL_REGISTERS: tuple[type[nvvm.SpecialRegisterOp], ...] = (
    *nvvm.THREAD_ID,
    *nvvm.BLOCK_DIM,
    *nvvm.BLOCK_ID,
    *nvvm.GRID_DIM,
    nvvm.LaneIdOp,
    nvvm.WarpIdOp,
    nvvm.WarpSizeOp,
)


def _same_type(name: str) -> Emitter:
    base = f"llvm.{name.removeprefix('llvm.intr.')}"

    def emit(p: FunctionPrinter, op: Operation) -> None:
        type = op.results[0].type
        flags = p.fast_math(op)
        p.line(op, f"call {flags}{p.types(type)} @{base}.{overload_suffix(type)}({p.operands(op)})")

    return emit


def _flagged(name: str, flag_name: str) -> Emitter:
    base = f"llvm.{name.removeprefix('llvm.intr.')}"

    def emit(p: FunctionPrinter, op: Operation) -> None:
        type = op.results[0].type
        flag = cast(IntegerAttr, op.properties[flag_name]).value.data & 1
        p.line(
            op,
            f"call {p.types(type)} @{base}.{overload_suffix(type)}"
            f"({p.typed(op.operands[0])}, i1 {'true' if flag else 'false'})",
        )

    return emit


def _powi(p: FunctionPrinter, op: Operation) -> None:
    val, power = op.operands
    suffix = f"{overload_suffix(val.type)}.{overload_suffix(power.type)}"
    text = f"@llvm.powi.{suffix}({p.typed(val)}, {p.typed(power)})"
    p.line(op, f"call {p.fast_math(op)}{p.types(val.type)} {text}")


def _is_fpclass(p: FunctionPrinter, op: Operation) -> None:
    test = cast(llvm_ext.IsFPClassOp, op)
    suffix = overload_suffix(test.arg.type)
    p.line(
        op,
        f"call i1 @llvm.is.fpclass.{suffix}({p.typed(test.arg)}, i32 {test.bit.value.data})",
    )


def _memory(name: str, pointers: int) -> Emitter:
    """`memcpy`, `memmove` and `memset`, overloaded on their pointers and the length."""

    def emit(p: FunctionPrinter, op: Operation) -> None:
        types = [operand.type for operand in op.operands]
        suffix = ".".join(overload_suffix(t) for t in (*types[:pointers], types[-1]))
        volatile = cast(IntegerAttr, op.properties["isVolatile"]).value.data & 1
        arguments = p.arguments(op, op.operands)
        p.line(
            op,
            f"call void @llvm.{name}.{suffix}({arguments}, i1 {'true' if volatile else 'false'})",
        )

    return emit


def _plain(name: str) -> Emitter:
    """An intrinsic without a result that is not overloaded."""

    def emit(p: FunctionPrinter, op: Operation) -> None:
        p.line(op, f"call void @llvm.{name}({p.operands(op)})")

    return emit


def _pointer_intrinsic(name: str) -> Emitter:
    def emit(p: FunctionPrinter, op: Operation) -> None:
        suffix = overload_suffix(op.operands[0].type)
        p.line(op, f"call void @llvm.{name}.{suffix}({p.operands(op)})")

    return emit


def _stack_save(p: FunctionPrinter, op: Operation) -> None:
    type = op.results[0].type
    p.line(op, f"call {p.types(type)} @llvm.stacksave.{overload_suffix(type)}()")


def _masked_store(p: FunctionPrinter, op: Operation) -> None:
    store = cast(llvm.MaskedStoreOp, op)
    value, data, mask = op.operands
    suffix = f"{overload_suffix(value.type)}.{overload_suffix(data.type)}"
    alignment = store.alignment.value.data
    p.line(
        op,
        f"call void @llvm.masked.store.{suffix}({p.typed(value)}, "
        f"{p.types(data.type)} align {alignment} {p.value(data)}, {p.typed(mask)})",
    )


def _vector_reduce(name: str) -> Emitter:
    def emit(p: FunctionPrinter, op: Operation) -> None:
        start, vector = op.operands
        p.line(
            op,
            f"call {p.fast_math(op)}{p.types(start.type)} @llvm.vector.reduce.{name}."
            f"{overload_suffix(vector.type)}({p.typed(start)}, {p.typed(vector)})",
        )

    return emit


def _special_register(name: str) -> Emitter:
    intrinsic = f"@llvm.{name}()"

    def emit(p: FunctionPrinter, op: Operation) -> None:
        bounds = cast(nvvm.SpecialRegisterOp, op).range
        words = ""
        if bounds is not None:
            words = f"range(i32 {bounds.lower.value.data}, {bounds.upper.value.data}) "
        p.line(op, f"call {words}i32 {intrinsic}")

    return emit


def _barrier0(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")


def _barrier(p: FunctionPrinter, op: Operation) -> None:
    barrier = cast(nvvm.BarrierOp, op)
    number = "i32 0" if barrier.barrier_id is None else p.typed(barrier.barrier_id)
    if barrier.number_of_threads is None:
        p.line(op, f"call void @llvm.nvvm.barrier.cta.sync.aligned.all({number})")
        return
    threads = p.typed(barrier.number_of_threads)
    p.line(op, f"call void @llvm.nvvm.barrier.cta.sync.aligned.count({number}, {threads})")


def _shfl(p: FunctionPrinter, op: Operation) -> None:
    shuffle = cast(nvvm.ShflOp, op)
    suffix = "f32" if isinstance(shuffle.val.type, Float32Type) else "i32"
    if shuffle.return_value_and_is_valid is not None:
        suffix += "p"
    name = f"@llvm.nvvm.shfl.sync.{shuffle.kind.data.value}.{suffix}"
    p.line(op, f"call {p.types(op.results[0].type)} {name}({p.operands(op)})")


def _vote(p: FunctionPrinter, op: Operation) -> None:
    kind: VoteSyncKind = cast(nvvm.VoteSyncOp, op).kind.data
    result = p.types(op.results[0].type)
    p.line(op, f"call {result} @llvm.nvvm.vote.{kind.value}.sync({p.operands(op)})")


def _redux(p: FunctionPrinter, op: Operation) -> None:
    kind: ReduxKind = cast(nvvm.ReduxOp, op).kind.data
    p.line(op, f"call i32 @llvm.nvvm.redux.sync.{kind.value}({p.operands(op)})")


def _mma(p: FunctionPrinter, op: Operation) -> None:
    mma = cast(nvvm.MmaOp, op)
    m, n, k = mma.shape.sizes
    name = f"@llvm.nvvm.mma.m{m}n{n}k{k}.{mma.layout_a.data.value}.{mma.layout_b.data.value}.f64"
    # LLVM does not know that all lanes must execute it.
    suffix = " convergent" if p.convergent else ""
    p.line(op, f"call {p.types(mma.res.type)} {name}({p.operands(op)}){suffix}")


_MEMORY_BARRIERS = {MemScope.CTA: "cta", MemScope.GPU: "gl", MemScope.SYS: "sys"}


def _memory_barrier(p: FunctionPrinter, op: Operation) -> None:
    scope = cast(nvvm.MemoryBarrierOp, op).scope.data
    if scope == MemScope.CLUSTER:
        p.line(op, "call void @llvm.nvvm.fence.acq_rel.cluster()")
        return
    p.line(op, f"call void @llvm.nvvm.membar.{_MEMORY_BARRIERS[scope]}()")


def _cp_async(p: FunctionPrinter, op: Operation) -> None:
    copy = cast(nvvm.CpAsyncOp, op)
    modifier: LoadCacheModifier = copy.modifier.data
    name = f"llvm.nvvm.cp.async.{modifier.value}.shared.global.{copy.size.value.data}"
    if copy.cp_size is not None:
        name += ".s"
    p.line(op, f"call void @{name}({p.operands(op)})")


def _cp_async_wait(p: FunctionPrinter, op: Operation) -> None:
    count = cast(nvvm.CpAsyncWaitGroupOp, op).n.value.data
    p.line(op, f"call void @llvm.nvvm.cp.async.wait.group(i32 {count})")


INTRINSIC_EMITTERS: dict[type[Operation], Emitter] = {
    **{cls: _same_type(cls.name) for cls in _SAME_TYPE},
    **{cls: _flagged(cls.name, flag) for cls, flag in _FLAGGED.items()},
    **{cls: _special_register(cls.name) for cls in _SPECIAL_REGISTERS},
    llvm_ext.PowIOp: _powi,
    llvm_ext.IsFPClassOp: _is_fpclass,
    llvm_ext.MemcpyOp: _memory("memcpy", 2),
    llvm_ext.MemmoveOp: _memory("memmove", 2),
    llvm_ext.MemsetOp: _memory("memset", 1),
    llvm_ext.VaStartOp: _pointer_intrinsic("va_start"),
    llvm_ext.VaEndOp: _pointer_intrinsic("va_end"),
    llvm_ext.VaCopyOp: _pointer_intrinsic("va_copy"),
    llvm_ext.TrapOp: _plain("trap"),
    llvm_ext.AssumeOp: _plain("assume"),
    llvm.StackSaveOp: _stack_save,
    llvm.StackRestoreOp: _pointer_intrinsic("stackrestore"),
    llvm.MaskedStoreOp: _masked_store,
    llvm.VectorReduceFAddOp: _vector_reduce("fadd"),
    llvm.VectorReduceFMulOp: _vector_reduce("fmul"),
    nvvm.Barrier0Op: _barrier0,
    nvvm.BarrierOp: _barrier,
    nvvm.SyncWarpOp: _plain("nvvm.bar.warp.sync"),
    nvvm.ShflOp: _shfl,
    nvvm.VoteSyncOp: _vote,
    nvvm.ReduxOp: _redux,
    nvvm.MmaOp: _mma,
    nvvm.MemoryBarrierOp: _memory_barrier,
    nvvm.NanosleepOp: _plain("nvvm.nanosleep"),
    nvvm.CpAsyncOp: _cp_async,
    nvvm.CpAsyncCommitGroupOp: _plain("nvvm.cp.async.commit.group"),
    nvvm.CpAsyncWaitGroupOp: _cp_async_wait,
    **BULK_EMITTERS,
}
