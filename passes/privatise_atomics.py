"""
Give every gang its own copy, in shared memory, of a small array that a construct only updates
atomically (OpenACC 3.4, 2.12): histograms, bins, counters.

Takes:  scheduled IR for a GPU, with acc.atomic operations.
Leaves: for each array of constant, small size whose every use in a construct is an atomic update by
        one associative and commutative operator inside gang loops: a gang-private array that
        starts at the operator's identity and takes the updates, and after the loops one atomic update of
        the array per element that differs from the identity. Each element has several copies side by
        side, which lanes take in turn, so that few lanes meet. The grid is cut down to what the
        device holds at once, unless the user gave it. A loop that reads bytes or 16-bit
        integers takes groups of them per iteration (`wide_input.py`). Other arrays are untouched.
Fails:  never.

Before:
  %bins_1 = acc.present varPtr(%bins : !llvm.ptr) varType(i32) bounds(256 elements) -> !llvm.ptr
  acc.parallel … {
    acc.loop gang vector control(%i : i32) = … {
      %p = llvm.getelementptr %bins_1[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      acc.atomic.update %p : !llvm.ptr { ^bb0(%old : i32): … %old + 1 … }
    } attributes {accx.covers}
  }
After:
  acc.parallel … {
    %bins_2 = llvm.alloca … x !llvm.array<8192 x i32>
    acc.loop worker vector control(%element : i32) = (0) to (8192) { %bins_2[%element] = 0 }
    acc.loop gang vector control(%i : i32) = … {
      %p = llvm.getelementptr %bins_2[32 * %k + %i mod 32] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      acc.atomic.update %p : !llvm.ptr { ^bb0(%old : i32): … %old + 1 … }
    }
    acc.loop worker vector control(%element : i32) = (0) to (256) {
      %total = … sum of the 32 copies …
      if %total != 0: acc.atomic.update %bins_1[%element] : … %old + %total …
    }
  }

Options: `target`: only `nvptx` does anything. `copies`: the most copies of an element (default: the
lanes of a warp). `gangs`: the largest grid (default: what the device holds at once).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import COVERS, ELEMENTS, GIVEN_SIZES, WHY
from ..dialects.llvm_ext import AtomicBinOp
from .analysis.acc_ops import (
    MAPPING_OPS,
    NONE,
    has_level,
    is_inside,
    loops_in,
    set_operand_groups,
    variable_name,
)
from .analysis.layout import size_of
from .analysis.loop_facts import constant_trip
from .analysis.private_counters import (
    SHARED_BUDGET,
    choose_copies,
    gang_share,
    is_worthwhile,
    most_gangs,
)
from .analysis.schedule import Target
from .building import Cursor, constant_value, erase
from .lower_acc_atomics import match_rmw
from .wide_input import find_grouping, group_iterations

_MERGE: dict[AtomicBinOp, type[Operation]] = {
    AtomicBinOp.add: arith.AddiOp,
    AtomicBinOp.and_: arith.AndIOp,
    AtomicBinOp.or_: arith.OrIOp,
    AtomicBinOp.xor: arith.XOrIOp,
    AtomicBinOp.max: arith.MaxSIOp,
    AtomicBinOp.min: arith.MinSIOp,
    AtomicBinOp.umax: arith.MaxUIOp,
    AtomicBinOp.umin: arith.MinUIOp,
    AtomicBinOp.fadd: arith.AddfOp,
}


@dataclass(frozen=True)
class Counters:
    """
    An array of `elements` of `type`, of which element `lower` is the first the construct maps;
    `operator` merges two of its values.
    """

    array: SSAValue
    type: IntegerType | AnyFloat
    lower: int
    elements: int
    operator: AtomicBinOp

    @property
    def element_bytes(self) -> int:
        return size_of(self.type)

    def identity(self) -> int:
        """The value that changes nothing."""
        width = 8 * self.element_bytes
        match self.operator:
            case AtomicBinOp.and_ | AtomicBinOp.umin:
                return -1
            case AtomicBinOp.max:
                return -(1 << (width - 1))
            case AtomicBinOp.min:
                return (1 << (width - 1)) - 1
            case _:
                return 0


# Which arrays.


def _section(entry: Operation) -> tuple[int, int] | None:
    """First byte and number of bytes of what a data operation maps, if constant."""
    assert isinstance(entry, MAPPING_OPS)
    if not entry.bounds:
        return 0, size_of(entry.var_type)
    bounds = entry.bounds[0].owner
    if not isinstance(bounds, acc.DataBoundsOp) or bounds.stride_in_bytes is None:
        return None
    given = (bounds.lowerbound, bounds.extent, bounds.stride)
    values = [None if value is None else _constant(value) for value in given]
    lower, extent, stride = values
    if lower is None or extent is None or stride is None:
        return None
    return lower * stride, extent * stride


def _constant(value: SSAValue) -> int | None:
    while isinstance(value.owner, arith.ExtSIOp):
        value = value.owner.operands[0]
    return constant_value(value)


def updates_of(array: SSAValue, construct: acc.ParallelOp) -> list[acc.AtomicUpdateOp] | None:
    """The atomic updates of `array` in the construct; None if it is used in any other way there."""
    found: list[acc.AtomicUpdateOp] = []
    for use in array.uses:
        user = use.operation
        if user is construct or not is_inside(user, construct):
            continue
        if isinstance(user, llvm.GEPOp) and use.index == 0:
            inner = updates_of(user.result, construct)
            if inner is None:
                return None
            found += inner
        elif isinstance(user, acc.AtomicUpdateOp) and use.index == 0:
            found.append(user)
        else:
            return None
    return found


def _operator(update: acc.AtomicUpdateOp) -> AtomicBinOp | None:
    if update.if_cond is not None or isinstance(update.parent_op(), acc.AtomicCaptureOp):
        return None
    match = match_rmw(update)
    if match is None:
        return None
    return AtomicBinOp.add if match.kind is AtomicBinOp.sub else match.kind


def _enclosing_loops(op: Operation, construct: acc.ParallelOp) -> Iterator[acc.LoopOp]:
    parent = op.parent_op()
    while parent is not None and parent is not construct:
        if isinstance(parent, acc.LoopOp):
            yield parent
        parent = parent.parent_op()


def _count(update: acc.AtomicUpdateOp, construct: acc.ParallelOp) -> int | None:
    """How often the construct runs `update`, as far as its loop directives say."""
    total = 1
    for loop in _enclosing_loops(update, construct):
        trips = constant_trip(loop)
        if trips is None:
            return None
        total *= trips
    return total


def find_counters(array: SSAValue, construct: acc.ParallelOp) -> Counters | None:
    """`array`, a result of one of the construct's data operations, as counters; None if it is not."""
    entry = array.owner
    if not isinstance(entry, MAPPING_OPS):
        return None
    updates = updates_of(array, construct)
    if not updates:
        return None
    operators = {_operator(update) for update in updates}
    types = {update.region.block.args[0].type for update in updates}
    (operator, *others), (type, *more) = operators, types
    if others or more or not isinstance(type, IntegerType | AnyFloat):
        return None
    if operator is None or operator not in _MERGE:
        return None
    for update in updates:
        if not any(has_level(loop.gang) for loop in _enclosing_loops(update, construct)):
            return None
    section = _section(entry)
    size = size_of(type)
    if section is None or section[0] % size or section[1] % size:
        return None
    elements = section[1] // size
    counts = [_count(update, construct) for update in updates]
    total = None if None in counts else sum(count for count in counts if count is not None)
    if not is_worthwhile(total, elements):
        return None
    return Counters(array, type, section[0] // size, elements, operator)


# The rewriting.


def _loop(at: Cursor, trips: int, why: str) -> Cursor:
    """A loop over `trips` iterations for all threads of the gang; the result is in its body."""
    block = Block(arg_types=[i32])
    block.args[0].name_hint = "element"
    end = Cursor.at_end(block, at.loc).insert(acc.YieldOp())
    loop = acc.LoopOp(
        region=Region(block),
        lowerbound=[at.i32(0)],
        upperbound=[at.i32(trips)],
        step=[at.i32(1)],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
        worker=NONE,
        vector=NONE,
    )
    loop.attributes[WHY] = StringAttr(why)
    at.insert(loop)
    return Cursor.before(end)


def _start(counters: Counters, copies: int, name: str, at: Cursor) -> SSAValue:
    """The gang's copies at the identity."""
    count = counters.elements * copies
    array = llvm.LLVMArrayType(count, counters.type)
    copy = at.value(llvm.AllocaOp(at.i32(1), array, alignment=16), name)
    body = _loop(at, count, f"the gang's copies of {name} start at the operator's identity")
    identity = body.constant(counters.identity(), counters.type)
    index = body.to_i64(body.point.block.args[0])
    body.store(identity, body.element(copy, index, counters.type, name))
    return copy


def _selector(update: acc.AtomicUpdateOp, construct: acc.ParallelOp) -> SSAValue | None:
    """The variable of the loop around `update` that neighbouring lanes have neighbouring values of."""
    for loop in _enclosing_loops(update, construct):
        if has_level(loop.vector) or has_level(loop.worker) or has_level(loop.gang):
            return loop.region.blocks[0].args[-1]
    return None


def _element_number(at: Cursor, address: SSAValue, counters: Counters) -> SSAValue:
    """Which element of the copies `address` in the array means (i64)."""
    owner = address.owner
    number: SSAValue
    if address is counters.array:
        number = at.i64(0)
    elif (
        isinstance(owner, llvm.GEPOp)
        and owner.ptr is counters.array
        and size_of(owner.elem_type) == counters.element_bytes
        and len(owner.ssa_indices) == 1
        and len(list(owner.rawConstantIndices.iter_values())) == 1
    ):
        number = at.to_i64(owner.ssa_indices[0])
    else:
        start = at.value(llvm.PtrToIntOp(counters.array, i64))
        bytes = at.sub(at.value(llvm.PtrToIntOp(address, i64)), start)
        number = at.value(arith.DivSIOp(bytes, at.i64(counters.element_bytes)), "element")
    return at.sub(number, at.i64(counters.lower))


def _redirect(
    update: acc.AtomicUpdateOp,
    counters: Counters,
    copies: int,
    copy: SSAValue,
    construct: acc.ParallelOp,
) -> None:
    """Makes `update` work on the gang's copy."""
    at = Cursor.before(update)
    address = update.x
    number = at.mul(_element_number(at, address, counters), at.i64(copies))
    variable = _selector(update, construct)
    if copies > 1 and variable is not None:
        lane = at.value(arith.AndIOp(at.to_i64(variable), at.i64(copies - 1)), "copy")
        number = at.value(arith.AddiOp(number, lane), "counter")
    update.operands[0] = at.element(copy, number, counters.type, copy.name_hint)
    owner = address.owner
    while isinstance(owner, llvm.GEPOp) and not owner.result.uses:
        above = owner.ptr.owner
        erase(owner)
        owner = above


def _total(body: Cursor, counters: Counters, copies: int, copy: SSAValue) -> SSAValue:
    """What the copies of an element amount to; lanes start with different ones."""
    element = body.to_i64(body.point.block.args[0])
    first = body.mul(element, body.i64(copies))
    if copies == 1:
        return body.load(body.element(copy, first, counters.type), counters.type, "total")
    zero, one = body.i64(0), body.i64(1)
    identity = body.constant(counters.identity(), counters.type)
    block = Block(arg_types=[i64, counters.type])
    block.args[0].name_hint, block.args[1].name_hint = "turn", "sum"
    loop = body.insert(scf.ForOp(zero, body.i64(copies), one, [identity], Region(block)), "total")
    inside = Cursor.at_end(block, body.loc)
    turned = inside.value(arith.AddiOp(block.args[0], element))
    number = inside.value(arith.AndIOp(turned, inside.i64(copies - 1)), "copy")
    address = inside.element(copy, inside.add(first, number), counters.type)
    value = inside.load(address, counters.type, "part")
    merged = _MERGE[counters.operator](block.args[1], value)  # type: ignore[call-arg]
    inside.insert(scf.YieldOp(inside.value(merged, "sum")))
    return loop.results[0]


def _merge(counters: Counters, copies: int, copy: SSAValue, at: Cursor) -> None:
    """Adds what the gang has counted to the array."""
    name = copy.name_hint
    body = _loop(at, counters.elements, f"the gang's copies of {name} are merged into it")
    total = _total(body, counters, copies, copy)
    identity = body.constant(counters.identity(), counters.type)
    if isinstance(counters.type, IntegerType):
        changed = body.value(arith.CmpiOp(total, identity, "ne"), "changed")
    else:
        changed = body.value(arith.CmpfOp(total, identity, "une"), "changed")
    then = body.if_then(changed)
    index = then.to_i64(body.point.block.args[0])
    index = then.add(index, then.i64(counters.lower))
    block = Block(arg_types=[counters.type])
    block.args[0].name_hint = "old"
    inside = Cursor.at_end(block, at.loc)
    merged = _MERGE[counters.operator](block.args[0], total)  # type: ignore[call-arg]
    inside.insert(acc.YieldOp(inside.value(merged)))
    address = then.element(counters.array, index, counters.type, name)
    then.insert(acc.AtomicUpdateOp(x=address, region=Region(block)))


def _tile(loop: acc.LoopOp, construct: acc.ParallelOp) -> int:
    """Iterations of `loop` that a gang takes at a time, as far as they are constant."""
    elements = loop.attributes.get(ELEMENTS)
    tile = elements.value.data if isinstance(elements, IntegerAttr) else 1
    for level, sizes in (
        (loop.worker, construct.num_workers),
        (loop.vector, construct.vector_length),
    ):
        if has_level(level) and sizes:
            tile *= constant_value(sizes[0]) or 1
    return tile


def cap_grid(construct: acc.ParallelOp, counters: int, shared_bytes: int, limit: int) -> None:
    """
    Limits the grid, whose gangs each set up and merge `counters` elements that take `shared_bytes`
    together, to `limit` gangs (0: what the device holds at once), unless the user gave it.
    """
    given = construct.attributes.get(GIVEN_SIZES)
    if isinstance(given, ArrayAttr) and StringAttr("num_gangs") in given.data:
        return
    gang_loops = [loop for loop in loops_in(construct) if has_level(loop.gang)]
    sizes = [constant_value(v[0]) for v in (construct.num_workers, construct.vector_length) if v]
    threads = None
    if None not in sizes:
        threads = 1
        for size in sizes:
            threads *= size or 1
    at = Cursor.before(construct)
    share = gang_share(counters, max(_tile(loop, construct) for loop in gang_loops))
    left = at.i32(most_gangs(threads, shared_bytes, limit))
    grid: list[SSAValue] = []
    for position, size in enumerate(construct.num_gangs):
        wanted = size
        if position == 0 and share > 1:
            rounded = at.add(at.value(arith.DivUIOp(size, at.i32(share))), at.i32(1))
            wanted = at.value(arith.MinSIOp(size, rounded))
        gangs = at.value(arith.MinSIOp(wanted, left), "num_gangs")
        grid.append(gangs)
        if position + 1 < len(construct.num_gangs):
            left = at.value(arith.DivUIOp(left, gangs), "left")
            left = at.value(arith.MaxSIOp(left, at.i32(1)), "left")
    set_operand_groups(construct, num_gangs=grid)
    for loop in gang_loops:
        loop.attributes.pop(COVERS, None)


def _explain(construct: acc.ParallelOp, text: str) -> None:
    for loop in loops_in(construct):
        why = loop.attributes.get(WHY)
        if has_level(loop.gang):
            before = f"{why.data}; " if isinstance(why, StringAttr) and why.data else ""
            loop.attributes[WHY] = StringAttr(before + text)
            return


def privatise(construct: acc.ParallelOp, most_copies: int, limit: int) -> None:
    """Privatises what can be in one construct."""
    budget = SHARED_BUDGET
    chosen: list[tuple[Counters, int]] = []
    for array in dict.fromkeys(construct.data_clause_operands):
        counters = find_counters(array, construct)
        if counters is None:
            continue
        copies = choose_copies(counters.elements, counters.element_bytes, budget, most_copies)
        if copies:
            chosen.append((counters, copies))
            budget -= counters.elements * counters.element_bytes * copies
    if not chosen:
        return
    counted = sum(c.elements * copies for c, copies in chosen)
    cap_grid(construct, counted, SHARED_BUDGET - budget, limit)
    arrays = {counters.array for counters, _ in chosen}
    notes: list[str] = []
    for loop in _loops_of_updates(arrays, construct):
        grouping = find_grouping(loop)
        if grouping is not None:
            group_iterations(grouping)
            notes.append(f"groups of {grouping.size} iterations read 16 bytes at once")
    block = construct.region.block
    assert block.first_op is not None and block.last_op is not None
    start, end = Cursor.before(block.first_op, construct.location), block.last_op
    for counters, copies in chosen:
        name = variable_name(counters.array)
        updates = updates_of(counters.array, construct) or []
        copy = _start(counters, copies, name, start)
        for update in updates:
            _redirect(update, counters, copies, copy, construct)
        _merge(counters, copies, copy, Cursor.before(end, construct.location))
        notes.append(f"updates of {name} in shared memory, {copies} copies in each gang")
    _explain(construct, "; ".join(notes))


def _loops_of_updates(arrays: set[SSAValue], construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """The lanes' loops whose bodies hold the updates directly."""
    found: dict[acc.LoopOp, None] = {}
    for array in arrays:
        for update in updates_of(array, construct) or ():
            parent = update.parent_op()
            if isinstance(parent, acc.LoopOp) and has_level(parent.vector):
                found[parent] = None
    return list(found)


@dataclass(frozen=True)
class PrivatiseAtomicsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "privatise-atomics"

    target: Target = "nvptx"
    copies: int = 0
    gangs: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.target != "nvptx":
            return
        for construct in [inner for inner in op.walk() if isinstance(inner, acc.ParallelOp)]:
            privatise(construct, self.copies, self.gangs)
