"""How addresses that data select, as `table[index[i]][j]`, move with a loop variable."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from ....dialects.accx_element import Index
from ...decisions.polynomials import ZERO, Polynomial
from .addresses import steps_to
from .region_values import RegionSymbols
from .value_polynomials import from_value


class _Reader:
    """Reads values as polynomials, in which integers from memory may be symbols."""

    def __init__(self, symbols: RegionSymbols):
        self._symbols = symbols

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        return from_value(value, self._symbol)

    def _symbol(self, value: SSAValue) -> Hashable | None:
        known = self._symbols.symbol(value)
        loaded = isinstance(value.owner, llvm.LoadOp) and isinstance(value.type, IntegerType)
        return value if known is None and loaded else known


def gathered_slope(pointer: SSAValue, variable: SSAValue, symbols: RegionSymbols) -> int | None:
    """
    The bytes by which an address moves with a loop variable, where what is read from the same place is the
    same; None if that is not one number.
    """
    reader, total = _Reader(symbols), ZERO
    for step in steps_to(pointer):
        moved = step.in_bytes(reader)
        if moved is None:
            return None
        total = total + moved
    loaded = [s for s in total.symbols if isinstance(s, SSAValue) and s is not variable]
    if any(_moves_with(value, variable) for value in loaded):
        return None
    return total.slope(variable)


def _moves_with(value: SSAValue, variable: SSAValue) -> bool:
    """Whether a value is computed from `variable`, or read from an address that is."""
    work, seen = [value], {value}
    while work:
        current = work.pop()
        if current is variable:
            return True
        if isinstance(current.owner, Operation):
            operands = [v for inner in current.owner.walk() for v in inner.operands]
            work += [v for v in operands if v not in seen]
            seen.update(operands)
    return False
