"""
Exchange of values between the threads of a warp or gang: shuffles, broadcasts, and reductions over a group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    f64,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import llvm_ext, nvvm
from ...dialects.layout import is_long_double
from ..decisions.device import MAX_THREADS, WARP
from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor
from ..ir.ops.complex_values import make, parts
from ..ir.ops.layout import size_of
from ..ir.variables.combiners import Combiner, ScalarOperator
from .barriers import Root, Space, accesses
from .context import Kernel

REDUCE_BUFFER = Root(Space.INTERNAL, "reduce")
BROADCAST_BUFFER = Root(Space.INTERNAL, "broadcast")


def can_shuffle(type: Attribute) -> bool:
    """Whether values of this type can be shuffled between registers."""
    floats = Float16Type | Float32Type | Float64Type
    return isinstance(type, floats | llvm.LLVMPointerType) or (
        isinstance(type, IntegerType) and type.width.data <= 64
    )


def shuffle(
    k: Kernel, kind: nvvm.ShflKind, value: SSAValue, offset: SSAValue, width: int
) -> SSAValue:
    """The value of another lane of the group of `width` lanes (a power of two)."""
    clamp = k.i32(((WARP - width) << 8) | (WARP - 1))
    mask = k.warp_mask()

    def word(part: SSAValue) -> SSAValue:
        return k.value(nvvm.ShflOp(kind, mask, part, offset, clamp), value.name_hint)

    type = value.type
    if isinstance(type, llvm.LLVMStructType | llvm.LLVMArrayType):
        members = [shuffle(k, kind, part, offset, width) for part in parts(k.value, value)]
        return make(k.value, type, *members)
    if is_long_double(type):  # types that device code computes as f64
        narrow = k.value(arith.TruncFOp(value, f64), value.name_hint)
        return k.value(arith.ExtFOp(shuffle(k, kind, narrow, offset, width), type))
    if isinstance(type, Float32Type) or type == i32:
        return word(value)
    if isinstance(type, Float16Type):
        bits = k.value(arith.BitcastOp(value, i16), value.name_hint)
        return k.value(arith.BitcastOp(shuffle(k, kind, bits, offset, width), type))
    if isinstance(type, IntegerType) and type.width.data < 32:
        return k.value(arith.TruncIOp(word(k.value(arith.ExtUIOp(value, i32))), type))
    if isinstance(type, llvm.LLVMPointerType):
        bits = k.value(llvm.PtrToIntOp(value, i64))
    elif isinstance(type, AnyFloat):
        bits = k.value(arith.BitcastOp(value, i64))
    else:
        bits = value
    half = k.constant(32, i64)
    low = word(k.value(arith.TruncIOp(bits, i32)))
    high = word(k.value(arith.TruncIOp(k.value(arith.ShRUIOp(bits, half)), i32)))
    upper = k.value(arith.ShLIOp(k.value(arith.ExtUIOp(high, i64)), half))
    whole = k.value(arith.OrIOp(upper, k.value(arith.ExtUIOp(low, i64))))
    if isinstance(type, llvm.LLVMPointerType):
        return k.value(llvm.IntToPtrOp.create(operands=[whole], result_types=[type]))
    return k.value(arith.BitcastOp(whole, type)) if isinstance(type, AnyFloat) else whole


def leader_branch(k: Kernel) -> Cursor:
    """
    A cursor in code that only the leader of the group executes; continues the previous such branch if no
    operation is in between.
    """
    block, leader = k.point.block, k.is_leader()
    before = k.point.insert_before
    last = block.last_op if before is None else before.prev_op
    if (
        isinstance(last, scf.IfOp)
        and last.cond is leader
        and not last.results
        and not last.false_region.blocks
    ):
        end = last.true_region.block.last_op
        assert end is not None
        return Cursor.before(end, k.loc)
    return k.if_then(leader)


def by_leader(
    k: Kernel, types: Sequence[Attribute], emit: Callable[[], Sequence[SSAValue]]
) -> list[SSAValue]:
    """
    Runs `emit` in the leader only and broadcasts its results, of the given types, to every thread of the
    group: by shuffles within a warp, through shared memory between warps.
    """
    if not types:
        with k.at(leader_branch(k)):
            emit()
        return []
    size = k.group_size(k.mode)
    if size is not None and size <= WARP and all(can_shuffle(t) for t in types):
        return _by_leader_in_warp(k, types, emit, size)
    offsets, total = _offsets(types)
    stride = -(-total // 16) * 16
    workers = k.shape.workers or WARP
    buffer = k.buffer("broadcast", stride * (workers if k.mode is Mode.WORKER else 1))
    if k.mode is Mode.WORKER:
        slot = llvm.LLVMArrayType(stride, IntegerType(8))
        buffer = shared_element(k, buffer, k.worker(), slot)
    k.access(accesses((), (BROADCAST_BUFFER,), leader=True))
    with k.at(leader_branch(k)):
        for value, offset in zip(emit(), offsets, strict=True):
            k.store(value, shared_field(k, buffer, offset))
    k.access(accesses((BROADCAST_BUFFER,), (), leader=False))
    return [
        k.load(shared_field(k, buffer, offset), type)
        for type, offset in zip(types, offsets, strict=True)
    ]


def take_number(k: Kernel, ticket: SSAValue) -> SSAValue:
    """
    How many gangs have come to the i32 at `ticket`, in device memory, before this one, whose leader runs this
    code. What those gangs had stored is visible to it then, and what its own gang has stored to later ones.
    """
    k.insert(nvvm.MemoryBarrierOp(nvvm.MemScope.GPU))
    taken = llvm_ext.AtomicRMWOp(llvm_ext.AtomicBinOp.add, ticket, k.i32(1), syncscope="device")
    number = k.value(taken, "ticket")
    k.insert(nvvm.MemoryBarrierOp(nvvm.MemScope.GPU))
    return number


def _by_leader_in_warp(
    k: Kernel, types: Sequence[Attribute], emit: Callable[[], Sequence[SSAValue]], size: int
) -> list[SSAValue]:
    then, otherwise = Block(), Block()
    branch = scf.IfOp(k.is_leader(), types, Region(then), Region(otherwise))
    k.insert(branch)
    with k.at(Cursor.at_end(then, k.loc)):
        k.insert(scf.YieldOp(*emit()))
    with k.at(Cursor.at_end(otherwise, k.loc)):
        k.insert(scf.YieldOp(*map(k.zero, types)))
    return [shuffle(k, nvvm.ShflKind.IDX, r, k.i32(0), size) for r in branch.results]


def _offsets(types: Sequence[Attribute]) -> tuple[list[int], int]:
    """Eight-byte-aligned offsets of values in a buffer, and the bytes they take."""
    offsets: list[int] = []
    total = 0
    for type in types:
        offsets.append(total)
        total += -(-size_of(type) // 8) * 8
    return offsets, total


def shared_field(k: Kernel, buffer: SSAValue, offset: int) -> SSAValue:
    """The address `offset` bytes into a buffer in shared memory."""
    if offset == 0:
        return buffer
    return k.value(llvm.GEPOp(buffer, [offset], IntegerType(8), result_type=buffer.type))  # type: ignore[arg-type]


def shared_element(k: Kernel, buffer: SSAValue, index: SSAValue, type: Attribute) -> SSAValue:
    """The address of element `index` of an array of `type` in shared memory."""
    return k.value(
        llvm.GEPOp.from_mixed_indices(buffer, [index], type, result_type=buffer.type)  # type: ignore[arg-type]
    )


def _butterfly(k: Kernel, combiner: Combiner, value: SSAValue, width: int) -> SSAValue:
    """Combines groups of `width` lanes; every lane gets the same result, bit for bit."""
    offset = width // 2
    while offset:
        other = shuffle(k, nvvm.ShflKind.BFLY, value, k.i32(offset), width)
        first, second = value, other
        if not combiner.is_symmetric:  # the lower lane's value is the first operand in both
            bit = k.value(arith.AndIOp(k.lane_in_warp(), k.i32(offset)), "upper_half")
            upper = k.compare("ne", bit, k.i32(0), "is_upper")
            first, second = k.select(upper, other, value), k.select(upper, value, other)
        value = combiner.combine(k, first, second, value.name_hint)
        offset //= 2
    return value


_REDUX = {
    "add": nvvm.ReduxKind.ADD,
    "iand": nvvm.ReduxKind.AND,
    "ior": nvvm.ReduxKind.OR,
    "xor": nvvm.ReduxKind.XOR,
}


def _reduce_in_warp(k: Kernel, combiner: Combiner, value: SSAValue, width: int) -> SSAValue:
    if k.use_redux and value.type == i32 and isinstance(combiner, ScalarOperator):
        kind = _REDUX.get(combiner.kind.value)
        if combiner.kind.value in ("max", "min"):
            kind = nvvm.ReduxKind(("u" if combiner.unsigned else "") + combiner.kind.value)
        if kind is not None:
            return k.value(nvvm.ReduxOp(kind, value, k.warp_mask()), value.name_hint)
    return _butterfly(k, combiner, value, width)


def all_reduce(k: Kernel, items: Sequence[tuple[Combiner, SSAValue]]) -> list[SSAValue]:
    """
    Combines each value over all threads that run the current code together (the gang, or the lanes
    of a worker); every one of them gets the results. Warps combine by shuffles; then each warp stores its
    result to shared memory and, after one barrier, every warp combines all of them. The order of
    combination is fixed. With the kernel's exchange `shared`, see `reduce_in_shared`.
    """
    size = k.group_size(k.mode)
    if size == 1:
        return [value for _, value in items]
    if k.exchange == "shared":
        return [reduce_in_shared(k, combiner, value) for combiner, value in items]
    width = WARP if size is None else min(size, WARP)
    values = [_reduce_in_warp(k, combiner, value, width) for combiner, value in items]
    if size is not None and size <= WARP:
        return values
    offsets, total = [0], 0
    for combiner, _ in items:
        total += WARP * size_of(combiner.type)
        total = -(-total // 8) * 8
        offsets.append(total)
    buffer = k.buffer("reduce", total)
    k.access(accesses((), (REDUCE_BUFFER,), leader=False))
    first_lane = k.compare("eq", k.lane_in_warp(), k.i32(0), "first_lane")
    with k.at(k.if_then(first_lane)):
        for (combiner, _), value, offset in zip(items, values, offsets, strict=False):
            place = shared_element(k, shared_field(k, buffer, offset), k.warp(), combiner.type)
            k.store(value, place)
    k.access(accesses((REDUCE_BUFFER,), (), leader=False))
    return _combine_warps(k, [c for c, _ in items], buffer, offsets, size)


def _combine_warps(
    k: Kernel, combiners: Sequence[Combiner], buffer: SSAValue, offsets: list[int], size: int | None
) -> list[SSAValue]:
    """The step of `all_reduce` after its barrier: each warp combines the results of all warps in `buffer`."""
    if size is None:
        threads = k.threads() if k.mode is Mode.GANG else k.lanes()
        warps = k.value(arith.DivUIOp(threads, k.i32(WARP)), "warps")
        width = WARP
    else:
        count = size // WARP
        warps, width = k.i32(count), 1 << (count - 1).bit_length()
    slot = k.lane_in_warp()
    if width < WARP:
        slot = k.value(arith.AndIOp(slot, k.i32(width - 1)), "slot")
    partial = size is None or (size // WARP) & (size // WARP - 1)
    valid = None
    if partial:
        valid = k.compare("ult", slot, warps, "valid")
        slot = k.select(valid, slot, k.i32(0))
    if k.mode is Mode.WORKER and k.shape.workers != 1:
        slot = k.add(k.mul(k.worker(), warps, "first_warp"), slot, "slot")
    out: list[SSAValue] = []
    for combiner, offset in zip(combiners, offsets, strict=False):
        place = shared_element(k, shared_field(k, buffer, offset), slot, combiner.type)
        value = k.load(place, combiner.type, "of_warp")
        if valid is not None:
            value = k.select(valid, value, combiner.neutral(k))
        out.append(_butterfly(k, combiner, value, width))
    return out


def reduce_in_shared(k: Kernel, combiner: Combiner, value: SSAValue) -> SSAValue:
    """
    Combines `value` over the threads that run the current code together, through shared memory only: thread
    t combines its value with that of thread t + s, for s from half the threads down to 1.
    """
    size = k.group_size(k.mode)
    threads = k.shape.threads or MAX_THREADS
    buffer = k.buffer("reduce", threads * size_of(combiner.type))
    in_gang = k.mode is Mode.GANG
    member = k.thread() if in_gang else k.lane()
    count = k.threads() if in_gang else k.lanes()
    if not in_gang and k.shape.workers != 1:
        first = k.mul(k.worker(), count, "first_member")
        buffer = shared_element(k, buffer, first, combiner.type)
    mine = shared_element(k, buffer, member, combiner.type)
    k.access(accesses((), (REDUCE_BUFFER,), leader=False))
    k.store(value, mine)
    step = 1 << ((size or MAX_THREADS) - 1).bit_length() >> 1
    while step:
        k.barrier()
        partner = k.add(member, k.i32(step), "partner")
        within = k.compare("ult", member, k.i32(step), "first_half")
        has_partner = k.compare("ult", partner, count, "has_partner")
        with k.at(k.if_then(k.value(arith.AndIOp(within, has_partner)))):
            own = k.load(mine, combiner.type, "own")
            theirs = shared_element(k, buffer, partner, combiner.type)
            k.store(combiner.combine(k, own, k.load(theirs, combiner.type, "theirs")), mine)
        step //= 2
    k.barrier()
    k.access(accesses((REDUCE_BUFFER,), (), leader=False))
    return k.load(buffer, combiner.type, "total")
