"""The accesses to arrays that every iteration of a loop makes, under no condition."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..decisions.dependence import Subscripts
from .acc_ops import is_defined_inside
from .accesses import Unit, is_scalar_variable, root_of, subscripts_of
from .loop_dependence import root_key
from .loop_symbols import LoopSymbols


@dataclass(frozen=True)
class ArrayAccess:
    """An access to an array from outside of a loop; `key` identifies the array."""

    op: llvm.LoadOp | llvm.StoreOp
    key: Hashable
    root: SSAValue
    subscripts: Subscripts
    units: tuple[Unit, ...]
    type: Attribute


def array_accesses(loop: acc.LoopOp, symbols: LoopSymbols) -> Iterator[ArrayAccess]:
    """The accesses that every iteration makes, in order, but for what inner loops run."""
    if len(loop.region.blocks) == 1:
        for op in _certain(loop.region.block):
            access = _access(op, loop, symbols)
            if access is not None:
                yield access


def _certain(block: Block) -> Iterator[Operation]:
    """What an iteration executes under no condition but that inner loops run."""
    for op in block.ops:
        if isinstance(op, scf.ForOp | acc.LoopOp):
            (region,) = op.regions
            if len(region.blocks) == 1:
                yield from _certain(region.block)
        elif isinstance(op, llvm.LoadOp | llvm.StoreOp):
            yield op


def _access(op: Operation, loop: acc.LoopOp, symbols: LoopSymbols) -> ArrayAccess | None:
    """A load or store of an array from outside of the loop."""
    assert isinstance(op, llvm.LoadOp | llvm.StoreOp)
    type_ = op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type
    root = root_of(op.ptr)
    own = (*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands)
    if root in own or is_scalar_variable(root):
        return None
    if is_defined_inside(root, loop) and not isinstance(root.owner, llvm.LoadOp | llvm.AddressOfOp):
        return None
    key = root_key(root, loop, symbols)
    if key is None:
        return None
    subscripts, units = subscripts_of(op.ptr, symbols)
    return ArrayAccess(op, key, root, subscripts, units, type_)
