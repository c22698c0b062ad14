"""How the addresses in a loop body move with a loop variable: to neighbouring elements, or with a stride."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx_element import Index
from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import accessed_type
from ..ops.layout import size_of
from .addresses import PolynomialReader, steps_to
from .region_values import RegionSymbols
from .value_polynomials import from_value

NEAR_BYTES = 16
"""
Structures up to this many bytes count as neighbouring elements: a warp's accesses to them share sectors.
"""
RECORD_BYTES = 128
"""Of larger structures, the parts that the lanes of a warp access at once are in cache lines of their own."""


@dataclass
class AccessCounts:
    """
    The number of accesses to neighbouring elements, of other accesses that depend on the variable, of those
    among the latter that are to members of neighbouring structures (of at most `RECORD_BYTES` bytes), and the
    widest element in bytes.
    """

    contiguous: int = 0
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
    choices: SelectSlopes | None = None,
) -> None:
    """
    Classifies one load or store of `element` bytes at an address of these subscripts. With `choices`, which
    reads the values that a choice `c ? a : b` in them is made between, the choice counts as its value that
    moves: `i > 0 ? i - 1 : 0` as `i - 1`.
    """
    contiguous = record = strided = False
    for poly, type_ in steps:
        factor = None if poly is None else _slope(poly, variable, choices)
        if factor == 0:
            continue
        size = size_of(type_)
        if factor in (1, -1) and size <= max(element, NEAR_BYTES):
            contiguous = True
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


def _slope(poly: Polynomial, variable: SSAValue, choices: SelectSlopes | None) -> int | None:
    """The change of a polynomial with a variable; None if that is not a constant."""
    slope = poly.slope(variable)
    for symbol in poly.symbols:
        if not (isinstance(symbol, SSAValue) and _is_choice(symbol) and _depends(symbol, variable)):
            continue
        factor = poly.slope(symbol)
        chosen = None if choices is None else choices.slope(symbol, variable)
        if slope is None or factor is None or chosen is None:
            return None
        slope += factor * chosen
    return slope


def _is_choice(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.SelectOp)


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


class SelectSlopes:
    """Reads values as polynomials, in which choices (`c ? a : b`) may be symbols."""

    def __init__(self, symbols: RegionSymbols):
        self._symbols = symbols
        self._slopes: dict[tuple[SSAValue, SSAValue], int | None] = {}

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        found = self._symbols.polynomial(value)
        return from_value(value, self._symbol) if found is None else found

    def slope(self, choice: SSAValue, variable: SSAValue) -> int | None:
        """The change of a choice with a variable, where it changes; None if that is not one constant."""
        key = choice, variable
        if key not in self._slopes:
            self._slopes[key] = self._find_slope(choice, variable)
        return self._slopes[key]

    def _find_slope(self, choice: SSAValue, variable: SSAValue) -> int | None:
        op = choice.owner
        assert isinstance(op, arith.SelectOp)
        moving: set[int] = set()
        for value in (op.lhs, op.rhs):
            poly = self.polynomial(value)
            slope = None if poly is None else _slope(poly, variable, self)
            if slope is None:
                return None
            moving.add(slope)
        moving.discard(0)
        return None if len(moving) > 1 else sum(moving)

    def _symbol(self, value: SSAValue) -> Hashable | None:
        return value if _is_choice(value) else self._symbols.symbol(value)


class AccessCounter:
    """Counts the accesses of the loops of one construct; each address is read once for all loops around."""

    def __init__(self, symbols: RegionSymbols):
        self._symbols = SelectSlopes(symbols)
        self._steps: dict[SSAValue, tuple[FlatStep, ...]] = {}

    def count(self, ops: Iterable[Operation], variable: SSAValue) -> AccessCounts:
        """The counts for all loads and stores among `ops`, each counted once."""
        counts = AccessCounts()
        for op in ops:
            if isinstance(op, llvm.LoadOp | llvm.StoreOp):
                if op.ptr not in self._steps:
                    self._steps[op.ptr] = flat_steps(op.ptr, self._symbols)
                size = size_of(accessed_type(op))
                count_access(self._steps[op.ptr], size, variable, counts, self._symbols)
        return counts
