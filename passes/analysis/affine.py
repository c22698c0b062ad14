"""
Integer polynomials over loop variables and values known before a construct.

An `Affine` is a sum of products of symbols with integer coefficients: enough for subscripts like
`i * n + j` with `n` known only at run time. Symbols are any hashable objects, so the arithmetic is
tested without IR; `from_value` reads an SSA value with the caller's notion of what a symbol is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, llvm
from xdsl.ir import Attribute, SSAValue

from .acc_ops import bit_width, constant_value

Monomial = tuple[Hashable, ...]
"""Symbols multiplied with one another, made by `product`; `()` is the constant term."""


class _Product(tuple[Hashable, ...]):
    """
    Two or more symbols, listed as they were multiplied and equal in any order: what is emitted for them
    then follows from the program, not from hashes, which differ from run to run.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(self) != len(cast(Monomial, other)):
            return False
        left = list(cast(Monomial, other))
        for symbol in self:
            if symbol not in left:
                return False
            left.remove(symbol)
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(sum(hash(symbol) for symbol in self))


def product(symbols: Iterable[Hashable]) -> Monomial:
    """The monomial of these symbols; equal to that of the same symbols in another order."""
    monomial = tuple(symbols)
    return _Product(monomial) if len(monomial) > 1 else monomial


@dataclass(frozen=True)
class Affine:
    """`sum(coefficient * product(symbols))`; terms with coefficient 0 never appear."""

    terms: Mapping[Monomial, int]

    @staticmethod
    def constant(value: int) -> Affine:
        return Affine({(): value} if value else {})

    @staticmethod
    def symbol(symbol: Hashable) -> Affine:
        return Affine({(symbol,): 1})

    def __add__(self, other: Affine | int) -> Affine:
        other = other if isinstance(other, Affine) else Affine.constant(other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Affine({m: c for m, c in terms.items() if c})

    def __neg__(self) -> Affine:
        return Affine({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other)

    def __mul__(self, other: Affine | int) -> Affine:
        other = other if isinstance(other, Affine) else Affine.constant(other)
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                monomial = product(m1 + m2)
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Affine({m: c for m, c in terms.items() if c})

    @property
    def as_constant(self) -> int | None:
        """The value, if no symbol is left."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def degree(self) -> int:
        """The largest number of symbols multiplied with one another."""
        return max((len(monomial) for monomial in self.terms), default=0)

    @property
    def symbols(self) -> set[Hashable]:
        return {symbol for monomial in self.terms for symbol in monomial}

    def split(self, symbol: Hashable) -> tuple[Affine, Affine] | None:
        """`(rest, factor)` with `self == rest + factor * symbol`; None if it is not linear in it."""
        rest: dict[Monomial, int] = {}
        factor: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms.items():
            occurrences = monomial.count(symbol)
            if occurrences == 0:
                rest[monomial] = coefficient
            elif occurrences == 1:
                factor[product(s for s in monomial if s != symbol)] = coefficient
            else:
                return None
        return Affine(rest), Affine(factor)

    def substitute(self, symbol: Hashable, value: Affine) -> Affine | None:
        """The polynomial with `value` for `symbol`; None if it is not linear in it."""
        parts = self.split(symbol)
        return None if parts is None else parts[0] + parts[1] * value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))


ZERO = Affine.constant(0)
ONE = Affine.constant(1)

SymbolOf = Callable[[SSAValue], "Hashable | None"]
"""The symbol a value is, or None when it has to be read as an expression (or is not known)."""


_SAME_VALUE = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp)
"""
Conversions that keep a value as long as it fits the narrower type. Signed overflow is undefined; unsigned
arithmetic and `TruncIOp` wrap, so that a polynomial with products may be two numbers where the subscript
is one: whoever relies on the difference asks for them with `narrowed`.
"""
_INT_BITS = 32


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
A polynomial with more terms, or of a higher degree, says nothing that anybody asks for, and products of
sums grow exponentially.
"""


def is_manageable(terms: int, degree: int) -> bool:
    """Whether a polynomial of this size is worth writing out."""
    return terms <= MOST_TERMS and degree <= HIGHEST_DEGREE


Narrowed = Callable[["Affine", int], None]
"""Told of a polynomial that a conversion may have reduced modulo 2 to the power of a width in bits."""


def _narrow_width(op: arith.ExtUIOp | arith.TruncIOp) -> int | None:
    """How many bits of its operand are left in the result of `op`."""
    return bit_width(op.result.type if isinstance(op, arith.TruncIOp) else op.input.type)


def from_value(
    value: SSAValue, symbol_of: SymbolOf, depth: int = 64, narrowed: Narrowed | None = None
) -> Affine | None:
    """
    `value` as a polynomial over symbols; None if it is no such expression, or a huge one. `narrowed` is
    told where that holds only while nothing wraps around.
    """
    return _Reader(symbol_of, narrowed).read(value, depth)


@dataclass
class _Reader:
    """One call of `from_value`: each value is read once, however many expressions use it."""

    symbol_of: SymbolOf
    narrowed: Narrowed | None
    known: dict[SSAValue, Affine | None] = field(default_factory=dict[SSAValue, "Affine | None"])

    def read(self, value: SSAValue, depth: int) -> Affine | None:
        if value not in self.known:
            self.known[value] = self._expand(value, depth)
        return self.known[value]

    def _expand(self, value: SSAValue, depth: int) -> Affine | None:
        constant = constant_value(value)
        if constant is not None:
            return Affine.constant(constant)
        symbol = self.symbol_of(value)
        if symbol is not None:
            return Affine.symbol(symbol)
        owner = value.owner
        if depth == 0:
            return None
        if isinstance(owner, _SAME_VALUE) and keeps_value(owner):
            inner = self.read(owner.operands[0], depth - 1)
            wraps = isinstance(owner, arith.ExtUIOp | arith.TruncIOp)
            width = _narrow_width(owner) if wraps else None
            if self.narrowed is not None and inner is not None and width is not None:
                self.narrowed(inner, width)
            return inner
        if not isinstance(
            owner,
            arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp | llvm.AddOp | llvm.MulOp,
        ):
            return None
        left = self.read(owner.operands[0], depth - 1)
        right = self.read(owner.operands[1], depth - 1)
        return None if left is None or right is None else _combined(owner, left, right)


def _combined(
    op: arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp | llvm.AddOp | llvm.MulOp,
    left: Affine,
    right: Affine,
) -> Affine | None:
    """The result of `op` on two polynomials, unless it is huge or none."""
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
