"""
Use non-temporal stores in kernels of the host target for arrays that exceed the last-level cache.

An ordinary store reads the cache line that it changes. Where a loop writes every element of rows that the
kernel does not read, and the launch touches more bytes than the last-level cache holds, that read is a third
of the traffic and useless. The results of some iterations are then gathered in a small buffer and written
from there by non-temporal stores (`streaming_functions.py`), which bypass the caches. This preserves results:
iterations of partitioned loops are independent, and each loads before it stores. A loop that only copies
needs no buffer, and leaves the choice of stores to the C library for arrays that fit the caches.

Takes:  the host level, straight loops that LLVM is asked to vectorise (`accx.simd`).
Leaves: two versions of such a loop, one over pieces and the original, selected by a comparison of the bytes
        that the launch touches, by the trip counts of the loops around it, with the size of the last-level
        caches of the threads that run it. A copy becomes `llvm.intr.memmove` for rows that are not short
        (`copied_rows.py`), unless the program has a `memmove` of its own.
Fails:  never; `decisions/streams.py` decides which loops stay as they are.

Before:
  scf.for %i = %lo to %hi step %c1 { … llvm.store %v, %b[%i] } {accx.simd}
After:
  %large = llvm.call @__accopt_streams(%bytes, %stencil)
  scf.if %large {
    scf.for %start = %lo to %hi step %c512 {
      scf.for %i = %start to %end step %c1 { … llvm.store %v, %gathered[%i - %start] } {accx.simd}
      llvm.call @__accopt_stream(%b[%start], %gathered, %count)
    }
  } else { scf.for %i = … }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm, scf
from xdsl.dialects.builtin import IntegerType, ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx import ENTRY, KERNEL, SIMD, VECTOR_WIDTH
from ...dialects.volatility import is_ordered
from ..decisions.streams import SHORTEST, streamed
from ..ir.kernels.outline import symbol_table
from ..ir.loops.lane_loops import LaneValues, stride
from ..ir.ops.building import constant_trips, constant_value
from ..ir.ops.layout import size_of
from ..ir.values.addresses import base_of
from .copied_rows import CopiedRow, copied_row, emit_copy, sources_of
from .streamed_versions import StreamedLoop, emit_versions
from .streaming_functions import add_functions

_MEMMOVE = "memmove"


def _has_own_memmove(module: ModuleOp) -> bool:
    """Whether other code reaches a function of the program by the name of the C library's `memmove`."""
    for op in module.body.block.ops:
        if isinstance(op, llvm.FuncOp) and op.body.blocks:
            entry = op.attributes.get(ENTRY, op.sym_name)
            if isinstance(entry, StringAttr) and entry.data == _MEMMOVE:
                return True
    return False


@dataclass(frozen=True)
class StreamStoresPass(ModulePass):
    """See the contract at the top of this file. `bytes` replaces the cache's size."""

    name = "stream-stores"

    enabled: bool = True
    bytes: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.enabled:
            return
        copies = not _has_own_memmove(op)
        kernels: list[tuple[llvm.FuncOp, list[StreamedLoop]]] = []
        for function in op.body.block.ops:
            if not isinstance(function, llvm.FuncOp) or KERNEL not in function.attributes:
                continue
            if found := _loops(function, _marked(function), copies):
                kernels.append((function, found))
        if kernels:
            add_functions(op, symbol_table(op), self.bytes)
            for function, found in kernels:
                emit_versions(function, found)


def _marked(function: llvm.FuncOp) -> list[scf.ForOp]:
    """The straight loops that LLVM is asked to vectorise, of step 1 and not known to be short."""
    return [
        op
        for op in function.walk()
        if isinstance(op, scf.ForOp) and SIMD in op.attributes and VECTOR_WIDTH not in op.attributes
        if constant_value(op.step) == 1 and isinstance(op.lb.type, IntegerType)
        if (trips := constant_trips(op.lb, op.ub, op.step)) is None or trips >= SHORTEST
    ]


def _loops(function: llvm.FuncOp, marked: Sequence[scf.ForOp], copies: bool) -> list[StreamedLoop]:
    """The loops that are streamed; if the kernel `copies`, others that copy do so by one operation."""
    if not marked:
        return []
    read = {base_of(op.ptr) for op in function.walk() if isinstance(op, llvm.LoadOp)}
    found: list[StreamedLoop] = []
    for loop in marked:
        stores = _last_stores(loop)
        row = copied_row(loop, stores[0]) if copies and len(stores) == 1 else None
        if (candidate := _candidate(loop, function, stores, read, row)) is not None:
            found.append(candidate)
        elif row is not None:
            emit_copy(row)
    return found


def _candidate(
    loop: scf.ForOp,
    function: llvm.FuncOp,
    stores: Sequence[llvm.StoreOp],
    read: set[SSAValue],
    row: CopiedRow | None,
) -> StreamedLoop | None:
    if not stores:
        return None
    varying = LaneValues(loop)
    described = [
        (base_of(store.ptr), stride(store.ptr, varying), size_of(store.value.type))
        for store in stores
    ]
    if not streamed(described, read) or not all(
        isinstance(base.owner, llvm.LoadOp) and base.owner.parent_op() is function
        for base, _, _ in described
    ):
        return None
    if not _write_each_element_once(loop, function, stores):
        return None
    touched = {base: size for base, _, size in described}
    loads = [
        op
        for op in loop.body.block.ops
        if isinstance(op, llvm.LoadOp) and stride(op.ptr, varying) != 0
    ]
    sizes = {base_of(op.ptr): size_of(op.dereferenced_value.type) for op in loads}
    touched |= sizes
    return StreamedLoop(loop, stores, sum(touched.values()), len(sizes) < len(loads), row)


def _last_stores(loop: scf.ForOp) -> list[llvm.StoreOp]:
    """
    The loop's stores; none if it is not straight-line code, or if a store is volatile or atomic, or comes
    before a load.
    """
    stores: list[llvm.StoreOp] = []
    for op in loop.body.block.ops:
        match op:
            case llvm.StoreOp():
                stores.append(op)
            case llvm.LoadOp() if stores or is_ordered(op):
                return []
            case llvm.CallOp():
                return []
            case _ if op.regions:
                return []
            case _:
                pass
    return [] if any(is_ordered(store) for store in stores) else stores


def _write_each_element_once(
    loop: scf.ForOp, function: llvm.FuncOp, stores: Iterable[llvm.StoreOp]
) -> bool:
    """Whether only loops enclose the stores, and each iteration of these stores to different elements."""
    around: list[scf.ForOp] = []
    parent = loop.parent_op()
    while isinstance(parent, scf.ForOp):
        around.append(parent)
        parent = parent.parent_op()
    if parent is not function:
        return False
    counters = {each.body.block.args[0] for each in around}
    return all(counters <= sources_of(store.ptr) for store in stores)
