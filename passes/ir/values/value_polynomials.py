"""
Reads SSA values as polynomials, through conversions that keep the value of a subscript.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from xdsl.dialects import arith, llvm
from xdsl.ir import Attribute, SSAValue

from ....dialects.accx_element import Index
from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import bit_width
from ..ops.building import constant_value

SymbolOf = Callable[[SSAValue], "Hashable | None"]
"""The symbol a value is, or None when it has to be read as an expression (or is not known)."""


_SAME_VALUE = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp)
"""
Conversions that keep a value as long as it fits the narrower type. Signed overflow is undefined; unsigned
arithmetic and `TruncIOp` wrap, so that a polynomial with products may be two numbers where the subscript
is one: callers to whom this matters pass `narrowed`.
"""
_INT_BITS = 32
_ADDRESS_BITS = 64


def keeps_value(op: object) -> bool:
    """
    Whether `op` is a conversion that keeps a subscript's value. Conversions to types narrower than
    `int`, and from such types without sign (a comparison, an `unsigned char`), may not.
    """
    if not isinstance(op, _SAME_VALUE):
        return False
    match op:
        case arith.TruncIOp():
            type_: Attribute = op.result.type
        case arith.ExtUIOp():
            type_ = op.input.type
        case _:
            return True
    width = bit_width(type_)
    return width is None or width >= _INT_BITS


MOST_TERMS, HIGHEST_DEGREE = 64, 12
"""
Limits on terms and degree: larger polynomials are of no use to an analysis, and products of sums grow
exponentially.
"""


def is_manageable(terms: int, degree: int) -> bool:
    """Whether a polynomial of this size is worth expanding."""
    return terms <= MOST_TERMS and degree <= HIGHEST_DEGREE


Narrowed = Callable[["Polynomial", int], None]
"""Called with a polynomial that a conversion may have reduced modulo 2^width, and that width in bits."""


def _narrow_width(op: arith.ExtUIOp | arith.TruncIOp) -> int | None:
    """The width in bits of the narrower type of a conversion; None if that is not an integer type."""
    return bit_width(op.result.type if isinstance(op, arith.TruncIOp) else op.input.type)


_COMBINING = (
    *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp),
    *(llvm.AddOp, llvm.MulOp),
)


def from_value(
    value: SSAValue | Index,
    symbol_of: SymbolOf,
    depth: int = 64,
    narrowed: Narrowed | None = None,
) -> Polynomial | None:
    """
    `value` as a polynomial over symbols; a subscript is widened as in C. None if it is not a polynomial, or
    too large. `narrowed` is called for conversions that keep the value only if nothing wraps around.
    """
    reader = _PolynomialReader(symbol_of, narrowed)
    if isinstance(value, Index):
        return reader.widened(value, depth)
    return reader.read(value, depth)


@dataclass
class _PolynomialReader:
    """One call of `from_value`: each value is read once, however many expressions use it."""

    symbol_of: SymbolOf
    narrowed: Narrowed | None
    known: dict[SSAValue, Polynomial | None] = field(
        default_factory=dict[SSAValue, "Polynomial | None"]
    )

    def read(self, value: SSAValue, depth: int) -> Polynomial | None:
        if value not in self.known:
            self.known[value] = self._expand(value, depth)
        return self.known[value]

    def widened(self, subscript: Index, depth: int) -> Polynomial | None:
        """A subscript converted to i64."""
        value, width = subscript.value, bit_width(subscript.value.type)
        assert width is not None
        constant = constant_value(value)
        if constant is not None:
            return Polynomial.constant(constant % (1 << width) if subscript.unsigned else constant)
        if width > _ADDRESS_BITS or (subscript.unsigned and width < _ADDRESS_BITS):
            return self._converted(value, depth, min(width, _ADDRESS_BITS))
        return self.read(value, depth)

    def _converted(self, value: SSAValue, depth: int, width: int | None) -> Polynomial | None:
        """The operand of a conversion that keeps, or zero-extends from, `width` bits."""
        if width is not None and width < _INT_BITS:
            return None
        inner = self.read(value, depth - 1)
        if self.narrowed is not None and inner is not None and width is not None:
            self.narrowed(inner, width)
        return inner

    def _expand(self, value: SSAValue, depth: int) -> Polynomial | None:
        constant = constant_value(value)
        if constant is not None:
            return Polynomial.constant(constant)
        symbol = self.symbol_of(value)
        if symbol is not None:
            return Polynomial.symbol(symbol)
        owner = value.owner
        if depth == 0:
            return None
        if isinstance(owner, _SAME_VALUE) and keeps_value(owner):
            wraps = isinstance(owner, arith.ExtUIOp | arith.TruncIOp)
            return self._converted(
                owner.operands[0], depth, _narrow_width(owner) if wraps else None
            )
        if not isinstance(owner, _COMBINING):
            return None
        left = self.read(owner.operands[0], depth - 1)
        right = self.read(owner.operands[1], depth - 1)
        return None if left is None or right is None else _combined(owner, left, right)


def _combined(
    op: arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp | llvm.AddOp | llvm.MulOp,
    left: Polynomial,
    right: Polynomial,
) -> Polynomial | None:
    """The result of `op` on two polynomials; None if it is not a polynomial, or too large."""
    if isinstance(op, arith.MuliOp | llvm.MulOp):
        size = len(left.terms) * len(right.terms), left.degree + right.degree
    else:
        size = len(left.terms) + len(right.terms), 0
    if not is_manageable(*size):
        return None
    match op:
        case arith.AddiOp() | llvm.AddOp():
            return left + right
        case arith.SubiOp():
            return left - right
        case arith.MuliOp() | llvm.MulOp():
            return left * right
        case arith.ShLIOp():
            amount = right.as_constant
            return None if amount is None or not 0 <= amount < 63 else left * (1 << amount)
