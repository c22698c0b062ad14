"""
`acc.loop` in device code: which threads share its iterations, its copies of variables, its body.

`loops.py` has the arithmetic of iterations, `privatise.py` the private variables, `reductions.py`
what becomes of the partial results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import acc
from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ...compiler.base.diagnostics import SourceLoc, error
from ..decisions.loop_partition import Mode, Partition, Sharers, partition_loop
from ..ir.acc_ops import has_level
from ..ir.schedules import schedule_of
from . import loops, privatise
from .barriers import ANY_INTERNAL, EffectTracker, accesses
from .context import Kernel
from .effects import Effects, Summary, carried, repeated
from .leaves import copy_layout
from .reduction_copies import ReductionCopies
from .reductions import (
    Partial,
    add_to_accumulator,
    finish_alone,
    finish_in_gang,
    make_partial,
)
from .routines import Calls
from .side_by_side import is_simple
from .watches import Watch, Watches


class DeviceLoopLowering:
    """
    Lowers the loops of one device function. `lower_body` lowers a loop's region once at the current
    place, `lower_operation` one operation of it.
    """

    def __init__(
        self,
        k: Kernel,
        calls: Calls,
        reductions: ReductionCopies,
        lower_body: Callable[[Region], None],
        lower_operation: Callable[[Operation], None],
    ):
        self.k = k
        self.calls = calls
        self.reductions = reductions
        self.lower_body = lower_body
        self.lower_operation = lower_operation
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
        elements, simple = self._elements(op, partition)
        simple = simple and watch is None
        visible = [(v, k.values.get(v)) for v in op.reduction_operands]
        copies = dict(self.reductions.copies)
        partials = self._partials(op, elements if simple else 1)
        if (
            effects is not None
            and partition.inside is not Mode.THREAD
            and not self._once_per_gang(op)
        ):
            inner.add(carried(effects))
        self._partitioned(op, partition, inner, partials, elements, simple, watch)
        outer.pending |= before
        k.loc = op.location
        self.reductions.copies = copies
        for value, copy in visible:
            if copy is not None:
                k.values[value] = copy
        self._finish_reductions(partition, partials)

    def _sequential(self, op: acc.LoopOp) -> None:
        """A loop that each thread (or all redundantly) runs from start to end."""
        k = self.k
        self._privates(op)
        copies = dict(self.reductions.copies)
        partials: list[Partial] = []
        for reduced in op.reduction_operands:
            owner = reduced.owner
            assert isinstance(owner, acc.ReductionOp)
            if self.calls.recipes.operator(owner) is None:
                partials.append(self._partial(owner, 1))
            else:
                k.values[reduced] = self.reductions.innermost(owner)
        before = set(k.tracker.pending)
        if k.mode is not Mode.THREAD:
            k.tracker.add(repeated(Summary(k, self.calls).of(op)))

        def body(values: list[SSAValue]) -> None:
            self._bind(op, values)
            self.lower_body(op.region)

        if op.lowerbound:
            loops.sequential_loop(k, *loops.loop_bounds(k, op), body)
        else:
            self.lower_body(op.region)
        k.tracker.pending |= before
        self.reductions.copies = copies
        finish_alone(k, partials)

    def _bind(self, op: acc.LoopOp, values: Sequence[SSAValue]) -> None:
        block = op.region.blocks[0]
        for arg, value in zip(block.args, values, strict=True):
            value.name_hint = arg.name_hint or value.name_hint
            self.k.values[arg] = value

    def _privates(self, op: acc.LoopOp) -> None:
        for operand in (*op.private_operands, *op.firstprivate_operands):
            owner = operand.owner
            assert isinstance(owner, acc.PrivateOp | acc.FirstprivateOp)
            self.k.values[operand] = privatise.own_copy(self.k, owner, self.calls.recipes)

    def _partials(self, op: acc.LoopOp, count: int) -> list[Partial]:
        out: list[Partial] = []
        for operand in op.reduction_operands:
            owner = operand.owner
            assert isinstance(owner, acc.ReductionOp)
            out.append(self._partial(owner, count))
        return out

    def _partial(self, owner: acc.ReductionOp, count: int) -> Partial:
        """`count` copies of a loop's reduction, the first of which the body uses."""
        k = self.k
        target = self.reductions.innermost(owner)
        partial = make_partial(k, self.reductions.spec(owner), target, count)
        k.values[owner.acc_var] = self.reductions.copies[k.values[owner.var]] = partial.visible[0]
        return partial

    def _once_per_gang(self, op: acc.LoopOp) -> bool:
        """Whether a gang has at most one iteration of the loop, so that none precedes another."""
        alone = has_level(op.gang) and not has_level(op.worker) and not has_level(op.vector)
        return alone and schedule_of(op).covers and self.k.shape.at_least_requested

    def _elements(self, op: acc.LoopOp, partition: Partition) -> tuple[int, bool]:
        """Iterations per thread and turn, and whether they run side by side."""
        elements = schedule_of(op).elements
        if partition.inside is not Mode.THREAD:
            return 1, False
        lengths = (
            copy_layout(r.owner).storage
            for r in op.reduction_operands
            if isinstance(r.owner, acc.ReductionOp)
        )
        simple = elements > 1 and None not in lengths and is_simple(op, self.calls)
        return elements, simple

    def _partitioned(
        self,
        op: acc.LoopOp,
        partition: Partition,
        inner: EffectTracker,
        partials: Sequence[Partial],
        elements: int,
        simple: bool,
        watch: Watch | None,
    ) -> None:
        k = self.k
        copies = {p: k.values[p] for p in (*op.private_operands, *op.firstprivate_operands)}

        def body(values: list[SSAValue]) -> None:
            with k.running(partition.inside, inner):
                self._bind(op, values)
                if watch is not None:
                    watch.event("iteration")
                self.lower_body(op.region)

        def bodies(groups: list[list[SSAValue]]) -> None:
            with k.running(partition.inside, inner):
                self._side_by_side(op, groups, partials, copies)

        space = loops.iteration_space(k, *loops.loop_bounds(k, op))
        covers = schedule_of(op).covers and k.shape.at_least_requested
        if watch is not None:
            watch.event("begin")
        loops.partitioned_loop(
            k, space, partition, elements, covers, body, bodies if simple else None
        )
        if watch is not None:
            watch.event("end")

    def _side_by_side(
        self,
        op: acc.LoopOp,
        groups: list[list[SSAValue]],
        partials: Sequence[Partial],
        copies: dict[SSAValue, SSAValue],
    ) -> None:
        """
        Several iterations of a simple body, operation by operation, so that all loads come before
        the first store: legal because iterations of a partitioned loop are independent.
        """
        k = self.k
        outer = k.values
        values: list[dict[SSAValue, SSAValue]] = []
        for number, group in enumerate(groups):
            k.values = dict(outer)
            self._bind(op, group)
            for partial in partials:
                k.values[partial.spec.op.acc_var] = partial.visible[number]
            if number > 0:
                for private in copies:
                    owner = private.owner
                    assert isinstance(owner, acc.PrivateOp | acc.FirstprivateOp)
                    k.values[private] = privatise.own_copy(k, owner, self.calls.recipes)
            values.append(k.values)
        for inner in op.region.block.ops:
            if inner.has_trait(IsTerminator):
                continue
            for mapping in values:
                k.values = mapping
                self.lower_operation(inner)
        k.values = outer

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
            SourceLoc.from_attr(op.location), "a loop with an inclusive upper bound is not counted"
        )
