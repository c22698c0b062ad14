"""
Collapse a nest that gangs reduce into one loop where that pays, and split such a loop where it does not.

Takes:  data level, collapsed loops without reductions split.
Leaves: an outermost loop of a construct, which gangs share, and the loops directly in it become one loop of
        several variables, if all are parallel and name no level, the inner ones reduce exactly the
        variables of the outer one, their bounds are invariant, the code between them only computes, and
        `decisions/reduced_nests.py` finds that it pays. Computations between the loops move into the body.
        If it does not pay, such loops of several variables become a nest of loops of one variable, with a
        reduction each. So do those inside a parallel loop, which workers and lanes share, unless their last
        loop is too short for the lanes.
Fails:  never.

Before:
  %outer = acc.reduction varPtr(%error) …
  acc.loop reduction(%outer) control(%i : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
    %inner = acc.reduction varPtr(%outer) …
    acc.loop reduction(%inner) control(%j : i32) = (%c1 : i32) to (%m : i32) step (%c1 : i32) { … %inner … }
  }
After:
  %outer = acc.reduction varPtr(%error) …
  acc.loop reduction(%outer) control(%i : i32, %j : i32) = (%c1, %c1 : i32, i32) to (%n, %m : i32, i32)
      step (%c1, %c1 : i32, i32) { … %outer … }

Options: `target` (`host`: no change, a CPU thread runs whole rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from .decisions.reduced_nests import SHORT, ReducedNest, pays_as_one
from .ir.data.cached_accesses import Symbols
from .ir.loops.joining import join, joined_reductions
from .ir.loops.loop_facts import is_long
from .ir.loops.product_loads import offset_of
from .ir.loops.products import free_constructs
from .ir.ops.acc_ops import child_loops, has_level, is_defined_inside, loops_around
from .ir.ops.building import Cursor, constant_trips, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel, loop_levels
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure


def _is_plain(loop: Operation | None) -> bool:
    """Whether `loop` is a parallel loop with a reduction and without levels."""
    return (
        isinstance(loop, acc.LoopOp)
        and len(loop.region.blocks) == 1
        and not has_level(loop.seq)
        and not has_level(loop.auto_)
        and not loop_levels(loop)
        and bool(loop.reduction_operands)
        and not (loop.tile_operands or loop.cache_operands or loop.unstructured)
    )


def _inside(outer: acc.LoopOp, construct: acc.ParallelOp) -> acc.LoopOp | None:
    """The loop directly in `outer` that can be collapsed with it; None if there is none."""
    ops = [op for op in outer.region.block.ops if not isinstance(op, acc.YieldOp)]
    inner = next((op for op in ops if isinstance(op, acc.LoopOp)), None)
    if inner is None or not _is_plain(inner):
        return None
    entries = joined_reductions(outer, inner)
    if entries is None or outer.private_operands or outer.firstprivate_operands:
        return None
    others = [op for op in ops if op is not inner and op not in entries]
    bounds = (*inner.lowerbound, *inner.upperbound, *inner.step)
    fixed = all(
        constant_value(v) is not None or not is_defined_inside(v, construct) for v in bounds
    )
    pure = all(not op.regions and is_pure(op) for op in others)
    return inner if fixed and pure else None


def _nest(outer: acc.LoopOp, construct: acc.ParallelOp) -> list[acc.LoopOp]:
    """`outer` and the loops in it that can be collapsed with it."""
    found = [outer]
    while (inner := _inside(found[-1], construct)) is not None:
        found.append(inner)
    return found


def _facts(loops: Sequence[acc.LoopOp], construct: acc.ParallelOp) -> ReducedNest:
    symbols = Symbols(loops[0])
    variables = {argument for loop in loops for argument in loop.region.block.args}
    body = list(loops[-1].region.walk())
    places = [
        offset_of(op.ptr, symbols) for op in body if isinstance(op, llvm.LoadOp | llvm.StoreOp)
    ]
    moving = [(base, offset) for base, offset in places if variables <= offset.symbols]
    distances = [
        (offset - other).as_constant
        for (base, offset), (same, other) in combinations(moving, 2)
        if base is same
    ]
    last = loops[-1]
    columns = constant_trips(*bounds_of(last)[-1][1:])
    streaming = not any(map(is_long, body))
    alone = len(child_loops(construct)) == 1 and all(map(_reduces_scalars, loops))
    return ReducedNest(len(moving), streaming, distances, columns, len(variables), alone)


def _reduces_scalars(loop: acc.LoopOp) -> bool:
    """Whether `loop` reduces no sections of arrays."""
    entries = [value.owner for value in loop.reduction_operands]
    return all(isinstance(entry, acc.ReductionOp) and not entry.bounds for entry in entries)


def part(loop: acc.LoopOp) -> acc.LoopOp:
    """Splits a loop into one of all but the last variable around one of the last; returns the outer loop."""
    *rows, column = loop.region.block.args
    body = Block(arg_types=[column.type])
    around = Block(arg_types=[argument.type for argument in rows])
    for old, new in zip((*rows, column), (*around.args, body.args[0]), strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    at = Cursor.at_end(around, loop.location)
    copies: list[SSAValue] = []
    for value in loop.reduction_operands:
        entry = value.owner
        assert isinstance(entry, acc.ReductionOp)
        copy = at.insert(entry.clone())
        copy.operands[list(copy.operands).index(copy.var)] = value
        copy.results[0].name_hint = value.name_hint
        for use in list(value.uses):
            if use.operation is not loop and use.operation is not copy:
                use.operation.operands[use.index] = copy.results[0]
        copies.append(copy.results[0])
    for op in list(loop.region.block.ops):
        op.detach()
        body.add_op(op)
    inner = acc.LoopOp(
        region=Region(body),
        lowerbound=[loop.lowerbound[-1]],
        upperbound=[loop.upperbound[-1]],
        step=[loop.step[-1]],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        reduction_operands=copies,
        private_operands=list(loop.private_operands),
        firstprivate_operands=list(loop.firstprivate_operands),
        independent=loop.independent,
    )
    inner.attributes |= loop.attributes
    at.insert(inner)
    inner.location = loop.location
    at.insert(acc.YieldOp())
    outer = acc.LoopOp(
        region=Region(around),
        lowerbound=list(loop.lowerbound)[:-1],
        upperbound=list(loop.upperbound)[:-1],
        step=list(loop.step)[:-1],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0] * len(rows)),
        reduction_operands=list(loop.reduction_operands),
        independent=loop.independent,
        combined=loop.combined,
    )
    outer.attributes |= loop.attributes
    Cursor.before(loop).insert(outer)
    outer.location = loop.location
    erase(loop)
    return outer


def shape(loop: acc.LoopOp, construct: acc.ParallelOp) -> None:
    """Collapses the loops of a nest, or splits those of several variables."""
    loops = _nest(loop, construct)
    if pays_as_one(_facts(loops, construct)):
        if len(loops) > 1:
            joined = reduce(join, loops)
            remark = "loops collapsed: gangs share all iterations of the nest as one sequence"
            note(construct, [(joined, remark)])
        return
    for each in loops:
        part_all(each)


def part_all(loop: acc.LoopOp) -> None:
    """Splits a loop that reduces scalars into loops of one variable."""
    while len(loop.lowerbound) > 1 and _reduces_scalars(loop):
        loop = part(loop)


def _has_short_rows(loop: acc.LoopOp) -> bool:
    """Whether the last of the variables of `loop` is known to take too few values to fill a warp."""
    trips = constant_trips(*bounds_of(loop)[-1][1:])
    return trips is not None and trips < SHORT


def _is_shared_by_lanes(loop: acc.LoopOp) -> bool:
    """Whether workers and lanes share `loop`, for each iteration of the one parallel loop around it."""
    around = list(loops_around(loop))
    return len(around) == 1 and is_parallel(around[0])


@dataclass(frozen=True)
class ShapeReducedNestsPass(GpuPass):
    """See the module's description."""

    name = "shape-reduced-nests"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in free_constructs(module):
            for loop in [each for each in construct.region.walk() if isinstance(each, acc.LoopOp)]:
                if loop.parent is None or not _is_plain(loop):
                    continue
                if loop.parent_op() is construct:
                    shape(loop, construct)
                elif _is_shared_by_lanes(loop) and not _has_short_rows(loop):
                    part_all(loop)
