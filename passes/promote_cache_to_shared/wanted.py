"""
Skips what no iteration of a block needs: blocks of a nest none of whose iterations has an effect, and loops
over terms in blocks for none of whose iterations their condition holds (`accx.holds_in_block`).

A triangle that is computed as a rectangle has `accx.wanted` on the inner loop, whose body begins with a
comparison of its variable with a bound that grows with the outer one. The comparison holds for some
iteration of a block exactly if it holds in one corner of the block: the one with the most favourable values
of both variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, StringAttr, i1
from xdsl.ir import Operation, SSAValue

from ...dialects.accx import WANTED
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.predicates import SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT
from .nest import CachedNest
from .tiles import AxisState, Block

_BELOW, _ABOVE = (SLT, SLE, ULT, ULE), (SGT, SGE, UGT, UGE)


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


def _last(first: SSAValue, state: AxisState, at: Cursor) -> SSAValue:
    """The value of a mapped loop's variable in the block's last iteration of it; loops have step 1."""
    assert isinstance(first.type, IntegerType)
    end = at.add(first, at.to_integer(state.width, first.type))
    return at.sub(end, at.constant(1, first.type))


@dataclass
class BlockConditions:
    """
    Conditions of a nest's iterations in one block: `known` are the variables that are the same in all of
    its iterations.
    """

    nest: CachedNest
    block: Block
    known: Mapping[SSAValue, SSAValue]
    at: Cursor

    def may_hold(self, condition: SSAValue, *, negated: bool = False) -> SSAValue | None:
        """
        An i1 that is true if `condition`, or its opposite, holds in some iteration of the block; None if
        that is not known to be false for any block.
        """
        match condition.owner:
            case arith.XOrIOp() as op if constant_value(op.rhs) is not None:
                return self.may_hold(op.lhs, negated=negated != bool(constant_value(op.rhs)))
            case arith.AndIOp() as op if not negated:
                return self._all((op.lhs, op.rhs), negated=False)
            case arith.OrIOp() as op if negated:
                return self._all((op.lhs, op.rhs), negated=True)
            case arith.SelectOp() as op if not negated and constant_value(op.rhs) == 0:
                return self._all((op.cond, op.lhs), negated=False)
            case arith.SelectOp() as op if negated and constant_value(op.lhs) not in (None, 0):
                return self._all((op.cond, op.rhs), negated=True)
            case arith.CmpiOp() as op:
                return self._compared(op, negated=negated)
            case _:
                return None

    def _all(self, conditions: Sequence[SSAValue], *, negated: bool) -> SSAValue | None:
        total: SSAValue | None = None
        for condition in conditions:
            each = self.may_hold(condition, negated=negated)
            if each is not None:
                total = each if total is None else self.at.both(total, each)
        return total

    def _compared(self, op: arith.CmpiOp, *, negated: bool) -> SSAValue | None:
        """The comparison in the corner of the block in which it holds if it does in any."""
        predicate = op.predicate.value.data
        if predicate in _BELOW or predicate in _ABOVE:
            corner = self._corner(op, least=(predicate in _BELOW) != negated)
            if corner is not None:
                result = _clone(op.result, self.nest, corner, self.at)
                return self._not(result) if negated else result
        return None

    def _not(self, value: SSAValue) -> SSAValue:
        return self.at.value(arith.XOrIOp(value, self.at.constant(1, i1)))

    def _corner(self, op: arith.CmpiOp, *, least: bool) -> dict[SSAValue, SSAValue] | None:
        """
        The values of the variables for which the first compared value minus the second is `least`, or
        greatest; None if that is not one corner of the block.
        """
        read = self.nest.symbols.polynomial
        difference = read(op.lhs) - read(op.rhs)
        corner = dict(self.known)
        for (variable, first), state in zip(
            self.block.first_values.items(), self.block.axes, strict=True
        ):
            slope = difference.slope(variable)
            if slope is None:
                return None
            corner[variable] = first if (slope >= 0) == least else _last(first, state, self.at)
        inside = (s for s in difference.symbols if isinstance(s, SSAValue) and s not in corner)
        return None if any(is_defined_inside(s, self.nest.loops[0]) for s in inside) else corner


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
        toward_first = (variable is column) == below
        corner[variable] = first if toward_first else _last(first, state, at)
    return at.if_then(_clone(test.result, nest, corner, at))
