"""How the memory accesses of a loop body move with a loop variable: along memory, or across it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.ir import Operation, SSAValue

from .addresses import steps_to
from .layout import size_of
from .region_values import RegionSymbols

NEAR_BYTES = 16
"""Records up to this size are neighbouring elements too: a warp's accesses to them share sectors."""


@dataclass
class AccessCounts:
    """Accesses of neighbouring elements, accesses otherwise depending on the variable, widest element."""

    contiguous: int = 0
    strided: int = 0
    element_bytes: int = 0


def count_access(
    pointer: SSAValue, element: int, variable: SSAValue, symbols: RegionSymbols, into: AccessCounts
) -> None:
    """Classifies one load or store through `pointer` of `element` bytes."""
    contiguous = strided = False
    for step in steps_to(pointer):
        steps, type_ = step.read_flat(symbols)
        parts = None if steps is None else steps.split(variable)
        factor = None if parts is None else parts[1].as_constant
        if factor == 0:
            continue
        if factor in (1, -1) and size_of(type_) <= max(element, NEAR_BYTES):
            contiguous = True
        else:
            strided = True
    into.element_bytes = max(into.element_bytes, element)
    if strided:
        into.strided += 1
    elif contiguous:
        into.contiguous += 1


def count_accesses(
    ops: Iterable[Operation], variable: SSAValue, symbols: RegionSymbols
) -> AccessCounts:
    """All loads and stores among `ops`; loads weigh as stores."""
    counts = AccessCounts()
    for op in ops:
        if isinstance(op, llvm.LoadOp):
            count_access(op.ptr, size_of(op.dereferenced_value.type), variable, symbols, counts)
        elif isinstance(op, llvm.StoreOp):
            count_access(op.ptr, size_of(op.value.type), variable, symbols, counts)
    return counts
