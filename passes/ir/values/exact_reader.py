"""Subscripts as polynomials over the values of an iteration, whatever computes those."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ....dialects.accx_element import Index
from ...decisions.polynomials import Polynomial
from .value_polynomials import from_value

_TRANSPARENT = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ShLIOp,
    arith.ExtSIOp,
)
"""Operations that a subscript is a polynomial through, as they do not wrap around."""


@dataclass
class ExactReader:
    """Reads subscripts as polynomials over the values of an iteration; `wraps` if one may wrap around."""

    wraps: bool = False
    known: dict[SSAValue | Index, Polynomial | None] = field(
        default_factory=dict[SSAValue | Index, "Polynomial | None"]
    )

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        if value not in self.known:
            self.known[value] = from_value(value, self._symbol, narrowed=self._narrowed)
        return self.known[value]

    def _symbol(self, value: SSAValue) -> SSAValue | None:
        return None if isinstance(value.owner, _TRANSPARENT) else value

    def _narrowed(self, poly: Polynomial, width: int) -> None:
        self.wraps |= poly.as_constant is None
