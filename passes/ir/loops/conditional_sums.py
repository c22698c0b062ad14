"""
Sums and products under a condition, `if (c) s += t;`, as sums of what the condition chooses: the term, or the
number that changes nothing. So the terms are apart from the sum, and other threads than the one that adds may
compute them. The result has the same bits: a number plus -0.0, minus 0.0, times or divided by 1.0 is that
number, and to subtract a term is to add it with the other sign.

Before:
  %new = scf.if %c -> (f32) { … scf.yield %old + %t } else { scf.yield %old }
After:
  %term = scf.if %c -> (f32) { … scf.yield %t } else { scf.yield -0.0 }
  %new = arith.addf %old, %term
"""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Block, Operation, SSAValue

from ..ops.building import Cursor, erase
from .dependent_ops import depending_on

_Sum = arith.AddfOp | arith.SubfOp | arith.MulfOp | arith.DivfOp
_NOTHING = {arith.AddfOp: -0.0, arith.SubfOp: 0.0, arith.MulfOp: 1.0, arith.DivfOp: 1.0}
"""What changes no number, as the second operand."""
_TURNS = (arith.AddfOp, arith.MulfOp)
"""Operations whose operands may change places."""


def split_conditional_sums(loop: scf.ForOp) -> None:
    """Rewrites the conditionals of a loop that choose between sums of what it carries and what it carries."""
    _split(loop.body.block, set(loop.body.block.args[1:]))


def _split(block: Block, carried: Set[SSAValue]) -> None:
    """Rewrites the conditionals of `block`, where `carried` and what depends on it are added up."""
    for op in list(block.ops):
        if not isinstance(op, scf.IfOp) or not op.results or len(op.false_region.blocks) != 1:
            continue
        ordered = depending_on(block, carried)
        if op not in ordered:
            continue
        varying = {*carried, *(result for inner in ordered for result in inner.results)}
        if op.cond not in varying:
            branches = op.true_region.block, op.false_region.block
            for branch in branches:
                _split(branch, varying)
            _split_if(op, branches, varying)


def _split_if(op: scf.IfOp, branches: tuple[Block, Block], varying: Set[SSAValue]) -> None:
    """Rewrites `op` if all that depends on `varying` in it are sums that it yields."""
    ends = [branch.last_op for branch in branches]
    assert all(end is not None for end in ends)
    sums: dict[int, tuple[type[_Sum], SSAValue, list[_Sum | None]]] = {}
    inside = {inner for branch in branches for inner in depending_on(branch, varying)}
    for number, values in enumerate(zip(*(end.operands for end in ends if end), strict=True)):
        if not any(value in varying or value.owner in inside for value in values):
            continue
        found = _sum_of(values, varying, inside)
        if found is None:
            return
        sums[number] = found
    if not sums or inside - {one for _, _, ops in sums.values() for one in ops if one is not None}:
        return
    for number, (kind, old, ops) in sums.items():
        for one, end in zip(ops, ends, strict=True):
            assert isinstance(end, scf.YieldOp)
            at = Cursor.before(end)
            assert isinstance(old.type, AnyFloat)
            if one is None:
                nothing = arith.ConstantOp(FloatAttr(_NOTHING[kind], old.type))
                end.operands[number] = at.value(nothing)
            elif isinstance(one, kind):
                end.operands[number] = _term(one, old)
            else:
                end.operands[number] = at.value(arith.NegfOp(_term(one, old)))
        made = next(one for one in ops if one is not None)
        result = op.results[number]
        users = list(result.uses)
        new = Cursor.after(op).value(kind(old, result, made.fastmath), result.name_hint)
        for use in users:
            use.operation.operands[use.index] = new
    for _, _, ops in sums.values():
        for one in ops:
            if one is not None:
                erase(one)


def _sum_of(
    values: tuple[SSAValue, ...], varying: Set[SSAValue], inside: Set[Operation]
) -> tuple[type[_Sum], SSAValue, list[_Sum | None]] | None:
    """
    How the two values that a conditional chooses from are one value plus or minus a term (None: this value):
    the operation, the value, and the sums; None if they are not.
    """
    made = [value.owner if value.owner in inside else None for value in values]
    sums = [op for op in made if isinstance(op, _Sum)]
    if not sums or len(sums) != sum(op is not None for op in made):
        return None
    kinds = {type(op) for op in sums}
    if len(kinds) > 1 and kinds != {arith.AddfOp, arith.SubfOp}:
        return None
    others = {value for value, op in zip(values, made, strict=True) if op is None}
    starts = {value for op in sums for value in op.operands if value in varying} | others
    if len(starts) != 1 or any(len(list(op.result.uses)) != 1 for op in sums):
        return None
    (old,) = starts
    if old not in varying or any(_term(op, old).owner in inside for op in sums):
        return None
    if any(op.lhs is op.rhs or (op.lhs is not old and type(op) not in _TURNS) for op in sums):
        return None
    kind = kinds.pop() if len(kinds) == 1 else arith.AddfOp
    return kind, old, [op if isinstance(op, _Sum) else None for op in made]


def _term(op: _Sum, old: SSAValue) -> SSAValue:
    return op.operands[1] if op.operands[0] is old else op.operands[0]
