"""The accesses to arrays that every iteration of a loop makes, under no condition."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Block, SSAValue

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


def array_accesses(
    loop: acc.LoopOp, symbols: LoopSymbols, *, of_stored: bool = False
) -> Iterator[ArrayAccess]:
    """
    The accesses that every iteration makes, in order, but for what inner loops run. `of_stored`: without
    those to arrays of which no element is stored.
    """
    if len(loop.region.blocks) != 1:
        return
    own = {*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands}
    found = [_in_array(op, loop, symbols, own) for op in _certain(loop.region.block)]
    known = [place for place in found if place is not None]
    if of_stored:
        stored = {place.key for place in known if isinstance(place.op, llvm.StoreOp)}
        known = [place for place in known if place.key in stored]
    for place in known:
        op = place.op
        type_ = op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type
        subscripts, units = subscripts_of(op.ptr, symbols)
        yield ArrayAccess(op, place.key, place.root, subscripts, units, type_)


def _certain(block: Block) -> Iterator[llvm.LoadOp | llvm.StoreOp]:
    """What an iteration executes under no condition but that inner loops run."""
    for op in block.ops:
        if isinstance(op, scf.ForOp | acc.LoopOp):
            (region,) = op.regions
            if len(region.blocks) == 1:
                yield from _certain(region.block)
        elif isinstance(op, llvm.LoadOp | llvm.StoreOp):
            yield op


@dataclass(frozen=True)
class _InArray:
    """An access to an array from outside of a loop, as `ArrayAccess`."""

    op: llvm.LoadOp | llvm.StoreOp
    key: Hashable
    root: SSAValue


def _in_array(
    op: llvm.LoadOp | llvm.StoreOp, loop: acc.LoopOp, symbols: LoopSymbols, own: set[SSAValue]
) -> _InArray | None:
    root = root_of(op.ptr)
    if root in own or is_scalar_variable(root):
        return None
    if is_defined_inside(root, loop) and not isinstance(root.owner, llvm.LoadOp | llvm.AddressOfOp):
        return None
    key = root_key(root, loop, symbols)
    return None if key is None else _InArray(op, key, root)
