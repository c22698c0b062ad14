"""
Computed addresses: the base of an address, and the subscripts from the base to it.

`accx.element` has subscripts as in C, `llvm.getelementptr` steps by bytes, elements or members. Both are
read here as `AddressStep`s.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import llvm_ext
from ....dialects.accx_element import ElementOp, Index
from ...decisions.polynomials import Polynomial
from ..ops.acc_ops import is_defined_inside
from ..ops.layout import member_offset, size_of

ADDRESS_OPS = (llvm.GEPOp, ElementOp)
"""Operations without side effects whose result points into the same object as their operand `ptr`."""

AddressOp = llvm.GEPOp | ElementOp


@dataclass(frozen=True)
class StepUnit:
    """
    The unit of a subscript: elements of `type`, or arrays of `lengths` of them (the rows of a
    variable-length array). With `member`, the subscript selects a member of the structure `type`.
    """

    type: Attribute
    member: bool = False
    lengths: tuple[Polynomial, ...] = ()

    @property
    def bytes(self) -> Polynomial:
        """The size of one unit in bytes."""
        size = Polynomial.constant(size_of(self.type))
        for length in self.lengths:
            size = size * length
        return size


BYTES = StepUnit(i8)


class PolynomialReader(Protocol):
    """A reader of values as polynomials; it widens subscripts as C does."""

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None: ...


def way_to_base(pointer: SSAValue) -> Iterator[SSAValue]:
    """An address, then each pointer that it is computed from in turn, ending with its base."""
    yield pointer
    while True:
        op = pointer.owner
        if isinstance(op, ADDRESS_OPS):
            pointer = op.ptr
        elif isinstance(op, llvm_ext.AddrSpaceCastOp):
            pointer = op.arg
        else:
            return
        yield pointer


def base_of(pointer: SSAValue, inside: Operation | None = None) -> SSAValue:
    """
    The base of an address: a variable, a pointer value, or the result of a clause. With `inside`, the
    pointer from which the computation within that operation starts.
    """
    for place in way_to_base(pointer):
        pointer = place
        if inside is not None and not is_defined_inside(pointer, inside):
            break
    return pointer


@dataclass(frozen=True)
class AddressStep:
    """A subscript of elements of `type`, of arrays of `lengths` of them, or of members of the structure."""

    index: int | Index
    type: Attribute
    member: bool = False
    lengths: tuple[SSAValue, ...] = ()

    @property
    def selected(self) -> Attribute:
        """The type that the subscript selects; for a row of variable length, the type of its elements."""
        if not self.member:
            return self.type
        assert isinstance(self.type, llvm.LLVMStructType) and isinstance(self.index, int)
        return self.type.types.data[self.index]

    @property
    def offset(self) -> int:
        """The bytes from the beginning of the structure to the member."""
        assert isinstance(self.type, llvm.LLVMStructType) and isinstance(self.index, int)
        return member_offset(self.type, self.index)

    def read(self, symbols: PolynomialReader) -> tuple[Polynomial | None, StepUnit]:
        """The step as a polynomial (None if it is not one), and its unit."""
        if isinstance(self.index, int):
            steps: Polynomial | None = Polynomial.constant(self.index)
        else:
            steps = symbols.polynomial(self.index)
        if not self.lengths:
            return steps, StepUnit(self.type, self.member)
        lengths = [symbols.polynomial(length) for length in self.lengths]
        known = tuple(length for length in lengths if length is not None)
        if len(known) < len(lengths):
            return None, BYTES
        return steps, StepUnit(self.type, self.member, known)

    def read_flat(self, symbols: PolynomialReader) -> tuple[Polynomial | None, Attribute]:
        """As `read`, with rows counted in elements and members in bytes: the count, and the type counted."""
        steps, unit = self.read(symbols)
        if unit.member:
            return Polynomial.constant(self.offset), i8
        for length in unit.lengths:
            steps = None if steps is None else steps * length
        return steps, self.type

    def in_bytes(self, symbols: PolynomialReader) -> Polynomial | None:
        """The bytes by which the step moves the address; None if they are not a polynomial."""
        steps, type_ = self.read_flat(symbols)
        return None if steps is None else steps * size_of(type_)


def indices_of(op: AddressOp) -> Iterator[int | Index]:
    """The subscripts of one operation as it has them, outermost first."""
    if isinstance(op, ElementOp):
        yield from op.steps()
        return
    dynamic = iter(op.ssa_indices)
    for index in op.rawConstantIndices.iter_values():
        yield Index(next(dynamic)) if index == llvm.GEP_USE_SSA_VAL else index


def steps_of(op: AddressOp) -> tuple[AddressStep, ...]:
    """
    The subscripts of one operation, outermost first; a member is preceded by a step that names its
    structure. Many passes ask for those of every access, so each operation keeps them, with what they were
    read from: operands and properties are immutable objects, of which a change puts others in their place.
    """
    read_from = (op._operands, tuple(map(op.properties.get, _READ_FROM)))
    kept: _Kept | None = getattr(op, _KEPT, None)
    if kept is not None and kept[0][0] is read_from[0] and kept[0][1] == read_from[1]:
        return kept[1]
    steps = tuple(_read_steps(op))
    setattr(op, _KEPT, (read_from, steps))
    return steps


_KEPT = "known_address_steps"
_Kept = tuple[tuple[object, tuple[object, ...]], tuple[AddressStep, ...]]
_READ_FROM = ("path", "unsigned", "operandSegmentSizes", "rawConstantIndices", "elem_type")
"""The properties of both kinds of operations that say what their subscripts are."""


def _read_steps(op: AddressOp) -> Iterator[AddressStep]:
    rows = tuple(op.rows) if isinstance(op, ElementOp) else ()
    inside, counted = op.elem_type, None
    for position, index in enumerate(indices_of(op)):
        if position <= len(rows):
            counted = inside
            yield AddressStep(index, inside, lengths=rows[position:])
        elif isinstance(inside, llvm.LLVMStructType):
            assert isinstance(index, int)
            if counted != inside:
                yield AddressStep(0, inside)
            yield AddressStep(index, inside, member=True)
            inside, counted = inside.types.data[index], None
        else:
            assert isinstance(inside, llvm.LLVMArrayType)
            inside = counted = inside.type
            yield AddressStep(index, inside)


def steps_to(pointer: SSAValue, base: SSAValue | None = None) -> tuple[AddressStep, ...]:
    """All subscripts from `base` (by default the base of the address) to the address, outermost first."""
    steps: tuple[AddressStep, ...] = ()
    while pointer is not base:
        op = pointer.owner
        if not isinstance(op, ADDRESS_OPS):
            break
        steps = steps_of(op) + steps
        pointer = op.ptr
    return steps


def subscripted_element(
    pointer: SSAValue, base: SSAValue
) -> tuple[Index, Attribute, AddressStep | None] | None:
    """
    For an address `base[index]` or `base[index].m`: the subscript, the element type, and the member's step
    (None without a member). None for other addresses.
    """
    steps = [step for step in steps_to(pointer, base) if step.member or step.index != 0]
    first, *members = steps or (None,)
    if first is None or first.lengths or not isinstance(first.index, Index) or len(members) > 1:
        return None
    member = members[0] if members else None
    if member is not None and not (member.member and member.type == first.type):
        return None
    return first.index, first.type, member
