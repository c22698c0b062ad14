"""How the memory accesses of a loop body move with a loop variable: along memory, or across it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.ir import Operation, SSAValue

from ..decisions.polynomials import Polynomial
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


def _subscripts(gep: llvm.GEPOp) -> list[SSAValue | int]:
    dynamic = iter(gep.ssa_indices)
    return [
        next(dynamic) if index == llvm.GEP_USE_SSA_VAL else index
        for index in gep.rawConstantIndices.iter_values()
    ]


def _factor(
    subscript: SSAValue | int, variable: SSAValue, symbols: RegionSymbols
) -> Polynomial | None:
    """The coefficient of `variable`; None if the subscript is not affine."""
    if isinstance(subscript, int):
        return Polynomial.constant(0)
    poly = symbols.polynomial(subscript)
    parts = poly.split(variable) if poly is not None else None
    return None if parts is None else parts[1]


def count_access(
    pointer: SSAValue, element: int, variable: SSAValue, symbols: RegionSymbols, into: AccessCounts
) -> None:
    """Classifies one load or store through `pointer` of `element` bytes."""
    contiguous = strided = False
    owner = pointer.owner
    while isinstance(owner, llvm.GEPOp):
        subscripts = _subscripts(owner)
        for position, subscript in enumerate(subscripts):
            factor = _factor(subscript, variable, symbols)
            value = None if factor is None else factor.as_constant
            if value == 0:
                continue
            near = size_of(owner.elem_type) <= max(element, NEAR_BYTES)
            last = near and all(isinstance(later, int) for later in subscripts[position + 1 :])
            if value in (1, -1) and last:
                contiguous = True
            else:
                strided = True
        owner = owner.ptr.owner
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
