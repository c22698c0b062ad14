"""The order in which the blocks of a region are lowered."""

from __future__ import annotations

from xdsl.ir import Block, Region


def dominance_order(region: Region) -> list[Block]:
    """The reachable blocks, each after those that dominate it, followed by the unreachable ones."""
    order: list[Block] = []
    seen: set[Block] = set()

    def visit(start: Block) -> None:
        stack: list[tuple[Block, int]] = [(start, 0)]
        seen.add(start)
        while stack:
            block, position = stack.pop()
            last = block.last_op
            successors = [] if last is None else list(last.successors)
            if position < len(successors):
                stack.append((block, position + 1))
                if successors[position] not in seen:
                    seen.add(successors[position])
                    stack.append((successors[position], 0))
            else:
                order.append(block)

    if not region.blocks:  # the absent else of an `scf.if`
        return []
    visit(region.blocks[0])
    rest = [block for block in region.blocks if block not in seen]
    return order[::-1] + rest
