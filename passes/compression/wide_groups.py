"""
Groups of consecutive iterations that access packed elements 16 bytes at a time.

Two-byte elements, one per thread, leave half of the memory bandwidth unused. Here an iteration of a
streaming loop becomes a group of as many as fill 16 bytes with the widest elements. A whole
group with aligned addresses reads everything first, element after element of each array, then
computes, then writes everything: LLVM makes wide accesses of neighbours whose first is known to be
aligned. Other groups run iteration by iteration.

Before:
  acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    %p = llvm.getelementptr %a_dev[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i16
    %code = llvm.load %p : !llvm.ptr -> i16 ...
After:
  acc.loop gang vector control(%group : i32) = (%c0 : i32) to (%groups : i32) step (%c1 : i32) {
    scf.if %whole { the loads of eight iterations; their arithmetic; their stores }
    else { scf.for %i = %first to %past ... the body as it was }
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.accx import COVERS, ELEMENTS, GANG_DIM, GIVEN_SIZES, UNROLL, VOLATILE, WHY
from ..analysis.acc_ops import has_level, is_defined_inside, set_operand_groups
from ..analysis.device_functions import PURE_FUNCTIONS
from ..analysis.layout import size_of
from ..analysis.schedule import MAX_GRID
from ..building import Cursor, constant_value, erase

NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])
WIDE_BYTES = 16
MAX_OPERATIONS = 160


@dataclass(frozen=True)
class Access:
    """
    A load or store of an element, or a member of one, that lies `stride` bytes after that of the
    iteration before (before it, if negative). `offset`: the member's place in the element.
    """

    op: llvm.LoadOp | llvm.StoreOp
    subscript: llvm.GEPOp
    stride: int
    offset: int


@dataclass(frozen=True)
class WideLoop:
    """`size` iterations of `loop` become one."""

    loop: acc.LoopOp
    size: int
    accesses: tuple[Access, ...]

    def bytes_of(self, access: Access) -> int:
        """How many bytes of an array a group accesses, all of them neighbours."""
        return self.size * abs(access.stride)


def find_wide_loop(loop: acc.LoopOp, packed: set[Operation]) -> WideLoop | None:
    """
    How `loop` can be grouped: shared out to lanes, one variable with step 1, straight-line code
    without a load after a store, and accesses of `packed` elements (loads and stores that
    `ArrayRewriter` made) next to each other.
    """
    if len(loop.lowerbound) != 1 or constant_value(loop.step[0]) != 1 or not has_level(loop.vector):
        return None
    if loop.private_operands or loop.firstprivate_operands or loop.reduction_operands:
        return None
    if len(loop.region.blocks) != 1:
        return None
    ops = [op for op in loop.region.block.ops if not isinstance(op, acc.YieldOp)]
    if len(ops) > MAX_OPERATIONS or not all(_is_plain(op) for op in ops) or _reads_late(ops):
        return None
    found = [_access(op, loop) for op in ops if isinstance(op, llvm.LoadOp | llvm.StoreOp)]
    accesses = tuple(access for access in found if access is not None)
    if not any(access.op in packed for access in accesses) or _shares_rows(accesses):
        return None
    # The widest elements fill one access: more of them per thread would leave gaps between lanes.
    size = WIDE_BYTES // max(abs(access.stride) for access in accesses)
    return WideLoop(loop, size, accesses) if size > 1 else None


def _shares_rows(accesses: Sequence[Access]) -> bool:
    """
    Whether an array is read at several places, as by a stencil: then rows side by side in one
    thread, which share what they read, are worth more.
    """
    seen: set[tuple[SSAValue, int]] = set()
    for access in accesses:
        if isinstance(access.op, llvm.LoadOp):
            place = access.subscript.ptr, access.offset
            if place in seen:
                return True
            seen.add(place)
    return False


def _is_plain(op: Operation) -> bool:
    if isinstance(op, llvm.LoadOp | llvm.StoreOp):
        ordering = op.ordering
        plain = ordering is None or ordering.value.data == 0
        return plain and VOLATILE not in op.attributes
    if isinstance(op, llvm.CallOp):
        name = op.callee.string_value() if op.callee is not None else ""
        return name in PURE_FUNCTIONS
    return isinstance(op, llvm.GEPOp) or (
        op.name.startswith(("arith.", "math.")) and not op.regions
    )


def _reads_late(ops: Sequence[Operation]) -> bool:
    """Whether a load stands after a store: it might read what the iteration has just written."""
    stored = False
    for op in ops:
        stored = stored or isinstance(op, llvm.StoreOp)
        if stored and isinstance(op, llvm.LoadOp):
            return True
    return False


def _access(op: llvm.LoadOp | llvm.StoreOp, loop: acc.LoopOp) -> Access | None:
    """How `op` moves from iteration to iteration; None if not to the neighbouring element."""
    type = op.dereferenced_value.type if isinstance(op, llvm.LoadOp) else op.value.type
    if not isinstance(type, IntegerType | Float32Type | Float64Type):
        return None
    if isinstance(type, IntegerType) and type.width.data not in (8, 16, 32, 64):
        return None
    gep, offset = _subscript(op, type)
    if gep is None or is_defined_inside(gep.ptr, loop):
        return None
    stride = size_of(gep.elem_type)
    if WIDE_BYTES % stride:
        return None
    direction = _direction(gep.ssa_indices[0], loop)
    return Access(op, gep, direction * stride, offset) if direction else None


def _subscript(op: llvm.LoadOp | llvm.StoreOp, type: Attribute) -> tuple[llvm.GEPOp | None, int]:
    """
    The subscript by one variable that selects the element, and the place in it of the accessed
    member of a structure of nothing but `type`.
    """
    gep = op.ptr.owner
    if not isinstance(gep, llvm.GEPOp):
        return None, 0
    offset, inner = 0, gep.elem_type
    if not gep.ssa_indices:
        indices = list(gep.rawConstantIndices.iter_values())
        if len(indices) != 2 or indices[0] != 0 or not isinstance(inner, llvm.LLVMStructType):
            return None, 0
        if any(member != type for member in inner.types):
            return None, 0
        offset = indices[1] * size_of(type)
        gep = gep.ptr.owner
        if not isinstance(gep, llvm.GEPOp) or gep.elem_type != inner:
            return None, 0
    elif inner != type:
        return None, 0
    if list(gep.rawConstantIndices.iter_values()) != [llvm.GEP_USE_SSA_VAL]:
        return None, 0
    return gep, offset


def _direction(index: SSAValue, loop: acc.LoopOp) -> int:
    """1 if `index` is the loop's variable plus something fixed, -1 if minus it, 0 otherwise."""
    if index is loop.region.block.args[0]:
        return 1
    owner = index.owner
    if isinstance(owner, arith.ExtSIOp):
        return _direction(owner.operands[0], loop)
    if isinstance(owner, arith.AddiOp | arith.SubiOp):
        left, right = owner.operands
        if _is_fixed(right, loop):
            return _direction(left, loop)
        if _is_fixed(left, loop):
            sign = -1 if isinstance(owner, arith.SubiOp) else 1
            return sign * _direction(right, loop)
    return 0


def _is_fixed(value: SSAValue, loop: acc.LoopOp) -> bool:
    """Whether `value` is the same in all iterations."""
    if not is_defined_inside(value, loop) or constant_value(value) is not None:
        return True
    owner = value.owner
    return (
        isinstance(owner, Operation)
        and owner.name.startswith("arith.")
        and all(_is_fixed(operand, loop) for operand in owner.operands)
    )


def widen(wide: WideLoop, construct: acc.ParallelOp) -> None:
    """Rewrites the loop (see the file's docstring); its variable then counts groups."""
    loop, size = wide.loop, wide.size
    block = loop.region.block
    variable = block.args[0]
    type = variable.type
    assert isinstance(type, IntegerType)
    lower, upper = loop.lowerbound[0], loop.upperbound[0]
    before = Cursor.before(loop)
    trips = before.sub(before.value(arith.MaxSIOp(upper, lower)), lower, "trips")
    # Rounded up without an overflow: the last group is whatever is left.
    count = before.constant(size, type)
    whole_groups = before.value(arith.DivUIOp(trips, count))
    rest = before.value(arith.RemUIOp(trips, count))
    some = before.value(arith.MinUIOp(rest, before.constant(1, type)))
    groups = before.value(arith.AddiOp(whole_groups, some), "groups")

    body = [op for op in block.ops if not isinstance(op, acc.YieldOp)]
    assert block.last_op is not None
    at = Cursor.before(block.last_op, loop.location)
    length = at.constant(size, type)
    distance = at.value(arith.MuliOp(variable, length, overflow=NSW))
    first = distance
    if constant_value(lower) != 0:
        first = at.value(arith.AddiOp(lower, distance, overflow=NSW), "first")
    left = at.value(arith.SubiOp(upper, first, overflow=NSW), "left")
    complete = at.value(arith.CmpiOp(left, length, "sge"), "whole")
    addresses = [_address(access, variable, first, size, at) for access in wide.accesses]
    then, otherwise = _branches(at, _aligned(at, complete, wide, addresses))
    _emit_whole(wide, body, first, addresses, then)
    last = otherwise.value(arith.MinSIOp(left, length))
    past = otherwise.value(arith.AddiOp(first, last, overflow=NSW), "past")
    loop_over_rest, each = otherwise.for_loop(first, past, otherwise.constant(1, type), "i")
    loop_over_rest.attributes[UNROLL] = IntegerAttr(1, i32)
    index = each.point.block.args[0]
    index.name_hint = variable.name_hint
    _copy(body, {variable: index}, each)
    for op in reversed(body):
        erase(op)
    variable.name_hint = "group"
    set_operand_groups(loop, lowerbound=[before.constant(0, type)], upperbound=[groups])
    _settle_schedule(loop, size, construct)


def _settle_schedule(loop: acc.LoopOp, size: int, construct: acc.ParallelOp) -> None:
    """One group per thread, and no more gangs than groups need."""
    elements = loop.attributes.pop(ELEMENTS, None)
    known = elements.value.data if isinstance(elements, IntegerAttr) else 1
    why = loop.attributes.get(WHY)
    note = f"{size} packed elements per {WIDE_BYTES}-byte access"
    loop.attributes[WHY] = StringAttr(
        f"{why.data}; {note}" if isinstance(why, StringAttr) else note
    )
    gangs = list(construct.num_gangs)
    at = Cursor.before(construct)
    number = _dimension(loop)
    if COVERS in loop.attributes and _is_alone(loop, construct, len(gangs)):
        assert number is not None
        scaled = at.add(at.mul(at.to_i64(gangs[number]), at.i64(known)), at.i64(size - 1))
        fewer = at.value(arith.DivUIOp(scaled, at.i64(size)))
        gangs[number] = at.value(arith.TruncIOp(fewer, i32), "num_gangs")
    outer = loop.parent_op()
    if (
        isinstance(outer, acc.LoopOp)
        and not has_level(outer.vector)
        and ELEMENTS in outer.attributes
    ):
        # Several rows per gang are for threads that would have too little to do.
        rows = outer.attributes[ELEMENTS]
        number = _dimension(outer)
        if isinstance(rows, IntegerAttr) and _is_alone(outer, construct, len(gangs)):
            assert number is not None
            del outer.attributes[ELEMENTS]
            more = at.mul(at.to_i64(gangs[number]), at.i64(rows.value.data))
            limited = at.value(arith.MinSIOp(more, at.i64(MAX_GRID[number + 1])))
            gangs[number] = at.value(arith.TruncIOp(limited, i32), "num_gangs")
    set_operand_groups(construct, num_gangs=gangs)


def _is_alone(loop: acc.LoopOp, construct: acc.ParallelOp, dimensions: int) -> bool:
    """Whether no other loop uses the gang dimension of `loop`, and the user did not size it."""
    number = _dimension(loop)
    given = construct.attributes.get(GIVEN_SIZES)
    if isinstance(given, ArrayAttr) and StringAttr("num_gangs") in given.data:
        return False
    if number is None or number >= dimensions:
        return False
    return not any(
        other is not loop and isinstance(other, acc.LoopOp) and _dimension(other) == number
        for other in construct.walk()
    )


def _dimension(loop: acc.LoopOp) -> int | None:
    if not has_level(loop.gang):
        return None
    dim = loop.attributes.get(GANG_DIM)
    return dim.value.data - 1 if isinstance(dim, IntegerAttr) else 0


def _aligned(
    at: Cursor, whole: SSAValue, wide: WideLoop, addresses: Sequence[SSAValue]
) -> SSAValue:
    """Whether the group is whole and each of its addresses a multiple of what is accessed there."""
    together: dict[int, SSAValue] = {}
    for access, address in zip(wide.accesses, addresses, strict=True):
        number = at.value(llvm.PtrToIntOp(address, i64))
        bytes = wide.bytes_of(access)
        known = together.get(bytes)
        together[bytes] = number if known is None else at.value(arith.OrIOp(known, number))
    for bytes, bits in together.items():
        low = at.value(arith.AndIOp(bits, at.i64(bytes - 1)))
        even = at.value(arith.CmpiOp(low, at.i64(0), "eq"), "aligned")
        whole = at.value(arith.AndIOp(whole, even), "whole")
    return whole


def _address(
    access: Access, variable: SSAValue, first: SSAValue, size: int, at: Cursor
) -> SSAValue:
    """The lowest address that a group starting with iteration `first` accesses."""
    lowest = first
    if access.stride < 0:
        ahead = at.constant(size - 1, first.type)
        lowest = at.value(arith.AddiOp(first, ahead, overflow=NSW))
    values: dict[SSAValue, SSAValue] = {variable: lowest}

    def copy(value: SSAValue) -> SSAValue:
        owner = value.owner
        if value in values or not isinstance(owner, Operation):
            return values.get(value, value)
        if owner.parent_block() is not variable.owner:
            return value
        clone = owner.clone({operand: copy(operand) for operand in owner.operands})
        values[value] = at.value(clone, value.name_hint)
        return values[value]

    gep = access.subscript
    index = copy(gep.ssa_indices[0])
    element = llvm.GEPOp.from_mixed_indices(gep.ptr, [index], gep.elem_type, inbounds=True)
    return at.value(element, gep.result.name_hint)


def _branches(at: Cursor, condition: SSAValue) -> tuple[Cursor, Cursor]:
    blocks = Block(), Block()
    cursors = [Cursor.before(Cursor.at_end(b, at.loc).insert(scf.YieldOp())) for b in blocks]
    at.insert(scf.IfOp(condition, [], Region(blocks[0]), Region(blocks[1])))
    return cursors[0], cursors[1]


def _emit_whole(
    wide: WideLoop,
    body: Sequence[Operation],
    first: SSAValue,
    addresses: Sequence[SSAValue],
    at: Cursor,
) -> None:
    """A whole group: its wide loads, the iterations' other operations, all stores."""
    variable = wide.loop.region.block.args[0]
    starts = dict(zip((a.op for a in wide.accesses), addresses, strict=True))
    places = {access.op: access for access in wide.accesses}
    values: list[dict[SSAValue, SSAValue]] = []
    for number in range(wide.size):
        index = first
        if number:
            distance = at.constant(number, variable.type)
            index = at.value(arith.AddiOp(first, distance, overflow=NSW), variable.name_hint)
        values.append({variable: index})
    for op, start in starts.items():
        if isinstance(op, llvm.LoadOp):
            result = op.dereferenced_value
            for number, known in enumerate(values):
                place, alignment = _element(at, start, wide, places[op], number)
                load = llvm.LoadOp(place, result.type, alignment=alignment)
                known[result] = at.value(load, result.name_hint)
    rest = [op for op in body if op not in starts and not isinstance(op, llvm.StoreOp)]
    rest = [op for op in rest if not _only_names(op, starts)]
    for known in values:
        _copy(rest, known, at)
    for op in body:
        if not isinstance(op, llvm.StoreOp):
            continue
        for number, known in enumerate(values):
            if op not in starts:
                at.insert(op.clone(known))
                continue
            value = known.get(op.value, op.value)
            place, alignment = _element(at, starts[op], wide, places[op], number)
            at.insert(llvm.StoreOp(value, place, alignment=alignment))


def _only_names(op: Operation, accesses: Container[Operation]) -> bool:
    """Whether `op` is a subscript that nothing but `accesses` uses."""
    return isinstance(op, llvm.GEPOp) and all(
        u.operation in accesses or _only_names(u.operation, accesses) for u in op.result.uses
    )


def _element(
    at: Cursor, start: SSAValue, wide: WideLoop, access: Access, number: int
) -> tuple[SSAValue, int]:
    """Address and alignment of what iteration `number` of a group accesses."""
    position = number if access.stride > 0 else wide.size - 1 - number
    distance = position * abs(access.stride) + access.offset
    whole = wide.bytes_of(access)
    return at.field(start, distance), gcd(whole, distance) if distance else whole


def _copy(ops: Sequence[Operation], values: dict[SSAValue, SSAValue], at: Cursor) -> None:
    location = at.loc
    for op in ops:
        at.loc = op.location
        at.insert(op.clone(values))
    at.loc = location
