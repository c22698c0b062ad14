"""
Give every gang its own copy of small arrays that are only updated atomically (OpenACC 3.4, 2.12): in shared
memory on GPUs, on the stacks of CPU threads.

Such arrays are histograms, bins and counters.

Takes:  scheduled IR with acc.atomic operations.
Leaves: for each small array whose every use in a construct is an atomic update by one associative and
        commutative operator inside gang loops: a gang-private array that starts at the operator's
        identity and takes the updates, and after the loops one atomic update of the array per element
        that differs from the identity. Each element has several adjacent copies, which lanes use in turn,
        so that few lanes conflict. A construct with arrays whose sizes are known only on the host, or
        only to the runtime (present without a section), has versions, selected by the sizes: all are
        private, the first is, none is. The grid
        is reduced to the gangs that are resident at once, unless the user gives it. A loop that reads
        bytes or 16-bit integers takes groups of them per iteration
        (`wide_input.py`). On CPU threads there is one copy, whose updates need not be atomic, and there are
        few gangs (`on_threads.py`). Other arrays are untouched.
Fails:  never.

Before:
  %bins_1 = acc.present varPtr(%bins : !llvm.ptr) varType(i32) bounds(256 elements) -> !llvm.ptr
  acc.parallel … {
    acc.loop gang vector control(%i : i32) = … {
      %p = accx.element %bins_1[%k] of i32 : i64
      acc.atomic.update %p : !llvm.ptr { ^bb0(%old : i32): … %old + 1 … }
    } attributes {accx.schedule = #accx.schedule<covers>}
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

Options: `target`. For GPUs, `copies`: the most copies of an element (default: the lanes of a warp); `gangs`:
the largest grid (default: the gangs resident at once).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.accx import WHY
from ..decisions.device import WARP
from ..decisions.private_counters import (
    LARGEST_ARRAY,
    SHARED_BUDGET,
    choose_copies,
    gang_share,
    most_gangs,
)
from ..decisions.schedule import Target
from ..ir.kernels.runtime_calls import DataOp, RuntimeCalls
from ..ir.ops.acc_ops import (
    NONE,
    enclosing_module,
    has_level,
    loops_around,
    loops_in,
    set_operand_groups,
    tuned_constructs,
    variable_name,
)
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.layout import size_of
from ..ir.ops.machine import machine_of
from ..ir.ops.schedules import drop_covers, given_sizes, schedule_of
from ..ir.ops.versions import (
    copies_that_fit,
    copy_construct,
    erase_original,
    ready_for_versions,
)
from ..ir.values.addresses import ADDRESS_OPS, subscripted_element
from ..ir.values.trip_counts import Counts
from .atomic_counters import MERGE, Count, CounterArray, find_counters, updates_of
from .on_threads import limit_gangs, update_plainly
from .wide_input import find_grouping, group_iterations


@dataclass(frozen=True)
class CopyLimits:
    """
    The most `copies` of an element (0: the lanes of a warp) and `gangs` (0: those resident at once);
    `threads`: gangs are CPU threads.
    """

    copies: int = 0
    gangs: int = 0
    threads: bool = False


_ON_THREADS = CopyLimits(copies=1, threads=True)
MOST_ARRAYS = 4
"""The most arrays of sizes known at run time that share a gang's memory."""


@dataclass(frozen=True)
class Plan:
    """The plan for one array: `copies` of each element, in private arrays of `room` values."""

    counters: CounterArray
    copies: Count
    room: int


def _loop(at: Cursor, trips: Count, why: str) -> Cursor:
    """Emits a loop over `trips` iterations for all threads of the gang; returns a cursor in its body."""
    upper = at.i32(trips) if isinstance(trips, int) else at.to_integer(trips, i32)
    block = Block(arg_types=[i32])
    block.args[0].name_hint = "element"
    end = Cursor.at_end(block, at.loc).insert(acc.YieldOp())
    loop = acc.LoopOp(
        region=Region(block),
        lowerbound=[at.i32(0)],
        upperbound=[upper],
        step=[at.i32(1)],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
        worker=NONE,
        vector=NONE,
    )
    loop.attributes[WHY] = StringAttr(why)
    at.insert(loop)
    return Cursor.before(end)


def _start(plan: Plan, name: str, at: Cursor) -> SSAValue:
    """Emits the gang's copies, initialised to the neutral value; returns their address."""
    counters = plan.counters
    count = Counts(at).multiply(counters.elements, plan.copies)
    array = llvm.LLVMArrayType(plan.room, counters.type)
    copy = at.value(llvm.AllocaOp(at.i32(1), array, alignment=16), name)
    body = _loop(at, count, f"the gang's copies of {name} start at the operator's identity")
    identity = body.constant(counters.identity(), counters.type)
    index = body.to_i64(body.point.block.args[0])
    body.store(identity, body.element(copy, index, counters.type, name))
    return copy


def _selector(update: acc.AtomicUpdateOp, construct: acc.ParallelOp) -> SSAValue | None:
    """
    The loop variable, around `update`, of which neighbouring lanes have neighbouring values; None if there
    is none.
    """
    for loop in loops_around(update, construct):
        if has_level(loop.vector) or has_level(loop.worker) or has_level(loop.gang):
            return loop.region.blocks[0].args[-1]
    return None


def _element_number(at: Cursor, address: SSAValue, counters: CounterArray) -> SSAValue:
    """The number (i64), within the copies, of the element at `address` in the array."""
    found = subscripted_element(address, counters.array)
    number: SSAValue
    if address is counters.array:
        number = at.i64(0)
    elif found is not None and found[2] is None and size_of(found[1]) == counters.element_bytes:
        number = at.widened(found[0])
    else:
        start = at.value(llvm.PtrToIntOp(counters.array, i64))
        bytes = at.sub(at.value(llvm.PtrToIntOp(address, i64)), start)
        number = at.value(arith.DivSIOp(bytes, at.i64(counters.element_bytes)), "element")
    return at.sub(number, at.i64(counters.lower))


def _redirect(
    update: acc.AtomicUpdateOp,
    plan: Plan,
    copy: SSAValue,
    construct: acc.ParallelOp,
    threads: bool,
) -> None:
    """Makes `update` work on the gang's copy."""
    at = Cursor.before(update)
    address, counters = update.x, plan.counters
    number = at.mul(_element_number(at, address, counters), Counts(at).value(plan.copies))
    variable = _selector(update, construct)
    if plan.copies != 1 and variable is not None:
        number = at.value(
            arith.AddiOp(number, _copy_number(at, at.to_i64(variable), plan)), "counter"
        )
    own = at.element(copy, number, counters.type, copy.name_hint)
    if threads:
        update_plainly(update, own)
    else:
        update.operands[0] = own
    owner = address.owner
    while isinstance(owner, ADDRESS_OPS) and not owner.result.uses:
        above = owner.ptr.owner
        erase(owner)
        owner = above


def _copy_number(at: Cursor, number: SSAValue, plan: Plan) -> SSAValue:
    """`number` modulo the copies of an element, which are a power of two."""
    copies = plan.copies
    mask = at.i64(copies - 1) if isinstance(copies, int) else at.sub(copies, at.i64(1))
    return at.value(arith.AndIOp(number, mask), "copy")


def _total(body: Cursor, plan: Plan, copy: SSAValue) -> SSAValue:
    """Emits the combination of an element's copies; lanes start with different copies."""
    counters = plan.counters
    element = body.to_i64(body.point.block.args[0])
    copies = Counts(body).value(plan.copies)
    first = body.mul(element, copies)
    if plan.copies == 1:
        return body.load(body.element(copy, first, counters.type), counters.type, "total")
    identity = body.constant(counters.identity(), counters.type)
    block = Block(arg_types=[i64, counters.type])
    block.args[0].name_hint, block.args[1].name_hint = "turn", "sum"
    loop = scf.ForOp(body.i64(0), copies, body.i64(1), [identity], Region(block))
    body.insert(loop, "total")
    inside = Cursor.at_end(block, body.loc)
    turned = inside.value(arith.AddiOp(block.args[0], element))
    number = _copy_number(inside, turned, plan)
    address = inside.element(copy, inside.add(first, number), counters.type)
    value = inside.load(address, counters.type, "part")
    merged = MERGE[counters.operator](block.args[1], value)  # type: ignore[call-arg]
    inside.insert(scf.YieldOp(inside.value(merged, "sum")))
    return loop.results[0]


def _merge(plan: Plan, copy: SSAValue, at: Cursor) -> None:
    """Emits the merge of the gang's counts into the array."""
    counters, name = plan.counters, copy.name_hint
    body = _loop(at, counters.elements, f"the gang's copies of {name} are merged into it")
    total = _total(body, plan, copy)
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
    merged = MERGE[counters.operator](block.args[0], total)  # type: ignore[call-arg]
    inside.insert(acc.YieldOp(inside.value(merged)))
    address = then.element(counters.array, index, counters.type, name)
    then.insert(acc.AtomicUpdateOp(x=address, region=Region(block)))


def _tile(loop: acc.LoopOp, construct: acc.ParallelOp) -> int:
    """The constant number of iterations of `loop` that a gang takes at a time."""
    tile = schedule_of(loop).elements
    for level, sizes in (
        (loop.worker, construct.num_workers),
        (loop.vector, construct.vector_length),
    ):
        if has_level(level) and sizes:
            tile *= constant_value(sizes[0]) or 1
    return tile


def cap_grid(construct: acc.ParallelOp, counters: int, shared_bytes: int, limit: int) -> None:
    """
    CopyLimits the grid to `limit` gangs (0: those resident at once), unless the user gives it. Each gang
    initialises and merges `counters` elements, which take `shared_bytes` in all.
    """
    if "num_gangs" in given_sizes(construct):
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
        drop_covers(loop)


def _explain(construct: acc.ParallelOp, text: str) -> None:
    for loop in loops_in(construct):
        why = loop.attributes.get(WHY)
        if has_level(loop.gang):
            before = f"{why.data}; " if isinstance(why, StringAttr) and why.data else ""
            loop.attributes[WHY] = StringAttr(before + text)
            return


def _constant_plans(found: list[CounterArray], most_copies: int) -> list[Plan]:
    """The plans for arrays of constant size that fit into shared memory together."""
    budget = SHARED_BUDGET
    plans: list[Plan] = []
    for counters in found:
        elements = counters.elements
        if counters.mapped or not isinstance(elements, int):
            continue
        copies = choose_copies(elements, counters.element_bytes, budget, most_copies)
        if copies:
            plans.append(Plan(counters, copies, elements * copies))
            budget -= elements * copies * counters.element_bytes
    return plans


def privatise(construct: acc.ParallelOp, limits: CopyLimits) -> None:
    """Privatises the counters of one construct where possible."""
    arrays = dict.fromkeys(construct.data_clause_operands)
    found = [c for array in arrays if (c := find_counters(array, construct)) is not None]
    plans = _constant_plans(found, limits.copies)
    sized_by_host = [c for c in found if c.mapped or not isinstance(c.elements, int)]
    if plans:
        rewrite(construct, plans, limits)
    elif sized_by_host and ready_for_versions(construct):
        _private_version(construct, sized_by_host[:MOST_ARRAYS], limits)


def _private_version(
    construct: acc.ParallelOp, found: list[CounterArray], limits: CopyLimits
) -> None:
    """
    Makes a version for the case that the arrays `found` are small at run time, which share the memory
    equally, beside the original construct; with several, also one for the case that the first is.
    """
    at = Cursor.before(construct)
    share = SHARED_BUDGET // len(found)
    sized: list[tuple[CounterArray, SSAValue]] = []
    small: SSAValue | None = None
    for counters in found:
        elements, size = counters.elements, counters.element_bytes
        if counters.mapped:
            elements = _mapped_elements(counters, construct)
        assert isinstance(elements, SSAValue)
        sized.append((replace(counters, elements=elements), elements))
        before = at.value(arith.SubiOp(elements, at.i64(1)))
        most = at.i64(min(LARGEST_ARRAY, share) // size)
        fits = at.value(arith.CmpiOp(before, most, "ult"), "small")
        small = fits if small is None else at.value(arith.AndIOp(small, fits), "small")
    assert small is not None
    then, otherwise = at.if_else(small)
    version = copy_construct(construct, then)
    other = copy_construct(construct, otherwise)
    erase_original(construct)
    begin = Cursor.before(version)
    plans: list[Plan] = []
    for counters, elements in sized:
        room = share // counters.element_bytes
        copies: Count = 1
        if limits.copies != 1:
            copies = copies_that_fit(begin, elements, room, limits.copies or WARP)
        plans.append(Plan(counters, copies, room))
    rewrite(version, plans, limits)
    if len(found) > 1:
        _private_version(other, found[:1], limits)


def _mapped_elements(counters: CounterArray, construct: acc.ParallelOp) -> SSAValue:
    """Emits the number of elements that are mapped, if the array is where that begins; 0 otherwise."""
    entry, calls = counters.array.owner, RuntimeCalls.in_module(enclosing_module(construct))
    assert isinstance(entry, DataOp)
    begin, end = calls.mapped_extent(construct, entry)
    at = Cursor.before(construct)
    address = at.value(llvm.PtrToIntOp(counters.array, i64))
    bytes = at.sub(end, begin)
    elements = at.value(arith.DivUIOp(bytes, at.i64(counters.element_bytes)))
    whole = at.value(arith.CmpiOp(address, begin, "eq"))
    name = f"{variable_name(counters.array)}_elements"
    return at.value(arith.SelectOp(whole, elements, at.i64(0)), name)


def rewrite(construct: acc.ParallelOp, plans: list[Plan], limits: CopyLimits) -> None:
    """Carries out `plans` (see the contract above)."""
    room = sum(plan.room for plan in plans)
    bytes = sum(plan.room * plan.counters.element_bytes for plan in plans)
    arrays = {plan.counters.array for plan in plans}
    if limits.threads:
        updates = [update for a in arrays for update in updates_of(a, construct) or ()]
        limit_gangs(construct, [plan.counters.elements for plan in plans], updates)
    else:
        cap_grid(construct, room, bytes, limits.gangs)
    notes: list[str] = []
    for loop in _loops_of_updates(arrays, construct):
        grouping = find_grouping(loop)
        if grouping is not None:
            group_iterations(grouping)
            notes.append(f"groups of {grouping.size} iterations read 16 bytes at once")
    block = construct.region.block
    assert block.first_op is not None and block.last_op is not None
    start, end = Cursor.before(block.first_op, construct.location), block.last_op
    for plan in plans:
        array = plan.counters.array
        name = variable_name(array)
        updates = updates_of(array, construct) or []
        copy = _start(plan, name, start)
        for update in updates:
            _redirect(update, plan, copy, construct, limits.threads)
        _merge(plan, copy, Cursor.before(end, construct.location))
        many = plan.copies if isinstance(plan.copies, int) else "several"
        place = "in a copy of each gang" if limits.threads else "in shared memory"
        number = "" if limits.threads else f", {many} copies in each gang"
        notes.append(f"updates of {name} {place}{number}")
    _explain(construct, "; ".join(notes))


def _loops_of_updates(arrays: set[SSAValue], construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """The loops over lanes whose bodies directly contain the updates."""
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

    target: Target | None = None
    copies: int = 0
    gangs: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        limits = _ON_THREADS if target == "host" else CopyLimits(self.copies, self.gangs)
        for construct in tuned_constructs(op):
            privatise(construct, limits)
