"""
Make the loop over the terms of a product sequential in each thread.

`loop reduction(+:sum)` on the innermost loop of a product is a third parallel loop, and would get the
lanes. But it is the iterations of the two enclosing loops that share loads (`find-shared-sections`), so
these need the lanes.

Takes:  data level, before loops marked `seq` become `scf.for`.
Leaves: marked `seq`, without the clause, every loop that reduces variables of the iteration around it,
        names no level, contains no other loop, and runs over the terms of a product, or of a triangle
        of one, for which cached sections pay. The iteration's thread then updates the variable itself.
Fails:  never.

Before:
  acc.loop control(%j : i32) = … {
    %copy = acc.reduction varPtr(%sum) …
    acc.loop reduction(%copy : !llvm.ptr) control(%k : i32) = … { … a[i, k] … b[k, j] … %copy … }
  }
After:
  acc.loop control(%j : i32) = … {
    acc.loop control(%k : i32) = … { … a[i, k] … b[k, j] … %sum … } attributes {seq = …}
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp

from .ir.loops.product_triangles import can_be_tiled
from .ir.loops.products import find_terms, free_constructs
from .ir.ops.acc_ops import loops_in
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import loop_levels
from .ir.ops.loop_order import make_sequential
from .ir.variables.reduction_reads import reduces_own, use_variables


def _reduces_alone(loop: acc.LoopOp) -> bool:
    """
    Whether `loop` may be made sequential: it reduces variables of the enclosing iteration only, and has no
    level.
    """
    return (
        reduces_own(loop)
        and not loop_levels(loop)
        and not loop.private_operands
        and not loop.firstprivate_operands
        and len(loop.lowerbound) == 1
        and len(loop.region.blocks) == 1
        and not any(True for _ in loops_in(loop))
    )


def _is_product(loop: acc.LoopOp, construct: acc.ParallelOp) -> bool:
    """Whether a loop runs over the terms of a product, or of a triangle of one."""
    terms = find_terms(loop, triangles=True, guarded=True)
    return terms is not None and can_be_tiled(terms, construct)


@dataclass(frozen=True)
class OrderProductLoopsPass(GpuPass):
    """See the module's description."""

    name = "order-product-loops"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in free_constructs(module):
            for loop in list(loops_in(construct)):
                if _reduces_alone(loop) and _is_product(loop, construct):
                    use_variables(loop, loop.reduction_operands)
                    make_sequential(
                        loop, "the loops around it share what it reads in shared memory"
                    )
