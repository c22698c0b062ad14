"""
Cuts the block of a kernels construct into pieces that become constructs of their own.

`cut` groups operations: each parallel loop nest is a piece, code in between is another, and pieces that
share values which cannot be recomputed are merged. `fill` makes the block of a piece, with copies of the
movable operations it needs. Operations keep program order.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Block, Operation, OpResult

from ..ir.data.region_writes import is_movable, writes_of
from .kernel_loops import HostLoops, is_parallel_nest


@dataclass
class KernelPiece:
    """Operations that become one construct: a parallel loop nest, or code for one gang."""

    ops: list[Operation] = field(default_factory=list[Operation])
    loop: bool = False
    mixed: bool = False
    """Whether it is a mixture of loops and other code that share values, which one gang runs sequentially."""

    def host_loop(self, host_loops: HostLoops) -> scf.ForOp | None:
        """The loop that the host runs, if the piece is one; else None."""
        op = self.ops[0]
        alone = len(self.ops) == 1 and self.loop and not self.mixed
        return op if alone and isinstance(op, scf.ForOp) and op in host_loops else None


def cut(
    ops: Sequence[Operation], host_loops: HostLoops
) -> tuple[list[KernelPiece], list[Operation]]:
    """
    The pieces in program order, and the movable operations that every piece may copy. Loops that the host
    runs are pieces of their own. Pieces between the definition of a value that cannot be copied and its
    last use are merged.
    """
    writes = writes_of(ops)
    pieces: list[KernelPiece] = []
    movable: list[Operation] = []
    loads: list[llvm.LoadOp] = []
    for op in ops:
        if is_movable(op, writes):
            movable.append(op)
        elif isinstance(op, llvm.LoadOp):
            loads.append(op)
        elif op in host_loops:
            _add_code(pieces, loads)
            pieces.append(KernelPiece([op], loop=True))
            loads = []
        elif is_parallel_nest(op):
            own = writes_of([op])
            # Gangs do not synchronise: a gang must not read a bound that another one writes.
            early = [load for load in loads if own.may_change(load)]
            _add_code(pieces, early)
            pieces.append(
                KernelPiece([*(load for load in loads if load not in early), op], loop=True)
            )
            loads = []
        else:
            _add_code(pieces, [*loads, op])
            loads = []
    _add_code(pieces, loads)
    return _merge(pieces, movable), movable


def _add_code(pieces: list[KernelPiece], ops: Sequence[Operation]) -> None:
    if ops and pieces and not pieces[-1].loop:
        pieces[-1].ops += ops
    elif ops:
        pieces.append(KernelPiece(list(ops)))


def _merge(pieces: list[KernelPiece], movable: list[Operation]) -> list[KernelPiece]:
    """Merges the pieces from the definition of a value to its last use."""
    place = {op: index for index, piece in enumerate(pieces) for op in piece.ops}
    copied = set(movable)
    last: dict[int, int] = {}
    known: dict[Operation, set[int]] = {}
    for op, index in place.items():
        last[index] = max([last.get(index, index), *_users(op, place, copied, known)])
    merged: list[KernelPiece] = []
    end = -1
    for index, piece in enumerate(pieces):
        if index <= end:
            merged[-1].ops += piece.ops
            merged[-1].mixed = True
        else:
            merged.append(piece)
        end = max(end, last.get(index, index))
    return merged


def _users(
    op: Operation,
    place: dict[Operation, int],
    movable: set[Operation],
    known: dict[Operation, set[int]],
) -> set[int]:
    """
    The indices of the pieces that use results of `op`, directly or through movable operations; `known`
    caches the answers for these.
    """
    if op in known:
        return known[op]
    found = known[op] = set[int]()
    for use in (use for result in op.results for use in result.uses):
        top: Operation | None = use.operation
        while top is not None and top not in place and top not in movable:
            top = top.parent_op()
        if top is None:
            continue
        if top in place:
            found.add(place[top])
        else:
            found |= _users(top, place, movable, known)
    return found


def fill(piece: KernelPiece, movable: Set[Operation], position: dict[Operation, int]) -> Block:
    """
    A block with the piece's operations and copies of the movable ones they need, ordered by
    `position`, their place in the region.
    """
    ops = sorted(piece.ops, key=lambda op: position[op])
    needed = _needed(ops, movable)
    copies = {op: op.clone() for op in needed}
    block = Block()
    for op in sorted([*ops, *needed], key=lambda op: position[op]):
        if op not in copies:
            op.detach()
        block.add_op(copies.get(op, op))
    for op in block.walk():
        for index, operand in enumerate(op.operands):
            if isinstance(operand, OpResult) and operand.op in copies:
                op.operands[index] = copies[operand.op].results[operand.index]
    block.add_op(acc.YieldOp())
    return block


def _needed(ops: Sequence[Operation], movable: Set[Operation]) -> list[Operation]:
    """The movable operations whose results `ops` use, directly or through others."""
    found: dict[Operation, None] = {}
    work = list(ops)
    while work:
        for inner in work.pop().walk():
            owners = [o.op for o in inner.operands if isinstance(o, OpResult)]
            new = [op for op in owners if op in movable and op not in found]
            found.update(dict.fromkeys(new))
            work += new
    return list(found)
