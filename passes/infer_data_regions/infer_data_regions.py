"""
Keep arrays on the device across host loops and runs of constructs (OpenACC 3.4, 2.6.5 and 2.7).

A program without data directives copies its arrays for every construct. This pass puts an `acc.data` around
a host loop with constructs (and, by option, around consecutive constructs) for the arrays that host code in
between certainly does not touch. The constructs keep their own clauses, which then find the data present.

Takes:  data level (infer-data-attributes and lower-if-clauses have run).
Leaves: constructs unchanged, some within an `acc.data` that is marked `accx.inferred`, as are its data
        operations: the runtime enters it as a whole, or not at all if data would be partly present,
        sections overlap or the device has too little memory. Its `if` holds if a construct with these
        sections certainly runs. Values of the span that later code uses are computed before it, or go
        through a local variable. `accx.data_region` on the region or the loop describes the result.
Fails:  never.

Steps, for each block of a function, outermost first:
1. with the option `runs`: constructs without a barrier between them (`ir/data/host_effects.py`)
   that share arrays;
2. loops with constructs: the arrays that their bodies map in every iteration;
3. the same inside these loops, for arrays that no region holds yet.

Before:
  scf.for %t = %c0 to %steps step %c1 : i32 {
    %x_dev = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b) -> !llvm.ptr {name = "x", …}
    acc.parallel dataOperands(%x_dev : !llvm.ptr) { … }
    acc.copyout accPtr(%x_dev : !llvm.ptr) bounds(%b) to varPtr(%x : !llvm.ptr) varType(f32) {…}
  }
After:
  %runs = arith.cmpi slt, %c0, %steps : i32
  %x_region = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) bounds(%b2) -> !llvm.ptr {accx.inferred, …}
  acc.data if(%runs) dataOperands(%x_region : !llvm.ptr) { scf.for … { the same } acc.terminator }
  acc.copyout accPtr(%x_region : !llvm.ptr) bounds(%b2) to varPtr(%x : !llvm.ptr) varType(f32) {…}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ...dialects.accx import DATA_REGION, INFERRED
from ..ir.data.data_spans import (
    SpanClause,
    SpanPlan,
    clause_of,
    plan_span,
    sites_of,
    sites_of_block,
)
from ..ir.data.hoisting import Hoister
from ..ir.data.host_effects import Barrier, Effect, HostEffects
from ..ir.data.host_memory import HostMemory, Root
from ..ir.ops.acc_ops import EXIT_OPS, MAPPING_OPS, parallel_construct_operands
from .host_cfg import Spine, enclose_loops, has_cycle
from .region_building import build_region, can_guard

HostLoop = scf.ForOp | scf.WhileOp | scf.ExecuteRegionOp

_DIRECTIVES = (
    acc.ParallelOp,
    acc.DataOp,
    acc.EnterDataOp,
    acc.HostDataOp,
    acc.UpdateOp,
    acc.DeclareEnterOp,
)


@dataclass(frozen=True)
class _Unit:
    """Operations `first` to `last` of a block that must stay together: a directive with its clauses."""

    first: int
    last: int
    effects: tuple[Effect, ...]
    sites: tuple[SpanClause, ...]

    @property
    def stops(self) -> bool:
        return any(isinstance(effect, Barrier) for effect in self.effects)


def _extent(op: Operation, position: dict[Operation, int]) -> tuple[int, int]:
    """The positions in its block of the first and the last operation of a directive with its clauses."""
    places = [position[op]]
    operands = (
        parallel_construct_operands(op) if isinstance(op, acc.ParallelOp) else list(op.operands)
    )
    for operand in operands:
        entry = operand.owner
        if not isinstance(entry, Operation) or entry not in position:
            continue
        if not entry.name.startswith("acc."):
            continue
        places.append(position[entry])
        for use in operand.uses:
            if isinstance(use.operation, EXIT_OPS) and use.operation in position:
                places.append(position[use.operation])
    return min(places), max(places)


def _has_construct(op: Operation) -> bool:
    return any(isinstance(inner, acc.ParallelOp) for inner in op.walk())


@dataclass
class _Inference:
    memory: HostMemory
    effects: HostEffects
    around_runs: bool
    covered: list[frozenset[Root]] = field(default_factory=list[frozenset[Root]])
    """The arrays that the inferred regions around the current position hold."""

    def function(self, function: llvm.FuncOp) -> None:
        enclose_loops(function.body, _is_mapped)
        for block in list(function.body.blocks):
            self._block(block)

    def _holds(self, roots: frozenset[Root], sites: int) -> bool:
        """Whether a region around a loop may hold an array with these roots."""
        return roots not in self.covered

    def _holds_shared(self, roots: frozenset[Root], sites: int) -> bool:
        """Whether a region around consecutive constructs may hold an array with these roots."""
        return sites > 1 and roots not in self.covered

    def _block(self, block: Block) -> None:
        if not any(_has_construct(op) for op in block.ops):
            return
        if self.around_runs:
            self._runs(block)
        for op in list(block.ops):
            self._operation(op)

    def _operation(self, op: Operation) -> None:
        if isinstance(op, acc.ParallelOp) or not op.regions or not _has_construct(op):
            return
        held = len(self.covered)
        if isinstance(op, acc.DataOp) and INFERRED in op.attributes:
            self.covered += [
                self.memory.roots(operand.owner.var)
                for operand in op.data_clause_operands
                if isinstance(operand.owner, MAPPING_OPS)
            ]
        elif isinstance(op, scf.ForOp | scf.WhileOp):
            self._loop(op)
        elif isinstance(op, scf.ExecuteRegionOp):
            if has_cycle(op.region):
                self._loop(op)
            else:
                enclose_loops(op.region, _is_mapped)
        for region in op.regions:
            for block in list(region.blocks):
                if isinstance(op, acc.DataOp) and INFERRED in op.attributes:
                    for inner in list(block.ops):
                        self._operation(inner)
                else:
                    self._block(block)
        del self.covered[held:]

    # Loops

    def _loop(self, loop: HostLoop) -> None:
        if not any(clause_of(site.entry) is not None for site in sites_of(loop, True)):
            return
        sites, guarded = _loop_sites(loop)
        effects = tuple(self.effects.of(loop))
        plan, hoister = plan_span([loop], sites, effects, self.memory, self._holds)
        if not plan.arrays:
            if plan.declined:
                loop.attributes[DATA_REGION] = StringAttr(
                    f"no data region is inferred around this loop: {_reasons(plan)}"
                )
            return
        self._build(plan, [loop], hoister, loop if guarded else None, "this loop")

    def _build(
        self,
        plan: SpanPlan,
        ops: Sequence[Operation],
        hoister: Hoister,
        guard: Operation | None,
        where: str,
    ) -> None:
        self.covered += [self.memory.roots(array.like.var) for array in plan.arrays]
        region = build_region(plan.arrays, ops, hoister, guard)
        self.memory.forget()
        region.attributes[DATA_REGION] = StringAttr(_describe(plan, where))

    # Runs

    def _runs(self, block: Block) -> None:
        # Units refer to these positions, although regions are built meanwhile.
        ops = list(block.ops)
        units: list[_Unit] = []
        for unit in self._units(ops[:-1]):
            if unit.stops:
                self._run(ops, units)
                units = []
            else:
                units.append(unit)
        self._run(ops, units)

    def _units(self, ops: Sequence[Operation]) -> list[_Unit]:
        position = {op: index for index, op in enumerate(ops)}
        reach = list(range(len(ops)))
        for op in ops:
            if isinstance(op, _DIRECTIVES):
                first, last = _extent(op, position)
                for index in range(first, last + 1):
                    reach[index] = max(reach[index], last)
        units: list[_Unit] = []
        index = 0
        while index < len(ops):
            last = reach[index]
            scan = index
            while scan <= last:
                last = max(last, reach[scan])
                scan += 1
            inside = ops[index : last + 1]
            effects = tuple(effect for op in inside for effect in self._effects(op))
            sites = tuple(site for op in inside for site in sites_of(op, True))
            units.append(_Unit(index, last, effects, sites))
            index = last + 1
        return units

    def _effects(self, op: Operation) -> list[Effect]:
        if isinstance(op, llvm.AllocaOp):
            return [Barrier(op, "a local variable")]
        return list(self.effects.of(op))

    def _run(self, ops: list[Operation], units: Sequence[_Unit]) -> None:
        """
        Puts a region around the units that share arrays, or around those before and those after an
        obstacle.
        """
        busy = [i for i, unit in enumerate(units) if _mapped(unit)]
        if len(busy) < 2:
            return
        units = units[busy[0] : busy[-1] + 1]
        plan, _ = self._plan(ops, units)
        wanted = {array.name for array in plan.arrays}
        if not wanted:
            self._split(ops, units, plan)
            return
        users = [i for i, unit in enumerate(units) if any(s.name in wanted for s in unit.sites)]
        units = units[users[0] : users[-1] + 1]
        plan, hoister = self._plan(ops, units)
        if plan.arrays:
            span = ops[units[0].first : units[-1].last + 1]
            held = len(self.covered)
            self._build(plan, span, hoister, None, "the constructs from here on")
            del self.covered[held:]

    def _plan(self, ops: list[Operation], units: Sequence[_Unit]) -> tuple[SpanPlan, Hoister]:
        span = ops[units[0].first : units[-1].last + 1]
        sites = [site for unit in units for site in unit.sites]
        effects = [effect for unit in units for effect in unit.effects]
        return plan_span(span, sites, effects, self.memory, self._holds_shared)

    def _split(self, ops: list[Operation], units: Sequence[_Unit], plan: SpanPlan) -> None:
        for at, unit in enumerate(units):
            inside = ops[unit.first : unit.last + 1]
            if any(_contains(inside, obstacle) for obstacle in plan.obstacles):
                self._run(ops, units[:at])
                self._run(ops, units[at + 1 :])
                return


def _contains(ops: Sequence[Operation], inner: Operation) -> bool:
    op: Operation | None = inner
    while op is not None:
        if op in ops:
            return True
        op = op.parent_op()
    return False


def _is_mapped(op: Operation) -> bool:
    return isinstance(op, acc.CopyinOp | acc.CreateOp) and clause_of(op) is not None


def _mapped(unit: _Unit) -> bool:
    return any(clause_of(site.entry) is not None for site in unit.sites)


def _loop_sites(loop: HostLoop) -> tuple[list[SpanClause], bool]:
    """The sites of a loop, and whether the region must be guarded by the condition that the loop runs."""
    match loop:
        case scf.ForOp():
            return list(sites_of_block(loop.body.block, True)), True
        case scf.WhileOp():
            first = any(isinstance(op, acc.ParallelOp) for op in loop.before_region.walk())
            if first or not can_guard(loop):
                return list(sites_of(loop, first)), False
            return list(sites_of_block(loop.after_region.block, True)), True
        case scf.ExecuteRegionOp():
            spine = Spine.of(loop)
            sites = [
                site
                for block in loop.region.blocks
                for site in sites_of_block(block, block in spine.blocks)
            ]
            return sites, spine.condition is not None


def _reasons(plan: SpanPlan) -> str:
    return "; ".join(f"{name}: {why}" for name, why in plan.declined.items())


def _describe(plan: SpanPlan, where: str) -> str:
    clauses = " ".join(f"{array.clause.value}({array.name})" for array in plan.arrays)
    text = f"data region inferred around {where}: {clauses}"
    return f"{text}; not {_reasons(plan)}" if plan.declined else text


@dataclass(frozen=True)
class InferDataRegionsPass(ModulePass):
    """
    `enabled`: false turns the pass off. `runs`: also infer regions around consecutive constructs, which
    saves one or two transfers where a loop saves thousands.
    """

    name = "infer-data-regions"

    enabled: bool = True
    runs: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.enabled:
            return
        memory = HostMemory(op)
        inference = _Inference(memory, HostEffects(op, memory), self.runs)
        for function in list(op.body.block.ops):
            if isinstance(function, llvm.FuncOp) and any(map(_is_mapped, function.body.walk())):
                inference.function(function)
