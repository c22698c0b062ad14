"""
Loops without a directive that should get the SIMD lanes of the CPU thread that runs their gang.

With `parallel loop` only on the rows of a product, the loop over columns is sequential, and SIMD lanes
would take rows, whose elements are far apart. LLVM cannot vectorise the loop over columns, since it
contains another loop. If its iterations are independent, it gets the lanes.
"""

from __future__ import annotations

from xdsl.dialects import acc, scf
from xdsl.ir import Operation

from ..ir.ops.acc_ops import COMPUTE_OPS, has_level


def inner_loops(construct: Operation) -> list[scf.ForOp]:
    """
    The counted loops without a directive that are directly in parallel loops of a construct and contain
    sequential loops.
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
