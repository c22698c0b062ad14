"""
Skips blocks of a nest none of whose iterations has an effect.

A triangle that is computed as a rectangle has `accx.wanted` on the inner loop, whose body begins with a
comparison of its variable with a bound that grows with the outer one. The comparison holds for some
iteration of a block exactly if it holds in one corner of the block: the one with the most favourable values
of both variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.accx import WANTED
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import Cursor
from .nest import CachedNest
from .tiles import AxisState


def _clone(
    value: SSAValue, nest: CachedNest, values: dict[SSAValue, SSAValue], at: Cursor
) -> SSAValue:
    """A copy of `value`, which is arithmetic of the nest, for the variables in `values`."""
    owner = value.owner
    if value in values or not isinstance(owner, Operation):
        return values.get(value, value)
    if not is_defined_inside(value, nest.loops[0]):
        return value
    operands = {operand: _clone(operand, nest, values, at) for operand in owner.operands}
    return at.value(owner.clone({**values, **operands}))


def where_wanted(
    nest: CachedNest, states: Sequence[AxisState], firsts: Mapping[SSAValue, SSAValue], at: Cursor
) -> Cursor:
    """
    The cursor for the code of a block: `at`, or inside an `scf.if` on the condition that one of its
    iterations has an effect.
    """
    side = nest.loops[-1].attributes.get(WANTED)
    column = nest.variables[-1]
    test = next((op for op in nest.body.ops if isinstance(op, arith.CmpiOp)), None)
    if test is None or not isinstance(side, StringAttr) or len(firsts) != len(nest.variables):
        return at
    if test.lhs is not column:
        return at
    below = side.data == "below"
    corner: dict[SSAValue, SSAValue] = {}
    for (variable, first), state in zip(firsts.items(), states, strict=True):
        assert isinstance(first.type, IntegerType)
        last = at.sub(
            at.add(first, at.to_integer(state.width, first.type)), at.constant(1, first.type)
        )
        corner[variable] = first if (variable is column) == below else last
    return at.if_then(_clone(test.result, nest, corner, at))
