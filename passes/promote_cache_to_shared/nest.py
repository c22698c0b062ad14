"""
Finds the nest of parallel loops around `cache` directives whose iterations become the threads of a block:
all of the loops, or only the inner ones if there is code in between that must run once per gang.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects import acc, arith, llvm
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ..decisions.cache_plan import Axis
from ..decisions.declined import Declined
from ..decisions.levels import Level
from ..ir.data.cached_accesses import Cached, Symbols
from ..ir.ops.acc_ops import has_level, is_defined_inside, loops_around
from ..ir.ops.building import Cursor, constant_trips, constant_value
from ..ir.ops.expressions import is_arithmetic
from ..ir.ops.layout import size_of
from ..ir.ops.levels import loop_levels
from ..ir.ops.schedules import schedule_of
from ..ir.variables.private_storage import extent_of
from ..ir.variables.recipe_reading import Recipes
from .uniformity import is_repeatable, written_variables

MAX_AXES = 3
"""The dimensions of a grid."""


@dataclass
class NestReduction:
    """
    A variable or array, of `type`, that all iterations reduce: the operation, and the value by which the
    loops' bodies name it.
    """

    op: acc.ReductionOp
    type: Attribute
    results: list[SSAValue]


@dataclass
class CachedNest:
    """
    Parallel loops around directives, outermost first. `prelude`: the operations between the loops, which
    every thread may repeat. `axes[i]` belongs to `variables[i]` and `bounds[i]` (lower, upper, step).
    `outer`: loops around the nest that stay, with the reason (`kept`); `within`: the nest is in code of a
    gang, whose threads run all its iterations. `reductions` are those of its first loop.
    """

    construct: acc.ParallelOp
    loops: list[acc.LoopOp]
    axes: list[Axis]
    variables: list[BlockArgument]
    bounds: list[tuple[SSAValue, SSAValue, SSAValue]]
    prelude: list[Operation]
    symbols: Symbols
    outer: list[acc.LoopOp]
    reductions: list[NestReduction]
    kept: str = ""
    cached: list[Cached] = field(default_factory=list[Cached])

    @property
    def body(self) -> Block:
        return self.loops[-1].region.block

    @property
    def operations(self) -> list[Operation]:
        """The operations of one iteration."""
        return [*self.prelude, *self.body.ops]

    @property
    def within(self) -> bool:
        return bool(self.outer) and not has_level(self.loops[0].gang)


def is_partitioned(loop: acc.LoopOp) -> bool:
    """Whether gangs, workers or lanes share the loop's iterations."""
    return has_level(loop.gang) or has_level(loop.worker) or has_level(loop.vector)


def innermost_parallel(op: Operation) -> acc.LoopOp | None:
    """The partitioned loop directly around `op`."""
    return next(filter(is_partitioned, loops_around(op)), None)


def find_nest(inner: acc.LoopOp, construct: acc.ParallelOp) -> CachedNest:
    """
    The largest nest whose innermost loop is `inner`. Raises `Declined` with the reason if there is none.
    """
    loops = [inner]
    while (outer := innermost_parallel(loops[0])) is not None:
        loops.insert(0, outer)
    written = written_variables(construct)
    why: Declined | None = None
    for first in range(len(loops)):
        try:
            nest = _nest(loops[:first], loops[first:], construct, written)
        except Declined as reason:
            why = why or reason
            continue
        if why is not None:
            nest.kept = str(why)
        return nest
    assert why is not None
    raise why


def _nest(
    outer: list[acc.LoopOp],
    loops: list[acc.LoopOp],
    construct: acc.ParallelOp,
    written: Sequence[SSAValue],
) -> CachedNest:
    """The nest of `loops`, inside `outer`."""
    if any(has_level(loop.worker) or has_level(loop.vector) for loop in outer):
        raise Declined("a loop around it already uses the threads of a gang")
    for loop in loops:
        _check_loop(loop)
    reductions = _reductions(loops)
    prelude: list[Operation] = []
    for around, below in pairwise(loops):
        prelude += _between(around, below, loops[0], written)
    variables = [arg for loop in loops for arg in loop.region.block.args]
    bounds = [
        triple
        for loop in loops
        for triple in zip(loop.lowerbound, loop.upperbound, loop.step, strict=True)
    ]
    _check_rectangular(loops[0], bounds)
    if len(variables) > MAX_AXES:
        raise Declined("more than three parallel loops are around it")
    axes: list[Axis] = []
    for loop in loops:
        fixed = _gang_by_clause(loop)
        for arg, low, high, step in zip(
            loop.region.block.args, loop.lowerbound, loop.upperbound, loop.step, strict=True
        ):
            trips = constant_trips(low, high, step)
            name, multiple = arg.name_hint or "i", _multiple(low, high, step)
            axes.append(Axis(arg, name, constant_value(step), trips, fixed, multiple))
    symbols = Symbols(construct)
    return CachedNest(
        construct, loops, axes, variables, bounds, prelude, symbols, outer, reductions
    )


def _multiple(low: SSAValue, high: SSAValue, step: SSAValue) -> int:
    """A number of which the trip count is a multiple, as its expression shows; 1 if it shows none."""
    op = high.owner
    if constant_value(low) != 0 or constant_value(step) != 1 or not isinstance(op, arith.MuliOp):
        return 1
    return max(constant_value(op.rhs) or 1, 1)


def _gang_by_clause(loop: acc.LoopOp) -> bool:
    return schedule_of(loop).by_clause and loop_levels(loop) == {Level.GANG}


def _check_loop(loop: acc.LoopOp) -> None:
    if len(loop.region.blocks) != 1:
        raise Declined("the loop around it has unstructured control flow")
    if loop.private_operands or loop.firstprivate_operands:
        raise Declined("the loop around it has sections of arrays as private variables")
    if loop.tile_operands:
        raise Declined("the loop around it has a tile clause")


def _reduced_type(op: acc.ReductionOp) -> Attribute:
    """
    The type that an operation reduces: an array for a section from the start of an array. Raises `Declined`
    for types that do not consist of scalars, and for sizes known only at run time.
    """
    type_: Attribute = op.var_type
    if op.bounds:
        extent = extent_of(op, Cursor.before(op))
        bytes_ = extent.constant_bytes
        if extent.start is not None or bytes_ is None:
            raise Declined(
                "the loop around it reduces a section of an array that does not begin with the array, or"
                " of a length known only at run time"
            )
        type_ = llvm.LLVMArrayType(bytes_ // size_of(extent.unit), extent.unit)
    operator = Recipes.around(op).operator(op)
    if operator is None:
        raise Declined("the loop around it combines by a recipe of its own")
    if operator.is_complex:
        raise Declined("the loop around it multiplies complex numbers")
    return type_


def _reductions(loops: Sequence[acc.LoopOp]) -> list[NestReduction]:
    """
    The reductions of a nest, which its first loop names. Raises `Declined` for reductions of other loops.
    """
    found: list[NestReduction] = []
    for value in loops[0].reduction_operands:
        owner = value.owner
        assert isinstance(owner, acc.ReductionOp)
        found.append(NestReduction(owner, _reduced_type(owner), [value]))
    for value in (v for loop in loops[1:] for v in loop.reduction_operands):
        owner = value.owner
        same = [r for r in found if isinstance(owner, acc.ReductionOp) and owner.var in r.results]
        if not same:
            raise Declined("a parallel loop around it reduces for each iteration of another one")
        same[0].results.append(value)
    return found


def _between(
    outer: acc.LoopOp, inner: acc.LoopOp, outermost: acc.LoopOp, written: Sequence[SSAValue]
) -> list[Operation]:
    """
    The operations in `outer` before `inner`, which every thread may repeat. Raises `Declined` for other
    code.
    """
    found: list[Operation] = []
    if inner.parent_op() is not outer:
        raise Declined("there is control flow between the parallel loops around it")
    behind = False
    for op in outer.region.block.ops:
        if op is inner or isinstance(op, acc.YieldOp):
            behind = behind or op is inner
            continue
        stores = behind and any(isinstance(each, llvm.StoreOp) for each in op.walk())
        if stores or not is_repeatable(op, outermost, written):
            raise Declined("there is other code between the parallel loops around it")
        if not behind:
            found.append(op)
    return found


def _check_rectangular(
    outermost: acc.LoopOp, bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]]
) -> None:
    for value in (v for triple in bounds for v in triple):
        if not _is_fixed(value, outermost):
            raise Declined("the bounds of a parallel loop depend on another one")


def _is_fixed(value: SSAValue, outermost: acc.LoopOp) -> bool:
    """Whether `value` is computed, by arithmetic only, from values defined before the nest."""

    def is_known(part: SSAValue) -> bool:
        return not is_defined_inside(part, outermost)

    return is_arithmetic(value, is_known)
