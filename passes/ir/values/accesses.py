"""
The memory accesses of a loop: the root and the subscripts of each, and which of them may alias.

A `root` is the variable or pointer value that an address is computed from. Each subscript has a unit (the
type it steps over), and only subscripts of equal units are compared; `comparable` brings two accesses of
one root into a common form.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable

from ....dialects.accx import APART
from ....dialects.accx_element import ElementOp
from ...decisions.dependence import Subscripts
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import (
    MAPPING_OPS,
    PRIVATIZING_OPS,
    alloca_count,
    bit_width,
    callee_of,
    enclosing,
    is_defined_inside,
    is_restrict,
    is_scalar,
)
from ..ops.layout import is_record, is_union, size_of
from .addresses import (
    ADDRESS_OPS,
    BYTES,
    AddressOp,
    PolynomialReader,
    StepUnit,
    steps_of,
    steps_to,
)
from .region_values import RegionSymbols, variable_key

DERIVED = (*ADDRESS_OPS, acc.CacheOp, *MAPPING_OPS)
"""Operations whose result points to the same memory as their operand."""

ALLOCATORS = frozenset(("malloc", "calloc", "aligned_alloc", "acc_malloc"))

_READERS = frozenset(("scanf", "fscanf", "sscanf", "fread", "read"))
"""C and POSIX functions that write to memory they are given and do not keep its address."""

Place = tuple[Hashable, Subscripts, tuple[StepUnit, ...]]
"""A variable, and subscripts with their units."""


@dataclass(frozen=True)
class LoopAccess:
    """
    A load or store at `subscripts` from `root`, counted in `units`. `ranges` are the loops between the
    access and the analysed loop, innermost first; `atomic` marks an atomic operation, `punned` an access
    to a part of a union, which may have been stored as another type.
    """

    op: Operation
    root: SSAValue
    subscripts: Subscripts
    units: tuple[StepUnit, ...]
    type: Attribute
    writes: bool
    ranges: tuple[LoopRange, ...] = ()
    atomic: bool = False
    punned: bool = False

    @property
    def aliased_type(self) -> Attribute:
        """The type for `may_alias`."""
        return i8 if self.punned else self.type

    @property
    def width(self) -> int:
        """The number of units of the last subscript that the access touches."""
        if not self.units or self.units[-1] != BYTES:
            return 1
        return size_of(self.type)

    def in_bytes(self) -> Polynomial | None:
        """
        The distance from the root in bytes; None if a subscript is not a polynomial or selects a member.
        """
        total = Polynomial.constant(0)
        for poly, unit in zip(self.subscripts, self.units, strict=True):
            if poly is None or unit.member:
                return None
            total = total + poly * unit.bytes
        return total


def root_of(pointer: SSAValue) -> SSAValue:
    """The variable or pointer value that an address is computed from."""
    owner = pointer.owner
    while isinstance(owner, DERIVED):
        pointer = owner.ptr if isinstance(owner, ADDRESS_OPS) else owner.var
        owner = pointer.owner
    return pointer


def subscripts_of(
    pointer: SSAValue, symbols: PolynomialReader
) -> tuple[Subscripts, tuple[StepUnit, ...]]:
    """All subscripts from the root to a pointer, outermost first; steps of one element type add up."""
    chain: list[AddressOp] = []
    owner = pointer.owner
    while isinstance(owner, DERIVED):
        if isinstance(owner, ADDRESS_OPS):
            chain.append(owner)
            owner = owner.ptr.owner
        else:
            owner = owner.var.owner
    found: list[Polynomial | None] = []
    units: list[StepUnit] = []
    for op in reversed(chain):
        for step in steps_of(op):
            poly, unit = step.read(symbols)
            if units and not unit.member and units[-1] in (unit, BYTES):
                last = found[-1]
                scale = unit.bytes if units[-1] == BYTES else 1
                found[-1] = None if poly is None or last is None else last + poly * scale
            else:
                found.append(poly)
                units.append(unit)
    return tuple(found), tuple(units)


def comparable(
    left: LoopAccess, right: LoopAccess
) -> tuple[Subscripts, Subscripts, tuple[int, int]] | None:
    """
    The subscripts of two accesses of one root in a common form, and the number of units of the last
    subscript that each touches; None if their relative position is unknown.
    """
    if left.units == right.units:
        return left.subscripts, right.subscripts, (left.width, right.width)
    if left.units[:1] == right.units[:1] != (BYTES,):
        common = 0
        while left.units[common : common + 1] == right.units[common : common + 1] != ():
            common += 1
        return left.subscripts[:common], right.subscripts[:common], (1, 1)
    first, second = left.in_bytes(), right.in_bytes()
    if first is None or second is None:
        return None
    return (first,), (second,), (size_of(left.type), size_of(right.type))


# Which pointers may refer to the same memory.


def _is_object(root: SSAValue) -> bool:
    """Whether the root is an object of its own: a variable, newly allocated memory, or a private copy."""
    owner = root.owner
    if isinstance(owner, (llvm.AllocaOp, llvm.AddressOfOp, *PRIVATIZING_OPS)):
        return True
    return callee_of(owner) in ALLOCATORS


def share_type(left: Attribute, right: Attribute) -> bool:
    """
    Whether C lets accesses of these two types reach the same memory (C17 6.5p7): they are equal, one is a
    character type, or one is a whole structure, which may contain the other.
    """
    return left == right or any(bit_width(t) == 8 or is_record(t) for t in (left, right))


def is_punned(pointer: SSAValue) -> bool:
    """Whether an address is that of a union or of a part of one."""
    return any(is_union(step.type) or is_union(step.selected) for step in steps_to(pointer))


def aliased_type(pointer: SSAValue, type: Attribute) -> Attribute:
    """The type for `may_alias` of an access to `type` at `pointer`."""
    return i8 if is_punned(pointer) else type


def may_alias(
    left: SSAValue,
    right: SSAValue,
    types: tuple[Attribute, Attribute],
    at: Operation | None = None,
) -> bool:
    """
    Whether C allows two different roots to reach the same memory with accesses of these types
    (`aliased_type`), of which one writes. `at`: an operation of the construct that makes them, if its
    `accx.apart` counts.
    """
    if _is_object(left) and _is_object(right):
        return False
    if is_restrict(left) or is_restrict(right):
        return False
    locals_ = (llvm.AllocaOp, *PRIVATIZING_OPS)
    for one, other in ((left, right), (right, left)):
        if isinstance(one.owner, locals_) and (
            isinstance(other, BlockArgument) or not address_escapes(one)
        ):
            return False
    if not share_type(*types) or _never_changes(left) or _never_changes(right):
        return False
    return at is None or not told_apart(left, right, at)


def told_apart(left: SSAValue, right: SSAValue, at: Operation) -> bool:
    """
    Whether the construct around `at` reaches two different arrays by data operands, or, before these are
    made, by pointers from outside, and what it writes through one of them it does not access through the
    other (`accx.apart`).
    """
    construct = enclosing(at, acc.ParallelOp, acc.KernelsOp)
    if construct is None or APART not in construct.attributes:
        return False
    roots = {root_of(left), root_of(right)}
    if not construct.data_clause_operands or isinstance(construct, acc.KernelsOp):
        return not any(is_defined_inside(root, construct) for root in roots)
    return roots <= {root_of(operand) for operand in construct.data_clause_operands}


def _never_changes(root: SSAValue) -> bool:
    """Whether the root is a constant of the program, such as a table of weights: no access writes it."""
    address = root.owner
    if not isinstance(address, llvm.AddressOfOp):
        return False
    found = SymbolTable.lookup_symbol(address, address.global_name)
    return isinstance(found, llvm.GlobalOp) and found.constant is not None


def address_escapes(variable: SSAValue) -> bool:
    """
    Whether the address of a local variable or private copy is used by anything other than accesses and
    clauses.
    """
    work = [variable]
    while work:
        for use in work.pop().uses:
            op = use.operation
            match op:
                case llvm.LoadOp():
                    pass
                case llvm.StoreOp() if use.index == 1:
                    pass
                case llvm.GEPOp() | ElementOp() if use.index == 0:
                    work.append(op.result)
                case _ if op.name in ("llvm.intr.memset", "llvm.intr.memcpy"):
                    pass  # an initialiser
                case llvm.CallOp() if callee_of(op) in _READERS:
                    pass
                case _ if op.name.startswith("acc."):
                    work += [
                        result
                        for result in op.results
                        if isinstance(result.type, llvm.LLVMPointerType)
                    ]
                case _:
                    return True
    return False


def is_scalar_variable(root: SSAValue) -> bool:
    """Whether `root` is the address of one scalar: a variable, or a construct's or loop's own copy."""
    owner = root.owner
    if isinstance(owner, llvm.AllocaOp):
        return is_scalar(owner.elem_type) and alloca_count(owner) == 1
    return isinstance(owner, PRIVATIZING_OPS) and is_scalar(owner.var_type)


def place_key(pointer: SSAValue, symbols: RegionSymbols) -> Place | None:
    """
    A key that is equal for equal addresses during the construct; None if the address may change or is
    unknown.
    """
    subscripts, units = subscripts_of(pointer, symbols)
    if any(poly is None for poly in subscripts):
        return None
    return variable_key(root_of(pointer)), subscripts, units
