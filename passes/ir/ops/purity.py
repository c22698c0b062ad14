"""
Effects of operations: whether an operation may be moved, repeated or removed.

All passes use these predicates. They rest on upstream's memory effects, completed by `dialects/effects.py`,
with corrections where those are too conservative.
"""

from __future__ import annotations

from xdsl.dialects import arith, llvm, scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffect, NoMemoryEffect, RecursiveMemoryEffect

from ....dialects import effects
from ....dialects.volatility import is_ordered
from ...decisions.device_functions import PURE_FUNCTIONS
from .acc_ops import callee_of
from .building import constant_value, erase

effects.complete()
_UNMARKED = (arith.ExtSIOp, arith.RemUIOp)
"""Arithmetic that xDSL does not mark as pure."""
_DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.FloorDivSIOp,
)
_kinds: dict[type[Operation], bool | None] = {}
"""Whether operations of a class are pure; None: they are if the operations in their regions are."""


def _kind(cls: type[Operation]) -> bool | None:
    if issubclass(cls, _UNMARKED):
        return True
    traits = list(cls.get_traits_of_type(MemoryEffect))
    if not traits:
        return False
    if any(isinstance(trait, RecursiveMemoryEffect) for trait in traits):
        return None
    return all(isinstance(trait, NoMemoryEffect) for trait in traits)


def is_pure(op: Operation) -> bool:
    """
    Whether `op`, including its regions, only computes results from its operands. It may still trap: see
    `may_trap`.
    """
    cls = type(op)
    if cls not in _kinds:
        _kinds[cls] = _kind(cls)
    known = _kinds[cls]
    if known is not None:
        return known
    return all(is_pure(inner) for r in op.regions for block in r.blocks for inner in block.ops)


def may_trap(op: Operation) -> bool:
    """Whether `op` is an integer division that may be by zero or overflow."""
    return isinstance(op, _DIVISIONS) and constant_value(op.rhs) in (None, 0, -1)


def is_pure_call(op: Operation) -> bool:
    """Whether `op` calls a library function whose result depends on its arguments alone."""
    return callee_of(op) in PURE_FUNCTIONS


def only_computes(op: Operation) -> bool:
    """Whether `op` has no regions and is arithmetic, by instructions or by a library function."""
    return not op.regions and (is_pure(op) or is_pure_call(op))


def only_reads(op: Operation) -> bool:
    """Whether `op` itself, apart from its regions, has no effect other than reading memory."""
    if isinstance(op, llvm.LoadOp):
        return not is_ordered(op)
    return isinstance(op, scf.ForOp | scf.IfOp | scf.YieldOp) or is_pure(op)


def erase_unused(value: SSAValue) -> None:
    """
    Erases the operation of an unused value, if it is pure and has no regions, and then those of its operands
    that nothing else uses. Does nothing for a block argument and for a value that was erased before.
    """
    op = value.owner
    if not isinstance(op, Operation) or op.parent is None or op.regions or not is_pure(op):
        return
    if any(result.first_use is not None for result in op.results):
        return
    operands = list(op.operands)
    erase(op)
    for operand in operands:
        erase_unused(operand)


def erase_unused_inside(op: Operation) -> None:
    """Erases the operations in the regions of `op` that `erase_unused` would erase, in one walk."""
    for inner in reversed(list(op.walk())):
        if inner.regions or not inner.results or inner is op:
            continue
        if all(result.first_use is None for result in inner.results) and is_pure(inner):
            erase(inner)
