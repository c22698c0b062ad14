"""Whether values are defined before they are used, which xDSL's verifier does not check."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue


def misplaced_uses(root: Operation) -> Iterator[tuple[Operation, SSAValue]]:
    """
    The operations in the regions of `root` that use a value which is defined after them, or in a region
    that does not contain them. Between blocks of one region any order is accepted.
    """
    visited: set[Operation] = {root}
    visible: dict[Block, frozenset[Block]] = {}
    for op in root.walk():
        visited.add(op)
        block = op.parent
        if block is None:
            continue
        if block not in visible:
            visible[block] = _blocks_around(block, visible)
        for value in op.operands:
            if not _is_defined(value, visible[block], visited):
                yield op, value


def _blocks_around(block: Block, known: dict[Block, frozenset[Block]]) -> frozenset[Block]:
    """A block and those around it."""
    parent = block.parent_op()
    outer = None if parent is None else parent.parent
    if outer is None:
        return frozenset((block,))
    return (known[outer] if outer in known else _blocks_around(outer, known)) | {block}


def _is_defined(value: SSAValue, around: frozenset[Block], visited: set[Operation]) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block in around:
        return isinstance(owner, Block) or owner in visited
    return block is not None and any(other.parent is block.parent for other in around)
