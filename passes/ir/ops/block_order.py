"""The blocks of a region with jumps, in the order of control flow."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block


def successors(block: Block) -> Sequence[Block]:
    """The blocks to which the terminator of `block` may jump."""
    return block.last_op.successors if block.last_op is not None else ()


def depth_first(entry: Block) -> tuple[list[Block], list[tuple[Block, Block]]]:
    """The blocks reached from `entry`, each after its forward predecessors, and the back edges."""
    done: list[Block] = []
    back: list[tuple[Block, Block]] = []
    open_: set[Block] = {entry}
    seen: set[Block] = {entry}
    stack = [(entry, list(successors(entry)))]
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
            stack.append((target, list(successors(target))))
    return done[::-1], back
