"""
Which iterations fulfil a condition on a loop's own variables: all but a few (`i > 0`), or at most one (`i
== k`). Nothing is concluded from other conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import acc, arith, scf
from xdsl.ir import Block, SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import constant_value
from ..ops.predicates import EQ, NE
from .loop_symbols import LoopSymbols

Fact = tuple[SSAValue, bool]
"""A condition, and whether it is true."""

_FEW = 2
"""The most iterations that a condition may exclude at either end of a loop."""

_GREATER = {4: 1, 5: 0, 8: 1, 9: 0}
"""Predicates of `arith.cmpi` (sgt, sge, ugt, uge) → the least difference of the operands that they accept."""
_LESS = {2: 1, 3: 0, 6: 1, 7: 0}
"""As above for slt, sle, ult and ule, with the difference of the operands exchanged."""


def facts(condition: SSAValue, holds: bool) -> Iterator[Fact]:
    """
    The conditions that are known to be true or false where `condition` is fulfilled (`holds`) or not: it is
    split at `&&` and `||`.
    """
    work = [(condition, holds)]
    while work:
        fact = work.pop()
        parts = _parts(*fact)
        if parts is None:
            yield fact
        else:
            work += parts


def _parts(condition: SSAValue, holds: bool) -> Sequence[Fact] | None:
    """Simpler facts that are equivalent to a fact; None if there are none."""
    owner = condition.owner
    match owner:
        case arith.AndIOp() if holds:
            return (owner.lhs, True), (owner.rhs, True)
        case arith.OrIOp() if not holds:
            return (owner.lhs, False), (owner.rhs, False)
        case arith.XOrIOp() if constant_value(owner.rhs) not in (None, 0):
            return ((owner.lhs, not holds),)
        case arith.CmpiOp() if _is_test(owner):
            assert isinstance(owner.lhs.owner, arith.ExtUIOp)
            return ((owner.lhs.owner.input, holds == (owner.predicate.value.data == NE)),)
        case arith.SelectOp():
            return _of_choice(owner.cond, owner.lhs, owner.rhs, holds)
        case scf.IfOp() if owner.false_region.blocks:
            index = next(i for i, result in enumerate(owner.results) if result is condition)
            yes, no = (_yielded(region.block, index) for region in owner.regions)
            return _of_choice(owner.cond, yes, no, holds)
        case _:
            return None


def _is_test(op: arith.CmpiOp) -> bool:
    """Whether a comparison with zero tests a condition that C keeps as an integer."""
    predicate = op.predicate.value.data
    widened = isinstance(op.lhs.owner, arith.ExtUIOp)
    return widened and predicate in (EQ, NE) and constant_value(op.rhs) == 0


def _of_choice(first: SSAValue, yes: SSAValue, no: SSAValue, holds: bool) -> Sequence[Fact] | None:
    """`a && b` is `b` if `a`, else false; `a || b` is true if `a`, else `b`."""
    if holds and constant_value(no) == 0:
        return (first, True), (yes, True)
    if not holds and constant_value(yes) not in (None, 0):
        return (first, False), (no, False)
    return None


def _yielded(block: Block, index: int) -> SSAValue:
    end = block.last_op
    assert end is not None
    return end.operands[index]


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
