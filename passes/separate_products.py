"""
Give a product its own construct if other statements stand beside it in the outer loop.

`corr[i][i] = 1` beside the loops that compute the other elements of a row leaves the product's two parallel
loops not tightly nested: a gang would take each row, and no block of iterations could share what rows and
columns read. Iterations of a parallel loop are independent, so all of them may run the statements before any
runs the product.

Takes:  data level, before the loops over the terms of products are sequential. Considers constructs with free
        sizes that are one parallel loop around a parallel loop in which a product, or a triangle of one, gets
        cached sections, and straight-line statements beside it.
Leaves: a construct for the statements before the inner loop, one for it, one for those after, in this order
        and on one queue; each has copies of what it computes or reads, if the statements do not change that.
        Those that need a value, or a variable of the iteration, of another part are unchanged.
Fails:  never.

Before:
  acc.parallel { acc.loop control(%i : i32) = … {
    llvm.store %one, %corr[%i * %m + %i]
    acc.loop control(%j : i32) = (%i + 1) … { … sum of %data[…], store to %corr … }
  } }
After:
  acc.parallel { acc.loop control(%i : i32) = … { llvm.store %one, %corr[%i * %m + %i] } }
  acc.parallel { acc.loop control(%i : i32) = … { acc.loop control(%j : i32) = … } }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from ..dialects.volatility import is_ordered
from .ir.data.region_writes import is_movable, writes_of
from .ir.loops.product_triangles import can_be_tiled
from .ir.loops.products import find_terms, free_constructs
from .ir.ops.acc_ops import child_loops, own_copies
from .ir.ops.building import Cursor, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import is_parallel
from .ir.ops.notes import note
from .ir.ops.purity import is_pure, only_computes
from .ir.ops.versions import copy_construct, erase_original, ready_for_versions


def _is_straight(op: Operation) -> bool:
    """Whether an operation beside the product accesses memory without loops, atomics or calls."""
    match op:
        case llvm.LoadOp() | llvm.StoreOp():
            return not is_ordered(op)
        case scf.IfOp():
            return all(_is_straight(inner) for r in op.regions for b in r.blocks for inner in b.ops)
        case _:
            return only_computes(op) or isinstance(op, llvm.AllocaOp) or op.has_trait(IsTerminator)


def _stores(op: Operation) -> bool:
    return any(isinstance(inner, llvm.StoreOp) for inner in op.walk())


def _nest(construct: acc.ParallelOp) -> tuple[acc.LoopOp, acc.LoopOp] | None:
    """The only loop of a construct and the only parallel loop in it, if neither has variables of its own."""
    loops = child_loops(construct)
    inner = child_loops(loops[0]) if len(loops) == 1 else []
    if len(inner) != 1 or inner[0].parent_op() is not loops[0] or not is_parallel(loops[0]):
        return None
    beside = [op for op in construct.region.block.ops if op is not loops[0]]
    alone = all(is_pure(op) or isinstance(op, acc.YieldOp) for op in beside)
    own = own_copies(construct) or own_copies(loops[0])
    return (loops[0], inner[0]) if alone and not own else None


def _parts(loop: acc.LoopOp, inner: acc.LoopOp) -> list[set[Operation]] | None:
    """
    The operations that each part of the body of `loop` needs: `inner`, and what stores before and after it;
    None if there is only one part, or if parts need the same variable or value that cannot be copied.
    """
    ops = [op for op in loop.region.block.ops if not op.has_trait(IsTerminator)]
    place = ops.index(inner)
    if not all(op is inner or _is_straight(op) for op in ops):
        return None
    sections = (ops[:place], [inner], ops[place + 1 :])
    roots = [[op for op in section if op is inner or _stores(op)] for section in sections]
    if sum(map(bool, roots)) < 2:
        return None
    writes = writes_of(ops)
    shared = {op for op in ops if is_movable(op, writes)}
    parts: list[set[Operation]] = []
    taken = set[Operation]()
    for section, root in zip(sections, roots, strict=True):
        part = _needed(root, ops)
        if not taken.isdisjoint(part) or any(
            op not in section and op not in shared and not isinstance(op, llvm.AllocaOp)
            for op in part
        ):
            return None
        taken |= part - shared
        if part:
            parts.append(part)
    return parts


def _needed(ops: Sequence[Operation], among: Collection[Operation]) -> set[Operation]:
    """`ops`, and those of `among` whose results they use, directly or through others."""
    found, work, known = set(ops), list(ops), set(among)
    while work:
        owners = {value.owner for op in work.pop().walk() for value in op.operands}
        new = [op for op in owners if isinstance(op, Operation) and op in known and op not in found]
        found.update(new)
        work += new
    return found


def _is_tiled(loop: acc.LoopOp, inner: acc.LoopOp, construct: acc.ParallelOp) -> bool:
    """Whether `inner` gets cached sections once nothing stands beside it in `loop`."""
    beside = [op for op in loop.region.block.ops if op is not inner]
    loops = (op for op in inner.region.block.ops if isinstance(op, acc.LoopOp | scf.ForOp))
    found = (find_terms(op, triangles=True) for op in loops)
    return any(terms and can_be_tiled(terms, construct, without=beside) for terms in found)


def separate(construct: acc.ParallelOp) -> None:
    """Makes constructs for the parts of a construct's outer loop; does nothing where that does not apply."""
    nest = _nest(construct)
    if nest is None or not _is_tiled(*nest, construct):
        return
    loop, inner = nest
    parts = _parts(loop, inner)
    if parts is None or not ready_for_versions(construct):
        return
    order = list(loop.region.block.ops)
    note(construct, [(inner, "a product beside other statements: in a kernel of its own")])
    for part in parts:
        copy = copy_construct(construct, Cursor.before(construct))
        body = list(child_loops(copy)[0].region.block.ops)
        for old, new in zip(reversed(order), reversed(body), strict=True):
            if old not in part and not old.has_trait(IsTerminator):
                erase(new)
    erase_original(construct)


@dataclass(frozen=True)
class SeparateProductsPass(GpuPass):
    """See the module's description."""

    name = "separate-products"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in free_constructs(module):
            separate(construct)
