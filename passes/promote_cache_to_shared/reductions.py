"""
Reductions over the iterations of a nest: every thread combines its outputs and stores the result to an
array of the gang, which a vector loop with the original clause then reduces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...compiler.base.names import value_name
from ...dialects.accx_cache import GangBarrierOp
from ..ir.ops.acc_ops import NONE, replace_inside
from ..ir.ops.building import Cursor
from ..ir.ops.layout import Elements, elements_of
from ..ir.variables.combiners import ScalarOperator
from ..ir.variables.private_storage import ElementAction, Extent, for_each_element
from ..ir.variables.recipe_reading import Recipes
from .nest import CachedNest, NestReduction


@dataclass
class Accumulator:
    """A reduction of a nest: its variable in one iteration, and the gang's array of partial results."""

    reduction: NestReduction
    operator: ScalarOperator
    variable: SSAValue
    partials: SSAValue

    @property
    def name(self) -> str:
        name = self.reduction.op.var_name
        return "reduction" if name is None else name.data

    def neutral(self, at: Cursor, scalar: Attribute) -> SSAValue:
        """The operator's neutral value."""
        return self.of(scalar).neutral(at)

    def of(self, scalar: Attribute) -> ScalarOperator:
        """The operator on one of the scalars."""
        return replace(self.operator, type=scalar)

    def each(self, at: Cursor, action: ElementAction[Elements]) -> None:
        """Calls `action` for the scalars of the reduced variable."""
        type_ = self.reduction.type
        for_each_element(at, Extent(type_, None, None), elements_of(type_), action)


def _at_offset(at: Cursor, pointer: SSAValue, offset: SSAValue | None) -> SSAValue:
    return pointer if offset is None else at.offset(pointer, offset)


def declare(nest: CachedNest, threads: int, before: Cursor) -> list[Accumulator]:
    """
    Gives every iteration of the nest a variable of its own for each reduction. The arrays for the results
    of `threads` threads are declared at `before`.
    """
    found: list[Accumulator] = []
    recipes = Recipes.around(nest.construct)
    for reduction in nest.reductions:
        op = reduction.op
        operator = recipes.operator(op)
        assert operator is not None  # `nest.py` declines others
        first = nest.body.first_op
        assert first is not None
        at = Cursor.before(first, op.location)
        hint = "partial" if op.var_name is None else f"{op.var_name.data}_partial"
        variable = at.value(llvm.AllocaOp(at.i32(1), reduction.type, 16), hint)
        array = llvm.LLVMArrayType(threads, reduction.type)
        partials = before.value(llvm.AllocaOp(before.i32(1), array, 16), f"{hint}s")
        found.append(own := Accumulator(reduction, operator, variable, partials))
        own.each(at, _initialise(own, variable))
        for result in reduction.results:
            replace_inside(nest.loops[0], result, variable)
    return found


def _initialise(accumulator: Accumulator, variable: SSAValue) -> ElementAction[Elements]:
    def action(at: Cursor, run: Elements, offset: SSAValue | None) -> None:
        scalar = run.scalar
        at.store(accumulator.neutral(at, scalar), _at_offset(at, variable, offset))

    return action


def leave_partials(
    at: Cursor,
    accumulators: Sequence[Accumulator],
    outputs: Sequence[tuple[SSAValue | None, dict[SSAValue, SSAValue]]],
    thread: SSAValue,
) -> None:
    """
    Emits the combination of a thread's outputs (each an i1 whether it exists, and its values) and the store
    to the array.
    """
    for accumulator in accumulators:
        mine = at.element(accumulator.partials, thread, accumulator.reduction.type)
        accumulator.each(at, _combine_outputs(accumulator, outputs, mine))
    if accumulators:
        at.insert(GangBarrierOp())


def _combine_outputs(
    accumulator: Accumulator,
    outputs: Sequence[tuple[SSAValue | None, dict[SSAValue, SSAValue]]],
    target: SSAValue,
) -> ElementAction[Elements]:
    def action(at: Cursor, run: Elements, offset: SSAValue | None) -> None:
        scalar = run.scalar
        total: SSAValue | None = None
        for active, values in outputs:
            place = _at_offset(at, values[accumulator.variable], offset)
            value = at.load(place, scalar, accumulator.name)
            if active is not None:
                value = at.value(arith.SelectOp(active, value, accumulator.neutral(at, scalar)))
            total = (
                value
                if total is None
                else accumulator.of(scalar).combine(at, total, value, "combined")
            )
        assert total is not None
        at.store(total, _at_offset(at, target, offset))

    return action


def _fold_one(
    accumulator: Accumulator, thread: SSAValue, result: SSAValue
) -> ElementAction[Elements]:
    def action(at: Cursor, run: Elements, offset: SSAValue | None) -> None:
        scalar = run.scalar
        theirs = at.element(accumulator.partials, thread, accumulator.reduction.type)
        partial = at.load(_at_offset(at, theirs, offset), scalar)
        place = _at_offset(at, result, offset)
        sofar = at.load(place, scalar, accumulator.name)
        at.store(accumulator.of(scalar).combine(at, sofar, partial, "combined"), place)

    return action


def fold(
    accumulators: Sequence[Accumulator], threads: int, *, within: bool, at: Cursor
) -> list[Operation]:
    """
    Emits the vector loop that reduces the arrays; returns its operations. `within`: no enclosing loop
    reduces.
    """
    if not accumulators:
        return []
    out: list[Operation] = []
    results: list[SSAValue] = []
    body = Block(arg_types=[i32])
    body.args[0].name_hint = "thread"
    inside = Cursor.at_end(body, at.loc)
    for accumulator in accumulators:
        old = accumulator.reduction.op
        own = old.clone()
        own.operands[0] = old.var if within else old.acc_var
        own.location = old.location
        out.append(own)
        result = own.results[0]
        result.name_hint = value_name(accumulator.name)
        results.append(result)
        accumulator.each(inside, _fold_one(accumulator, body.args[0], result))
    inside.insert(acc.YieldOp())
    loop = acc.LoopOp(
        region=Region(body),
        lowerbound=[at.i32(0)],
        upperbound=[at.i32(threads)],
        step=[at.i32(1)],
        inclusive_upperbound=DenseArrayBase.from_list(i1, [0]),
        independent=NONE,
        worker=NONE,
        vector=NONE,
        reduction_operands=results,
    )
    loop.location = at.loc
    return [*out, loop]
