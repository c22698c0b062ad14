"""
Volatile and atomic loads and stores, which must not be moved, repeated, merged or removed.

`llvm.store` has a property for `volatile`. xDSL's `llvm.load` has none, so there it is the attribute
`accx.volatile`, which only this file and the verifier use.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from .accx import VOLATILE


def set_volatile(load: llvm.LoadOp) -> None:
    """Makes a load volatile."""
    load.attributes[VOLATILE] = UnitAttr()


def is_volatile(op: Operation) -> bool:
    """Whether an operation is a volatile memory operation."""
    return VOLATILE in op.attributes or "volatile_" in op.properties


def is_ordered(op: llvm.LoadOp | llvm.StoreOp) -> bool:
    """Whether a load or store is volatile or atomic."""
    return is_volatile(op) or (op.ordering is not None and op.ordering.value.data != 0)


def is_plain_load(op: Operation) -> bool:
    """Whether `op` is a load that is neither volatile nor atomic."""
    return isinstance(op, llvm.LoadOp) and not is_ordered(op)
