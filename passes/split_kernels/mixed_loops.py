"""
Parallel loops of kernels constructs in whose iterations some loops are sequential, and others are not.

If lanes shared the latter, a gang would have one iteration, and all of its lanes but one would wait while the
former run: a recurrence over a row that is filled before, the steps of a factorisation. Such an iteration
belongs to one thread, unless lanes can share all of its loops (`row_loops.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc, scf
from xdsl.ir import Block, Operation

from ..ir.ops.loop_bounds import body_of
from .short_loops import is_short

_LOOPS = (acc.LoopOp, scf.ForOp, scf.WhileOp)


def is_mixed(loop: acc.LoopOp | scf.ForOp, is_free: Callable[[scf.ForOp], bool]) -> bool:
    """
    Whether a parallel loop has loops in its iterations that are free (`is_free`), and others of many
    iterations that are not, neither around these nor in them. Loops with a directive are the program's
    decision.
    """
    if any(isinstance(op, acc.LoopOp) for op in body_of(loop).walk()):
        return False
    found = [_kinds(block, is_free) for block in body_of(loop).blocks]
    return any(free for free, _ in found) and any(ordered for _, ordered in found)


def _kinds(block: Block, is_free: Callable[[scf.ForOp], bool]) -> tuple[bool, bool]:
    """Whether a block contains free loops, and sequential loops that have no free ones in them."""
    free = ordered = False
    for op in block.ops:
        match op:
            case scf.ForOp() if not is_short(op) and is_free(op):
                free = True
            case _:
                inside = _inside(op, is_free)
                own = isinstance(op, scf.WhileOp) or (
                    isinstance(op, scf.ForOp) and not is_short(op)
                )
                free |= inside[0]
                ordered |= inside[1] or (own and not inside[0])
    return free, ordered


def _inside(op: Operation, is_free: Callable[[scf.ForOp], bool]) -> tuple[bool, bool]:
    found = [_kinds(block, is_free) for region in op.regions for block in region.blocks]
    return any(free for free, _ in found), any(ordered for _, ordered in found)
