"""Walks over operations in textual order, at constant cost per operation whatever the depth."""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xdsl.ir import Block, Operation, Region
from xdsl.ir.core import BlockOps


def _walk_regions(
    regions: Iterable[Region], around: Operation | None = None
) -> Iterator[Operation]:
    """
    The operations in `regions` in the order of their text; with `around`, that operation and those in its
    regions. As in xDSL, an operation may be erased or moved while it is visited: its successor and the next
    block are read before the visit, its regions after it.
    """
    if around is not None:
        yield around
        regions = around.regions
        if not regions:
            return
    stack: list[tuple[Iterator[Region], Block | None, Operation | None]] = []
    left: Iterator[Region] = iter(regions)
    block: Block | None = None
    op: Operation | None = None
    while True:
        while op is not None:
            following = op._next_op
            yield op
            if op.regions:
                stack.append((left, block, following))
                left, block, op = iter(op.regions), None, None
            else:
                op = following
        if block is None:
            region = next(left, None)
            if region is not None:
                block = region._first_block
            elif stack:
                left, block, op = stack.pop()
                continue
            else:
                return
        if block is not None:
            op, block = block._first_op, block._next_block


def _walk_operation(
    self: Operation, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    if reverse or region_first:
        return _slow_walks[Operation](self, reverse=reverse, region_first=region_first)
    return _walk_regions((), self)


def _walk_region(
    self: Region, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    if reverse or region_first:
        return _slow_walks[Region](self, reverse=reverse, region_first=region_first)
    return _walk_regions((self,))


def _walk_block(
    self: Block, *, reverse: bool = False, region_first: bool = False
) -> Iterable[Operation]:
    if reverse or region_first:
        yield from _slow_walks[Block](self, reverse=reverse, region_first=region_first)
        return
    for op in _operations(self._first_op):
        yield op
        if op.regions:
            yield from _walk_regions(op.regions)


_slow_walks: dict[type, Any] = {kind: kind.walk for kind in (Operation, Region, Block)}


def _operations(op: Operation | None) -> Iterator[Operation]:
    """`op` and those after it in its block; each one's successor is read before it is yielded."""
    while op is not None:
        following = op._next_op
        yield op
        op = following


def _operations_of(self: BlockOps) -> Iterator[Operation]:
    return _operations(self.block._first_op)


def install() -> None:
    for cls, name, function in (
        (Operation, "walk", _walk_operation),
        (Region, "walk", _walk_region),
        (Block, "walk", _walk_block),
        (BlockOps, "__iter__", _operations_of),
    ):
        setattr(cls, name, function)
