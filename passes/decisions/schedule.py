"""
Which loop runs on which level of parallelism, and how large a launch should be.

`plan_construct` decides for the loops of one compute construct, described by `LoopNode`s
(`loop_tree.py`); `launch_shape.py` says how large. Nothing here sees IR, so the decision can be
replaced or tuned (`schedule_space.py` lists the legal ones).

Explicit levels are kept: a loop with level clauses gets exactly those. Free parallel loops are
assigned along each path from the outermost loop inwards:

- one parallel loop: gang and vector, tiles of contiguous iterations, several per thread when it
  streams elements of at most 4 bytes (8 bytes saturate memory at one per thread);
  a loop whose iterations share loads of their sequential inner loops also has several per thread;
- tightly nested parallel loops with a contiguous inner one: a grid of as many dimensions, lanes on
  the inner loop (`2_2`, `3_2`); a nest with code in between: gang outside, vector inside, the middle
  loop on workers, or on gangs too if it is tightly in the outer one;
- a nest in a block of several workers of at most a warp: gangs and workers on the loop around the innermost
  one, whose rows have the lanes of a worker each (`2_4`, `3_4`);
- an inner loop with a reduction or a trip count known only on the device: one warp of lanes for it,
  workers and gangs on the outer loop;
- gang-level reductions: a grid no larger than the device holds at once, several elements a thread; a nest
  of two loops that reduce, several rows a gang, side by side.

The numbered schedules are those of chapter 7 of R. Xu, "Optimizing the Performance of Directive-based
Programming Model for GPGPUs" (University of Houston, 2016), x innermost: 2_1 is bx for y, tx for x;
2_2 by for y, bx and tx for x; 2_3 by and ty for y, bx and tx for x; 3_1 bx for z, ty for y, tx for x;
3_2 and 3_3 extend 2_2 and 2_3 by bz for z. Ours are 2_4, bx and ty for y, tx for x, and 3_4, which extends
it by by for z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .device import WARP
from .launch_shape import (
    COMPUTE_LANES,
    EXPLICIT_WORKERS,
    STREAM_LANES,
    Sizes,
    fit_block,
    fitting_lanes,
    inner_lanes,
    row_elements,
    rows_per_gang,
    stream_shape,
)
from .levels import LEVEL_NAMES, Level
from .loop_tree import (
    LoopNode,
    chain_from,
    check_nesting,
    inner_need,
    is_free,
    outermost_parallel,
    reducing_chain,
)
from .row_sharing import FEW_ACCESSES

Target = Literal["nvptx", "host"]
Strategy = Literal["auto", "2_1", "2_2", "2_3", "3_1", "3_2", "3_3"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "2_1", "2_2", "2_3", "3_1", "3_2", "3_3")


@dataclass(frozen=True)
class ScheduleTuning:
    """
    Numbers for experiments; 0 leaves a choice to the compiler: `rows` of the outermost loop of a tight nest
    per gang, `elements` per thread of a single loop that streams, `lanes` per gang where the user left them
    open, `most` iterations side by side of any kind.
    """

    rows: int = 0
    elements: int = 0
    lanes: int = 0
    most: int = 0

    def limited(self, count: int) -> int:
        return min(count, self.most) if self.most else count


@dataclass(frozen=True)
class LoopPlan:
    """
    The levels of one loop (none: it runs sequentially) and the distribution of its iterations: `elements`
    per thread if the loop has lanes, else consecutive iterations per gang.
    """

    levels: frozenset[Level] = frozenset()
    gang_dim: int = 1
    elements: int = 1
    capped: bool = False
    """The grid is limited to the blocks that are resident at once; threads loop over tiles."""
    why: str = ""
    by_clause: bool = False
    """The levels are those of the user's clauses."""


@dataclass(frozen=True)
class Schedule:
    """The plan of each loop, the threads per gang, and one sentence for remarks."""

    loops: dict[LoopNode, LoopPlan]
    num_workers: int
    vector_length: int
    why: str
    name: str = "auto"


_NEST_LEVELS: dict[str, tuple[tuple[frozenset[Level], int], ...]] = {
    "2_1": ((frozenset({Level.GANG}), 1), (frozenset({Level.VECTOR}), 1)),
    "2_2": ((frozenset({Level.GANG}), 2), (frozenset({Level.GANG, Level.VECTOR}), 1)),
    "2_3": (
        (frozenset({Level.GANG, Level.WORKER}), 2),
        (frozenset({Level.GANG, Level.VECTOR}), 1),
    ),
    "3_1": (
        (frozenset({Level.GANG}), 1),
        (frozenset({Level.WORKER}), 1),
        (frozenset({Level.VECTOR}), 1),
    ),
    "3_2": (
        (frozenset({Level.GANG}), 3),
        (frozenset({Level.GANG}), 2),
        (frozenset({Level.GANG, Level.VECTOR}), 1),
    ),
    "3_3": (
        (frozenset({Level.GANG}), 3),
        (frozenset({Level.GANG, Level.WORKER}), 2),
        (frozenset({Level.GANG, Level.VECTOR}), 1),
    ),
    "2_4": ((frozenset({Level.GANG, Level.WORKER}), 1), (frozenset({Level.VECTOR}), 1)),
    "3_4": (
        (frozenset({Level.GANG}), 2),
        (frozenset({Level.GANG, Level.WORKER}), 1),
        (frozenset({Level.VECTOR}), 1),
    ),
}

_NEST_SHAPES = {
    "2_1": (1, COMPUTE_LANES),
    "2_2": (1, STREAM_LANES),
    "2_3": (8, WARP),
    "3_1": (4, WARP * 2),
    "3_2": (1, COMPUTE_LANES),
    "3_3": (4, WARP * 2),
    "2_4": (8, WARP),
    "3_4": (8, WARP),
}
"""Workers and lanes of the numbered schedules."""


class _Planner:
    """Assigns levels along the loop trees of one construct."""

    def __init__(self, sizes: Sizes, strategy: Strategy, tuning: ScheduleTuning):
        self.sizes = sizes
        self.tuning = tuning
        self.strategy = strategy
        self.plans: dict[LoopNode, LoopPlan] = {}
        self.workers = 1
        self.lanes = 1
        self.names: list[str] = []
        self.flat = False
        self.reduces_rows = False
        """Whether the loops planned are in one whose iterations reduce rows of their own."""

    def share_grid(self, roots: list[LoopNode]) -> None:
        """
        Gives consecutive loops the same dimensions of the grid: gangs along a dimension that one of them
        does not use would all run its iterations.
        """
        every = {Level.GANG, Level.WORKER, Level.VECTOR}
        found = [node for root in roots for node in outermost_parallel(root)]
        names = {
            None if node.levels else self._nest_name(chain_from(node), every) for node in found
        }
        self.flat = len(names) > 1

    def want(self, workers: int = 1, lanes: int = 1) -> None:
        self.workers = max(self.workers, workers)
        self.lanes = max(self.lanes, lanes)

    def visit(self, node: LoopNode, ceiling: int) -> None:
        """Assigns levels to `node` and the loops inside it; levels below `ceiling` are still free."""
        if node.levels:
            self._explicit(node)
            inner = min(node.levels)
            # A gang loop of dimension 2 or 3 leaves the narrower dimensions to loops inside.
            below = Level.GANG + 1 if (node.gang_dim or 1) > 1 and inner is Level.GANG else inner
            self._children(node, min(ceiling, below))
        elif not node.parallel:
            self.plans[node] = LoopPlan(why="marked seq, or not proven independent")
            self._children(node, ceiling)
        else:
            self._free(node, ceiling)

    def _children(self, node: LoopNode, ceiling: int) -> None:
        for child in node.children:
            self.visit(child, ceiling)

    def _explicit(self, node: LoopNode) -> None:
        elements = 1
        capped = False
        if Level.VECTOR in node.levels:
            wide = inner_lanes(node)
            if node.levels == frozenset((Level.GANG, Level.VECTOR)):
                wide, elements, capped = stream_shape(node)
            elif Level.GANG in node.levels and node.streaming:
                wide, elements, capped = stream_shape(node)
                wide //= EXPLICIT_WORKERS
            self.want(lanes=fitting_lanes(node, wide))
        if Level.WORKER in node.levels:
            self.want(workers=EXPLICIT_WORKERS)
        words = ", ".join(LEVEL_NAMES[level] for level in sorted(node.levels, reverse=True))
        why = f"as written: {words}"
        self.plans[node] = LoopPlan(
            node.levels, node.gang_dim or 1, elements, capped, why, by_clause=True
        )

    def _free(self, node: LoopNode, ceiling: int) -> None:
        need = inner_need(node)
        available = {
            level for level in (Level.GANG, Level.WORKER, Level.VECTOR) if need < level < ceiling
        }
        if node.gang_reduction:
            available.discard(Level.GANG)
        if not available or self.sizes.single:
            reason = (
                "the construct is serial"
                if self.sizes.single
                else "every level is taken by other loops or by a routine it calls"
            )
            self.plans[node] = LoopPlan(why=reason)
            self._children(node, ceiling)
            return
        chain = chain_from(node)
        name = self._nest_name(chain, available)
        if name is not None:
            self._nest(chain, name)
        elif self._reduces_as_nest(reducing_chain(node), available):
            self._reduced_nest(reducing_chain(node))
        elif node.depth == 1:
            self._single(node, available)
        else:
            self._outer(node, available)

    def _nest_name(self, chain: list[LoopNode], available: set[Level]) -> str | None:
        """The numbered schedule for a tight nest, if one applies."""
        whole = available == {Level.GANG, Level.WORKER, Level.VECTOR}
        inside = chain[-1]
        if not whole or any(n.reduction for n in chain) or inside.depth > 1:
            return None
        if len(chain) not in (2, 3):
            return None
        if self.strategy.startswith(str(len(chain))) and not self.flat:
            return self.strategy
        if inside.is_across or not all(n.host_trip for n in chain):
            return None
        if self.sizes.has_narrow_workers and not self.sizes.gangs and not self.flat:
            return f"{len(chain)}_4"
        if inside.trip is not None and inside.trip < WARP:
            return None
        # A user-given grid has one dimension, which belongs to the outermost loop.
        return f"{len(chain)}_1" if self.sizes.gangs or self.flat else f"{len(chain)}_2"

    def _nest(self, chain: list[LoopNode], name: str) -> None:
        workers, lanes = _NEST_SHAPES[name]
        inside = chain[-1]
        elements, rows = 1, 1
        if name in ("2_2", "3_2"):
            rows = self.tuning.limited(self.tuning.rows or rows_per_gang(chain))
            stream_lanes, elements, _ = stream_shape(inside)
            elements = self.tuning.elements or elements
            elements = self.tuning.limited(elements) if rows == 1 and inside.streaming else 1
            lanes = self.tuning.lanes or min(lanes, stream_lanes)
        elif name in ("2_4", "3_4"):
            elements = self.tuning.limited(self.tuning.elements or 1)
        self.want(workers, fitting_lanes(inside, lanes))
        why = f"tightly nested loops, schedule {name}: {_on_lanes(inside)}"
        self.names.append(name)
        for node, (levels, dim) in zip(chain, _NEST_LEVELS[name], strict=True):
            mine = elements if Level.VECTOR in levels else rows if node is chain[0] else 1
            self.plans[node] = LoopPlan(levels, dim, mine, False, why)
        self._children(inside, Level.VECTOR)

    def _reduces_as_nest(self, chain: list[LoopNode], available: set[Level]) -> bool:
        """Whether a nest of loops that all reduce the same variables gets a grid of three dimensions."""
        inside = chain[-1]
        if len(chain) != 3 or inside.children or not inside.streaming or inside.is_across:
            return False
        known = all(n.host_trip and not n.hands_on for n in chain)
        free = not (self.sizes.gangs or self.sizes.workers or self.sizes.lanes or self.flat)
        whole = available == {Level.GANG, Level.WORKER, Level.VECTOR}
        return known and free and whole and (inside.trip is None or inside.trip >= WARP)

    def _reduced_nest(self, chain: list[LoopNode]) -> None:
        """
        Plans such a nest like one that reduces nothing, with fewer gangs: those of the outermost loop take
        several rows, one after the other, as each gang's result is combined with all others. Only rows with
        few accesses are side by side: on an H200, the 7 points of a box of 512^3 floats take 712 µs with one
        row, 520 with four (CUDA 667), Himeno's 31 loads with records 254 and 325 (CUDA 241).
        """
        workers, lanes = _NEST_SHAPES["3_3"]
        accesses = chain[-1].contiguous + chain[-1].strided
        side_by_side = rows_per_gang(chain) if accesses <= FEW_ACCESSES else 1
        rows = self.tuning.limited(self.tuning.rows or side_by_side)
        self.want(workers, fitting_lanes(chain[-1], self.tuning.lanes or lanes))
        why = f"a nest that reduces, schedule 3_3: {_on_lanes(chain[-1])}, few gangs of many rows"
        for node, (levels, dim) in zip(chain, _NEST_LEVELS["3_3"], strict=True):
            outermost = node is chain[0]
            self.plans[node] = LoopPlan(levels, dim, rows if outermost else 1, outermost, why)

    def _single(self, node: LoopNode, available: set[Level]) -> None:
        """Plans the only parallel loop on its path."""
        if Level.VECTOR not in available:
            levels = frozenset({max(available)})
            if Level.WORKER in available:
                levels |= {Level.WORKER}
                self.want(workers=4)
            why = "a routine it calls takes the narrower levels"
            self.plans[node] = LoopPlan(levels, why=why)
        elif Level.GANG in available:
            lanes, elements, capped = stream_shape(node)
            elements = self.tuning.limited(self.tuning.elements or elements)
            lanes = fitting_lanes(node, self.tuning.lanes or lanes)
            self.want(lanes=lanes)
            why = "one parallel loop: tiles over gangs, neighbouring iterations on lanes"
            if node.reduction:
                why = "a reduction over all gangs: as many gangs as the device holds at once"
            self.plans[node] = LoopPlan(
                frozenset({Level.GANG, Level.VECTOR}), 1, elements, capped, why
            )
        else:
            lanes, elements = inner_lanes(node), 1
            rows = node.host_trip and not self.sizes.has_narrow_workers
            if node.streaming and rows and self.reduces_rows and not node.hands_on:
                elements = row_elements(node)
            elif node.streaming and rows and not node.reduction:
                lanes, elements, _ = stream_shape(node)
            elif node.hands_on and node.host_trip:
                lanes = STREAM_LANES
            self.want(lanes=fitting_lanes(node, self.tuning.lanes or lanes))
            why = "innermost parallel loop: its iterations on lanes"
            elements = self.tuning.limited(self.tuning.elements or elements)
            self.plans[node] = LoopPlan(frozenset({Level.VECTOR}), 1, elements, why=why)
        self._children(node, Level.VECTOR)

    def _outer(self, node: LoopNode, available: set[Level]) -> None:
        """
        Plans a loop with parallel loops inside: the widest free level, and workers too if rows are short.
        """
        level = max(available)
        if node.depth > len(available) and level is not Level.GANG:
            self.plans[node] = LoopPlan(why="more parallel loops than levels: inner ones are used")
            self._children(node, level + 1)
            return
        if level is Level.GANG and (self._outer_lanes(node) or self._outer_pair(node)):
            return
        levels = frozenset({level})
        why = "outermost parallel loop: its iterations over gangs"
        if level is Level.WORKER:
            self.want(workers=4)
            why = "a parallel loop between others: its iterations over workers"
        inner = [n for child in node.children for n in child.walk() if is_free(n)]
        narrow = self.sizes.has_narrow_workers or all(inner_lanes(n) == WARP for n in inner)
        rows = inner and node.depth == 2 and narrow
        if level is Level.GANG and rows and Level.WORKER in available:
            levels |= {Level.WORKER}
            self.want(workers=8)
            why = "short rows: rows over gangs and workers, lanes for each"
        elements = self._reduced_rows(node) if levels == frozenset({Level.GANG}) else 1
        self.plans[node] = LoopPlan(levels, elements=elements, why=why)
        self.reduces_rows = not node.reduction and any(n.reduction for n in node.children)
        self._children(node, min(levels))
        self.reduces_rows = False

    def _outer_pair(self, node: LoopNode) -> bool:
        """
        Puts gangs on a loop and on the one tightly in it, around loops that have iterations for many lanes;
        whether it did. Gangs for the outer loop alone, with workers for the other one, are often too few to
        fill a device: block matching of 128 × 128 blocks on an H200 takes 220 µs, CUDA with a block each 130.
        """
        inner = node.children[0]
        open_ = not (self.sizes.gangs or self.sizes.workers or self.sizes.lanes or self.flat)
        tight = node.tight and len(node.children) == 1 and is_free(inner)
        known = node.host_trip and inner.host_trip and not (node.reduction or inner.reduction)
        rows = [n for child in inner.children for n in child.walk() if is_free(n)]
        wide = bool(rows) and all(inner_lanes(n) > WARP for n in rows)
        wide = wide and all(n.trip is None or n.trip > WARP for n in rows)
        if not (open_ and tight and known and wide) or node.hands_on or inner.hands_on:
            return False
        why = "two loops around others: a gang for each of their iterations"
        self.plans[node] = LoopPlan(frozenset({Level.GANG}), 2, why=why)
        self.plans[inner] = LoopPlan(frozenset({Level.GANG}), 1, why=why)
        self._children(inner, Level.GANG)
        return True

    def _reduced_rows(self, node: LoopNode) -> int:
        """
        The rows side by side in each thread of a nest of two loops that reduce, as a stencil with the
        largest change: neighbouring rows share what they read.
        """
        inside = node.children[0]
        both = node.reduction and inside.reduction and not (node.hands_on or inside.hands_on)
        known = node.host_trip and inside.host_trip and not self.sizes.gangs
        if not (both and known and len(node.children) == 1 and is_free(inside)):
            return 1
        if inside.children or not inside.streaming or inside.contiguous < inside.strided:
            return 1
        rows = self.tuning.limited(self.tuning.rows or rows_per_gang([node, inside]))
        if rows > 1:
            # Fewer gangs than rows: more lanes keep as many threads busy.
            self.want(lanes=fitting_lanes(inside, self.tuning.lanes or STREAM_LANES))
        return rows

    def _outer_lanes(self, node: LoopNode) -> bool:
        """Puts lanes on the outer loop if only its variable makes accesses contiguous; whether it did."""
        chain = chain_from(node)
        inside = chain[-1]
        enough = node.trip is None or node.trip >= 4096
        only_outer = node.contiguous > node.strided and inside.is_across
        # Blocks of both loops share what is cached, and copy it along memory.
        apart = any(n.reduction or n.cached for n in chain)
        if len(chain) < 2 or not only_outer or not enough or apart:
            return False
        self.want(lanes=COMPUTE_LANES)
        self.plans[node] = LoopPlan(
            frozenset({Level.GANG, Level.VECTOR}),
            why="neighbouring iterations of the outer loop access neighbouring elements",
        )
        for inner in node.walk():
            if inner is not node:
                self.plans[inner] = LoopPlan(why="the outer loop has all levels")
        return True


def _on_lanes(loop: LoopNode) -> str:
    """What neighbouring lanes that share a loop access, for remarks."""
    is_contiguous = loop.contiguous - loop.apart >= loop.strided + loop.apart
    return f"{'contiguous accesses' if is_contiguous else 'accesses with strides'} on lanes"


def plan_construct(
    roots: list[LoopNode],
    sizes: Sizes,
    target: Target = "nvptx",
    strategy: Strategy = "auto",
    widest: Level = Level.GANG,
    tuning: ScheduleTuning | None = None,
) -> Schedule:
    """
    The schedule of one construct (or of a routine whose level is `widest`). Raises `CompileError`
    for levels nested in a way OpenACC forbids.
    """
    for root in roots:
        check_nesting(root)
    if target == "host":
        return _plan_host(roots, sizes, widest)
    planner = _Planner(sizes, strategy, tuning or ScheduleTuning())
    planner.share_grid(roots)
    for root in roots:
        planner.visit(root, widest + 1)
    need = max((node.routine for root in roots for node in root.walk()), default=Level.SEQ)
    if need >= Level.VECTOR:
        planner.want(lanes=COMPUTE_LANES)
    if need >= Level.WORKER:
        planner.want(workers=4)
    if sizes.single:
        return Schedule(planner.plans, 1, 1, "serial: one thread")
    workers, lanes, note = fit_block(planner.workers, planner.lanes, sizes)
    name = planner.names[0] if planner.names else "auto"
    why = f"{workers} workers of {lanes} lanes{note}"
    return Schedule(planner.plans, workers, lanes, why, name)


def _plan_host(roots: list[LoopNode], sizes: Sizes, widest: Level) -> Schedule:
    """
    The schedule for CPU threads: gangs on the outermost parallel loop, the vector level for SIMD on the
    innermost.
    """
    plans: dict[LoopNode, LoopPlan] = {}

    def visit(node: LoopNode, gang_free: bool) -> None:
        partitioned = node.parallel or bool(node.levels)
        innermost = partitioned and not any(
            n.parallel or n.levels for c in node.children for n in c.walk()
        )
        levels: set[Level] = set()
        why = "on the CPU thread of its gang"
        # A loop inside that is shared by gangs must be reached by all of them.
        open_ = gang_free and inner_need(node) < Level.GANG
        free = partitioned and open_ and not node.levels and not node.gang_reduction
        if Level.GANG in node.levels or free:
            levels.add(Level.GANG)
            why = "iterations over CPU threads"
        if innermost and not sizes.single:
            levels.add(Level.VECTOR)
            why += ", SIMD within" if Level.GANG in levels else " with SIMD"
        if sizes.single and not node.levels:
            levels, why = set[Level](), "the construct is serial"
        plans[node] = LoopPlan(frozenset(levels), node.gang_dim or 1, 1, True, why)
        # Inside a loop that the user gives to workers or lanes, no loop can be shared by gangs.
        within = Level.GANG in levels or bool(node.levels)
        for child in node.children:
            visit(child, gang_free and not within)

    for root in roots:
        visit(root, widest is Level.GANG)
    return Schedule(plans, 1, 1, "gangs are ranges of iterations on CPU threads", "host")
