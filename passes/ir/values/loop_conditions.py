"""
Which iterations fulfil a condition on a loop's own variables: all but a few (`i > 0`), or at most one (`i
== k`). Nothing is concluded from other conditions.
"""

from __future__ import annotations

from xdsl.dialects import acc, arith
from xdsl.ir import SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.conditions import facts
from ..ops.predicates import EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT
from .loop_symbols import LoopSymbols

_FEW = 2
"""The most iterations that a condition may exclude at either end of a loop."""

_GREATER = {SGT: 1, SGE: 0, UGT: 1, UGE: 0}
"""Predicate → the least difference of the operands that it accepts."""
_LESS = {SLT: 1, SLE: 0, ULT: 1, ULE: 0}
"""As above, with the difference of the operands exchanged."""


def left_out(
    condition: SSAValue, holds: bool, loop: acc.LoopOp, symbols: LoopSymbols
) -> int | None:
    """
    An upper bound of the iterations that a condition excludes, if it is certainly small; None if any number
    of iterations may fail the condition.
    """
    total = 0
    for value, known in facts(condition, holds):
        count = _left_out(value, known, loop, symbols)
        if count is None or total + count > _FEW:
            return None
        total += count
    return total


def _left_out(value: SSAValue, holds: bool, loop: acc.LoopOp, symbols: LoopSymbols) -> int | None:
    compared = _compared(value, symbols)
    if compared is None:
        return None
    predicate, difference = compared
    for variable in loop.region.blocks[0].args:
        slope = difference.slope(variable)
        if slope not in (1, -1):
            continue
        if predicate in (EQ, NE):
            return 1 if holds == (predicate == NE) else None
        distance = _distance(predicate, difference, holds)
        if distance is None:
            return None
        own, _, _ = symbols.own_ranges(variable)
        end = own.lower if distance.slope(variable) == 1 else own.last
        least = distance.substitute(variable, end)
        missing = None if least is None else least.as_constant
        return None if missing is None else max(-missing, 0)
    return None


def _distance(predicate: int, difference: Polynomial, holds: bool) -> Polynomial | None:
    """
    A polynomial that is non-negative exactly where a comparison of operands with this difference is true
    (`holds`), or false; None if there is none.
    """
    if predicate in _GREATER:
        least = _GREATER[predicate]
        return difference - least if holds else -difference + (least - 1)
    if predicate in _LESS:
        least = _LESS[predicate]
        return -difference - least if holds else difference + (least - 1)
    return None


def picks_one(condition: SSAValue, holds: bool, variable: SSAValue, symbols: LoopSymbols) -> bool:
    """
    Whether at most one value of a loop variable fulfils the condition, because it is an equality with the
    variable.
    """
    for value, known in facts(condition, holds):
        compared = _compared(value, symbols)
        if compared is None or compared[0] != (EQ if known else NE):
            continue
        if compared[1].slope(variable) not in (None, 0):
            return True
    return False


def _compared(value: SSAValue, symbols: LoopSymbols) -> tuple[int, Polynomial] | None:
    """The predicate of a comparison of integers, and the difference of its operands."""
    if not isinstance(value.owner, arith.CmpiOp):
        return None
    lhs, rhs = (symbols.polynomial(operand) for operand in (value.owner.lhs, value.owner.rhs))
    if lhs is None or rhs is None:
        return None
    return value.owner.predicate.value.data, lhs - rhs
