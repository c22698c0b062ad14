"""
Sink sequential loops into the parallel loop that is their body, where the elements that it changes stay the
same.

Products are often written as rows that are added to the result, `for (k …) for (j …) c[i][j] += a[i][k] *
b[k][j]`, which suits caches: the loop over `j` is parallel, and the one over the terms around it is not. On a
GPU each lane would load and store its element of the result in every step. With the loop over the terms
inside, the element stays in a register, the nest is the product that `find-shared-sections` knows, and a loop
that clears the row before becomes one with it (`fuse-sibling-loops`).

Takes:  data level, levels still open and bounds hoisted.
Leaves: inside another parallel loop, a sequential loop whose body is a parallel loop, apart from computations
        and loads, is inside that loop, if it does not change the parallel loop's bounds nor the addresses of
        what is stored, and the iterations of the parallel loop are still independent, with what the host has
        found of the construct's arrays. Each element gets the same values in the same order. Loops with
        levels, tiles or variables of their own are untouched. A note on the construct says so.
Fails:  never.

Before:
  scf.for %k = … { acc.loop control(%j : i32) = … { c[i, j] += a[i, k] * b[k, j] } }
After:
  acc.loop control(%j : i32) = … { scf.for %k = … { c[i, j] += a[i, k] * b[k, j] } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .ir.dependence.loop_dependence import is_independent
from .ir.loops.sinking import is_sequential, sink
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel
from .ir.ops.loop_bounds import LoopLike
from .ir.ops.machine import machine_of
from .ir.ops.notes import note

_NOTE = "around the sequential loop that it was the body of, whose sums stay in registers"


def _is_in_parallel_loop(loop: Operation) -> bool:
    """Whether only sequential loops are between `loop` and a parallel one around them."""
    around = loop.parent_op()
    while around is not None and is_sequential(around):
        around = around.parent_op()
    return isinstance(around, acc.LoopOp) and is_parallel(around)


@dataclass(frozen=True)
class SinkSequentialLoopsPass(GpuPass):
    """See the module's description."""

    name = "sink-sequential-loops"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            for op in reversed(list(construct.walk())):
                if not isinstance(op, LoopLike) or not is_sequential(op):
                    continue
                if not _is_in_parallel_loop(op):
                    continue
                row = sink(
                    op, acc.LoopOp, lambda made, around=construct: is_independent(made, around)
                )
                if row is not None:
                    note(construct, [(row, _NOTE)])
