"""
Combiners of two copies of a reduction variable: the meaning of the combiner region of its recipe (read by
`recipe_reading.py`; docs/design.md, "Recipes").

`ScalarOperator` is one of OpenACC's reduction operators (OpenACC 3.4, 2.5.15) on integers, floating-point
numbers and products of complex numbers, for which targets have instructions. `Elementwise` is other
arithmetic on one scalar of each copy, `Whole` any other region, on whole objects in memory. The operations
of the latter two are cloned wherever copies are combined.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....compiler.base.diagnostics import SourceLoc, error
from ....dialects.llvm_ext import AtomicBinOp
from ..ops.building import Cursor
from ..ops.complex_values import element_type, is_complex, one, product
from ..ops.layout import size_of

Kind = acc.ReductionOpKind

_INTEGER: dict[Kind, type[Operation]] = {
    Kind.ADD: arith.AddiOp,
    Kind.MUL: arith.MuliOp,
    Kind.MAX: arith.MaxSIOp,
    Kind.MIN: arith.MinSIOp,
    Kind.IAND: arith.AndIOp,
    Kind.IOR: arith.OrIOp,
    Kind.XOR: arith.XOrIOp,
}
_UNSIGNED: dict[Kind, type[Operation]] = {Kind.MAX: arith.MaxUIOp, Kind.MIN: arith.MinUIOp}
_FLOAT: dict[Kind, type[Operation]] = {
    Kind.ADD: arith.AddfOp,
    Kind.MUL: arith.MulfOp,
    Kind.MAX: arith.MaxnumfOp,
    Kind.MIN: arith.MinnumfOp,
}
_FLOATS = (Float16Type, Float32Type, Float64Type, Float80Type, Float128Type)
_LOGICAL = (Kind.LAND, Kind.LOR)
_ATOMIC: dict[Kind, AtomicBinOp] = {
    Kind.ADD: AtomicBinOp.add,
    Kind.MAX: AtomicBinOp.max,
    Kind.MIN: AtomicBinOp.min,
    Kind.IAND: AtomicBinOp.and_,
    Kind.IOR: AtomicBinOp.or_,
    Kind.XOR: AtomicBinOp.xor,
}
_ATOMIC_UNSIGNED = {Kind.MAX: AtomicBinOp.umax, Kind.MIN: AtomicBinOp.umin}


def truth_of(at: Cursor, value: SSAValue, hint: str | None = None) -> SSAValue:
    """An i1: an integer or real number is not 0."""
    zero = at.zero(value.type)
    if isinstance(value.type, AnyFloat):
        return at.value(arith.CmpfOp(value, zero, "une"), hint)
    return at.value(arith.CmpiOp(value, zero, "ne"), hint)


def number_of(at: Cursor, truth: SSAValue, type: Attribute, hint: str | None = None) -> SSAValue:
    """1 or 0, for an i1, in a type of integers or real numbers."""
    if isinstance(type, AnyFloat):
        return at.value(arith.UIToFPOp(truth, type), hint)
    assert isinstance(type, IntegerType)
    return truth if type == i1 else at.value(arith.ExtUIOp(truth, type), hint)


class Combiner(ABC):
    """Combines two values of `type`; combining with the neutral value changes nothing."""

    type: Attribute
    is_symmetric = False
    """Whether exchanging the two operands leaves every bit of the result the same."""

    @abstractmethod
    def neutral(self, at: Cursor) -> SSAValue:
        """The neutral value, with which a copy starts."""

    @abstractmethod
    def combine(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """`a op b` at the cursor."""

    def start(self, at: Cursor, place: SSAValue) -> None:
        """Stores the initial value to the copy at `place`."""
        at.store(self.neutral(at), place)

    def fold(self, at: Cursor, target: SSAValue, source: SSAValue, hint: str | None = None) -> None:
        """`*target op= *source`"""
        old = at.load(target, self.type, hint)
        new = at.load(source, self.type)
        at.store(self.combine(at, old, new, "combined"), target)

    def atomic(self) -> AtomicBinOp | None:
        """
        The `llvm.atomicrmw` kind that combines values of 32 and 64 bits on a device; None if there is none.
        """
        return None


@dataclass(frozen=True, slots=True)
class ScalarOperator(Combiner):
    """
    A reduction operator on a scalar type; of complex numbers only the product (sums go part by part).
    `unsigned`: `max` and `min` compare integers without sign.
    """

    kind: Kind
    type: Attribute
    unsigned: bool = False

    is_symmetric = True

    @property
    def is_complex(self) -> bool:
        return is_complex(self.type)

    @property
    def is_float(self) -> bool:
        return isinstance(self.type, AnyFloat) or self.is_complex

    @property
    def bits(self) -> int:
        if isinstance(self.type, IntegerType):
            return self.type.width.data
        if self.is_complex:
            return 2 * element_type(self.type).bitwidth
        assert isinstance(self.type, AnyFloat)
        return self.type.bitwidth

    @property
    def exists(self) -> bool:
        """Whether C defines the operator on the type and code can be made for it."""
        if self.is_complex:
            return self.kind is Kind.MUL
        if isinstance(self.type, IntegerType):
            known = self.kind in _INTEGER or self.kind in _LOGICAL
            return known and self.bits in (1, 8, 16, 32, 64)
        return isinstance(self.type, _FLOATS) and (self.kind in _FLOAT or self.kind in _LOGICAL)

    def neutral(self, at: Cursor) -> SSAValue:
        if self.is_complex:
            return one(at.value, self.type)
        return at.constant(self.neutral_value(), self.type)

    def neutral_value(self) -> int | float:
        """0, 1, all ones, or the least or greatest value of the type, as a Python number."""
        if self.is_float:
            floats = {Kind.MUL: 1.0, Kind.MAX: -math.inf, Kind.MIN: math.inf, Kind.LAND: 1.0}
            return floats.get(self.kind, 0.0)
        low, high = -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        if self.unsigned:
            low, high = 0, -1
        integers = {Kind.MUL: 1, Kind.MAX: low, Kind.MIN: high, Kind.IAND: -1, Kind.LAND: 1}
        return integers.get(self.kind, 0)

    def combine(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        if self.kind in _LOGICAL:
            return self._logical(at, a, b, hint)
        if self.is_complex:
            return product(at.value, a, b)
        table = _FLOAT if self.is_float else _INTEGER
        op = table.get(self.kind)
        if self.unsigned and not self.is_float and self.kind in _UNSIGNED:
            op = _UNSIGNED[self.kind]
        if op is None:
            raise error(
                SourceLoc.from_attr(at.loc),
                f"there is no reduction operator '{self.kind.value}' on {self.type}",
                "use one of + * max min & | ^ && || on a type that C has it for",
            )
        return at.value(op(a, b), hint)  # type: ignore[call-arg]

    def _logical(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None) -> SSAValue:
        op = arith.AndIOp if self.kind is Kind.LAND else arith.OrIOp
        both = at.value(op(truth_of(at, a), truth_of(at, b)))
        return number_of(at, both, self.type, hint)

    def atomic(self) -> AtomicBinOp | None:
        if self.bits not in (32, 64):
            return None
        if self.is_float:
            plain = self.kind is Kind.ADD and not self.is_complex
            return AtomicBinOp.fadd if plain else None
        if self.unsigned and self.kind in _ATOMIC_UNSIGNED:
            return _ATOMIC_UNSIGNED[self.kind]
        return _ATOMIC.get(self.kind)


@dataclass(frozen=True, slots=True)
class ScalarExpression:
    """
    `result`, computed by side-effect-free `operations` (in this order) from values of the groups `inputs`
    only.
    """

    result: SSAValue
    operations: tuple[Operation, ...]
    inputs: tuple[frozenset[SSAValue], ...] = ()

    def at(self, at: Cursor, *values: SSAValue) -> SSAValue:
        """Emits the expression at the cursor with these values for the inputs; returns the result."""
        known = {old: new for group, new in zip(self.inputs, values, strict=True) for old in group}
        at.inline(self.operations, known)
        return known[self.result]


@dataclass(frozen=True, slots=True)
class Elementwise(Combiner):
    """Arithmetic of a recipe on one scalar of each copy."""

    type: Attribute
    first: ScalarExpression
    expression: ScalarExpression

    def neutral(self, at: Cursor) -> SSAValue:
        return self.first.at(at)

    def combine(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        return self.expression.at(at, a, b)


@dataclass(frozen=True, slots=True)
class Whole(Combiner):
    """
    A recipe's regions on objects of `type` in memory: `init` of the copy that its operation `copy` makes,
    `combiner` of two copies, the first of which gets the result.
    """

    type: Attribute
    init: Block = field(compare=False)
    copy: Operation = field(compare=False)
    combiner: Block = field(compare=False)

    @property
    def bytes(self) -> int:
        return size_of(self.type)

    def start(self, at: Cursor, place: SSAValue) -> None:
        at.inline(self.init.ops, {self.copy.results[0]: place})

    def fold(self, at: Cursor, target: SSAValue, source: SSAValue, hint: str | None = None) -> None:
        mine, other = self.combiner.args[:2]
        at.inline(self.combiner.ops, {mine: target, other: source})

    def neutral(self, at: Cursor) -> SSAValue:
        place = at.temporary(self.type, "neutral")
        self.start(at, place)
        return at.load(place, self.type, "neutral")

    def combine(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        mine, other = at.temporary(self.type, "mine"), at.temporary(self.type, "other")
        at.store(a, mine)
        at.store(b, other)
        self.fold(at, mine, other)
        return at.load(mine, self.type, hint)
