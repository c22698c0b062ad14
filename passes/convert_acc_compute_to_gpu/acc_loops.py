"""
Lowers `acc.loop` in device code: the threads that share its iterations, its copies of variables, its body.

`loops.py` has the arithmetic of iterations, `privatise.py` the private variables, `reductions.py` the
combination of partial results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import acc, llvm
from xdsl.ir import Region, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.volatility import is_ordered
from ..decisions.loop_partition import Mode, Partition, Sharers, partition_loop
from ..ir.kernels.routine_calls import Calls
from ..ir.ops.acc_ops import has_level
from ..ir.ops.purity import only_computes
from ..ir.ops.schedules import schedule_of
from ..ir.ops.side_by_side import each_of, side_by_side_of
from . import loops, privatise
from .barriers import ANY_INTERNAL, EffectTracker, accesses
from .context import Kernel
from .effects import Effects, Summary, carried, repeated
from .reduction_copies import ReductionCopies
from .reductions import (
    Partial,
    add_to_accumulator,
    finish_alone,
    finish_in_gang,
    make_partial,
)
from .watches import Watch, Watches


class DeviceLoopLowering:
    """
    Lowers the loops of one device function. `lower_body` lowers a loop's region once at the current
    position.
    """

    def __init__(
        self,
        k: Kernel,
        calls: Calls,
        reductions: ReductionCopies,
        lower_body: Callable[[Region], None],
    ):
        self.k = k
        self.calls = calls
        self.reductions = reductions
        self.lower_body = lower_body
        self.watches = Watches(k)

    def lower(self, op: acc.LoopOp) -> None:
        k = self.k
        _check_loop(op)
        partition = partition_loop(
            gang_dim=_gang_dim(op),
            worker=has_level(op.worker),
            vector=has_level(op.vector),
            mode=k.mode,
            shape=k.shape,
        )
        if partition.sequential:
            self._sequential(op)
            return
        effects: Effects | None = None
        outer = k.tracker
        if k.mode is not Mode.THREAD:
            effects = Summary(k, self.calls).of(op)
            if partition.unit is not Sharers.NONE:
                used = accesses(effects.reads, effects.writes, leader=False)
                if partition.inside is Mode.WORKER:
                    used += accesses((ANY_INTERNAL,), (ANY_INTERNAL,), leader=False)
                k.access(used)
        inner = outer if partition.unit is Sharers.NONE else EffectTracker()
        before = set(outer.pending)
        with k.running(partition.inside, inner):
            self._privates(op)
        watch = self.watches.loop(op, partition) if k.watch else None
        visible = [(v, k.values.get(v)) for v in op.reduction_operands]
        copies = dict(self.reductions.copies)
        partials = [self._partial(reduced) for reduced in _reductions(op)]
        if (
            effects is not None
            and partition.inside is not Mode.THREAD
            and not self._once_per_gang(op)
        ):
            inner.add(carried(effects))
        self._partitioned(op, partition, inner, watch, partials)
        outer.pending |= before
        k.loc = op.location
        self.reductions.copies = copies
        for value, copy in visible:
            if copy is not None:
                k.values[value] = copy
        self._finish_reductions(partition, partials)

    def _sequential(self, op: acc.LoopOp) -> None:
        """Lowers a loop that each thread (or all redundantly) runs from start to end."""
        k = self.k
        self._privates(op)
        copies = dict(self.reductions.copies)
        partials: list[Partial] = []
        for reduced in _reductions(op):
            if self.calls.recipes.operator(reduced[0]) is None:
                partials.append(self._partial(reduced[:1]))
            else:
                k.values[reduced[0].acc_var] = self.reductions.innermost(reduced[0])
        before = set(k.tracker.pending)
        if k.mode is not Mode.THREAD:
            k.tracker.add(repeated(Summary(k, self.calls).of(op)))

        def body(values: list[SSAValue]) -> None:
            self._bind(op.region.blocks[0].args, values)
            self.lower_body(each_of(op))

        if op.lowerbound:
            loops.sequential_loop(k, *loops.loop_bounds(k, op), body)
        else:
            self.lower_body(each_of(op))
        k.tracker.pending |= before
        self.reductions.copies = copies
        finish_alone(k, partials)

    def _bind(self, variables: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        for arg, value in zip(variables, values, strict=True):
            value.name_hint = arg.name_hint or value.name_hint
            self.k.values[arg] = value

    def _privates(self, op: acc.LoopOp) -> None:
        for operand in (*op.private_operands, *op.firstprivate_operands):
            owner = operand.owner
            assert isinstance(owner, acc.PrivateOp | acc.FirstprivateOp)
            self.k.values[operand] = privatise.own_copy(self.k, owner, self.calls.recipes)

    def _partial(self, reduced: Sequence[acc.ReductionOp]) -> Partial:
        """Makes the copies of a variable that a loop reduces: one for each of the iterations side by side."""
        k = self.k
        first = reduced[0]
        target = self.reductions.innermost(first)
        partial = make_partial(k, self.reductions.spec(first), target, len(reduced))
        self.reductions.copies[k.values[first.var]] = partial.visible[0]
        for op, visible in zip(reduced, partial.visible, strict=True):
            k.values[op.acc_var] = visible
        return partial

    def _once_per_gang(self, op: acc.LoopOp) -> bool:
        """Whether a gang runs at most one iteration of the loop, so that no iteration follows another."""
        alone = has_level(op.gang) and not has_level(op.worker) and not has_level(op.vector)
        return alone and schedule_of(op).covers and self.k.shape.at_least_requested

    def _partitioned(
        self,
        op: acc.LoopOp,
        partition: Partition,
        inner: EffectTracker,
        watch: Watch | None,
        partials: Sequence[Partial],
    ) -> None:
        k = self.k
        own_thread = partition.inside is Mode.THREAD
        coarse = side_by_side_of(op) if own_thread and watch is None else None

        def body(values: list[SSAValue]) -> None:
            with k.running(partition.inside, inner):
                self._bind(op.region.blocks[0].args, values)
                if watch is not None:
                    watch.event("iteration")
                self.lower_body(each_of(op))

        def bodies(groups: list[list[SSAValue]], exist: list[SSAValue] | None) -> None:
            assert coarse is not None
            with k.running(partition.inside, inner):
                values = [value for group in groups for value in group]
                self._bind(coarse.several.block.args, values)
                kept = [] if exist is None else _copies(k, partials, exist)
                self.lower_body(coarse.several)
                for copy, old, exists in kept:
                    k.store(k.select(exists, k.load(copy, old.type), old), copy)

        space = loops.iteration_space(k, *loops.loop_bounds(k, op))
        schedule = schedule_of(op)
        covers = schedule.covers and k.shape.at_least_requested
        elements = schedule.elements if own_thread else 1
        if watch is not None:
            watch.event("begin")
        masked = coarse is not None and _only_reduces_scalars(op, coarse.several, partials)
        loops.partitioned_loop(
            k, space, partition, elements, covers, body, None if coarse is None else bodies, masked
        )
        if watch is not None:
            watch.event("end")

    def _finish_reductions(self, partition: Partition, partials: Sequence[Partial]) -> None:
        k = self.k
        if not partials:
            return
        if partition.gang_dim is None:
            finish_in_gang(k, partials, partition.inside)
            return
        in_gang: list[Partial] = []
        for partial in partials:
            target = partial.spec.op.var
            outermost = target.owner
            if isinstance(outermost, acc.ReductionOp) or k.root(k.values[target]) is not None:
                reduction = self.reductions.over_gangs(partial.spec.op)
                add_to_accumulator(k, partial, reduction.accumulator, partition.inside)
            else:
                in_gang.append(partial)
        if in_gang:
            finish_in_gang(k, in_gang, partition.inside)


def _only_reduces_scalars(op: acc.LoopOp, body: Region, partials: Sequence[Partial]) -> bool:
    """
    Whether iterations of a loop only read, compute, and update its reductions, which are scalars, so that one
    may run twice if its updates are undone.
    """
    scalars = all(
        len(partial.spec.leaves) == 1
        and partial.spec.leaves[0].count == 1
        and partial.spec.leaves[0].type == partial.spec.storage
        for partial in partials
    )
    reduced = set(op.reduction_operands)
    return (
        scalars
        and bool(partials)
        and all(
            only_computes(inner)
            or (isinstance(inner, llvm.LoadOp) and not is_ordered(inner))
            or (isinstance(inner, llvm.StoreOp) and inner.ptr in reduced)
            for inner in body.block.ops
        )
    )


def _copies(
    k: Kernel, partials: Sequence[Partial], exist: Sequence[SSAValue]
) -> list[tuple[SSAValue, SSAValue, SSAValue]]:
    """The copies of reduced scalars, their values here, and whether the iteration of each exists."""
    return [
        (copy, k.load(copy, partial.spec.leaves[0].type), exists)
        for partial in partials
        for copy, exists in zip(partial.visible, exist, strict=True)
    ]


def _reductions(op: acc.LoopOp) -> list[list[acc.ReductionOp]]:
    """The reductions of a loop grouped by variable; each iteration side by side has one of a group."""
    found: dict[SSAValue, list[acc.ReductionOp]] = {}
    for reduced in op.reduction_operands:
        owner = reduced.owner
        assert isinstance(owner, acc.ReductionOp)
        found.setdefault(owner.var, []).append(owner)
    return list(found.values())


def _gang_dim(op: acc.LoopOp) -> int | None:
    if not has_level(op.gang):
        return None
    return schedule_of(op).gang_dim


def _check_loop(op: acc.LoopOp) -> None:
    if op.tile_operands:
        raise error(
            SourceLoc.from_attr(op.location),
            "the tile clause of this loop has not been turned into loops",
            "run schedule-loops before convert-acc-compute-to-gpu",
        )
    inclusive = op.inclusive_upperbound
    if inclusive is not None and any(inclusive.iter_values()):
        raise error(
            SourceLoc.from_attr(op.location),
            "a loop with an inclusive upper bound is not supported",
            "add 1 to the bound, and leave inclusiveUpperbound out",
        )
