"""
Hoists loads of structure members that are the same in all iterations of a product.

In `sum += a->data[i * a->cols + k] * …` the length of a row is in memory and loaded in each iteration; as
one value defined before the loops it can be part of a section. An integer member does not change if the
construct stores only floating-point numbers, which cannot alias it (C11 6.5, 7).
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.accx import PUNS
from ...dialects.volatility import is_ordered
from ..ir.loops.products import OWN
from ..ir.ops.acc_ops import MAPPING_OPS, enclosing_module
from ..ir.ops.building import Cursor, constant_value, erase
from ..ir.ops.purity import is_pure_call, only_reads
from ..ir.values.addresses import ADDRESS_OPS, base_of, steps_of

_STRUCTURE = (acc.LoopOp, acc.YieldOp, acc.FirstprivateOp, *OWN)
Member = tuple[Hashable, ...]


def _member(op: Operation) -> Member | None:
    """A key of the integer member that `op` loads; None if it loads anything else."""
    if not isinstance(op, llvm.LoadOp) or is_ordered(op):
        return None
    type_, address = op.dereferenced_value.type, op.ptr.owner
    wide = isinstance(type_, IntegerType) and type_.width.data >= 32
    if not wide or not isinstance(address, ADDRESS_OPS) or len(address.operands) != 1:
        return None
    first = all(step.member or step.index == 0 for step in steps_of(address))
    if not first or not _is_there(address.ptr.owner):
        return None
    path: tuple[Attribute, ...] = tuple(address.properties.values())
    return address.ptr, path, type_


def _is_there(entry: Operation | Block) -> bool:
    """
    Whether a data clause maps at least one structure, so that the load is valid even if no iteration runs.
    """
    if not isinstance(entry, MAPPING_OPS):
        return False
    lengths = [
        bounds.owner.extent for bounds in entry.bounds if isinstance(bounds.owner, acc.DataBoundsOp)
    ]
    return all(length is not None and (constant_value(length) or 0) > 0 for length in lengths)


def _keeps_members(construct: acc.ParallelOp) -> bool:
    """Whether no store of the construct can change an integer member of a structure."""
    for op in construct.walk():
        if op is construct or isinstance(op, _STRUCTURE) or only_reads(op) or is_pure_call(op):
            continue
        if not isinstance(op, llvm.StoreOp) or is_ordered(op):
            return False
        own = isinstance(base_of(op.ptr).owner, OWN)
        if not own and not isinstance(op.value.type, AnyFloat):
            return False
    return True


def _holds_terms(loop: acc.LoopOp) -> bool:
    """Whether a parallel loop contains one around a sequential loop."""
    return any(
        isinstance(op, scf.ForOp)
        and isinstance(op.parent_op(), acc.LoopOp)
        and op.parent_op() is not loop
        for op in loop.walk()
    )


def hoist_members(construct: acc.ParallelOp) -> None:
    """Hoists the member loads of nests that may be products to before their outermost loops."""
    loops = [op for op in construct.region.block.ops if isinstance(op, acc.LoopOp)]
    nests = [loop for loop in loops if _holds_terms(loop)]
    wanted = [op for loop in nests for op in loop.walk() if _member(op) is not None]
    if not wanted or PUNS in enclosing_module(construct).attributes:
        return
    if not _keeps_members(construct):
        return
    for nest in nests:
        known: dict[Member, SSAValue] = {}
        for op in [*_before(nest), *nest.walk()]:
            key = _member(op)
            if key is None:
                continue
            assert isinstance(op, llvm.LoadOp)
            if key not in known and op.parent_op() is not construct:
                known[key] = _copy(op, Cursor.before(nest, op.location))
            elif key not in known:
                known[key] = op.dereferenced_value
            if op.dereferenced_value is not known[key]:
                op.dereferenced_value.replace_all_uses_with(known[key])
                erase(op)


def _before(loop: acc.LoopOp) -> list[Operation]:
    """The operations before `loop` in its block."""
    block = loop.parent_block()
    assert block is not None
    ops = list(block.ops)
    return ops[: ops.index(loop)]


def _copy(load: llvm.LoadOp, at: Cursor) -> SSAValue:
    address = load.ptr.owner
    assert isinstance(address, ADDRESS_OPS)
    place = at.insert(address.clone(), address.result.name_hint)
    return at.load(place.result, load.dereferenced_value.type, load.dereferenced_value.name_hint)
