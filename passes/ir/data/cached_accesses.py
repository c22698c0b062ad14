"""
A `cache` directive as read from the IR: its section, every access to the array in its scope, and whether
the indices of each access lie in the section.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import gcd

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.accx_element import Index
from ....dialects.volatility import is_ordered
from ...decisions.cache_section import (
    CachedSection,
    Element,
    SectionDim,
    Subscript,
    element_of,
    offsets,
)
from ...decisions.cache_section import is_inside as offset_is_inside
from ...decisions.cache_section import is_outside as offset_is_outside
from ...decisions.declined import Declined
from ...decisions.polynomials import Polynomial
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import accessed_type, operations_around
from ..ops.building import constant_value
from ..ops.layout import size_of
from ..ops.loop_bounds import bounds_of
from ..ops.predicates import SGE, SGT, SLE, SLT
from ..values.addresses import ADDRESS_OPS, AddressStep, steps_of
from ..values.value_polynomials import from_value, keeps_value
from .sections import refine_by_conditions

_ARITHMETIC = (arith.ConstantOp, arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)


@dataclass
class Symbols:
    """Values as polynomials; a value that is not a sum or product is a symbol of its own."""

    construct: Operation

    def symbol(self, value: SSAValue) -> Hashable | None:
        known = isinstance(value.owner, _ARITHMETIC) or keeps_value(value.owner)
        return None if known else value

    def polynomial(self, value: SSAValue | Index) -> Polynomial:
        found = from_value(value, self.symbol)
        if found is not None:
            return found
        if isinstance(value, Index) and not value.unsigned:
            value = value.value
        return Polynomial.symbol(value)


@dataclass
class CachedAccess:
    """
    A load or store through the directive's view. `element` is None if its subscripts do not follow the
    section's dimensions. `proved[d]`: index d is proved to lie in the section.
    """

    op: llvm.LoadOp | llvm.StoreOp
    element: Element | None
    deltas: tuple[Polynomial, ...] = ()
    proved: tuple[bool, ...] = ()
    outside: bool = False
    """Whether an index certainly never lies in the section."""

    @property
    def is_store(self) -> bool:
        return isinstance(self.op, llvm.StoreOp)

    @property
    def certain(self) -> bool:
        return bool(self.proved) and all(self.proved)


@dataclass
class Cached:
    """
    One section of a directive: the operation, its section, and the accesses in its scope. `several`: other
    directives of the scope name the array too; `written`: and one of them writes it. `touched_elsewhere`,
    `stored_elsewhere`: code of the nest outside the scope accesses or stores to it (`elsewhere.py`).
    """

    op: acc.CacheOp
    section: CachedSection
    accesses: list[CachedAccess] = field(default_factory=list["CachedAccess"])
    several: bool = False
    written: bool = False
    touched_elsewhere: bool = False
    stored_elsewhere: bool = False

    @property
    def element_type(self) -> Attribute:
        """The type all accesses have. Raises `Declined` if they differ."""
        types = {accessed_type(a.op) for a in self.accesses}
        if len(types) != 1:
            raise Declined(f"the elements of '{self.section.name}' are accessed by several types")
        return types.pop()

    @property
    def word(self) -> IntegerType:
        """
        The type one thread copies at a time: as wide as the widest access (to which the array is therefore
        aligned), at most 8 bytes.
        """
        widest = max(size_of(accessed_type(a.op)) for a in self.accesses)
        return IntegerType(8 * gcd(self.section.element_bytes, widest, 8))

    @property
    def base(self) -> SSAValue:
        """The address of the array itself, not of the view."""
        base = self.op.var
        while isinstance(base.owner, acc.CacheOp):
            base = base.owner.var
        return base


# Sections and accesses ------------------------------------------------------------------------


def read_section(op: acc.CacheOp, symbols: Symbols, *, any_length: bool = False) -> CachedSection:
    """
    The section that an `acc.cache` names. With `any_length`, a length known only at run time becomes 0.
    Raises `Declined` if the section cannot be cached, with the reason.
    """
    name = "it" if op.var_name is None else op.var_name.data
    dims: list[SectionDim] = []
    for value in op.bounds:
        bounds = value.owner
        assert isinstance(bounds, acc.DataBoundsOp)
        assert bounds.lowerbound is not None and bounds.extent is not None
        length = constant_value(bounds.extent)
        if length is None:
            length = symbols.polynomial(bounds.extent).as_constant
        if length is None and not any_length:
            raise Declined(f"the length of the section of '{name}' is not a constant")
        if length is not None and length <= 0:
            raise Declined(f"the section of '{name}' is empty")
        assert bounds.stride is not None
        lower, stride = symbols.polynomial(bounds.lowerbound), symbols.polynomial(bounds.stride)
        dims.append(SectionDim(lower, length or 0, stride))
    if not dims:
        raise Declined(f"'{name}' is named without a section")
    element = dims[-1].stride.as_constant
    if element is None:
        raise Declined(
            f"the section of '{name}' names whole rows of a length known only at run time"
        )
    readonly = op.data_clause.data is acc.DataClause.ACC_CACHE_READONLY
    return CachedSection(name, tuple(dims), element, readonly)


def _subscript(step: AddressStep, symbols: Symbols) -> Subscript:
    index, type_ = step.read_flat(symbols)
    assert index is not None
    return Subscript(index, size_of(type_))


@dataclass(frozen=True)
class Use:
    """A use of an address in an array: operand `index` of `op`, `path` from the array's start."""

    op: Operation
    index: int
    path: tuple[Subscript, ...]

    @property
    def access(self) -> llvm.LoadOp | llvm.StoreOp | None:
        """The plain load or store that this use is; None if it is something else."""
        match self.op:
            case llvm.LoadOp() if not is_ordered(self.op):
                return self.op
            case llvm.StoreOp() if self.index == 1 and not is_ordered(self.op):
                return self.op
            case _:
                return None


def uses_of_view(view: SSAValue, symbols: Symbols) -> list[Use]:
    """The uses of an array through the result of a directive, in no particular order."""
    found: list[Use] = []
    work: list[tuple[SSAValue, tuple[Subscript, ...]]] = [(view, ())]
    while work:
        pointer, path = work.pop()
        for use in pointer.uses:
            op = use.operation
            if isinstance(op, ADDRESS_OPS) and use.index == 0:
                steps = (_subscript(step, symbols) for step in steps_of(op))
                work.append((op.result, (*path, *steps)))
            elif not isinstance(op, acc.LoopOp):
                found.append(Use(op, use.index, path))
    return found


def read_accesses(cached: Cached, symbols: Symbols) -> None:
    """
    Finds every access through the view, including those through later directives that name the array again.
    Raises `Declined` if the address is used in any other way.
    """
    views = [cached.op]
    while views:
        for use in uses_of_view(views.pop().acc_var, symbols):
            if isinstance(use.op, acc.CacheOp):
                views.append(use.op)
            elif (op := use.access) is not None:
                cached.accesses.append(access_of(cached.section, op, use.path, symbols))
            else:
                raise Declined(
                    f"the address of '{cached.section.name}' is used by '{use.op.name}' in its scope"
                )
    cached.accesses.sort(key=lambda access: _order(access.op))


def _order(op: Operation) -> tuple[int, ...]:
    """
    The positions of `op` and of the operations around it in their blocks, from the function down; comparing
    them orders operations as in the source.
    """
    path: list[int] = []
    current: Operation | None = op
    while current is not None and (block := current.parent_block()) is not None:
        path.insert(0, block.get_operation_index(current))
        current = block.parent_op()
    return tuple(path)


def access_of(
    section: CachedSection,
    op: llvm.LoadOp | llvm.StoreOp,
    path: Sequence[Subscript],
    symbols: Symbols,
) -> CachedAccess:
    """The element of the section that an access means, and whether it lies inside."""
    element = element_of(section, path)
    if element is None:
        return CachedAccess(op, None)
    deltas = offsets(section, element)
    dims = section.dims
    choices = _range_choices(op, symbols)
    proved = tuple(
        any(offset_is_inside(delta, dim.length, ranges) for ranges in choices)
        for delta, dim in zip(deltas, dims, strict=True)
    )
    outside = any(
        all(offset_is_outside(delta, dim.length, ranges) for ranges in choices)
        for delta, dim in zip(deltas, dims, strict=True)
    )
    return CachedAccess(op, element, deltas, proved, outside)


def _ends(value: SSAValue, symbols: Symbols) -> list[Polynomial]:
    """Upper bounds of `value`: itself, or both operands if it is a minimum."""
    owner = value.owner
    if isinstance(owner, arith.MinSIOp):
        return _ends(owner.lhs, symbols) + _ends(owner.rhs, symbols)
    if isinstance(owner, arith.SelectOp) and isinstance(owner.cond.owner, arith.CmpiOp):
        compare = owner.cond.owner
        left, right = symbols.polynomial(compare.lhs), symbols.polynomial(compare.rhs)
        chosen = symbols.polynomial(owner.lhs), symbols.polynomial(owner.rhs)
        predicate = compare.predicate.value.data
        if (predicate in (SLT, SLE) and chosen == (left, right)) or (
            predicate in (SGT, SGE) and chosen == (right, left)
        ):
            return _ends(owner.lhs, symbols) + _ends(owner.rhs, symbols)
    return [symbols.polynomial(value)]


def usual_turns(loop: scf.ForOp, symbols: Symbols) -> int | None:
    """
    The trip count of `loop` if it is constant. If its end is a minimum, the trip count that it has for the
    operand at a constant distance from the start, a multiple of the step. None otherwise.
    """
    step = constant_value(loop.step)
    if step is None or step <= 0:
        return None
    first = symbols.polynomial(loop.lb)
    for end in _ends(loop.ub, symbols):
        span = (end - first).as_constant
        if span is not None and (span % step == 0 or end == symbols.polynomial(loop.ub)):
            return max(0, -(-span // step))
    return None


def _range_choices(op: Operation, symbols: Symbols) -> list[list[LoopRange]]:
    """
    The ranges of the loops around `op`, innermost first; one list for each operand where an end is a
    minimum.
    """
    levels = [
        _ranges(variable, low, high, symbols)
        for around in operations_around(op, symbols.construct)
        for variable, low, high, _ in reversed(bounds_of(around))
    ]
    choices = [list(choice) for choice in product(*levels)][:8]
    return [refine_by_conditions(choice, op, symbols) for choice in choices]  # type: ignore[arg-type]


def _ranges(variable: SSAValue, low: SSAValue, high: SSAValue, symbols: Symbols) -> list[LoopRange]:
    first = symbols.polynomial(low)
    return [LoopRange(variable, first, end - 1) for end in _ends(high, symbols)][:4]
