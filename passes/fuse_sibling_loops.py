"""
Fuse neighbouring parallel loops with the same bounds, so that one sweep reads what they share.

Three updates of a field, each in loops of its own inside one loop over planes, would leave a plane to a gang,
whose threads wait for each other between them, and read the other fields again in each. As one nest, each
thread computes the three updates of a point.

Takes:  data level, levels still open and bounds hoisted.
Leaves: inside another parallel loop, neighbouring parallel loops whose variables have the same bounds are one
        loop, and so are the loops that are all of their bodies, if that reaches bodies without loops, no
        iteration of the result depends on another, with what the host has found of the construct's arrays,
        and the body is not long. Each iteration runs its bodies in the program's order. Loops with levels,
        tiles or variables of their own are untouched. A note on the construct says so.
Fails:  never.

Before:
  acc.loop control(%i : i32) = … {
    acc.loop control(%j : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) { a[i][j] += c[i][j] }
    acc.loop control(%k : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) { b[i][k] -= c[i][k] }
  }
After:
  acc.loop control(%i : i32) = … {
    acc.loop control(%j : i32) = (%c1 : i32) to (%n : i32) step (%c1 : i32) {
      a[i][j] += c[i][j]
      b[i][j] -= c[i][j]
    }
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ..dialects.volatility import is_ordered
from .decisions.fusion import MOST_OPERATIONS
from .ir.dependence.loop_dependence import is_independent
from .ir.loops.open_loops import is_open
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.building import Cursor, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.machine import machine_of
from .ir.ops.notes import note
from .ir.ops.purity import is_pure, only_computes
from .ir.ops.same_values import same_value


def _are_alike(one: acc.LoopOp, other: acc.LoopOp) -> bool:
    """Whether two loops have the same bounds."""
    pairs = zip(bounds_of(one), bounds_of(other), strict=False)
    return len(one.lowerbound) == len(other.lowerbound) and all(
        same_value(a, b) for left, right in pairs for a, b in zip(left[1:], right[1:], strict=True)
    )


def _stands_in_body(op: Operation) -> bool:
    """Whether an operation of a body may move with it: no parallel loop, atomic operation or call."""
    match op:
        case llvm.LoadOp() | llvm.StoreOp():
            return not is_ordered(op)
        case scf.IfOp() | scf.ForOp():
            return all(_stands_in_body(i) for r in op.regions for b in r.blocks for i in b.ops)
        case _:
            return only_computes(op) or isinstance(op, llvm.AllocaOp) or op.has_trait(IsTerminator)


def _inner(loop: acc.LoopOp) -> acc.LoopOp | None:
    """The loop that is all of the body of `loop`, apart from what it computes for it."""
    found = [op for op in loop.region.block.ops if isinstance(op, acc.LoopOp)]
    alone = all(
        op in found or is_pure(op) or op.has_trait(IsTerminator) for op in loop.region.block.ops
    )
    return found[0] if len(found) == 1 and alone else None


def _may_fuse(one: acc.LoopOp, other: acc.LoopOp) -> bool:
    """Whether two neighbouring loops have the form that is fused; dependences are not judged."""
    if not (is_open(one) and is_open(other) and _are_alike(one, other)):
        return False
    inside = _inner(one), _inner(other)
    if inside[0] is not None and inside[1] is not None:
        # The bounds of inner loops may name the variables of these.
        return _may_fuse(inside[0], inside[1])
    return not any(inside) and all(
        _stands_in_body(op) for loop in (one, other) for op in loop.region.block.ops
    )


def _fused(one: acc.LoopOp, other: acc.LoopOp, construct: acc.ParallelOp) -> acc.LoopOp | None:
    """
    A loop that is both, before `one`; None, and nothing is changed, if its iterations, or those of the loops
    in it, would depend on each other.
    """
    inside = _inner(one) is not None
    made = Cursor.before(one).clone(one, {})
    end = made.region.block.last_op
    assert end is not None
    known: dict[SSAValue, SSAValue] = dict(
        zip(other.region.block.args, made.region.block.args, strict=True)
    )
    cursor = Cursor.before(end)
    for op in other.region.block.ops:
        if not op.has_trait(IsTerminator):
            cursor.clone(op, known)
    if is_independent(made, construct):
        if not inside:
            return made
        loops = [op for op in made.region.block.ops if isinstance(op, acc.LoopOp)]
        first, second = loops
        _move_between(first, second)
        if _fused(first, second, construct) is not None:
            erase(first)
            erase(second)
            return made
    erase(made)
    return None


def _move_between(one: acc.LoopOp, other: acc.LoopOp) -> None:
    """Moves the computations between two loops before both."""
    cursor = Cursor.before(one)
    while (op := one.next_op) is not other:
        assert op is not None
        cursor.move(op)


def _neighbour(loop: acc.LoopOp) -> acc.LoopOp | None:
    """The loop after `loop` with nothing but computations between."""
    op = loop.next_op
    while op is not None and is_pure(op):
        op = op.next_op
    return op if isinstance(op, acc.LoopOp) else None


def _are_long(one: acc.LoopOp, other: acc.LoopOp) -> bool:
    both = (op for loop in (one, other) for op in loop.walk())
    return next(islice(both, MOST_OPERATIONS, None), None) is not None


def fuse_in(block: Block, construct: acc.ParallelOp) -> None:
    """Fuses the neighbouring loops of a block where that is possible."""
    op = block.first_op
    while op is not None:
        other = _neighbour(op) if isinstance(op, acc.LoopOp) else None
        if not isinstance(op, acc.LoopOp) or other is None or not _may_fuse(op, other):
            op = op.next_op
            continue
        _move_between(op, other)
        made = None if _are_long(op, other) else _fused(op, other, construct)
        if made is None:
            op = op.next_op
            continue
        note(construct, [(other, "one loop with the one before it, which has the same bounds")])
        erase(op)
        erase(other)
        op = made


@dataclass(frozen=True)
class FuseSiblingLoopsPass(GpuPass):
    """See the module's description."""

    name = "fuse-sibling-loops"

    def rewrite(self, module: ModuleOp) -> None:
        if machine_of(module).as_written:
            return
        for construct in parallel_constructs(module):
            for loop in [op for op in construct.walk() if isinstance(op, acc.LoopOp)]:
                if is_parallel(loop) and loop.parent is not None and len(loop.region.blocks) == 1:
                    fuse_in(loop.region.block, construct)
