"""
Lowers the operations for tiles in shared memory (`dialects/accx_cache.py`): the threads of a gang, its
shared memory, its barriers, and asynchronous copies.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i1, i8, i32, i64
from xdsl.ir import Block, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import accx_cache, accx_gangs, llvm_ext, nvvm
from ...dialects.accx import DYNAMIC
from ..decisions.loop_partition import Mode
from ..ir.variables.combiners import Kind, ScalarOperator
from .barriers import EffectTracker, accesses
from .context import Kernel
from .effects import Effects
from .warp import all_reduce, by_leader, take_number


def coordinates(k: Kernel, op: accx_cache.GangThreadsOp) -> list[SSAValue]:
    """The thread's coordinates in the box of the operation, outermost first (i32)."""
    sizes = op.sizes
    if len(sizes) == 1:
        return [k.thread()]
    if len(sizes) == 2 and k.shape.lanes == sizes[1]:
        return [k.worker(), k.lane()]
    rest, out = k.thread(), list[SSAValue]()
    for size in reversed(sizes[1:]):
        width = k.i32(size)
        out.append(k.value(arith.RemUIOp(rest, width), "coordinate"))
        rest = k.value(arith.DivUIOp(rest, width), "coordinate")
    return [rest, *reversed(out)]


def gang_threads(
    k: Kernel,
    op: accx_cache.GangThreadsOp,
    effects: Effects,
    lower_body: Callable[[Block], None],
) -> None:
    """Runs the region in every thread of the gang; `lower_body` lowers a block at the current position."""
    count = 1
    for size in op.sizes:
        count *= size
    if k.mode is Mode.WORKER or k.shape.threads not in (count, None):
        raise error(
            SourceLoc.from_attr(op.location),
            f"code for {count} threads of a gang is in a construct whose gangs have {k.shape.threads}",
            "give the construct the sizes that promote-cache-to-shared chose",
        )
    k.access(accesses(effects.reads, effects.writes, leader=False))
    block = op.body.block
    before = set(k.tracker.pending)
    for argument, value in zip(block.args, coordinates(k, op), strict=True):
        k.values[argument] = value
    with k.running(Mode.THREAD, EffectTracker()):
        lower_body(block)
    k.tracker.pending |= before


def shared_tile(k: Kernel, op: accx_cache.SharedTileOp) -> None:
    """Allocates the tile's memory. (The pass that made the tile has checked that it fits.)"""
    size = op.bytes.value.data
    type = llvm.LLVMArrayType(size, i8)
    variable = k.device.shared_global(f"{k.name}_{op.tile_name.data}_tile", type, k.loc)
    offset = op.attributes.get(DYNAMIC)
    if isinstance(offset, IntegerAttr):
        variable.attributes[DYNAMIC] = offset
        k.dynamic_bytes = max(k.dynamic_bytes, offset.value.data + size)
    else:
        k.shared_bytes += size
    address = llvm.AddressOfOp(variable.sym_name, nvvm.SHARED_POINTER)
    k.values[op.result] = k.in_prologue().value(address, op.result.name_hint)
    k.shared_roots[k.values[op.result]] = op.result


def barrier(k: Kernel) -> None:
    """Emits a barrier of the whole gang, whichever threads run the current code."""
    if k.shape.threads != 1:
        k.insert(gpu.BarrierOp())


def gang_sum(k: Kernel, op: accx_cache.GangSumOp) -> None:
    """Emits the sum of a value over the threads of a gang, as in a reduction."""
    value = k.values[op.value]
    with k.running(Mode.GANG, k.tracker):
        (total,) = all_reduce(k, [(ScalarOperator(Kind.ADD, i32), value)])
    k.values[op.result] = total


def launch_memory(k: Kernel, op: accx_gangs.LaunchMemoryOp) -> None:
    """Reserves the memory in the scratch memory of the kernel's launches."""
    name = op.memory_name.data
    k.values[op.result] = k.launch_scratch(op.bytes.value.data, op.result.name_hint or name)


def last_gang(k: Kernel, op: accx_gangs.LastGangOp) -> None:
    """
    Emits the test for the last gang, as at the end of a reduction over gangs (`grid_reductions.py`): the
    leader takes a number after all stores of its gang, and puts the ticket back if it is the last one.
    """
    ticket, gangs = k.values[op.ticket], k.values[op.gangs]
    barrier(k)

    def arrive() -> list[SSAValue]:
        number = take_number(k, ticket)
        last = k.compare("eq", number, k.sub(gangs, k.i32(1)), "is_last")
        with k.at(k.if_then(last)):
            k.store(k.i32(0), ticket)
        return [last]

    with k.running(Mode.GANG, k.tracker):
        (last,) = by_leader(k, [i1], arrive)
    barrier(k)
    k.values[op.result] = last


def copy_async(k: Kernel, op: accx_cache.CopyAsyncOp) -> None:
    """Emits `cp.async`, with casts to the address spaces that it requires."""
    target = k.values[op.target]
    source = k.value(llvm_ext.AddrSpaceCastOp(k.values[op.source], nvvm.GLOBAL_POINTER))
    size = op.bytes.value.data
    modifier = nvvm.LoadCacheModifier.CG if size == 16 else nvvm.LoadCacheModifier.CA
    k.insert(nvvm.CpAsyncOp(target, source, size, modifier))


def wait_copies(k: Kernel) -> None:
    k.insert(nvvm.CpAsyncCommitGroupOp())
    k.insert(nvvm.CpAsyncWaitGroupOp(0))


def warp_product(k: Kernel, op: accx_cache.WarpProductOp) -> None:
    """Emits `mma.sync`, whose results are members of a structure."""
    left, right, sums = (
        [k.values[value] for value in group] for group in (op.left, op.right, op.sums)
    )
    found = k.value(nvvm.MmaOp(op.shape.sizes, left, right, sums))
    for number, result in enumerate(op.results):
        position = DenseArrayBase.from_list(i64, [number])
        k.values[result] = k.value(llvm.ExtractValueOp(position, found, result.type))


def opaque(k: Kernel, op: accx_cache.OpaqueOp) -> None:
    """Emits inline assembly, which LLVM neither analyses nor moves."""
    asm = llvm.InlineAsmOp(nvvm.COPY, "=r,r", [k.values[op.value]], [i32], has_side_effects=True)
    k.values[op.result] = k.value(asm)
