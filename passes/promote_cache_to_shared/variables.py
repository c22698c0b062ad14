"""
Turns private and reduction clauses of the loops around and inside `cache` directives into variables of an
iteration.

A private variable becomes one that is declared in the loop's body. A sequential loop reduces into the
variable itself and becomes a loop like one without a directive, so that a matrix product with
`reduction(+:sum)` on its inner loop gives the same code as one without.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..ir.loops.seq_loops import is_plain_seq, to_for_loops
from ..ir.ops.acc_ops import has_level, loops_around, loops_in
from ..ir.variables.declared_privates import declare_privates
from ..ir.variables.reduction_reads import use_variables
from .nest import is_partitioned


def simplify(construct: Operation) -> None:
    """Rewrites the loops of a construct that are around or inside the scope of cache directives."""
    nests = _outermost_loops(construct)
    loops = [op for nest in nests for op in nest.walk() if isinstance(op, acc.LoopOp)]
    for loop in reversed(loops):
        if is_partitioned(loop):
            declare_privates(loop, _is_any)
        elif has_level(loop.seq) and not any(True for _ in loops_in(loop)):
            declare_privates(loop, _is_any)
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


def _is_any(_: acc.PrivateOp) -> bool:
    return True
