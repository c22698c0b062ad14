"""A region with jumps that is one loop: what is before it, an iteration, and what is after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Region


@dataclass(frozen=True)
class LoopFlow:
    """
    `before`: blocks that run once, one after the other; `blocks`: those of an iteration, each after those
    that jump to it, the header first; `last`: where all ways out lead, the region's end.
    """

    before: Sequence[Block]
    blocks: Sequence[Block]
    last: Block

    @property
    def header(self) -> Block:
        """Where every iteration begins."""
        return self.blocks[0]

    @property
    def outside(self) -> Sequence[Block]:
        """What is not part of an iteration."""
        return (*self.before, self.last)


def loop_flow(region: Region) -> LoopFlow | None:
    """
    The parts of a region that holds one loop, without others in it, and ends in one block; None for other
    regions, and where the loop or what follows it takes values as arguments.
    """
    blocks = list(region.blocks)
    ends = [block for block in blocks if isinstance(block.last_op, scf.YieldOp)]
    jumps = (cf.BranchOp, cf.ConditionalBranchOp)
    rest = [block for block in blocks if block not in ends]
    if len(ends) != 1 or not all(isinstance(block.last_op, jumps) for block in rest):
        return None
    last = ends[0]
    order, back = _depth_first(blocks[0])
    headers = {target for _, target in back}
    if len(headers) != 1:
        return None
    (header,) = headers
    first = order.index(header)
    before, inside = order[:first], [block for block in order[first:] if block is not last]
    straight = all(len(_targets(block)) == 1 for block in before)
    if not straight or header.args or last.args or last not in order:
        return None
    return LoopFlow(before, inside, last)


def _targets(block: Block) -> Sequence[Block]:
    return block.last_op.successors if block.last_op is not None else ()


def _depth_first(entry: Block) -> tuple[list[Block], list[tuple[Block, Block]]]:
    """The blocks reached, each after those that jump to it forwards, and the jumps backwards."""
    done: list[Block] = []
    back: list[tuple[Block, Block]] = []
    open_: set[Block] = {entry}
    seen: set[Block] = {entry}
    stack = [(entry, list(_targets(entry)))]
    while stack:
        block, targets = stack[-1]
        if not targets:
            stack.pop()
            open_.discard(block)
            done.append(block)
            continue
        target = targets.pop(0)
        if target in open_:
            back.append((block, target))
        elif target not in seen:
            seen.add(target)
            open_.add(target)
            stack.append((target, list(_targets(target))))
    return done[::-1], back
