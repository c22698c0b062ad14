"""
Reduction operators as IR: identity and combination (OpenACC 3.4, 2.5.15), and what a reduction
operation reduces: leaves of scalar type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, Float80Type, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects.llvm_ext import AtomicBinOp
from ..ir.building import Cursor, constant_value
from ..ir.complex_values import element_type, is_complex, one, product
from ..ir.layout import size_of

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
_ATOMIC: dict[Kind, AtomicBinOp] = {
    Kind.ADD: AtomicBinOp.add,
    Kind.MAX: AtomicBinOp.max,
    Kind.MIN: AtomicBinOp.min,
    Kind.IAND: AtomicBinOp.and_,
    Kind.IOR: AtomicBinOp.or_,
    Kind.XOR: AtomicBinOp.xor,
}
_ATOMIC_UNSIGNED = {Kind.MAX: AtomicBinOp.umax, Kind.MIN: AtomicBinOp.umin}


@dataclass(frozen=True, slots=True)
class Combiner:
    """A reduction operator on values of a scalar type; complex numbers are only multiplied."""

    kind: Kind
    type: Attribute
    unsigned: bool

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

    def identity(self, at: Cursor) -> SSAValue:
        """The value that changes nothing."""
        if self.is_complex:
            return one(at.value, self.type)
        return at.constant(self.identity_value(), self.type)

    def identity_value(self) -> int | float:
        """The identity as a Python number."""
        if self.is_float:
            floats = {Kind.MUL: 1.0, Kind.MAX: -math.inf, Kind.MIN: math.inf, Kind.LAND: 1.0}
            return floats.get(self.kind, 0.0)
        low, high = -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        if self.unsigned:
            low, high = 0, -1
        integers = {Kind.MUL: 1, Kind.MAX: low, Kind.MIN: high, Kind.IAND: -1, Kind.LAND: 1}
        return integers.get(self.kind, 0)

    def combine(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """`a op b` at the cursor."""
        if self.kind in (Kind.LAND, Kind.LOR):
            return self._logical(at, a, b, hint)
        if self.is_complex:
            return product(at.value, a, b)
        table = _FLOAT if self.is_float else _INTEGER
        op = table[self.kind]
        if self.unsigned and self.kind in _UNSIGNED:
            op = _UNSIGNED[self.kind]
        return at.value(op(a, b), hint)  # type: ignore[call-arg]

    def _logical(self, at: Cursor, a: SSAValue, b: SSAValue, hint: str | None) -> SSAValue:
        zero = at.constant(0.0 if self.is_float else 0, self.type)

        def truth(value: SSAValue) -> SSAValue:
            if self.is_float:
                return at.value(arith.CmpfOp(value, zero, "une"))
            return at.value(arith.CmpiOp(value, zero, "ne"))

        op = arith.AndIOp if self.kind is Kind.LAND else arith.OrIOp
        both = at.value(op(truth(a), truth(b)))
        if isinstance(self.type, AnyFloat):
            return at.value(arith.UIToFPOp(both, self.type), hint)
        assert isinstance(self.type, IntegerType)
        return both if self.type == i1 else at.value(arith.ExtUIOp(both, self.type), hint)

    def atomic(self) -> AtomicBinOp | None:
        """The `llvm.atomicrmw` of this operator."""
        if self.is_float:
            return AtomicBinOp.fadd if self.kind is Kind.ADD else None
        if self.unsigned and self.kind in _ATOMIC_UNSIGNED:
            return _ATOMIC_UNSIGNED[self.kind]
        return _ATOMIC.get(self.kind)


@dataclass(frozen=True, slots=True)
class Leaf:
    """
    A scalar, or `count` consecutive scalars (an i64 of the kernel's prologue where it is not
    constant), of a reduction variable: `path` are the constant
    subscripts that lead to the first from a pointer to `container`. `per_row`: how many of the `count`
    are in a row, for a section of rows whose number is known only at run time.
    """

    combiner: Combiner
    container: Attribute
    path: tuple[int, ...]
    count: int | SSAValue
    per_row: int = 1

    def address(self, at: Cursor, variable: SSAValue, index: SSAValue | None = None) -> SSAValue:
        """The address of the scalar (number `index`) in the variable at `variable`."""
        pointer = variable
        if any(self.path):
            pointer = at.value(llvm.GEPOp(variable, list(self.path), self.container, inbounds=True))
        if index is None:
            return pointer
        return at.element(pointer, index, self.combiner.type)


def _flatten(
    type: Attribute, whole: Callable[[Attribute], bool]
) -> Iterator[tuple[tuple[int, ...], Attribute, int]]:
    """
    Path, scalar type and count of each leaf of a type (arrays of scalars are one leaf); structures
    that are `whole` count as scalars.
    """
    if isinstance(type, llvm.LLVMStructType) and not whole(type):
        for position, member in enumerate(type.types):
            for path, scalar, count in _flatten(member, whole):
                yield (position, *path), scalar, count
    elif isinstance(type, llvm.LLVMArrayType):
        element, count = type.type, type.size.data
        while isinstance(element, llvm.LLVMArrayType):
            element, count = element.type, count * element.size.data
        if isinstance(element, llvm.LLVMStructType) and not whole(element):
            for position in range(type.size.data):
                for path, scalar, inner in _flatten(type.type, whole):
                    yield (position, *path), scalar, inner
        else:
            yield (), element, count
    else:
        yield (), type, 1


@dataclass(frozen=True, slots=True)
class ReductionSpec:
    """
    What an `acc.reduction` reduces: `storage` is the type of a private copy (None for a section of
    a length known only at run time), `leaves` its scalars.
    """

    op: acc.ReductionOp
    layout: CopyLayout
    storage: Attribute | None
    leaves: tuple[Leaf, ...]

    @property
    def name(self) -> str:
        return "reduction" if self.op.var_name is None else self.op.var_name.data


def _is_unsigned(recipe: Operation | None) -> bool:
    """Whether a recipe's combiner compares without sign."""
    if not isinstance(recipe, acc.ReductionRecipeOp):
        return False
    for op in recipe.combiner_region.walk():
        if isinstance(op, arith.MaxUIOp | arith.MinUIOp):
            return True
        if isinstance(op, arith.CmpiOp) and op.predicate.value.data >= 6:
            return True
    return False


@dataclass(frozen=True, slots=True)
class CopyLayout:
    """
    A private copy: `length` elements of `element`, standing for those from `lower` (None: 0) of the
    variable. `length` is None for one object that is not a section, and a value of the region for a
    section of a length known only at run time.
    """

    element: Attribute
    length: int | SSAValue | None
    lower: SSAValue | None

    @property
    def storage(self) -> Attribute | None:
        """The type of the copy, or None if its size is known only at run time."""
        if self.length is None:
            return self.element
        if isinstance(self.length, int):
            return llvm.LLVMArrayType(self.length, self.element)
        return None


def copy_layout(op: acc.ReductionOp | acc.PrivateOp | acc.FirstprivateOp) -> CopyLayout:
    """The copy of a variable or section that a privatising operation asks for."""
    type: Attribute = op.var_type
    if not op.bounds:
        return CopyLayout(type, None, None)
    bound = op.bounds[0].owner
    assert isinstance(bound, acc.DataBoundsOp)
    stride = None if bound.stride is None else constant_value(bound.stride)
    if isinstance(type, llvm.LLVMArrayType) and stride != size_of(type):
        type = type.type
    assert bound.extent is not None
    length = constant_value(bound.extent)
    return CopyLayout(type, bound.extent if length is None else length, bound.lowerbound)


def reduction_spec(op: acc.ReductionOp, recipe: Operation | None) -> ReductionSpec:
    """
    The reduction an operation asks for. Raises `CompileError` for types that cannot be reduced on
    the device.
    """
    loc = SourceLoc.from_attr(op.location)
    name = "" if op.var_name is None else f" '{op.var_name.data}'"
    layout = copy_layout(op)
    storage = layout.storage
    if not isinstance(recipe, acc.ReductionRecipeOp):
        raise error(loc, f"the reduction{name} names no reduction recipe")
    kind, unsigned = recipe.reduction_operator.data, _is_unsigned(recipe)
    leaves: list[Leaf] = []

    def whole(type: Attribute) -> bool:
        """Complex numbers are multiplied as such, and added part by part."""
        return kind is Kind.MUL and is_complex(type)

    if storage is None:
        assert isinstance(layout.length, SSAValue)
        ((path, scalar, per_row), *others) = _flatten(layout.element, whole)
        if path or others:
            raise error(
                loc,
                f"the section of reduction variable{name} has structures, and its length is not constant",
                "give the section a constant length, or reduce into an array of scalars",
            )
        combiner = Combiner(kind, scalar, unsigned)
        _check(combiner, loc, name)
        leaf = Leaf(combiner, scalar, (), layout.length, per_row)
        return ReductionSpec(op, layout, None, (leaf,))
    for path, scalar, count in _flatten(storage, whole):
        combiner = Combiner(kind, scalar, unsigned)
        _check(combiner, loc, name)
        leaves.append(Leaf(combiner, storage, (0, *path), count))
    return ReductionSpec(op, layout, storage, tuple(leaves))


def _check(combiner: Combiner, loc: SourceLoc, name: str) -> None:
    if combiner.is_complex:
        return
    if isinstance(combiner.type, IntegerType):
        known = combiner.kind in _INTEGER or combiner.kind in (Kind.LAND, Kind.LOR)
        if known and combiner.bits in (1, 8, 16, 32, 64):
            return
    elif isinstance(combiner.type, Float32Type | Float64Type | Float80Type) and (
        combiner.kind in _FLOAT or combiner.kind in (Kind.LAND, Kind.LOR)
    ):
        return
    raise error(
        loc,
        f"reduction({combiner.kind.value}){name} on {combiner.type} is not possible on the GPU",
        "use an integer type, float or double with an operator of that type",
    )
