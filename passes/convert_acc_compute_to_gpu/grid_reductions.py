"""
Reductions over gangs, at the end of a kernel (OpenACC 3.4, 2.5.15 and 2.9.11).

Every thread holds an accumulator. The gang's threads combine theirs; then, by the strategy of
`decisions/reduction_strategy.py`, a single gang folds its result, or every gang's leader updates the
variable atomically, or the last gang to finish combines the results that all gangs have stored to scratch
memory.

Scratch memory: a ticket (16 bytes, 0 between launches), then for each variable one slot per gang.
The leader stores its gang's results, a fence makes them visible, and it takes a ticket. The gang
that draws the last one sees all other gangs' results after a second fence; its threads combine them
in a fixed order, its leader folds them into the variable and resets the ticket to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...dialects import llvm_ext
from ..decisions.loop_partition import Mode
from ..decisions.reduction_strategy import Strategy, StrategyOption, choose_strategy
from ..ir.ops.building import Cursor
from ..ir.ops.layout import size_of
from .barriers import accesses
from .context import TICKET_BYTES, Kernel
from .leaves import Leaf, ReductionSpec
from .privatise import gang_results
from .reductions import count_of, counted_once, for_each_scalar, load_leaf, section_start
from .warp import REDUCE_BUFFER, all_reduce, by_leader, leader_branch, take_number


@dataclass
class GridReduction:
    """
    A reduction of `variable` over gangs: `accumulator` differs from thread to thread; `gang_copy`, if
    there is one, is the construct's private copy, the same in all threads of the gang.
    """

    spec: ReductionSpec
    variable: SSAValue
    accumulator: SSAValue
    gang_copy: SSAValue | None


@dataclass(frozen=True, slots=True)
class _LeafSlot:
    """
    A leaf of a reduction and the place of its gangs' results: `offset` bytes per gang, or, for a
    length known only at run time, at `area`.
    """

    reduction: GridReduction
    leaf: Leaf
    offset: int
    area: SSAValue | None = None


def finish_grid(
    k: Kernel,
    reductions: Sequence[GridReduction],
    option: StrategyOption,
    *,
    single_gang: bool,
) -> Strategy | None:
    """
    Combines the gangs' results and folds them into the variables; returns the strategy used, None without
    reductions.
    """
    if not reductions:
        return None
    slots: list[_LeafSlot] = []
    offset = 0
    for reduction in reductions:
        for leaf in reduction.spec.leaves:
            slots.append(_LeafSlot(reduction, leaf, offset))
            if isinstance(leaf.count, int):
                offset += -(-leaf.count * size_of(leaf.type) // 8) * 8
    strategy = choose_strategy(
        option,
        single_gang=single_gang,
        atomics=[s.leaf.combiner.atomic() is not None for s in slots],
    )
    match strategy:
        case Strategy.FOLD:
            _each_total(k, slots, lambda s, i, v: _fold(k, s, i, v))
        case Strategy.ATOMIC:
            _each_total(k, slots, lambda s, i, v: _update_atomically(k, s, i, v))
        case Strategy.LAST_BLOCK:
            k.scratch.bytes_per_gang = offset
            _last_block(k, [_with_area(k, slot) for slot in slots])
    return strategy


def _with_area(k: Kernel, slot: _LeafSlot) -> _LeafSlot:
    count, spec = slot.leaf.count, slot.reduction.spec
    if isinstance(count, int):
        return slot
    return replace(slot, area=gang_results(k, slot.leaf.type, count, f"{spec.name}_results"))


def _gang_share(k: Kernel, slot: _LeafSlot, index: SSAValue | None) -> SSAValue:
    """The thread's part of its gang's result."""
    value = load_leaf(k, slot.leaf, slot.reduction.accumulator, index)
    copy = slot.reduction.gang_copy
    if copy is None:
        return value
    combiner = slot.leaf.combiner
    own = counted_once(k, combiner, load_leaf(k, slot.leaf, copy, index), k.mode)
    return combiner.combine(k, value, own, "share")


def _each_total(
    k: Kernel,
    slots: Sequence[_LeafSlot],
    use: Callable[[_LeafSlot, SSAValue | None, SSAValue], None],
) -> None:
    """Calls `use` with each scalar's total over the gang's threads."""
    _each_combined(k, slots, lambda slot, index: _gang_share(k, slot, index), use)


def _each_combined(
    k: Kernel,
    slots: Sequence[_LeafSlot],
    share: Callable[[_LeafSlot, SSAValue | None], SSAValue],
    use: Callable[[_LeafSlot, SSAValue | None, SSAValue], None],
) -> None:
    """
    Combines the threads' `share` of each scalar over the gang and calls `use` with the result. The scalars
    of all variables share one exchange; arrays take one for each element.
    """
    scalars = [slot for slot in slots if slot.leaf.count == 1]
    shares = [(slot.leaf.combiner, share(slot, None)) for slot in scalars]
    for slot, total in zip(scalars, all_reduce(k, shares) if shares else [], strict=True):
        use(slot, None, total)
    for slot in slots:
        if slot.leaf.count == 1:
            continue
        place, index = for_each_scalar(k, slot.leaf)
        before = k.tracker.copy()
        k.tracker.add(accesses((REDUCE_BUFFER,), (REDUCE_BUFFER,), leader=False))
        with k.at(place):
            (total,) = all_reduce(k, [(slot.leaf.combiner, share(slot, index))])
            use(slot, index, total)
        k.tracker.add(before.pending)


def _leader_place(k: Kernel) -> Cursor:
    return k if k.mode is Mode.THREAD else leader_branch(k)


def _fold(k: Kernel, slot: _LeafSlot, index: SSAValue | None, total: SSAValue) -> None:
    with k.at(_leader_place(k)):
        spec, combiner = slot.reduction.spec, slot.leaf.combiner
        address = slot.leaf.address(k, section_start(k, spec, slot.reduction.variable), index)
        old = k.load(address, combiner.type, spec.name)
        k.store(combiner.combine(k, old, total, spec.name), address)


def _update_atomically(k: Kernel, slot: _LeafSlot, index: SSAValue | None, total: SSAValue) -> None:
    operation = slot.leaf.combiner.atomic()
    assert operation is not None
    with k.at(_leader_place(k)):
        address = slot.leaf.address(
            k, section_start(k, slot.reduction.spec, slot.reduction.variable), index
        )
        k.insert(llvm_ext.AtomicRMWOp(operation, address, total, syncscope="device"))


def _slot_address(
    k: Kernel, slot: _LeafSlot, index: SSAValue | None, gang: SSAValue, gangs: SSAValue
) -> SSAValue:
    """The address in scratch memory of the result of `gang` for a scalar of a leaf."""
    if slot.area is not None:
        assert index is not None
        first = k.mul(k.zero_extend(gang, i64), count_of(k, slot.leaf))
        return k.element(slot.area, k.add(first, index), slot.leaf.type, "slot")
    wide_gangs = k.zero_extend(gangs, i64)
    start = k.mul(wide_gangs, k.constant(slot.offset, i64)) if slot.offset else None
    base = k.field(k.scratch_base(), TICKET_BYTES + k.scratch.fixed_bytes)
    if start is not None:
        base = k.offset(base, start)
    number = k.zero_extend(gang, i64)
    if index is not None:
        number = k.add(k.mul(index, wide_gangs), number)
    return k.element(base, number, slot.leaf.type, "slot")


def _last_block(k: Kernel, slots: Sequence[_LeafSlot]) -> None:
    gang, gangs, ticket = k.gang_number(), k.number_of_gangs(), k.scratch_base()

    def leave(slot: _LeafSlot, index: SSAValue | None, total: SSAValue) -> None:
        with k.at(_leader_place(k)):
            k.store(total, _slot_address(k, slot, index, gang, gangs))

    def take_ticket() -> list[SSAValue]:
        return [k.compare("eq", take_number(k, ticket), k.sub(gangs, k.i32(1)), "is_last")]

    _each_total(k, slots, leave)
    (last,) = take_ticket() if k.mode is Mode.THREAD else by_leader(k, [i1], take_ticket)
    before = k.tracker.copy()
    with k.at(k.if_then(last)):
        if k.mode is not Mode.THREAD:
            k.barrier()
        _each_combined(
            k,
            slots,
            lambda slot, index: _sum_of_gangs(k, slot, index, gangs),
            lambda slot, index, total: _fold(k, slot, index, total),
        )
        with k.at(_leader_place(k)):
            k.store(k.i32(0), ticket)
    k.tracker.add(before.pending)


def _sum_of_gangs(k: Kernel, slot: _LeafSlot, index: SSAValue | None, gangs: SSAValue) -> SSAValue:
    """The combined results of the gangs t, t + threads, …, in this order, of which thread t takes care."""
    combiner = slot.leaf.combiner
    body = Block(arg_types=[i32, combiner.type])
    body.args[0].name_hint, body.args[1].name_hint = "gang", "sum"
    number = k.i32(0) if k.mode is Mode.THREAD else k.thread()
    threads = k.i32(1) if k.mode is Mode.THREAD else k.threads()
    identity = combiner.neutral(k)
    loop = scf.ForOp(number, gangs, threads, [identity], Region(body))
    k.insert(loop, "sum")
    with k.at(Cursor.at_end(body, k.loc)):
        address = _slot_address(k, slot, index, body.args[0], gangs)
        value = k.load(address, combiner.type, "of_gang")
        k.insert(scf.YieldOp(combiner.combine(k, body.args[1], value, "sum")))
    return loop.results[0]
