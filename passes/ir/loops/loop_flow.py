"""
The parts of a region with jumps that is one loop: code before the loop, an iteration, and code after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Region

from ..ops.block_order import depth_first, successors


@dataclass(frozen=True)
class LoopFlow:
    """
    `before`: blocks that run once, in this order; `blocks`: the blocks of an iteration, the header first,
    each after its forward predecessors; `last`: the region's last block, to which all exits of the loop
    lead.
    """

    before: Sequence[Block]
    blocks: Sequence[Block]
    last: Block

    @property
    def header(self) -> Block:
        """The block at which every iteration begins."""
        return self.blocks[0]

    @property
    def outside(self) -> Sequence[Block]:
        """The blocks that are not part of an iteration."""
        return (*self.before, self.last)


def loop_flow(region: Region) -> LoopFlow | None:
    """
    The parts of a region that holds exactly one loop, without inner loops, and ends in one block. None for
    other regions, and if the loop or the blocks after it have block arguments.
    """
    blocks = list(region.blocks)
    ends = [block for block in blocks if isinstance(block.last_op, scf.YieldOp)]
    jumps = (cf.BranchOp, cf.ConditionalBranchOp)
    rest = [block for block in blocks if block not in ends]
    if len(ends) != 1 or not all(isinstance(block.last_op, jumps) for block in rest):
        return None
    last = ends[0]
    order, back = depth_first(blocks[0])
    headers = {target for _, target in back}
    if len(headers) != 1:
        return None
    (header,) = headers
    first = order.index(header)
    before, inside = order[:first], [block for block in order[first:] if block is not last]
    straight = all(len(successors(block)) == 1 for block in before)
    if not straight or header.args or last.args or last not in order:
        return None
    return LoopFlow(before, inside, last)
