"""
Reductions of loops: every thread combines its iterations into a partial copy that starts at the
neutral value; after the loop the partial copies of the threads that ran it are combined, and the
result is folded into the variable once (OpenACC 3.4, 2.9.11).

A loop over gangs adds its threads' partial copies to an accumulator of the kernel instead; the gangs'
accumulators are combined at the end of the region (`grid_reductions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor
from ..ir.variables.combiners import Combiner
from .barriers import accesses
from .context import Kernel
from .leaves import Leaf, ReductionSpec
from .privatise import shift_to_zero, thread_section
from .warp import REDUCE_BUFFER, all_reduce, leader_branch


@dataclass
class Partial:
    """
    A loop's reduction: `copies` are the thread's partial copies (one per iteration that runs side
    by side), `visible[i]` the addresses the body uses for them; `target` is the variable (or its
    copy of an enclosing loop or the construct) that the result is folded into.
    """

    spec: ReductionSpec
    target: SSAValue
    copies: list[SSAValue]
    visible: list[SSAValue]


def count_of(k: Kernel, leaf: Leaf) -> SSAValue:
    """The number of scalars in a leaf (i64)."""
    return k.constant(leaf.count, i64) if isinstance(leaf.count, int) else leaf.count


def thread_copy(k: Kernel, spec: ReductionSpec, hint: str) -> SSAValue:
    """Thread-private memory for a copy of the reduced variable."""
    if spec.storage is not None:
        return k.stack_slot(spec.storage, hint)
    (leaf,) = spec.leaves
    assert isinstance(leaf.count, SSAValue)
    return thread_section(k, leaf.type, leaf.count, hint)


def initialise(k: Kernel, at: Cursor, spec: ReductionSpec, copy: SSAValue) -> None:
    """Stores the neutral value to a private copy."""
    for leaf in spec.leaves:
        with k.at(at):
            # Before the loop: constants go to the prologue, where the copy may also be.
            neutral = leaf.combiner.neutral(k) if leaf.is_operator else None
            place, index = for_each_scalar(k, leaf)
            with k.at(place):
                address = leaf.address(k, copy, index)
                if neutral is None:
                    leaf.combiner.start(k, address)
                else:
                    k.store(neutral, address)


def needs_constants_only(spec: ReductionSpec) -> bool:
    """Whether the neutral values are constants, without code of a recipe."""
    return all(leaf.is_operator for leaf in spec.leaves)


def make_partial(k: Kernel, spec: ReductionSpec, target: SSAValue, count: int) -> Partial:
    """`count` partial copies, initialised."""
    copies: list[SSAValue] = []
    for _ in range(count):
        copy = thread_copy(k, spec, f"{spec.name}_partial")
        initialise(k, k, spec, copy)
        copies.append(copy)
    return Partial(spec, target, copies, [shift_to_zero(k, spec.layout, c) for c in copies])


def for_each_scalar(k: Kernel, leaf: Leaf) -> tuple[Cursor, SSAValue | None]:
    """
    A cursor for the code of one scalar of a leaf (in a loop if there are several), and the scalar's index.
    """
    if leaf.count == 1:
        return k, None
    zero, one = k.constant(0, i64), k.constant(1, i64)
    _, inside = k.for_loop(zero, count_of(k, leaf), one, "element")
    return inside, inside.point.block.args[0]


def load_leaf(k: Kernel, leaf: Leaf, variable: SSAValue, index: SSAValue | None) -> SSAValue:
    return k.load(leaf.address(k, variable, index), leaf.type, "partial")


def fold_copies(k: Kernel, partial: Partial) -> None:
    """Combines the copies of iterations that run side by side into the first copy."""
    first, *others = partial.copies
    if not others:
        return
    for leaf in partial.spec.leaves:
        place, index = for_each_scalar(k, leaf)
        with k.at(place):
            value = load_leaf(k, leaf, first, index)
            for other in others:
                value = leaf.combiner.combine(k, value, load_leaf(k, leaf, other, index))
            k.store(value, leaf.address(k, first, index))


def counted_once(k: Kernel, combiner: Combiner, value: SSAValue, inside: Mode) -> SSAValue:
    """
    `value`, but the neutral value in threads whose partial copy equals that of another thread because they
    ran the loop's body redundantly.
    """
    if inside is Mode.THREAD:
        return value
    number = k.lane() if inside is Mode.WORKER else k.thread()
    mine = k.compare("eq", number, k.i32(0), "counts")
    return k.select(mine, value, combiner.neutral(k))


def finish_in_gang(k: Kernel, partials: Sequence[Partial], inside: Mode) -> None:
    """
    Combines the results after a loop shared by threads of the gang (or worker); every thread gets the
    result.
    """
    scalars: list[tuple[Partial, Leaf, SSAValue]] = []
    for partial in partials:
        fold_copies(k, partial)
        for leaf in partial.spec.leaves:
            if leaf.count == 1:
                value = load_leaf(k, leaf, partial.copies[0], None)
                scalars.append((partial, leaf, counted_once(k, leaf.combiner, value, inside)))
    totals = all_reduce(k, [(leaf.combiner, value) for _, leaf, value in scalars])
    for (partial, leaf, _), total in zip(scalars, totals, strict=True):
        _fold_into_variable(k, partial, leaf, None, total)
    for partial in partials:
        for leaf in partial.spec.leaves:
            if leaf.count != 1:
                _finish_array_in_gang(k, partial, leaf, inside)


def finish_alone(k: Kernel, partials: Sequence[Partial]) -> None:
    """Folds a thread's copy into the variable, after a loop that every thread runs from start to end."""
    for partial in partials:
        for leaf in partial.spec.leaves:
            place, index = for_each_scalar(k, leaf)
            with k.at(place):
                value = load_leaf(k, leaf, partial.copies[0], index)
                _fold_into_variable(k, partial, leaf, index, value)


def _finish_array_in_gang(k: Kernel, partial: Partial, leaf: Leaf, inside: Mode) -> None:
    place, index = for_each_scalar(k, leaf)
    before = k.tracker.copy()
    variable = k.root(partial.target)
    roots = [REDUCE_BUFFER] if variable is None else [REDUCE_BUFFER, variable]
    k.tracker.add(accesses(roots, roots, leader=False))
    with k.at(place):
        value = load_leaf(k, leaf, partial.copies[0], index)
        value = counted_once(k, leaf.combiner, value, inside)
        (total,) = all_reduce(k, [(leaf.combiner, value)])
        _fold_into_variable(k, partial, leaf, index, total)
    k.tracker.add(before.pending)


def _fold_into_variable(
    k: Kernel, partial: Partial, leaf: Leaf, index: SSAValue | None, total: SSAValue
) -> None:
    """Emits `variable op= total`: every thread for its own copy, the leader for shared memory."""
    spec = partial.spec
    variable = section_start(k, spec, partial.target)
    root = k.root(variable)
    if root is not None:
        k.access(accesses((root,), (root,), leader=True))
    place = k if root is None or k.mode is Mode.THREAD else leader_branch(k)
    with k.at(place):
        address = leaf.address(k, variable, index)
        old = k.load(address, leaf.type, spec.name)
        k.store(leaf.combiner.combine(k, old, total, spec.name), address)


def section_start(k: Kernel, spec: ReductionSpec, variable: SSAValue) -> SSAValue:
    """The address in the reduced variable that corresponds to the start of a private copy."""
    if spec.layout.lower is None:
        return variable
    lower = k.to_i64(k.values.get(spec.layout.lower, spec.layout.lower))
    return k.element(variable, lower, spec.layout.element)


def add_to_accumulator(k: Kernel, partial: Partial, accumulator: SSAValue, inside: Mode) -> None:
    """
    Adds a thread's copy to its accumulator, after a loop over gangs; accumulators are combined at the end
    of the region.
    """
    fold_copies(k, partial)
    for leaf in partial.spec.leaves:
        place, index = for_each_scalar(k, leaf)
        with k.at(place):
            value = load_leaf(k, leaf, partial.copies[0], index)
            value = counted_once(k, leaf.combiner, value, inside)
            address = leaf.address(k, accumulator, index)
            old = k.load(address, leaf.type, "accumulated")
            k.store(leaf.combiner.combine(k, old, value), address)
