"""
Scalar variables whose value in a construct the host knows before it.

A variable with a device copy of its own (a data clause or `declare` names it somewhere) may have a
different value there, and the construct uses that one.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import MAPPING_OPS, enclosing_module, is_implicit
from .region_values import HostExpression, HostLoad


def _is_mapped(pointer: SSAValue) -> bool:
    """Whether a data clause that the user wrote names the variable at this address."""
    return any(
        isinstance(use.operation, (*MAPPING_OPS, acc.GetDevicePtrOp))
        and not is_implicit(use.operation)
        for use in pointer.uses
    )


def _is_global_mapped(name: str, construct: Operation) -> bool:
    for op in enclosing_module(construct).walk():
        match op:
            case llvm.GlobalOp() if op.sym_name.data == name:
                if "acc.declare" in op.attributes:
                    return True
            case llvm.AddressOfOp() if op.global_name.string_value() == name:
                if _is_mapped(op.result):
                    return True
            case _:
                pass
    return False


class HostScalars:
    """Answers for one construct; each variable is looked up once."""

    def __init__(self, construct: Operation):
        self.construct = construct
        self.found: dict[object, bool] = {}

    def knows(self, load: HostLoad) -> bool:
        """Whether the construct sees the host's value of the loaded variable."""
        variable = load.variable
        if variable not in self.found:
            self.found[variable] = not (
                _is_global_mapped(variable, self.construct)
                if isinstance(variable, str)
                else isinstance(variable, SSAValue) and _is_mapped(variable)
            )
        return self.found[variable]

    def knows_all(self, polys: Iterable[Polynomial]) -> bool:
        """Whether no polynomial contains a variable whose value on the device may differ."""
        for poly in polys:
            for symbol in poly.symbols:
                if isinstance(symbol, HostLoad) and not self.knows(symbol):
                    return False
                if isinstance(symbol, HostExpression) and not self.knows_all(symbol.operands):
                    return False
        return True
