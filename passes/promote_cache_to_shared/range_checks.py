"""
Hoists range checks of conservative accesses out of loops: the check is made once, at both ends of the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ..decisions.polynomials import Polynomial
from ..ir.ops.acc_ops import is_defined_inside
from ..ir.ops.building import Cursor
from .tile_access import Output, TileAccesses, compare


def checked_once(accesses: TileAccesses, loop: scf.ForOp) -> list[Operation] | None:
    """The accesses of a loop whose range checks can be made before it; None if there are none."""
    found: list[Operation] = []
    for op in loop.body.walk():
        if isinstance(op, acc.CacheOp):
            return None
        placed = accesses.found.get(op)
        if placed is None or placed.access.element is None or op in accesses.trusted:
            continue
        if placed.tile.planned.method != "rbc" or placed.access.certain:
            continue
        if all(
            proved or _is_linear(delta, loop)
            for delta, proved in zip(placed.access.deltas, placed.access.proved, strict=True)
        ):
            found.append(op)
    return found or None


def _is_linear(delta: Polynomial, loop: scf.ForOp) -> bool:
    """
    Whether `delta` is linear in the loop's variable with a constant factor, and otherwise invariant in the
    loop.
    """
    parts = delta.split(loop.body.block.args[0])
    if parts is None or parts[1].as_constant is None:
        return False
    return all(isinstance(s, SSAValue) and not is_defined_inside(s, loop) for s in parts[0].symbols)


def in_sections(
    accesses: TileAccesses,
    outputs: Sequence[Output],
    loop: scf.ForOp,
    ops: Sequence[Operation],
    at: Cursor,
) -> SSAValue:
    """An i1: the indices of `ops` lie in their sections at both ends of the loop."""
    variable = loop.body.block.args[0]
    first = outputs[0].values
    lower, upper = first.get(loop.lb, loop.lb), first.get(loop.ub, loop.ub)
    last = at.sub(upper, at.constant(1, upper.type))
    seen: set[object] = set()
    condition: SSAValue = at.constant(1, i1)
    for op in ops:
        placed = accesses.found[op]
        dims = placed.tile.plan.section.dims
        for delta, proved, dim in zip(
            placed.access.deltas, placed.access.proved, dims, strict=True
        ):
            for output in outputs:
                symbols = frozenset(
                    output.values.get(s, s) for s in delta.symbols if isinstance(s, SSAValue)
                )
                if proved or (delta, dim.length, symbols) in seen:
                    continue
                seen.add((delta, dim.length, symbols))
                moves = variable in delta.symbols
                for end in (lower, last) if moves else (lower,):
                    there = Output({**output.values, variable: end}, [], None)
                    own = compare(delta, dim.length, there, at)
                    condition = at.both(condition, own, "in_sections")
    return condition
