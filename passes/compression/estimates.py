"""Reads from a compute construct what `analysis/compression.py` needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.ir import Operation, SSAValue

from ...dialects.accx_compress import PackedType
from ..analysis.acc_ops import has_level
from ..analysis.compression import REPEATS, Access
from ..analysis.layout import size_of

_FREE = (arith.ConstantOp, arith.ExtSIOp, arith.ExtUIOp, arith.IndexCastOp, llvm.GEPOp)


def _depth(op: Operation, construct: acc.ParallelOp) -> int:
    """How many sequential loops stand around `op`."""
    depth = 0
    parent = op.parent_op()
    while parent is not None and parent is not construct:
        sequential = isinstance(parent, scf.ForOp | scf.WhileOp)
        if isinstance(parent, acc.LoopOp):
            sequential = not any(has_level(a) for a in (parent.gang, parent.worker, parent.vector))
        depth += sequential
        parent = parent.parent_op()
    return depth


def _array(pointer: SSAValue) -> SSAValue:
    """The device address that `pointer` is computed from."""
    while isinstance(pointer.owner, llvm.GEPOp):
        pointer = pointer.owner.ptr
    return pointer


def accesses_of(
    construct: acc.ParallelOp, packed: Mapping[SSAValue, PackedType]
) -> tuple[list[Access], int]:
    """
    The accesses of a construct before it is rewritten, by the device address of the array, and the
    number of its other instructions; `packed`: the compressed arrays.
    """
    found: list[Access] = []
    instructions = 0
    for op in construct.walk():
        depth = min(_depth(op, construct), 2)
        repeats = REPEATS**depth
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            writes = isinstance(op, llvm.StoreOp)
            type = op.value.type if isinstance(op, llvm.StoreOp) else op.dereferenced_value.type
            array = _array(op.ptr)
            if isinstance(array.owner, llvm.AllocaOp | acc.PrivateOp | acc.ReductionOp):
                continue
            known = packed.get(array)
            fmt = known.format if known is not None else None
            found.append(Access(array, size_of(type), fmt, writes, repeats, depth > 0))
        elif op.name.startswith(("arith.", "math.")) and not isinstance(op, _FREE):
            instructions += repeats
        elif isinstance(op, llvm.CallOp):
            instructions += 20 * repeats
    return found, instructions
