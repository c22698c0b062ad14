"""How the addresses in a loop body move with a loop variable: to neighbouring elements, or with a stride."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx_element import Index
from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import accessed_type
from ..ops.building import constant_value
from ..ops.layout import size_of
from .addresses import PolynomialReader, steps_to
from .region_values import RegionSymbols
from .value_polynomials import from_value

NEAR_BYTES = 16
"""
Elements that are at most this many bytes apart count as neighbouring, in structures or not (`a[2 * i + 1]`):
a warp's accesses to them share sectors.
"""
RECORD_BYTES = 128
"""Of larger structures, the parts that the lanes of a warp access at once are in cache lines of their own."""


@dataclass
class AccessCounts:
    """
    The number of accesses to neighbouring elements, of other accesses that depend on the variable, of those
    among the latter that are to members of neighbouring structures (of at most `RECORD_BYTES` bytes), and the
    widest element in bytes. `apart`: the accesses to neighbouring elements with others between them.
    """

    contiguous: int = 0
    apart: int = 0
    strided: int = 0
    records: int = 0
    element_bytes: int = 0

    @property
    def along(self) -> int:
        """The accesses to neighbouring elements and structures."""
        return self.contiguous + self.records

    @property
    def across(self) -> int:
        """The other accesses that depend on the variable."""
        return self.strided - self.records


FlatStep = tuple[Polynomial | None, Attribute]
"""A subscript, None if it is not a polynomial, and the type of the elements that it counts."""


def flat_steps(pointer: SSAValue, symbols: PolynomialReader) -> tuple[FlatStep, ...]:
    """The subscripts of an address."""
    return tuple(step.read_flat(symbols) for step in steps_to(pointer))


def count_access(
    steps: Iterable[FlatStep],
    element: int,
    variable: SSAValue,
    into: AccessCounts,
    stairs: StairSlopes | None = None,
) -> None:
    """
    Classifies one load or store of `element` bytes at an address of these subscripts. With `stairs`, which
    reads the operands of choices `c ? a : b` and quotients in them, a choice counts as its value that moves:
    `i > 0 ? i - 1 : 0` as `i - 1`. A quotient such as `i / 2`, which moves by at most one, counts as `i`.
    """
    contiguous = apart = record = strided = False
    for poly, type_ in steps:
        factor = None if poly is None else _slope(poly, variable, stairs)
        if factor == 0:
            continue
        size = size_of(type_)
        near = factor in (1, -1) and size <= element
        if near or (factor is not None and abs(factor) * size <= NEAR_BYTES):
            contiguous = True
            apart |= not near
        elif factor in (1, -1) and size <= RECORD_BYTES and isinstance(type_, llvm.LLVMStructType):
            record = True
        else:
            strided = True
    into.element_bytes = max(into.element_bytes, element)
    if strided or record:
        into.strided += 1
        into.records += not strided
    elif contiguous:
        into.contiguous += 1
        into.apart += apart


def _slope(poly: Polynomial, variable: SSAValue, stairs: StairSlopes | None) -> int | None:
    """The change of a polynomial with a variable; None if that is not a constant."""
    slope = poly.slope(variable)
    for symbol in poly.symbols:
        if symbol is variable or not (
            isinstance(symbol, SSAValue) and _is_stair(symbol) and _depends(symbol, variable)
        ):
            continue
        factor = poly.slope(symbol)
        rise = None if stairs is None else stairs.slope(symbol, variable)
        if slope is None or factor is None or rise is None:
            return None
        slope += factor * rise
    return slope


_QUOTIENTS = arith.DivSIOp | arith.DivUIOp | arith.ShRSIOp | arith.ShRUIOp
_STAIRS = (arith.SelectOp, arith.DivSIOp, arith.DivUIOp, arith.ShRSIOp, arith.ShRUIOp)


def _is_stair(value: SSAValue) -> bool:
    """Whether a value may stay the same for several iterations: a choice or a quotient."""
    return isinstance(value.owner, _STAIRS)


def _quotient_slope(slope: int, divisor: int) -> int | None:
    """
    The change of `x / divisor`, rounded to an integer, where it changes, for an x that changes by `slope` in
    each iteration; None if that is not one number.
    """
    if abs(slope) <= divisor:
        return (slope > 0) - (slope < 0)
    return slope // divisor if slope % divisor == 0 else None


def _depends(value: SSAValue, variable: SSAValue) -> bool:
    """
    Whether a value may depend on `variable`, a loop's: true unless only arithmetic leads to it from outside
    of the loop.
    """
    loop = variable.owner
    assert isinstance(loop, Block)
    work, seen = [value], {value}
    while work:
        owner = work.pop().owner
        if owner is loop:
            return True
        if isinstance(owner, Operation) and loop.is_ancestor(owner):
            if not owner.name.startswith("arith."):
                return True
            work += [operand for operand in owner.operands if operand not in seen]
            seen.update(owner.operands)
    return False


class StairSlopes:
    """Reads values as polynomials, in which choices (`c ? a : b`) and quotients may be symbols."""

    def __init__(self, symbols: RegionSymbols):
        self._symbols = symbols
        self._slopes: dict[tuple[SSAValue, SSAValue], int | None] = {}
        self._known: dict[SSAValue, bool] = {}

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        found = self._symbols.polynomial(value)
        return from_value(value, self._symbol) if found is None else found

    def is_known(self, value: SSAValue | Polynomial | None) -> bool:
        """Whether a value is a polynomial, and so are the operands of choices and quotients in it."""
        if isinstance(value, SSAValue):
            if value not in self._known:
                self._known[value] = self.is_known(self.polynomial(value))
            return self._known[value]
        if not isinstance(value, Polynomial):
            return False
        stairs = [s for s in value.symbols if isinstance(s, SSAValue) and _is_stair(s)]
        parts = [v for s in stairs if isinstance(s.owner, Operation) for v in s.owner.operands[-2:]]
        return all(map(self.is_known, parts))

    def slope(self, stair: SSAValue, variable: SSAValue) -> int | None:
        """
        The change of a choice or a quotient with a variable, where it changes; None if that is not one
        constant.
        """
        key = stair, variable
        if key not in self._slopes:
            op = stair.owner
            assert isinstance(op, arith.SelectOp | _QUOTIENTS)
            self._slopes[key] = (
                self._choice(op, variable)
                if isinstance(op, arith.SelectOp)
                else self._quotient(op, variable)
            )
        return self._slopes[key]

    def _slope_of(self, value: SSAValue, variable: SSAValue) -> int | None:
        poly = self.polynomial(value)
        return None if poly is None else _slope(poly, variable, self)

    def _choice(self, op: arith.SelectOp, variable: SSAValue) -> int | None:
        moving = {self._slope_of(value, variable) for value in (op.lhs, op.rhs)} - {0}
        return 0 if not moving else moving.pop() if len(moving) == 1 else None

    def _quotient(self, op: _QUOTIENTS, variable: SSAValue) -> int | None:
        slope, number = self._slope_of(op.lhs, variable), constant_value(op.rhs)
        if slope is None or number is None or number < 0:
            return None
        is_shift = isinstance(op, arith.ShRSIOp | arith.ShRUIOp)
        divisor = 1 << min(number, 63) if is_shift else number
        return _quotient_slope(slope, divisor) if divisor else None

    def _symbol(self, value: SSAValue) -> Hashable | None:
        return value if _is_stair(value) else self._symbols.symbol(value)


class AccessCounter:
    """Counts the accesses of the loops of one construct; each address is read once for all loops around."""

    def __init__(self, symbols: RegionSymbols):
        self._symbols = StairSlopes(symbols)
        self._steps: dict[SSAValue, tuple[FlatStep, ...]] = {}

    def count(self, ops: Iterable[Operation], variable: SSAValue) -> AccessCounts:
        """The counts for all loads and stores among `ops`, each counted once."""
        counts = AccessCounts()
        for op in ops:
            if isinstance(op, llvm.LoadOp | llvm.StoreOp):
                size = size_of(accessed_type(op))
                count_access(self._steps_of(op.ptr), size, variable, counts, self._symbols)
        return counts

    def is_known(self, op: llvm.LoadOp | llvm.StoreOp) -> bool:
        """Whether the address of an access is known, and not computed from data or rounded numbers."""
        return all(self._symbols.is_known(poly) for poly, _ in self._steps_of(op.ptr))

    def _steps_of(self, pointer: SSAValue) -> tuple[FlatStep, ...]:
        if pointer not in self._steps:
            self._steps[pointer] = flat_steps(pointer, self._symbols)
        return self._steps[pointer]
