"""
Turns private and reduction clauses of the loops around and inside `cache` directives into variables of an
iteration.

A private variable becomes one that is declared in the loop's body. A sequential loop reduces into the
variable itself and becomes a loop like one without a directive, so that a matrix product with
`reduction(+:sum)` on its inner loop gives the same code as one without.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ..ir.ops.acc_ops import has_level, loops_around, loops_in, replace_inside, set_operand_groups
from ..ir.ops.building import Cursor, erase
from ..lower_seq_loops import is_plain, lower
from .nest import is_partitioned


def simplify(construct: Operation) -> None:
    """Rewrites the loops of a construct that are around or inside the scope of cache directives."""
    nests = _outermost_loops(construct)
    loops = [op for nest in nests for op in nest.walk() if isinstance(op, acc.LoopOp)]
    for loop in reversed(loops):
        if is_partitioned(loop):
            _declare_privates(loop)
        elif has_level(loop.seq) and not any(True for _ in loops_in(loop)):
            _declare_privates(loop)
            _reduce_in_place(loop)
            if is_plain(loop):
                lower(loop)


def _outermost_loops(construct: Operation) -> list[acc.LoopOp]:
    """The outermost loops of `construct` that contain cache directives."""
    found: dict[acc.LoopOp, None] = {}
    for op in construct.walk():
        if not isinstance(op, acc.CacheOp):
            continue
        found.update((outermost, None) for outermost in [*loops_around(op, construct)][-1:])
    return list(found)


def _declare_privates(loop: acc.LoopOp) -> None:
    """Turns private scalars and whole arrays into variables of the loop's body."""
    first = loop.region.blocks[0].first_op
    assert first is not None
    left: list[SSAValue] = []
    for value in loop.private_operands:
        owner = value.owner
        if not isinstance(owner, acc.PrivateOp) or owner.bounds:
            left.append(value)
            continue
        at = Cursor.before(first, owner.location)
        one = at.i32(1)
        name = "private" if owner.var_name is None else owner.var_name.data
        replace_inside(loop, value, at.value(llvm.AllocaOp(one, owner.var_type, 16), name))
    _keep(loop, "private_operands", list(loop.private_operands), left)


def _reduce_in_place(loop: acc.LoopOp) -> None:
    """Replaces the copies of a sequential loop's reductions by the variables: one thread needs no copies."""
    for value in loop.reduction_operands:
        owner = value.owner
        if isinstance(owner, acc.ReductionOp):
            replace_inside(loop, value, owner.var)
    _keep(loop, "reduction_operands", list(loop.reduction_operands), [])


def _keep(loop: acc.LoopOp, group: str, old: list[SSAValue], left: list[SSAValue]) -> None:
    """Sets the loop's operands of one clause to `left`, and erases operations of `old` that become unused."""
    set_operand_groups(loop, **{group: left})
    for value in old:
        owner = value.owner
        if isinstance(owner, Operation) and not any(r.uses for r in owner.results):
            erase(owner)
