"""Code for operations on memory, on warps and blocks, and calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import llvm_ext, nvvm
from ...dialects.accx_watch import WatchOp
from ...dialects.layout import size_of
from ...dialects.llvm_ext.atomics import AtomicOrdering
from .atomics import KINDS
from .codegen import FunctionCompiler, Unsupported, scalar_dtype
from .expressions import type_name, zero
from .library import LIBRARY
from .liveness import Flag
from .mathlib import math_function
from .types import dtype_of, element, elements, odd_bytes
from .watches import WatchedLoop, WatchedScalar

_DIMENSIONS = {gpu.DimensionEnum.X: 0, gpu.DimensionEnum.Y: 1, gpu.DimensionEnum.Z: 2}


def _result(f: FunctionCompiler, op: Operation, text: str) -> None:
    f.put(f"{f.define(op.results[0])} = {text}")


# Memory


def alloca(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.AllocaOp)
    if op.res in f.live.cells:
        f.put(f"{f.define(op.res)} = {f.module.constant(zero(op.elem_type))}")
        if op.res in f.live.flagged:
            f.put(f"{f.define(Flag(op.res))} = False_")
        return
    size = size_of(op.elem_type)
    name = f.module.array_name(op.res.name_hint or "")
    _result(f, op, f"rt.alloca({size}, {f.name_of(op.size)}, {name!r})")


def load(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.LoadOp)
    if op.ptr in f.live.cells:
        if op.ptr in f.live.flagged:
            name = f.module.array_name(op.ptr.name_hint or "")
            flag = f.name_of(Flag(op.ptr))
            f.put(f"if {flag} is not True_:")
            with f.indented():
                f.put(f"rt.check_cell({f.threads}, {flag}, {f.place(op)}, {name!r})")
        _result(f, op, f.name_of(op.ptr))
        return
    _result(f, op, _load(f, op, op.ptr, f.name_of(op.ptr), op.dereferenced_value.type, False))


def _load(
    f: FunctionCompiler, op: Operation, pointer: SSAValue, name: str, type: Attribute, inside: bool
) -> str:
    parts = elements(type)
    if parts is None:
        dtype = dtype_of(type)
        if dtype is None:
            raise Unsupported(f"a load of type {type}")
        if (size := odd_bytes(type)) is not None:
            access = f.access(op, pointer, np.uint8, not inside, _is_atomic(op))
            bytes = [f"rt.load({f.threads}, {name} + {n}, {access})" for n in range(size)]
            return f"ar.join_bytes(({', '.join(bytes)}), {type_name(type)})"
        return f"rt.load({f.threads}, {name}, {f.access(op, pointer, dtype, not inside, _is_atomic(op))})"
    loads = [_load(f, op, pointer, f"({name} + {offset})", part, True) for part, offset in parts]
    return f"({', '.join(loads)},)" if loads else "()"


def _is_atomic(op: Operation) -> bool:
    ordering = op.properties.get("ordering")
    return isinstance(ordering, IntegerAttr) and ordering.value.data != 0


def store(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.StoreOp)
    if op.ptr in f.live.cells:
        f.put(f"{f.define(op.ptr)} = {f.name_of(op.value)}")
        if op.ptr in f.live.flagged:
            f.put(f"{f.define(Flag(op.ptr))} = True_")
        return
    _store(f, op, f.name_of(op.ptr), f.name_of(op.value), op.value.type)


def _store(f: FunctionCompiler, op: llvm.StoreOp, to: str, value: str, type: Attribute) -> None:
    parts = elements(type)
    if parts is None:
        if (size := odd_bytes(type)) is not None:
            access = f.access(op, op.ptr, np.uint8, True, _is_atomic(op))
            for n in range(size):
                f.put(f"rt.store({f.threads}, {to} + {n}, ar.byte_of({value}, {n}), {access})")
            return
        access = f.access(op, op.ptr, scalar_dtype_of(type), True, _is_atomic(op))
        f.put(f"rt.store({f.threads}, {to}, {value}, {access})")
        return
    for index, (part, offset) in enumerate(parts):
        _store(f, op, f"({to} + {offset})", f"{value}[{index}]", part)


def scalar_dtype_of(type: Attribute) -> object:
    """The NumPy type of a scalar type; `Unsupported` for others."""
    dtype = dtype_of(type)
    if dtype is None:
        raise Unsupported(f"a value of type {type}")
    return dtype


def gep(f: FunctionCompiler, op: Operation) -> None:
    """`llvm.getelementptr`: the base plus scaled indices plus a constant."""
    assert isinstance(op, llvm.GEPOp)
    dynamic = iter(op.ssa_indices)
    terms: list[str] = []
    offset = 0
    type: Attribute = op.elem_type
    operands: list[SSAValue] = [op.ptr]
    for level, raw in enumerate(op.rawConstantIndices.iter_values()):
        number = int(raw)
        if number == llvm.GEP_USE_SSA_VAL:
            index = next(dynamic)
            operands.append(index)
            if level > 0:
                type = element(type, 0)[0]
            stride = size_of(type)
            name = f.name_of(index)
            wide = name if str(dtype_of(index.type)) == "int64" else f"{name}.astype(i64)"
            terms.append(wide if stride == 1 else f"{wide} * {f.module.integer(stride)}")
        elif level == 0:
            offset += number * size_of(type)
        else:
            type, more = element(type, number)
            offset += more
    text = " + ".join([f.name_of(op.ptr), *terms])
    if offset:
        text += f" + {f.module.integer(offset)}"
    if all(not f.follows(operand) for operand in operands):
        f.uniform.add(op.results[0])
    _result(f, op, text)


def address_of(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.AddressOfOp)
    symbol = op.global_name.root_reference.data
    f.names[op.result] = f.module.address(symbol)


def memory_transfer(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm_ext.MemoryTransferOp)
    _copy(f, op, op.dst, op.src, op.len)


def _copy(f: FunctionCompiler, op: Operation, to: SSAValue, frm: SSAValue, size: SSAValue) -> None:
    source = f.access(op, frm, "int8", False)
    target = f.access(op, to, "int8", False)
    f.put(
        f"rt.copy({f.threads}, {f.name_of(to)}, {f.name_of(frm)}, {f.name_of(size)},"
        f" {target}, {source})"
    )


def memset(f: FunctionCompiler, op: Operation) -> None:
    to, value, size = op.operands[:3]
    access = f.access(op, to, "int8", False)
    f.put(f"rt.fill({f.threads}, {f.name_of(to)}, {f.name_of(value)}, {f.name_of(size)}, {access})")


def cp_async(f: FunctionCompiler, op: Operation) -> None:
    """Done at once: the copy is complete at the latest when it is waited for."""
    assert isinstance(op, nvvm.CpAsyncOp)
    size = op.size.value.data
    source = f.access(op, op.src, "int8", False)
    target = f.access(op, op.dst, "int8", False)
    to, frm = f.name_of(op.dst), f.name_of(op.src)
    if op.cp_size is None:
        count = f.module.integer(size)
    else:
        count = f.name_of(op.cp_size)
        zero_byte, whole = f.module.integer(0), f.module.integer(size)
        f.put(f"rt.fill({f.threads}, {to}, {zero_byte}, {whole}, {target})")
    f.put(f"rt.copy({f.threads}, {to}, {frm}, {count}, {target}, {source})")


def cp_async_bulk(f: FunctionCompiler, op: Operation) -> None:
    """Done at once, and counted by its barrier."""
    assert isinstance(op, nvvm.CpAsyncBulkOp)
    _copy(f, op, op.dst, op.src, op.size)
    names = ", ".join(map(f.name_of, (op.dst, op.src, op.mbar, op.size)))
    f.put(f"rt.bulk.copied({f.threads}, {names}, {f.place(op)})")


def _bulk_barrier(method: str, operands: int) -> Callable[[FunctionCompiler, Operation], None]:
    def write(f: FunctionCompiler, op: Operation) -> None:
        names = ", ".join(map(f.name_of, op.operands[:operands]))
        f.put(f"rt.bulk.{method}({f.threads}, {names}, {f.place(op)})")

    return write


# Atomics and fences


def _orders(ordering: int) -> tuple[bool, bool]:
    """Whether an ordering acquires and releases."""
    kind = AtomicOrdering(ordering)
    acquires = kind in (AtomicOrdering.acquire, AtomicOrdering.acq_rel, AtomicOrdering.seq_cst)
    releases = kind in (AtomicOrdering.release, AtomicOrdering.acq_rel, AtomicOrdering.seq_cst)
    return acquires, releases


def atomic_rmw(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm_ext.AtomicRMWOp)
    kind = op.kind.ir_name
    if kind not in KINDS:
        raise Unsupported(f"the atomic operation '{kind}'")
    dtype = scalar_dtype(op.val)
    wanted = bool(op.res.uses)
    acquires, releases = _orders(op.ordering.value.data)
    if releases:
        f.put(f"rt.clock.fence({f.threads})")
    call = (
        f"rt.atomic_update({f.threads}, {kind!r}, {f.name_of(op.ptr)}, {f.name_of(op.val)},"
        f" {wanted}, {f.access(op, op.ptr, dtype)})"
    )
    _result(f, op, call)
    if acquires:
        f.put(f"rt.clock.fence({f.threads})")


def cmpxchg(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm_ext.CmpXchgOp)
    dtype = scalar_dtype(op.operands[1])
    access = f.access(op, op.ptr, dtype)
    f.put(f"rt.clock.fence({f.threads})")
    names = ", ".join(f.name_of(operand) for operand in op.operands)
    _result(f, op, f"rt.compare_exchange({f.threads}, {names}, {access})")
    f.put(f"rt.clock.fence({f.threads})")


def fence(f: FunctionCompiler, op: Operation) -> None:
    if isinstance(op, nvvm.MemoryBarrierOp) and op.scope.data is nvvm.MemScope.CTA:
        return
    f.put(f"rt.clock.fence({f.threads})")


def no_effect(f: FunctionCompiler, op: Operation) -> None:
    """A pause: simulated threads have no clock."""


# Blocks and warps


def _index(method: str) -> Callable[[FunctionCompiler, Operation], None]:
    def write(f: FunctionCompiler, op: Operation) -> None:
        assert isinstance(op, gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp)
        dimension = _DIMENSIONS[op.dimension.data]
        if method in ("block", "grid"):
            f.uniform.add(op.results[0])
            _result(f, op, f"i64(rt.batch.{method}[{dimension}])")
        else:
            _result(f, op, f"{f.threads}.of_batch(rt.{method}({dimension}))")

    return write


def global_id(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, gpu.GlobalIdOp)
    d = _DIMENSIONS[op.dimension.data]
    _result(
        f, op, f"{f.threads}.of_batch(rt.block_id({d}) * rt.batch.block[{d}] + rt.thread_id({d}))"
    )


def lane_id(f: FunctionCompiler, op: Operation) -> None:
    wide = ".astype(i64)" if op.name == "gpu.lane_id" else ""
    _result(f, op, f"{f.threads}.of_batch(rt.batch.lane){wide}")


def subgroup_size(f: FunctionCompiler, op: Operation) -> None:
    f.uniform.add(op.results[0])
    _result(f, op, "i64(32)" if op.name == "gpu.subgroup_size" else "i32(32)")


def _special_register(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.read.ptx.sreg.*`, which passes after the gpu level make."""
    register, _, axis = op.name.removeprefix("nvvm.read.ptx.sreg.").partition(".")
    methods = {"tid": "thread_id", "ctaid": "block_id", "ntid": "block", "nctaid": "grid"}
    if register not in methods:
        raise Unsupported(f"operation '{op.name}'")
    d = "xyz".index(axis)
    if register in ("ntid", "nctaid"):
        _result(f, op, f"i32(rt.batch.{methods[register]}[{d}])")
    else:
        _result(f, op, f"{f.threads}.of_batch(rt.{methods[register]}({d})).astype(i32)")


def barrier(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.barrier({f.threads}, {f.place(op)})")


def named_barrier(f: FunctionCompiler, op: Operation) -> None:
    """`nvvm.barrier`: with a number of threads, part of the block meets."""
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
    _result(f, op, pair if op.return_value_and_is_valid is not None else f"{pair}[0]")


def vote(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.VoteSyncOp)
    names = f"{f.name_of(op.mask)}, {f.name_of(op.pred)}"
    _result(f, op, f"rt.warps.vote({f.threads}, {op.kind.data.value!r}, {names})")


def redux(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.ReduxOp)
    names = f"{f.name_of(op.val)}, {f.name_of(op.mask_and_clamp)}"
    _result(f, op, f"rt.warps.reduce({f.threads}, {op.kind.data.value!r}, {names})")


def matrix_product(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, nvvm.MmaOp)
    a, b, c = (
        "[" + ", ".join(f.name_of(value) for value in group) + "]"
        for group in (op.operand_a, op.operand_b, op.operand_c)
    )
    _result(f, op, f"rt.warps.matrix_product({f.threads}, {f.place(op)}, {a}, {b}, {c})")


def inline_asm(f: FunctionCompiler, op: Operation) -> None:
    """Only what accopt writes itself."""
    assert isinstance(op, llvm.InlineAsmOp)
    if op.asm_string.data != nvvm.COPY:
        raise Unsupported(op, "inline assembly")
    _result(f, op, f.name_of(op.operands[0]))


# Calls


def watch(f: FunctionCompiler, op: Operation) -> None:
    """What happens to a watched loop or scalar (`watches.py`)."""
    assert isinstance(op, WatchOp)
    event, number, about = op.event.data, op.number.value.data, op.about.data
    if event in ("read", "write"):
        scalar = WatchedScalar(
            number,
            _text(about["name"]),
            _text(about["what"]),
            _numbers(about["loops"]),
            tuple(map(_text, _list(about["remedies"]))),
        )
        values = _stored(f, op) if event == "write" else ""
        known = f.module.constant(scalar)
        f.put(f"rt.watches.{event}({f.threads}, {known}, {f.place(op)}{values})")
        return
    line = about["line"]
    assert isinstance(line, IntegerAttr)
    inside, shared_by = _text(about["inside"]), _text(about["shared_by"])
    loop = WatchedLoop(number, line.value.data, inside, shared_by, _numbers(about["variables"]))
    f.put(f"rt.watches.{event}({f.threads}, {f.module.constant(loop)})")


def _stored(f: FunctionCompiler, op: WatchOp) -> str:
    """The old and the new value of a copy, where it is a scalar in registers."""
    copy, value = op.stored
    known = copy in f.live.cells and dtype_of(value.type) is not None
    return f", {f.name_of(copy) if known else None}, {f.name_of(value) if known else None}"


def _list(attr: Attribute) -> tuple[Attribute, ...]:
    assert isinstance(attr, ArrayAttr)
    return tuple(attr)


def _text(attr: Attribute) -> str:
    assert isinstance(attr, StringAttr)
    return attr.data


def _numbers(attr: Attribute) -> tuple[int, ...]:
    return tuple(number.value.data for number in _list(attr) if isinstance(number, IntegerAttr))


def call(f: FunctionCompiler, op: Operation) -> None:
    """A function of the module (also by its address), of the math library, or of `library.py`."""
    assert isinstance(op, llvm.CallOp)
    if op.callee is None:
        pointer, *rest = (f.name_of(arg) for arg in op.args)
        text = f"rt.call({', '.join([f.threads, 'CODE', pointer, f.place(op), *rest])})"
        if op.results:
            _result(f, op, text)
        else:
            f.put(text)
        return
    symbol = op.callee.root_reference.data
    args = [f.name_of(arg) for arg in op.args]
    function = f.module.function(symbol)
    name = symbol.removeprefix("__builtin_")
    if function is not None:
        text = f"{function}({', '.join(['rt', f.threads, *args])})"
    elif name in LIBRARY:
        text = f"LIBRARY[{name!r}](rt, {', '.join([f.threads, f.place(op), *args])})"
    elif math_function(name) is not None:
        result = scalar_dtype(op.results[0])
        if all(not f.follows(arg) for arg in op.args):
            f.uniform.add(op.results[0])
        text = f"math_function({name!r})({', '.join(args)}).astype(np.{result})"
    else:
        raise error(
            SourceLoc.from_attr(op.location),
            f"'{symbol}' is called in device code; no file of the program defines it, and the simulated GPU"
            " has no such function",
            "define it in one of the source files",
        )
    if op.results:
        _result(f, op, text)
    else:
        f.put(text)


def trap(f: FunctionCompiler, op: Operation) -> None:
    f.put(f"rt.trap({f.threads}, {f.place(op)})")


def nothing(f: FunctionCompiler, op: Operation) -> None:
    """Operations without a meaning here."""


def stack_save(f: FunctionCompiler, op: Operation) -> None:
    _result(f, op, "i64(rt.local.depth)")


def unreachable(f: FunctionCompiler, op: Operation) -> None:
    f.put("return None")


def literal(f: FunctionCompiler, op: Operation) -> None:
    f.literal(op)


def zero_value(f: FunctionCompiler, op: Operation) -> None:
    f.zero(op)


EFFECTS: dict[str, Callable[[FunctionCompiler, Operation], None]] = {
    "arith.constant": literal,
    "llvm.mlir.constant": literal,
    "llvm.mlir.zero": zero_value,
    "llvm.mlir.undef": zero_value,
    "llvm.mlir.poison": zero_value,
    "llvm.mlir.addressof": address_of,
    "llvm.alloca": alloca,
    "llvm.load": load,
    "llvm.store": store,
    "llvm.getelementptr": gep,
    "llvm.intr.memcpy": memory_transfer,
    "llvm.intr.memmove": memory_transfer,
    "llvm.intr.memset": memset,
    "llvm.atomicrmw": atomic_rmw,
    "llvm.cmpxchg": cmpxchg,
    "llvm.fence": fence,
    "llvm.call": call,
    "llvm.intr.trap": trap,
    "llvm.intr.assume": nothing,
    "llvm.intr.stacksave": stack_save,
    "llvm.intr.stackrestore": nothing,
    "llvm.unreachable": unreachable,
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
    "accx.watch": watch,
    "nvvm.memory.barrier": fence,
    "nvvm.nanosleep": no_effect,
    "nvvm.shfl.sync": shuffle,
    "nvvm.vote.sync": vote,
    "nvvm.redux.sync": redux,
    "nvvm.mma.sync": matrix_product,
    "llvm.inline_asm": inline_asm,
    "nvvm.cp.async.shared.global": cp_async,
    "nvvm.cp.async.commit.group": nothing,
    "nvvm.cp.async.wait.group": nothing,
    "nvvm.cp.async.bulk.shared.cluster.global": cp_async_bulk,
    "nvvm.mbarrier.init": _bulk_barrier("init", 2),
    "nvvm.mbarrier.inval": _bulk_barrier("end", 1),
    "nvvm.mbarrier.arrive.expect_tx": _bulk_barrier("expect", 2),
    "nvvm.mbarrier.try_wait.parity": _bulk_barrier("wait", 2),
    "nvvm.fence.mbarrier.init": nothing,
    "nvvm.fence.proxy": nothing,
    "nvvm.read.ptx.sreg.laneid": lane_id,
    "nvvm.read.ptx.sreg.warpsize": subgroup_size,
    **{
        f"nvvm.read.ptx.sreg.{register}.{axis}": _special_register
        for register in ("tid", "ctaid", "ntid", "nctaid")
        for axis in "xyz"
    },
}
"""Operation → what writes its code."""
