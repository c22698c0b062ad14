"""
Loops over the terms of sums in kernels constructs, `for (k …) for (i …) c[i] += a[k][i] * b[k]`: the loop
over the elements is parallel, the one around it is not. Left in this order, the host would launch a kernel
for each term. With the terms inside, one kernel computes each element in a thread. Several sums in one loop,
`for (i …) { for (j …) t[i] += a[i][j] * x[j]; for (j …) y[j] += a[i][j] * t[i]; }`, get a loop each first.
"""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects import acc, scf
from xdsl.ir import Operation

from ...compiler.base.diagnostics import SourceLoc
from ...dialects.accx import WHY
from ..ir.dependence.loop_dependence import is_independent
from ..ir.loops.open_loops import is_bare
from ..ir.loops.seq_loops import to_for_loops
from ..ir.loops.sinking import is_sequential, sink
from ..ir.ops.acc_ops import has_level, source_loc
from ..ir.ops.building import Cursor, erase
from ..ir.ops.loop_bounds import LoopLike
from .distributed_loops import distribute
from .kernel_constructs import operations_of


def sink_terms(kernels: acc.KernelsOp) -> list[SourceLoc]:
    """
    Puts the outermost loops whose iterations depend on each other, without a directive or `auto`, into the
    loops that are their bodies, as far in as the iterations of these are independent. A loop that is
    parallel, or can be put inside, only in parts is divided. Returns the places of the loops that it has
    changed.
    """
    changed: list[SourceLoc] = []
    for loop in operations_of(kernels):
        if not _is_undecided(loop) or is_independent(loop, kernels):
            continue
        place = source_loc(loop)
        if _sink(loop, kernels):
            changed.append(place)
            continue
        plain = _plain(loop)
        parts = distribute(plain, kernels)
        if plain is not loop:
            erase(plain)
        gains = [_sink(part, kernels) or is_independent(part, kernels) for part in parts]
        if any(gains):
            erase(loop)
            changed.append(place)
        else:
            for part in parts:
                erase(part)
    return changed


def _plain(loop: LoopLike) -> scf.ForOp:
    """A loop without a directive, or, of one with `auto`, such a copy before it."""
    if isinstance(loop, scf.ForOp):
        return loop
    copy = Cursor.before(loop).clone(loop, {})
    to_for_loops(copy)
    plain = loop.prev_op
    assert isinstance(plain, scf.ForOp)
    del plain.attributes[WHY]
    return plain


def _sink(loop: LoopLike, kernels: acc.KernelsOp) -> bool:
    """Puts a loop into those that are its body; returns whether it has."""

    def judge(loop: LoopLike) -> bool:
        return is_independent(loop, kernels)

    outer = first = sink(loop, scf.ForOp, judge)
    while outer is not None:
        inner = [op for op in outer.body.block.ops if isinstance(op, scf.ForOp)]
        outer = sink(inner[0], scf.ForOp, judge) if len(inner) == 1 else None
    return first is not None


def _is_undecided(op: Operation) -> TypeGuard[LoopLike]:
    """Whether `op` is a counted loop of one variable about which no directive says anything."""
    if isinstance(op, acc.LoopOp):
        return has_level(op.auto_) and is_bare(op) and len(op.lowerbound) == 1
    return isinstance(op, scf.ForOp) and is_sequential(op)
