"""What is known where a condition holds or fails: the comparisons that `&&`, `||`, `!` and `?:` join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from .acc_ops import branch_values
from .building import constant_value
from .predicates import EQ, NE

Fact = tuple[SSAValue, bool]
"""A condition, and whether it is true."""
MOST_PARTS = 16
"""How often a condition is split: an access under each part of a long one would take all parts before it."""


def facts(condition: SSAValue, holds: bool) -> Iterator[Fact]:
    """
    The conditions that are known to be true or false where `condition` is fulfilled (`holds`) or not, in the
    order of the program: it is split at `&&` and `||`, the outermost ones first, at most `MOST_PARTS` times.
    """
    work = [(condition, holds)]
    left = MOST_PARTS
    while work:
        fact = work.pop()
        parts = _parts(*fact) if left else None
        if parts is None:
            yield fact
        else:
            left -= 1
            work += reversed(parts)


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
        case arith.CmpiOp() if (tested := _tested(owner)) is not None:
            return ((tested, holds == (owner.predicate.value.data == NE)),)
        case arith.CmpiOp() if owner.predicate.value.data in (EQ, NE):
            return _of_bits(owner, holds == (owner.predicate.value.data == NE))
        case arith.SelectOp():
            return _of_choice(owner.cond, owner.lhs, owner.rhs, holds)
        case scf.IfOp() if owner.false_region.blocks:
            yes, no = branch_values(owner, condition)
            return _of_choice(owner.cond, yes, no, holds)
        case _:
            return None


def _tested(op: arith.CmpiOp) -> SSAValue | None:
    """The i1 value in `extui(value) != 0` (or `== 0`), C's way of testing a comparison; None for others."""
    if op.predicate.value.data not in (EQ, NE) or constant_value(op.rhs) != 0:
        return None
    return _widened(op.lhs)


def _widened(value: SSAValue) -> SSAValue | None:
    """The i1 value that `value` is as a wider number; None for others."""
    owner = value.owner
    return owner.input if isinstance(owner, arith.ExtUIOp) and owner.input.type == i1 else None


def _of_bits(op: arith.CmpiOp, some: bool) -> Sequence[Fact] | None:
    """`(a & b) != 0` (`some`) and `(a | b) == 0` of two comparisons: both are true, or false."""
    joined = op.lhs.owner
    if constant_value(op.rhs) != 0 or not isinstance(joined, arith.AndIOp if some else arith.OrIOp):
        return None
    left, right = _widened(joined.lhs), _widened(joined.rhs)
    return None if left is None or right is None else ((left, some), (right, some))


def _of_choice(first: SSAValue, yes: SSAValue, no: SSAValue, holds: bool) -> Sequence[Fact] | None:
    """`a && b` is `b` if `a`, else false; `a || b` is true if `a`, else `b`."""
    if holds and constant_value(no) == 0:
        return (first, True), (yes, True)
    if not holds and constant_value(yes) not in (None, 0):
        return (first, False), (no, False)
    return None
