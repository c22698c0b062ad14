"""
Device code from the region of a construct or a routine: walks the input once, and decides for each
operation which threads run it.

- Pure operations and loads: every thread, redundantly.
- Stores to the thread's own variables: every thread.
- Other stores, atomics, calls with effects: the leader of the group; results are broadcast.
- Control flow: uniform. A structured operation with effects and nothing collective in it runs in the
  leader as a whole.
- `acc.loop`: `loops.py`; its private variables `privatise.py`; its reductions `reductions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ...compiler.diagnostics import SourceLoc, error
from ...dialects import accx, accx_bulk, accx_cache, llvm_ext
from ..analysis.acc_ops import has_level
from ..analysis.loop_partition import Mode, Partition, Unit, partition_loop
from ..building import PTR, Cursor
from . import bulk, cache, loops, privatise
from .barriers import ANY_INTERNAL, UNKNOWN, Access, EffectTracker, accesses
from .context import Kernel
from .control_flow import dominance_order
from .effects import (
    ATOMICS,
    COPIES,
    Effects,
    Summary,
    carried,
    is_ordered,
    repeated,
    slot_of,
    slots,
)
from .grid_reductions import GridReduction
from .operators import ReductionSpec, copy_layout, reduction_spec
from .privatise import section_length, shift_to_zero
from .reductions import (
    Partial,
    add_to_accumulator,
    finish_in_gang,
    initialise,
    make_partial,
    thread_copy,
)
from .routines import CallKind, callee_name, device_symbol
from .side_by_side import is_simple
from .specialise import Specialiser
from .warp import by_leader


class RegionLowering:
    """Lowers operations of the input into one device function."""

    def __init__(self, k: Kernel, specialiser: Specialiser, construct: Sequence[acc.ReductionOp]):
        """`construct`: the reductions of the compute construct itself."""
        self.k = k
        self.specialiser = specialiser
        self.calls = specialiser.symbols.calls
        self.construct_reductions = list(construct)
        self.copies: dict[SSAValue, SSAValue] = {}
        """Reduced variable → the copy that stands for it in the loop (construct) being lowered."""
        self.accumulators: dict[SSAValue, GridReduction] = {}

    # Regions and blocks

    def lower_blocks(self, old: Region, new: Region, entry: Block | None = None) -> None:
        """
        Lowers all blocks of `old` into `new`, whose first block is `entry` if it exists already.
        Terminators are lowered like other operations.
        """
        k = self.k
        mapping: dict[Block, Block] = {}
        for number, block in enumerate(old.blocks):
            copy = entry if number == 0 and entry is not None else Block()
            if copy.parent is None:
                new.add_block(copy)
            if copy is not entry:
                for arg in block.args:
                    inner = copy.insert_arg(arg.type, len(copy.args))
                    inner.name_hint = arg.name_hint
            mapping[block] = copy
            for arg, inner in zip(block.args, copy.args, strict=False):
                k.values[arg] = inner
        start: set[Access] | None = None
        if len(old.blocks) > 1 and k.mode is not Mode.THREAD:
            effects = Summary(k, self.calls)
            for op in [op for block in old.blocks for op in block.ops]:
                effects.of(op)
            start = k.tracker.pending | set(repeated(effects.effects))
        for block in dominance_order(old):
            if start is not None:
                k.tracker.pending = set(start)
            with k.at(Cursor.at_end(mapping[block], k.loc)):
                for op in block.ops:
                    self.lower(op, mapping)
        if start is not None:
            k.tracker.pending |= start

    def lower_single(self, old: Block) -> None:
        """Lowers the operations of a block except its terminator at the current place."""
        for op in old.ops:
            if not op.has_trait(IsTerminator):
                self.lower(op, {})

    def _lower_body(self, region: Region) -> None:
        """The body of an `acc.loop`, once; several blocks go into an `scf.execute_region`."""
        if len(region.blocks) == 1:
            self.lower_single(region.block)
            return
        inner = Region()
        self.k.insert(scf.ExecuteRegionOp([], inner))
        self.lower_blocks(region, inner)

    # Operations

    def lower(self, op: Operation, blocks: dict[Block, Block]) -> None:
        """Lowers one operation at the current place."""
        k = self.k
        k.loc = op.location
        match op:
            case acc.LoopOp():
                self._loop(op)
            case acc.PrivateOp() | acc.FirstprivateOp() | acc.ReductionOp():
                self._privatising(op)
            case acc.DataBoundsOp():
                pass
            case acc.CacheOp():
                k.values[op.acc_var] = k.values[op.var]
            case accx_cache.GangThreadsOp():
                effects = Summary(k, self.calls).of(op)
                cache.gang_threads(k, op, effects, self.lower_single)
            case accx_cache.SharedTileOp():
                cache.shared_tile(k, op)
            case accx_cache.GangBarrierOp():
                cache.barrier(k)
            case accx_cache.GangSumOp():
                cache.gang_sum(k, op)
            case accx_cache.CopyAsyncOp():
                cache.copy_async(k, op)
            case accx_cache.WaitCopiesOp():
                cache.wait_copies(k)
            case _ if isinstance(op, accx_bulk.OPERATIONS):
                bulk.lower(k, op)
            case acc.YieldOp():
                k.insert(scf.YieldOp())
            case llvm.AllocaOp():
                k.values[op.res] = privatise.local_variable(k, op)
            case llvm.AddressOfOp():
                self._address_of(op)
            case llvm.StoreOp():
                self._store(op)
            case llvm.LoadOp():
                self._load(op)
            case llvm.CallOp():
                self._call(op)
            case _ if op.name.startswith("acc."):
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"'{op.name}' cannot stand in code for the GPU",
                    "move the directive out of the compute construct",
                )
            case _ if op.regions:
                self._structured(op)
            case _ if isinstance(op, (*ATOMICS, *COPIES, llvm_ext.MemsetOp, llvm.InlineAsmOp)):
                self._once(op)
            case _:
                self._copy(op, blocks)

    def _copy(self, op: Operation, blocks: dict[Block, Block] | None = None) -> Operation:
        copy = op.clone_without_regions(self.k.values, blocks)
        self.k.place(copy)
        return copy

    def _load(self, op: llvm.LoadOp) -> None:
        if self.k.mode is Mode.THREAD:
            self._copy(op)
            return
        root = self.k.root(self.k.values[op.ptr])
        if root is not None and is_ordered(op):
            self._once(op)
            return
        if root is not None:
            self.k.access(accesses((root,), (), leader=False))
        self._copy(op)

    def _store(self, op: llvm.StoreOp) -> None:
        if self.k.mode is Mode.THREAD or self.k.root(self.k.values[op.ptr]) is None:
            self._copy(op)
        else:
            self._once(op)

    def _once(self, op: Operation) -> None:
        """An operation with effects that may not be repeated by every thread."""
        k = self.k
        if k.mode is Mode.THREAD:
            self._copy(op)
            return
        effects = Summary(k, self.calls).of(op)
        if not effects.writes and not effects.once:
            k.access(accesses(effects.reads, (), leader=False))
            self._copy(op)
            return
        self._in_leader(op, effects)

    def _in_leader(self, op: Operation, effects: Effects) -> None:
        """
        Runs a whole operation in the leader; what it yields, and the thread's own variables that it
        sets, reach the other threads.
        """
        k = self.k
        own = slots(k, effects)
        k.access(accesses(effects.reads, effects.writes, leader=True))
        types = [r.type for r in op.results] + [slot.elem_type for slot in own]

        def emit() -> list[SSAValue]:
            with k.running(Mode.THREAD, k.tracker):
                self.lower(op, {})
            results = [k.values[r] for r in op.results]
            return results + [k.load(slot.res, slot.elem_type) for slot in own]

        values = by_leader(k, types, emit)
        for result, value in zip(op.results, values, strict=False):
            value.name_hint = result.name_hint
            k.values[result] = value
        for slot, value in zip(own, values[len(op.results) :], strict=True):
            k.store(value, slot.res)

    def _address_of(self, op: llvm.AddressOfOp) -> None:
        k = self.k
        name = op.global_name.string_value()
        if isinstance(self.calls.symbols.get(name), llvm.FuncOp):
            target = self.specialiser.function(name, k, op)
            k.values[op.result] = k.in_prologue().value(llvm.AddressOfOp(target, PTR), name)
            return
        space, link = self.specialiser.symbols.global_variable(op)
        address = k.in_prologue().value(llvm.AddressOfOp(device_symbol(name), space), name)
        if link:
            k.values[op.result] = k.in_prologue().load(address, PTR, name)
            return
        k.values[op.result] = k.in_prologue().value(
            llvm_ext.AddrSpaceCastOp(address, op.result.type), name
        )

    # Calls

    def _call(self, op: llvm.CallOp) -> None:
        k = self.k
        kind = self.calls.kind(op)
        if k.mode is Mode.THREAD or kind is CallKind.PURE:
            if k.mode is not Mode.THREAD:
                reads = Summary(k, self.calls).of(op).reads
                k.access(accesses(reads, (), leader=False))
            self._direct_call(op)
        elif kind is CallKind.COLLECTIVE:
            k.access(accesses((UNKNOWN, ANY_INTERNAL), (UNKNOWN, ANY_INTERNAL), leader=False))
            self._direct_call(op)
        else:
            self._in_leader(op, Summary(k, self.calls).of(op))

    def _direct_call(self, op: llvm.CallOp) -> None:
        copy = self._copy(op)
        name = callee_name(op)
        if name is not None:
            copy.properties["callee"] = SymbolRefAttr(
                self.specialiser.function(self.calls.bound_name(name), self.k, op)
            )

    # Structured operations

    def _structured(self, op: Operation) -> None:
        k = self.k
        if k.mode is Mode.THREAD:
            self._uniform(op, None)
            return
        effects = Summary(k, self.calls).of(op)
        if effects.collective:
            self._uniform(op, effects)
        elif not effects.writes and not effects.once:
            k.access(accesses(effects.reads, (), leader=False))
            with k.running(Mode.THREAD, k.tracker):
                self._uniform(op, None)
        elif all(slot_of(k.values[v]) is not None for v in effects.own_writes):
            self._in_leader(op, effects)
        else:
            self._uniform(op, effects)

    def _uniform(self, op: Operation, effects: Effects | None) -> None:
        """Control flow that all threads of the group follow together."""
        k = self.k
        copy = op.clone_without_regions(k.values)
        k.place(copy)
        before = set(k.tracker.pending)
        after: set[Access] = set(before)
        repeats = not isinstance(op, scf.IfOp | scf.IndexSwitchOp | scf.ExecuteRegionOp)
        for old, new in zip(op.regions, copy.regions, strict=True):
            if effects is not None:
                if repeats:
                    k.tracker.pending |= set(repeated(effects))
                elif not isinstance(op, scf.ExecuteRegionOp):
                    k.tracker.pending = set(before)
            self.lower_blocks(old, new)
            after |= k.tracker.pending
        k.tracker.pending = after if effects is not None else before

    # Private variables

    def _privatising(self, op: acc.PrivateOp | acc.FirstprivateOp | acc.ReductionOp) -> None:
        """The construct's own copies; those of a loop are made when the loop is reached."""
        if isinstance(op, acc.ReductionOp):
            if op in self.construct_reductions:
                self._construct_reduction(op)
            return
        if all(_is_clause_of_loop(use.operation, op.acc_var) for use in op.acc_var.uses):
            return
        self.k.values[op.acc_var] = self._private_copy(op)

    def _private_copy(self, op: acc.PrivateOp | acc.FirstprivateOp) -> SSAValue:
        if isinstance(op, acc.FirstprivateOp):
            return privatise.firstprivate_copy(self.k, op)
        return privatise.private_copy(self.k, op)

    def _spec(self, op: acc.ReductionOp) -> ReductionSpec:
        recipe = None
        if op.recipe is not None:
            recipe = self.calls.symbols.get(op.recipe.string_value())
        spec = reduction_spec(op, recipe)
        if spec.storage is not None:
            return spec
        length = section_length(self.k, spec.layout, spec.name, op)
        return replace(spec, leaves=tuple(replace(leaf, count=length) for leaf in spec.leaves))

    def _construct_reduction(self, op: acc.ReductionOp) -> None:
        """The construct's reduction: a copy for the gang, the same in all threads."""
        k = self.k
        reduction = self._grid_reduction(op)
        copy = thread_copy(k, reduction.spec, reduction.spec.name)
        initialise(k, k, reduction.spec, copy)
        reduction.gang_copy = copy
        visible = shift_to_zero(k, reduction.spec.layout, copy)
        k.values[op.acc_var] = self.copies[reduction.variable] = visible

    def _grid_reduction(self, op: acc.ReductionOp) -> GridReduction:
        """The kernel's reduction over gangs that `op` belongs to, made if there is none yet."""
        outer = op
        while isinstance(outer.var.owner, acc.ReductionOp):
            outer = outer.var.owner
        target = self.k.values[outer.var]
        known = self.accumulators.get(target)
        if known is None:
            spec = self._spec(outer)
            accumulator = thread_copy(self.k, spec, f"{spec.name}_accumulator")
            initialise(self.k, self.k.in_prologue(), spec, accumulator)
            known = self.accumulators[target] = GridReduction(spec, target, accumulator, None)
        return known

    # Loops

    def _loop(self, op: acc.LoopOp) -> None:
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
            if partition.unit is not Unit.NONE:
                used = accesses(effects.reads, effects.writes, leader=False)
                if partition.inside is Mode.WORKER:
                    used += accesses((ANY_INTERNAL,), (ANY_INTERNAL,), leader=False)
                k.access(used)
        inner = outer if partition.unit is Unit.NONE else EffectTracker()
        before = set(outer.pending)
        with k.running(partition.inside, inner):
            self._privates(op)
        elements, simple = self._elements(op, partition)
        visible = [(v, k.values.get(v)) for v in op.reduction_operands]
        copies = dict(self.copies)
        partials = self._partials(op, elements if simple else 1)
        if (
            effects is not None
            and partition.inside is not Mode.THREAD
            and not self._once_per_gang(op)
        ):
            inner.add(carried(effects))
        self._partitioned(op, partition, inner, partials, elements, simple)
        outer.pending |= before
        k.loc = op.location
        self.copies = copies
        for value, copy in visible:
            if copy is not None:
                k.values[value] = copy
        self._finish_reductions(partition, partials)

    def _sequential(self, op: acc.LoopOp) -> None:
        """A loop that each thread (or all redundantly) runs from start to end."""
        k = self.k
        self._privates(op)
        for reduced in op.reduction_operands:
            owner = reduced.owner
            assert isinstance(owner, acc.ReductionOp)
            k.values[reduced] = self._reduced(owner)
        before = set(k.tracker.pending)
        if k.mode is not Mode.THREAD:
            k.tracker.add(repeated(Summary(k, self.calls).of(op)))

        def body(values: list[SSAValue]) -> None:
            self._bind(op, values)
            self._lower_body(op.region)

        if op.lowerbound:
            loops.sequential_loop(k, *loops.loop_bounds(k, op), body)
        else:
            self._lower_body(op.region)
        k.tracker.pending |= before

    def _bind(self, op: acc.LoopOp, values: Sequence[SSAValue]) -> None:
        block = op.region.blocks[0]
        for arg, value in zip(block.args, values, strict=True):
            value.name_hint = arg.name_hint or value.name_hint
            self.k.values[arg] = value

    def _privates(self, op: acc.LoopOp) -> None:
        for operand in (*op.private_operands, *op.firstprivate_operands):
            owner = operand.owner
            assert isinstance(owner, acc.PrivateOp | acc.FirstprivateOp)
            self.k.values[operand] = self._private_copy(owner)

    def _partials(self, op: acc.LoopOp, count: int) -> list[Partial]:
        out: list[Partial] = []
        for operand in op.reduction_operands:
            owner = operand.owner
            assert isinstance(owner, acc.ReductionOp)
            target = self._reduced(owner)
            partial = make_partial(self.k, self._spec(owner), target, count)
            self.k.values[operand] = self.copies[self.k.values[owner.var]] = partial.visible[0]
            out.append(partial)
        return out

    def _reduced(self, op: acc.ReductionOp) -> SSAValue:
        """What a loop's reduction is folded into: the innermost copy of its variable."""
        variable = self.k.values[op.var]
        return self.copies.get(variable, variable)

    def _once_per_gang(self, op: acc.LoopOp) -> bool:
        """Whether a gang has at most one iteration of the loop, so that none precedes another."""
        alone = has_level(op.gang) and not has_level(op.worker) and not has_level(op.vector)
        return alone and accx.COVERS in op.attributes and self.k.shape.at_least_requested

    def _elements(self, op: acc.LoopOp, partition: Partition) -> tuple[int, bool]:
        """Iterations per thread and turn, and whether they run side by side."""
        attribute = op.attributes.get(accx.ELEMENTS)
        elements = attribute.value.data if isinstance(attribute, IntegerAttr) else 1
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
    ) -> None:
        k = self.k
        copies = {p: k.values[p] for p in (*op.private_operands, *op.firstprivate_operands)}

        def body(values: list[SSAValue]) -> None:
            with k.running(partition.inside, inner):
                self._bind(op, values)
                self._lower_body(op.region)

        def bodies(groups: list[list[SSAValue]]) -> None:
            with k.running(partition.inside, inner):
                self._side_by_side(op, groups, partials, copies)

        space = loops.iteration_space(k, *loops.loop_bounds(k, op))
        covers = accx.COVERS in op.attributes and k.shape.at_least_requested
        loops.partitioned_loop(
            k, space, partition, elements, covers, body, bodies if simple else None
        )

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
                    k.values[private] = self._private_copy(owner)
            values.append(k.values)
        for inner in op.region.block.ops:
            if inner.has_trait(IsTerminator):
                continue
            for mapping in values:
                k.values = mapping
                self.lower(inner, {})
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
                reduction = self._grid_reduction(partial.spec.op)
                add_to_accumulator(k, partial, reduction.accumulator, partition.inside)
            else:
                in_gang.append(partial)
        if in_gang:
            finish_in_gang(k, in_gang, partition.inside)


def _gang_dim(op: acc.LoopOp) -> int | None:
    if not has_level(op.gang):
        return None
    dim = op.attributes.get(accx.GANG_DIM)
    return dim.value.data if isinstance(dim, IntegerAttr) else 1


def _is_clause_of_loop(user: Operation, value: SSAValue) -> bool:
    """Whether a use of a private copy is a loop's clause, or stands in a loop with that clause."""
    op: Operation | None = user
    while op is not None:
        if isinstance(op, acc.LoopOp) and (
            value in op.private_operands or value in op.firstprivate_operands
        ):
            return True
        op = op.parent_op()
    return False


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
