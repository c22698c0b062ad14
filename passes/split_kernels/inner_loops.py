"""
Loops without a directive that had better run side by side on the CPU thread of their gang.

In `parallel loop` on the rows of a product alone, the columns are loops in order, and SIMD lanes would take
rows, whose elements are far apart. A loop that is around another one is beyond LLVM's vectoriser. If its
iterations are independent it can have the lanes.
"""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.ir import Operation

from ..ir.acc_ops import COMPUTE_OPS, has_level


def inner_loops(construct: Operation) -> list[scf.ForOp]:
    """
    Counted loops without a directive directly in parallel loops of a construct, and around loops in order
    themselves.
    """
    if not isinstance(construct, COMPUTE_OPS) or isinstance(construct, acc.KernelsOp):
        return []
    return [op for op in construct.walk() if isinstance(op, scf.ForOp) and _is_candidate(op)]


def _is_candidate(loop: scf.ForOp) -> bool:
    around = loop.parent_op()
    if not isinstance(around, acc.LoopOp) or not has_level(around.independent) or loop.iter_args:
        return False
    if around.reduction_operands:
        return False
    inside = [op for op in loop.body.walk() if isinstance(op, acc.LoopOp | scf.ForOp | scf.WhileOp)]
    return bool(inside) and not any(isinstance(op, acc.LoopOp) for op in inside)
