"""
Liveness of values in regions: the values from outside that a region uses, which must be split with the
threads, and the *cells* that it writes.

A cell is an `llvm.alloca` of one scalar that is only loaded and stored: it becomes a variable of
the generated code. If it may be read before it is written, it also has a `Flag`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ...dialects.accx_watch import WatchOp
from .types import dtype_of


@dataclass(frozen=True)
class Flag:
    """A variable that holds whether a cell has been written."""

    cell: SSAValue


Key = SSAValue | Flag
"""The kinds of objects with a name in generated code."""


@dataclass
class UsedCells:
    """The uses of a region or of blocks. `read`: all values used from outside, in the order of first use.
    `written`: the cells stored to."""

    read: dict[Key, None] = field(default_factory=dict[Key, None])
    written: dict[Key, None] = field(default_factory=dict[Key, None])


def constant_of(value: SSAValue) -> int | None:
    """The integer value of a constant; None for other values."""
    owner = value.owner
    if isinstance(owner, ConstantOp | llvm.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def is_cell(alloca: llvm.AllocaOp) -> bool:
    """Whether an alloca is a cell."""
    if dtype_of(alloca.elem_type) is None or constant_of(alloca.size) != 1:
        return False
    for use in alloca.res.uses:
        match use.operation:
            case llvm.LoadOp() as load:
                if load.dereferenced_value.type != alloca.elem_type:
                    return False
            case llvm.StoreOp() as store:
                if use.index != 1 or store.value.type != alloca.elem_type:
                    return False
            case WatchOp():
                pass
            case _:
                return False
    return True


def _touches(op: Operation, cell: SSAValue) -> bool:
    return any(cell in inner.operands for inner in op.walk())


def written_first(alloca: llvm.AllocaOp) -> bool:
    """Whether the alloca's own block stores to the cell before any read of it."""
    op = alloca.next_op
    while op is not None:
        if op.regions:
            if _touches(op, alloca.res):
                return False
        elif isinstance(op, llvm.StoreOp) and op.ptr == alloca.res:
            return True
        elif alloca.res in op.operands:
            return False
        op = op.next_op
    return False


class Liveness:
    """The uses of every region of one function, its `cells`, and those with a flag (`flagged`)."""

    def __init__(self, body: Region):
        self.cells: set[SSAValue] = set()
        self.flagged: set[SSAValue] = set()
        for op in body.walk():
            if isinstance(op, llvm.AllocaOp) and is_cell(op):
                self.cells.add(op.res)
                if not written_first(op):
                    self.flagged.add(op.res)
        self._uses: dict[Region, UsedCells] = {}
        self._visit(body)

    def uses(self, *regions: Region) -> UsedCells:
        """The combined uses of these regions."""
        if len(regions) == 1:
            return self._uses[regions[0]]
        out = UsedCells()
        for region in regions:
            out.read |= self._uses[region].read
            out.written |= self._uses[region].written
        return out

    def block_uses(self, *blocks: Block) -> UsedCells:
        """The values from outside that these blocks use, and the cells they write."""
        out = UsedCells()
        inside: set[Key] = set()
        for block in blocks:
            inside.update(block.args)
            for op in block.ops:
                self._operation(op, out)
                inside.update(op.results)
        return UsedCells(
            {k: None for k in out.read if _owner(k) not in inside},
            {k: None for k in out.written if _owner(k) not in inside},
        )

    def _operation(self, op: Operation, out: UsedCells) -> None:
        for operand in op.operands:
            out.read[operand] = None
            if operand in self.cells:
                if operand in self.flagged:
                    out.read[Flag(operand)] = None
                if isinstance(op, llvm.StoreOp) and op.ptr == operand:
                    out.written[operand] = None
                    if operand in self.flagged:
                        out.written[Flag(operand)] = None
        for region in op.regions:
            inner = self._uses[region]
            out.read |= inner.read
            out.written |= inner.written

    def _visit(self, region: Region) -> None:
        """Notes the uses of a region, and of those in it."""
        for block in region.blocks:
            for op in block.ops:
                for inner in op.regions:
                    self._visit(inner)
        self._uses[region] = self.block_uses(*region.blocks)


def _owner(key: Key) -> SSAValue:
    return key.cell if isinstance(key, Flag) else key


def root_of(pointer: SSAValue) -> SSAValue:
    """The value from which a pointer was computed: an argument, an alloca, an address, or a load."""
    while not isinstance(pointer, BlockArgument):
        op = pointer.owner
        assert isinstance(op, Operation)
        if op.name in ("llvm.getelementptr", "llvm.addrspacecast", "llvm.bitcast"):
            pointer = op.operands[0]
        else:
            break
    return pointer


def reverse_postorder(region: Region) -> list[Block]:
    """The reachable blocks, each before its successors except along back edges."""
    order: list[Block] = []
    seen: set[Block] = set()
    stack: list[tuple[Block, int]] = [(region.blocks[0], 0)]
    seen.add(region.blocks[0])
    while stack:
        block, index = stack.pop()
        last = block.last_op
        successors = list(last.successors) if last is not None else []
        if index < len(successors):
            stack.append((block, index + 1))
            # From last to first, so that in the reversed order the first successor comes first.
            following = successors[len(successors) - 1 - index]
            if following not in seen:
                seen.add(following)
                stack.append((following, 0))
        else:
            order.append(block)
    return order[::-1]
