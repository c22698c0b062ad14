"""
Computed addresses: what an address begins at, and the subscripts on the way.

`accx.element` says subscripts as C does, `llvm.getelementptr` steps by bytes, elements or members. Both are
read here as the same `AddressStep`s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, SSAValue

from ...dialects.accx_element import ElementOp, Index
from ..decisions.polynomials import Polynomial
from .layout import member_offset, size_of

ADDRESS_OPS = (llvm.GEPOp, ElementOp)
"""Operations without effect whose result points into the object that their operand `ptr` points into."""

AddressOp = llvm.GEPOp | ElementOp


@dataclass(frozen=True)
class Unit:
    """
    What a subscript counts: elements of `type`, or arrays of `lengths` of them (the rows of a variable-length
    array); `member`: it selects a member of the structure `type`.
    """

    type: Attribute
    member: bool = False
    lengths: tuple[Polynomial, ...] = ()

    @property
    def bytes(self) -> Polynomial:
        """Their size."""
        size = Polynomial.constant(size_of(self.type))
        for length in self.lengths:
            size = size * length
        return size


BYTES = Unit(i8)


class PolynomialReader(Protocol):
    """What reads values, and subscripts widened as C does, as polynomials."""

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None: ...


def base_of(pointer: SSAValue) -> SSAValue:
    """What the address is computed from: a variable, a pointer's value, a clause's result."""
    while isinstance(pointer.owner, ADDRESS_OPS):
        pointer = pointer.owner.ptr
    return pointer


@dataclass(frozen=True)
class AddressStep:
    """A subscript of elements of `type`, of arrays of `lengths` of them, or of members of the structure."""

    index: int | Index
    type: Attribute
    member: bool = False
    lengths: tuple[SSAValue, ...] = ()

    def read(self, symbols: PolynomialReader) -> tuple[Polynomial | None, Unit]:
        """The step as a polynomial, None if it is none, and what it counts."""
        if isinstance(self.index, int):
            steps: Polynomial | None = Polynomial.constant(self.index)
        else:
            steps = symbols.polynomial(self.index)
        lengths = [symbols.polynomial(length) for length in self.lengths]
        known = tuple(length for length in lengths if length is not None)
        if len(known) < len(lengths):
            return None, BYTES
        return steps, Unit(self.type, self.member, known)

    def read_flat(self, symbols: PolynomialReader) -> tuple[Polynomial | None, Attribute]:
        """The same, with rows counted in elements and members in bytes: how many, and of what type."""
        steps, unit = self.read(symbols)
        if unit.member:
            assert isinstance(self.type, llvm.LLVMStructType) and isinstance(self.index, int)
            return Polynomial.constant(member_offset(self.type, self.index)), i8
        for length in unit.lengths:
            steps = None if steps is None else steps * length
        return steps, self.type

    def in_bytes(self, symbols: PolynomialReader) -> Polynomial | None:
        """How many bytes the step leads away."""
        steps, type_ = self.read_flat(symbols)
        return None if steps is None else steps * size_of(type_)


def steps_of(op: AddressOp) -> Iterator[AddressStep]:
    """The subscripts of one operation, outermost first; before a member, one that says of what structure."""
    indices: Iterable[int | Index]
    rows: tuple[SSAValue, ...] = ()
    if isinstance(op, ElementOp):
        indices, rows = op.steps(), tuple(op.rows)
    else:
        dynamic = iter(op.ssa_indices)
        raw = op.rawConstantIndices.iter_values()
        indices = (Index(next(dynamic)) if i == llvm.GEP_USE_SSA_VAL else i for i in raw)
    inside, counted = op.elem_type, None
    for position, index in enumerate(indices):
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


def steps_to(pointer: SSAValue) -> Iterator[AddressStep]:
    """All subscripts from the base of an address to it."""
    chain: list[AddressOp] = []
    while isinstance(pointer.owner, ADDRESS_OPS):
        chain.append(pointer.owner)
        pointer = pointer.owner.ptr
    for op in reversed(chain):
        yield from steps_of(op)
