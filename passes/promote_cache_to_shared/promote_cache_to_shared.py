"""
Keep the sections that `cache` directives name in the shared memory of a gang (OpenACC 3.4, 2.10).

Takes:  scheduled IR for a GPU.
Leaves: no `acc.cache`, no `accx.holds_in_block`. The parallel loops around an honoured directive run over
        blocks of iterations (gangs), and an `accx.gang_threads` in them has a thread for each iteration of
        the block: it fills an `accx.shared_tile` at the directive, between `accx.gang_barrier`s, and accesses
        in the directive's scope go to the tile. The construct has the launch shape this needs.
        `accx.remarks` of the construct has the decisions with their reasons.
Fails:  with `strict`, if a directive cannot be honoured. Otherwise the directive has no effect, and a
        remark gives the reason; results never depend on it.

The decisions are in `decisions/cache_plan.py` and `decisions/cache_section.py`. In this folder, `nest.py`
reads the IR, `variables.py` turns clauses of loops into variables of the thread that runs an iteration,
`legality.py` finds accesses that no tile can serve, `choose.py`, `block_choice.py`, `tile_choice.py` and
`memory.py` decide; `rewrite.py`,
`blocks.py`, `body.py`, `tile_access.py`, `range_checks.py`, `reductions.py`, `tiles.py`, `pipeline.py`, and
for the copies `words.py`, `limits.py`, `sweeps.py`, `wide_copies.py`, `fetch.py` and `bulk.py` emit the
code; `gang.py` does both for directives around the loops that lanes share.

Options: `method` (`auto`: by proof; `rbi`, `rbc`, `ehc`); `trust` relies on the restriction of
OpenACC 2.5 that indices lie in the section; `promote=always` also caches sections that the L1 cache serves
as well; `block_x`, `block_y`: threads of a block; `rows`, `columns`: outputs per thread; `padding` in
elements (-1: by analysis); `renewal`: every thread computes where a tile begins, or one tells the others;
`fetch`: through registers, by asynchronous copies, or by bulk copies of rows (`bulk.py`); `stages`: buffers
of a tile that a loop renews (1; 2: it is fetched one turn ahead; 0: by analysis); `write`: the policy for
written tiles; `sets` (a power of two) and `ways` (1 or 2) of an emulated cache, per thread; `width`: how a
block finds the number of its iterations (docs/cache.md, "Width and renewal"); `transpose`: tiles of left
factors may be stored by columns; `shared_limit`: bytes of shared memory that a block may have; `sm`: the
compute capability; `multiprocessors` of the GPU, for which outputs per thread are chosen where `rows` and
`columns` are 0; `matrix`: the instruction that multiplies doubles, in blocks that suit it (`never`: none);
`strict`.

Before:
  acc.loop gang vector control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
    %b = acc.bounds lowerbound(%i - 1) extent(3) …
    %a_view = acc.cache varPtr(%a) bounds(%b)
    … llvm.load %a_view[%j] …
  }
After:
  acc.loop gang control(%block : i32) = (%c0 : i32) to (%blocks : i32) step (%c1 : i32) {
    accx.gang_threads [256] {
    ^bb0(%t : i32):
      %tile = accx.shared_tile "a" 1032
      … all threads copy a[first - 1 : 258] to %tile …
      accx.gang_barrier
      … llvm.load %tile[4 * (%t + %j - %i + 1)] …
    }
  }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...compiler.base.diagnostics import error
from ...dialects.accx import WHY
from ...dialects.accx_cache import HoldsInBlockOp
from ..decisions.cache_plan import CacheTuning, largest_shared
from ..decisions.declined import Declined
from ..decisions.device import MULTIPROCESSORS
from ..ir.data.cached_sections import drop, join_written
from ..ir.ops.acc_ops import enclosing, has_level, loops_around, parallel_constructs, source_loc
from ..ir.ops.building import erase
from ..ir.ops.machine import machine_of
from ..ir.ops.notes import note
from .choices import Choices, Fetch, MatrixChoice
from .choose import plan_nest
from .gang import promote_in_gang
from .launch_choice import Version, make_versions
from .nest import CachedNest, find_nest, innermost_parallel
from .plan import Width
from .rewrite import rewrite
from .variables import simplify


@dataclass
class _Notes:
    """The remarks on the directives of one construct."""

    strict: bool
    texts: list[tuple[Operation, str]]

    def declined(self, op: acc.CacheOp, reason: str) -> None:
        name = "it" if op.var_name is None else op.var_name.data
        if self.strict:
            raise error(
                source_loc(op),
                f"the cache directive for '{name}' cannot be honoured: {reason}",
                "change the section, or leave out strict: the directive is then ignored",
            )
        self.texts.append((op, f"cache({name}) left to the hardware caches: {reason}"))


def _why_in_routine(op: acc.CacheOp) -> str:
    """The reason why a directive in a routine without a vector loop inside is not honoured."""
    why = op.attributes.get(WHY)
    if isinstance(why, StringAttr):
        return f"one thread runs a seq routine, and {why.data}; put the directive into the calling loop"
    return "in a routine that several threads run, only sections around a vector loop are cached"


def _said_already(op: acc.CacheOp, reason: str) -> None:
    """Ignores a refusal that another version of the construct has already reported."""


def _groups(construct: acc.ParallelOp) -> list[tuple[acc.LoopOp | None, list[acc.CacheOp]]]:
    """The directives of a construct by the parallel loop directly around them."""
    found: dict[acc.LoopOp | None, list[acc.CacheOp]] = {}
    for op in construct.walk():
        if isinstance(op, acc.CacheOp):
            found.setdefault(innermost_parallel(op), []).append(op)
    return list(found.items())


def _nest_of(loop: acc.LoopOp | None, construct: acc.ParallelOp) -> CachedNest:
    if loop is None:
        raise Declined("no parallel loop is around it")
    return find_nest(loop, construct)


def _surrounds_lanes(op: acc.CacheOp) -> bool:
    """Whether a directive is in code of a gang or worker, around loops that its lanes share."""
    if any(has_level(loop.vector) for loop in loops_around(op)):
        return False
    block = op.parent_block()
    assert block is not None
    return any(
        isinstance(inner, acc.LoopOp) and has_level(inner.vector)
        for other in block.ops
        for inner in other.walk()
    )


def _routines(module: ModuleOp) -> set[str]:
    """The names of functions with a routine directive."""
    ops = module.body.block.ops
    return {op.func_name.string_value() for op in ops if isinstance(op, acc.RoutineOp)}


@dataclass(frozen=True)
class PromoteCacheToSharedPass(ModulePass):
    """See the contract at the top of this file."""

    name = "promote-cache-to-shared"

    target: Literal["nvptx", "host"] | None = None
    method: Literal["auto", "rbi", "rbc", "ehc"] = "auto"
    trust: bool = False
    promote: Literal["auto", "always", "never"] = "auto"
    block_x: int = 0
    block_y: int = 0
    rows: int = 0
    columns: int = 0
    padding: int = -1
    renewal: Literal["private", "communicating"] = "private"
    fetch: Fetch = "auto"
    write: Literal["auto", "through", "back", "mask"] = "auto"
    sets: int = 8
    ways: int = 1
    stages: int = 0
    width: Width = "auto"
    transpose: bool = True
    shared_limit: int | None = None
    sm: int | None = None
    multiprocessors: int = MULTIPROCESSORS
    matrix: MatrixChoice = "auto"
    strict: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op)
        target = self.target or machine.target
        if target == "host":
            return
        choices = Choices(
            CacheTuning(self.block_x, self.block_y, self.rows, self.columns, self.padding),
            self.method,
            self.trust and not machine.check_cache,
            self.promote,
            self.renewal == "communicating",
            self.fetch,
            self.write,
            self.sets,
            self.ways,
            self.stages,
            self.width,
            self.transpose,
            largest_shared(machine.sm) if self.shared_limit is None else self.shared_limit,
            machine.sm if self.sm is None else self.sm,
            self.multiprocessors,
            self.matrix,
            not machine.no_fma,
            self.strict,
        )
        for construct in parallel_constructs(op):
            self._construct(construct, choices)
        routines = _routines(op)
        for function in op.body.block.ops:
            if isinstance(function, llvm.FuncOp) and function.sym_name.data in routines:
                self._routine(function, choices)
        for inner in [op for op in op.walk() if isinstance(op, acc.CacheOp | HoldsInBlockOp)]:
            if isinstance(inner, acc.CacheOp):
                drop(inner)
            else:
                inner.result.replace_all_uses_with(inner.condition)
                erase(inner)

    def _construct(self, construct: acc.ParallelOp, choices: Choices) -> None:
        simplify(construct)
        notes = _Notes(self.strict, join_written(construct))
        self._in_gangs(construct, choices, notes)
        groups = _groups(construct)
        if not groups and not notes.texts:
            return
        shaped = False
        for loop, ops in groups:
            try:
                plan = plan_nest(
                    _nest_of(loop, construct), ops, choices, notes.declined, shaped=shaped
                )
                if len(groups) == 1 and plan.alternatives:
                    made = make_versions(plan, choices.multiprocessors)
                    if not isinstance(made, str):
                        self._versions(made, choices, notes)
                        return
                    plan = replace(
                        plan, sharing=replace(plan.sharing, notes=(*plan.sharing.notes, made))
                    )
                rewrite(plan)
                shaped = True
                notes.texts += [(p.cached.op, plan.remark(p)) for p in plan.planned]
            except Declined as reason:
                for cache in ops:
                    notes.declined(cache, str(reason))
        note(construct, notes.texts)

    def _versions(self, made: Sequence[Version], choices: Choices, notes: _Notes) -> None:
        """Rewrites the versions of a construct; a directive that one version declines is declined in all."""
        sizes = ", ".join(f"{s.size[0]} × {s.size[1]}" for _, s in made)
        chosen = f"; the host chooses at launch, by the number of blocks, from blocks of {sizes} iterations"
        for construct, shape in made:
            ((loop, ops),) = _groups(construct)
            plan = plan_nest(_nest_of(loop, construct), ops, choices, _said_already, shape=shape)
            rewrite(plan)
            notes.texts += [(p.cached.op, plan.remark(p) + chosen) for p in plan.planned]
            note(construct, notes.texts)
            notes = _Notes(self.strict, [])

    def _routine(self, function: llvm.FuncOp, choices: Choices) -> None:
        """Handles directives in a routine, which cannot choose the block size of its callers."""
        notes = _Notes(self.strict, join_written(function))
        self._in_gangs(function, choices, notes)
        for cache in [op for op in function.walk() if isinstance(op, acc.CacheOp)]:
            if enclosing(cache, acc.ParallelOp) is None:
                notes.declined(cache, _why_in_routine(cache))
        note(function, notes.texts)

    def _in_gangs(self, parent: Operation, choices: Choices, notes: _Notes) -> None:
        """Handles directives around the loops that lanes share, in a construct or routine."""
        found = [op for op in parent.walk() if isinstance(op, acc.CacheOp) and _surrounds_lanes(op)]
        for op in found:
            try:
                if choices.promote == "never":
                    raise Declined("promote=never")
                always = choices.promote == "always"
                text = promote_in_gang(op, parent, trust=choices.trust, always=always)
                notes.texts.append((op, text))
            except Declined as reason:
                notes.declined(op, str(reason))
            drop(op)
