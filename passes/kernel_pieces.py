"""
Cutting the block of a kernels construct into pieces that become constructs of their own.

`cut` groups operations: each parallel loop nest is a piece, code in between is another, and pieces
that share values which cannot be computed again are one. `fill` makes the block of a piece, with
copies of the movable operations it needs. Operations keep the order of the program throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, Operation, SSAValue

from .analysis.region_writes import Writes, writes_of
from .kernel_loops import HostLoops, is_parallel_nest


@dataclass
class Piece:
    """Operations that become one construct: a parallel loop nest, or code for one gang."""

    ops: list[Operation] = field(default_factory=list[Operation])
    loop: bool = False
    mixed: bool = False
    """Loops and other code that share values: one gang runs all of it in order."""

    def host_loop(self, host_loops: HostLoops) -> scf.ForOp | None:
        """The loop that the host runs, if that is what the piece is."""
        op = self.ops[0]
        alone = len(self.ops) == 1 and self.loop and not self.mixed
        return op if alone and isinstance(op, scf.ForOp) and op in host_loops else None


def _is_movable(op: Operation, writes: Writes) -> bool:
    """Whether a copy of `op` anywhere in the region computes the same."""
    if op.regions:
        return False
    if isinstance(op, llvm.LoadOp):
        return not writes.may_change(op)
    if isinstance(op, acc.PrivateOp | acc.ReductionOp | acc.CacheOp | acc.DataBoundsOp):
        return True
    return isinstance(op, llvm.GEPOp | llvm.AddressOfOp | llvm.ZeroOp | llvm.ConstantOp) or (
        op.name.startswith(("arith.", "math."))
    )


def cut(ops: Sequence[Operation], host_loops: HostLoops) -> tuple[list[Piece], list[Operation]]:
    """
    Pieces in order, and the movable operations that every piece may copy. Loops that the host runs
    are pieces of their own. Pieces between the definition of a value that cannot be copied and its
    last use are merged.
    """
    writes = writes_of(ops)
    pieces: list[Piece] = []
    movable: list[Operation] = []
    loads: list[llvm.LoadOp] = []
    for op in ops:
        if _is_movable(op, writes):
            movable.append(op)
        elif isinstance(op, llvm.LoadOp):
            loads.append(op)
        elif op in host_loops:
            _add_code(pieces, loads)
            pieces.append(Piece([op], loop=True))
            loads = []
        elif is_parallel_nest(op):
            own = writes_of([op])
            # Gangs run on their own: what one of them writes, another must not read as a bound.
            early = [load for load in loads if own.may_change(load)]
            _add_code(pieces, early)
            pieces.append(Piece([*(load for load in loads if load not in early), op], loop=True))
            loads = []
        else:
            _add_code(pieces, [*loads, op])
            loads = []
    _add_code(pieces, loads)
    return _merge(pieces, movable), movable


def _add_code(pieces: list[Piece], ops: Sequence[Operation]) -> None:
    if ops and pieces and not pieces[-1].loop:
        pieces[-1].ops += ops
    elif ops:
        pieces.append(Piece(list(ops)))


def _merge(pieces: list[Piece], movable: list[Operation]) -> list[Piece]:
    """Joins the pieces from the definition of a value to its last use."""
    place = {op: index for index, piece in enumerate(pieces) for op in piece.ops}
    copied = set(movable)
    last: dict[int, int] = {}
    for op, index in place.items():
        for result in op.results:
            for user in _users(result, place, copied):
                last[index] = max(last.get(index, index), user)
    merged: list[Piece] = []
    end = -1
    for index, piece in enumerate(pieces):
        if index <= end:
            merged[-1].ops += piece.ops
            merged[-1].mixed = True
        else:
            merged.append(piece)
        end = max(end, last.get(index, index))
    return merged


def _users(value: SSAValue, place: dict[Operation, int], movable: set[Operation]) -> list[int]:
    """Indices of the pieces that use a value, directly or through movable operations."""
    found: list[int] = []
    for use in value.uses:
        top: Operation | None = use.operation
        while top is not None and top not in place and top not in movable:
            top = top.parent_op()
        if top is None:
            continue
        if top in place:
            found.append(place[top])
        else:
            found += [index for r in top.results for index in _users(r, place, movable)]
    return found


def fill(piece: Piece, movable: list[Operation], position: dict[Operation, int]) -> Block:
    """
    A block with the piece's operations and copies of the movable ones they need, ordered by
    `position`, their place in the region.
    """
    place = dict(position)
    block = Block()
    for op in sorted(piece.ops, key=lambda op: position[op]):
        op.detach()
        block.add_op(op)
    following: Operation = acc.YieldOp()
    block.add_op(following)
    for op in sorted(movable, key=lambda op: position[op], reverse=True):
        users = [
            use
            for result in op.results
            for use in result.uses
            if _is_in_block(use.operation, block)
        ]
        if not users:
            continue
        while following.prev_op is not None and place[following.prev_op] > place[op]:
            following = following.prev_op
        clone = op.clone()
        place[clone] = place[op]
        block.insert_op_before(clone, following)
        following = clone
        for use in users:
            index = op.results.index(use.operation.operands[use.index])  # pyright: ignore
            use.operation.operands[use.index] = clone.results[index]
    return block


def _is_in_block(op: Operation, block: Block) -> bool:
    current: Operation | None = op
    while current is not None:
        if current.parent_block() is block:
            return True
        current = current.parent_op()
    return False
