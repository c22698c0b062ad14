"""
Turns loops of host code with jumps out of them into operations that a data region can contain.

The front end makes `cf` blocks of a loop with break, continue or goto. `enclose_loops` puts the blocks of
an outermost such loop into an `scf.execute_region`, if it has one entry block and all exits lead to one
block. `Spine` is the part of such a region that certainly runs: its blocks from the entry to the first
condition, and the blocks that follow if that condition does not leave the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects import acc, cf, llvm, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.volatility import is_plain_load, is_volatile
from ..ir.data.hoisting import CONSTANTS
from ..ir.ops.acc_ops import is_inside
from ..ir.ops.block_order import depth_first, successors
from ..ir.ops.purity import only_computes


def _predecessors(region: Region) -> dict[Block, set[Block]]:
    found: dict[Block, set[Block]] = {block: set() for block in region.blocks}
    for block in region.blocks:
        for following in successors(block):
            found[following].add(block)
    return found


def _back_edges(region: Region) -> list[tuple[Block, Block]]:
    """The back edges found by a depth-first walk from the entry."""
    first = region.blocks.first
    return [] if first is None else depth_first(first)[1]


def has_cycle(region: Region) -> bool:
    """Whether blocks of the region form a loop."""
    return bool(_back_edges(region))


def _body(header: Block, latches: list[Block], preds: dict[Block, set[Block]]) -> set[Block]:
    """The natural loop of the back edges to `header`."""
    body = {header}
    work = list(latches)
    while work:
        block = work.pop()
        if block not in body:
            body.add(block)
            work += preds[block]
    return body


def _absorb_ways_out(body: set[Block], preds: dict[Block, set[Block]]) -> Block | None:
    """
    Adds to `body` the blocks of `break`s, which only lead to the exit; returns the exit block of the loop
    if there is exactly one.
    """
    while True:
        targets = {s for block in body for s in successors(block)} - body
        if len(targets) == 1:
            return targets.pop()
        passed = [
            block
            for block in targets
            if isinstance(block.last_op, cf.BranchOp)
            and preds[block] <= body
            and block.last_op.successor in targets
        ]
        if not passed:
            return None
        body.update(passed)


def _replace_successor(block: Block, old: Block, new: Block) -> None:
    terminator = block.last_op
    assert terminator is not None
    terminator.successors = [new if s is old else s for s in terminator.successors]


def _has_outside_uses(body: set[Block]) -> bool:
    """
    Whether other blocks use values of these blocks, after constants have been cloned to their users there.
    """
    for block in body:
        for op in list(block.ops):
            for result in op.results:
                outside = [use for use in result.uses if _top(use.operation, block) not in body]
                if not outside:
                    continue
                if not isinstance(op, CONSTANTS):
                    return True
                for use in outside:
                    clone = op.clone()
                    user_block = use.operation.parent_block()
                    assert user_block is not None
                    user_block.insert_op_before(clone, use.operation)
                    use.operation.operands[use.index] = clone.results[result.index]
    return False


def _top(op: Operation, like: Block) -> Block | None:
    """The block, in the region of `like`, that contains `op`."""
    block = op.parent_block()
    while block is not None and block.parent is not like.parent:
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
    return block


def _enclose(region: Region, body: set[Block], header: Block, behind: Block) -> None:
    location = next(
        (op.location for block in body for op in block.ops if isinstance(op, acc.ParallelOp)),
        None,
    )
    ordered = [block for block in region.blocks if block in body]
    outside = [block for block in region.blocks if block not in body]
    door, start, end = Block(), Block([cf.BranchOp(header)]), Block([scf.YieldOp()])
    for block in outside:
        if header in successors(block):
            _replace_successor(block, header, door)
    for block in ordered:
        if behind in successors(block):
            _replace_successor(block, behind, end)
    position = list(region.blocks).index(ordered[0])
    for block in ordered:
        region.detach_block(block)
    inner = scf.ExecuteRegionOp([], Region([start, *ordered, end]))
    if location is not None:
        inner.location = location
    door.add_ops([inner, cf.BranchOp(behind)])
    region.insert_block(door, position)


def enclose_loops(region: Region, wanted: Callable[[Operation], bool]) -> None:
    """
    Puts outermost loops among the blocks of `region` into `scf.execute_region`s, if they contain an
    operation for which `wanted` holds.
    """
    if len(region.blocks) < 2:
        return
    edges = _back_edges(region)
    preds = _predecessors(region)
    bodies = {
        header: _body(header, [latch for latch, to in edges if to is header], preds)
        for _, header in edges
    }
    for header, body in bodies.items():
        inner = any(header in other and other is not body for other in bodies.values())
        holds = any(wanted(op) for block in body for op in block.walk())
        if inner or not holds or header.args or header is region.blocks.first:
            continue
        if any(not preds[block] <= body for block in body - {header}):
            continue
        behind = _absorb_ways_out(body, preds)
        if behind is None or behind.args or _has_outside_uses(body):
            continue
        _enclose(region, body, header, behind)
        preds = _predecessors(region)


@dataclass
class Spine:
    """
    Blocks of `loop` that run one after the other whenever the loop runs and `condition` holds, which the
    operations in `prefix` compute before the first branch. Without a condition they always run.
    """

    loop: scf.ExecuteRegionOp
    blocks: list[Block] = field(default_factory=list[Block])
    prefix: list[Operation] = field(default_factory=list[Operation])
    condition: SSAValue | None = None
    negated: bool = False

    @staticmethod
    def of(loop: scf.ExecuteRegionOp) -> Spine:
        spine = Spine(loop)
        block = loop.region.blocks.first
        while block is not None and block not in spine.blocks:
            spine.blocks.append(block)
            block = spine._next(block)
        return spine

    def _next(self, block: Block) -> Block | None:
        match block.last_op:
            case cf.BranchOp() as op if not op.operands:
                return op.successor
            case cf.ConditionalBranchOp() as op if self._can_ask():
                leaves = [self._leaves(s) for s in (op.then_block, op.else_block)]
                if op.then_arguments or op.else_arguments or leaves.count(True) != 1:
                    return None
                self.prefix = [o for b in self.blocks for o in b.ops if o is not b.last_op]
                self.condition, self.negated = op.cond, leaves[0]
                return op.else_block if leaves[0] else op.then_block
            case _:
                return None

    def _can_ask(self) -> bool:
        """Whether all operations so far may run twice: once before the loop, to compute the condition."""
        if self.condition is not None:
            return False
        loaded = False
        for block in self.blocks:
            for op in block.ops:
                if op is block.last_op:
                    continue
                if isinstance(op, llvm.StoreOp):
                    if loaded or not self._sets_local(op):
                        return False
                    continue
                if not all(_may_repeat(inner) for inner in op.walk()):
                    return False
                loaded = loaded or any(isinstance(inner, llvm.LoadOp) for inner in op.walk())
        return True

    def _sets_local(self, store: llvm.StoreOp) -> bool:
        owner = store.value.owner
        op = owner.parent_op() if isinstance(owner, Block) else owner
        known = isinstance(op, CONSTANTS) or not is_inside(op, self.loop)
        return known and isinstance(store.ptr.owner, llvm.AllocaOp) and not is_volatile(store)

    @staticmethod
    def _leaves(block: Block) -> bool:
        """Whether the block only jumps to the end of the region."""
        seen: set[Block] = set()
        while block not in seen:
            seen.add(block)
            op = block.first_op
            if isinstance(op, scf.YieldOp):
                return True
            if not isinstance(op, cf.BranchOp):
                return False
            block = op.successor
        return False


def _may_repeat(op: Operation) -> bool:
    return only_computes(op) or is_plain_load(op) or isinstance(op, scf.IfOp | scf.YieldOp)
