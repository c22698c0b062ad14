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

from ..ir.loops.seq_loops import is_plain_seq, to_for_loops
from ..ir.ops.acc_ops import (
    drop_operands,
    has_level,
    loops_around,
    loops_in,
    replace_inside,
)
from ..ir.ops.building import Cursor
from ..ir.variables.reduction_reads import use_variables
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
            use_variables(loop, loop.reduction_operands)
            if is_plain_seq(loop):
                to_for_loops(loop)


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
    declared: list[SSAValue] = []
    for value in loop.private_operands:
        owner = value.owner
        if not isinstance(owner, acc.PrivateOp) or owner.bounds:
            continue
        declared.append(value)
        at = Cursor.before(first, owner.location)
        one = at.i32(1)
        name = "private" if owner.var_name is None else owner.var_name.data
        replace_inside(loop, value, at.value(llvm.AllocaOp(one, owner.var_type, 16), name))
    drop_operands(loop, "private_operands", declared)
