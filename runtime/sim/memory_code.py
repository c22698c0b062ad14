"""Generates code for operations on memory: loads, stores, addresses, copies, atomics."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext, nvvm
from ...dialects.accx import HANDED_OVER
from ...dialects.layout import size_of
from ...dialects.llvm_ext.atomics import AtomicOrdering
from .atomics import KINDS
from .codegen import FunctionCompiler, Unsupported, Writer, array_name, scalar_dtype
from .expressions import type_name, zero
from .liveness import Flag
from .types import dtype_of, element, elements, odd_bytes


def alloca(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.AllocaOp)
    if op.res in f.live.cells:
        f.put(f"{f.define(op.res)} = {f.module.constant(zero(op.elem_type))}")
        if op.res in f.live.flagged:
            f.put(f"{f.define(Flag(op.res))} = False_")
        return
    size = size_of(op.elem_type)
    name = array_name(op.res)
    f.result(op, f"rt.alloca({size}, {f.name_of(op.size)}, {name!r})")


def load(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.LoadOp)
    if op.ptr in f.live.cells:
        if op.ptr in f.live.flagged and HANDED_OVER not in op.attributes:
            name = array_name(op.ptr)
            flag = f.name_of(Flag(op.ptr))
            f.put(f"if {flag} is not True_:")
            with f.indented():
                f.put(f"rt.check_cell({f.threads}, {flag}, {f.place(op)}, {name!r})")
        f.result(op, f.name_of(op.ptr))
        return
    unchecked = HANDED_OVER in op.attributes
    f.result(op, _load(f, op, op.ptr, f.name_of(op.ptr), op.dereferenced_value.type, unchecked))


def _load(
    f: FunctionCompiler,
    op: Operation,
    pointer: SSAValue,
    name: str,
    type: Attribute,
    unchecked: bool,
) -> str:
    """The expression for a load; `unchecked`: memory that may be unset, as in a copy of a whole structure."""
    parts = elements(type)
    if parts is None:
        dtype = scalar_dtype(type, "load")
        if (size := odd_bytes(type)) is not None:
            access = f.access(op, pointer, np.uint8, not unchecked, _is_atomic(op))
            bytes = [f"rt.load({f.threads}, {name} + {n}, {access})" for n in range(size)]
            return f"ar.join_bytes(({', '.join(bytes)}), {type_name(type)})"
        return f"rt.load({f.threads}, {name}, {f.access(op, pointer, dtype, not unchecked, _is_atomic(op))})"
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
            flag = Flag(op.ptr)
            handed = HANDED_OVER in op.attributes
            known = f"rt.handed_over({f.threads}, {f.name_of(flag)})" if handed else "True_"
            f.put(f"{f.define(flag)} = {known}")
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
        access = f.access(op, op.ptr, scalar_dtype(type), True, _is_atomic(op))
        f.put(f"rt.store({f.threads}, {to}, {value}, {access})")
        return
    for index, (part, offset) in enumerate(parts):
        _store(f, op, f"({to} + {offset})", f"{value}[{index}]", part)


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
    f.derive(op.results[0], operands)
    f.result(op, text)


def address_of(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm.AddressOfOp)
    symbol = op.global_name.root_reference.data
    f.names[op.result] = f.module.address(symbol)


def memory_transfer(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm_ext.MemoryTransferOp)
    _copy(f, op, op.dst, op.src, f.name_of(op.len))


def _copy(f: FunctionCompiler, op: Operation, to: SSAValue, frm: SSAValue, size: str) -> None:
    target, source = (f.access(op, pointer, "int8", False) for pointer in (to, frm))
    f.put(f"rt.copy({f.threads}, {f.listed((to, frm))}, {size}, {target}, {source})")


def memset(f: FunctionCompiler, op: Operation) -> None:
    to, value, size = op.operands[:3]
    _fill(f, op, to, f.name_of(value), f.name_of(size))


def _fill(f: FunctionCompiler, op: Operation, to: SSAValue, byte: str, size: str) -> None:
    access = f.access(op, to, "int8", False)
    f.put(f"rt.fill({f.threads}, {f.name_of(to)}, {byte}, {size}, {access})")


def cp_async(f: FunctionCompiler, op: Operation) -> None:
    """An asynchronous copy, performed immediately; a GPU completes it at the latest when it is waited
    for."""
    assert isinstance(op, nvvm.CpAsyncOp)
    count = f.module.integer(op.size.value.data)
    if op.cp_size is not None:
        _fill(f, op, op.dst, f.module.integer(0), count)
        count = f.name_of(op.cp_size)
    _copy(f, op, op.dst, op.src, count)


def cp_async_bulk(f: FunctionCompiler, op: Operation) -> None:
    """A bulk copy, performed immediately and counted by its barrier."""
    assert isinstance(op, nvvm.CpAsyncBulkOp)
    _copy(f, op, op.dst, op.src, f.name_of(op.size))
    names = f.listed((op.dst, op.src, op.mbar, op.size))
    f.put(f"rt.bulk.copied({f.threads}, {names}, {f.place(op)})")


def _bulk_barrier(method: str, operands: int) -> Writer:
    def write(f: FunctionCompiler, op: Operation) -> None:
        names = f.listed(op.operands[:operands])
        f.put(f"rt.bulk.{method}({f.threads}, {names}, {f.place(op)})")

    return write


def _orders(ordering: int) -> tuple[bool, bool]:
    """Whether an ordering acquires and releases."""
    kind = AtomicOrdering(ordering)
    acquires = kind in (AtomicOrdering.acquire, AtomicOrdering.acq_rel, AtomicOrdering.seq_cst)
    releases = kind in (AtomicOrdering.release, AtomicOrdering.acq_rel, AtomicOrdering.seq_cst)
    return acquires, releases


def atomic_rmw(f: FunctionCompiler, op: Operation) -> None:
    """`llvm.atomicrmw`. Raises `Unsupported` for operations that the simulator does not have."""
    assert isinstance(op, llvm_ext.AtomicRMWOp)
    kind = op.kind.ir_name
    if kind not in KINDS:
        raise Unsupported(f"the atomic operation '{kind}'")
    dtype = scalar_dtype(op.val.type)
    wanted = bool(op.res.uses)
    acquires, releases = _orders(op.ordering.value.data)
    if releases:
        f.put(f"rt.clock.fence({f.threads})")
    call = (
        f"rt.atomic_update({f.threads}, {kind!r}, {f.name_of(op.ptr)}, {f.name_of(op.val)},"
        f" {wanted}, {f.access(op, op.ptr, dtype)})"
    )
    f.result(op, call)
    if acquires:
        f.put(f"rt.clock.fence({f.threads})")


def cmpxchg(f: FunctionCompiler, op: Operation) -> None:
    assert isinstance(op, llvm_ext.CmpXchgOp)
    dtype = scalar_dtype(op.operands[1].type)
    access = f.access(op, op.ptr, dtype)
    f.put(f"rt.clock.fence({f.threads})")
    f.result(op, f"rt.compare_exchange({f.threads}, {f.listed(op.operands)}, {access})")
    f.put(f"rt.clock.fence({f.threads})")


def fence(f: FunctionCompiler, op: Operation) -> None:
    if isinstance(op, nvvm.MemoryBarrierOp) and op.scope.data is nvvm.MemScope.CTA:
        return
    f.put(f"rt.clock.fence({f.threads})")


MEMORY: dict[str, Writer] = {
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
    "nvvm.memory.barrier": fence,
    "nvvm.cp.async.shared.global": cp_async,
    "nvvm.cp.async.bulk.shared.cluster.global": cp_async_bulk,
    "nvvm.mbarrier.init": _bulk_barrier("init", 2),
    "nvvm.mbarrier.inval": _bulk_barrier("end", 1),
    "nvvm.mbarrier.arrive.expect_tx": _bulk_barrier("expect", 2),
    "nvvm.mbarrier.try_wait.parity": _bulk_barrier("wait", 2),
}
"""Operation → the function that writes its code."""
