"""
The parts of subscripts in a loop: loop variables, and operations that may select one element in several
iterations (values read from memory, remainders, quotients, conversions).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from xdsl.dialects import acc, arith, llvm
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.accx_element import ElementOp
from ..ops.acc_ops import MAPPING_OPS
from ..ops.building import constant_value
from ..ops.loop_bounds import bounds_of
from .addresses import ADDRESS_OPS
from .region_values import variable_key
from .value_origins import ValueOrigins
from .value_polynomials import keeps_value


class Choice(Enum):
    """How a subscript selects elements; the value is the text of messages."""

    READ = "is read from memory"
    REMAINDER = "is a remainder"
    QUOTIENT = "is a quotient"
    CONVERTED = "is converted from a floating-point number"


_CHOICES: dict[type[Operation], Choice] = {
    llvm.LoadOp: Choice.READ,
    arith.RemSIOp: Choice.REMAINDER,
    arith.RemUIOp: Choice.REMAINDER,
    arith.AndIOp: Choice.REMAINDER,
    arith.DivSIOp: Choice.QUOTIENT,
    arith.DivUIOp: Choice.QUOTIENT,
    arith.ShRSIOp: Choice.QUOTIENT,
    arith.ShRUIOp: Choice.QUOTIENT,
    arith.FPToSIOp: Choice.CONVERTED,
    arith.FPToUIOp: Choice.CONVERTED,
}
_ONE_OF = (arith.SelectOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp)
_SUMS = (arith.AddiOp, arith.SubiOp, arith.XOrIOp, arith.OrIOp, llvm.AddOp)
_PRODUCTS = (arith.MuliOp, arith.ShLIOp, llvm.MulOp)


@dataclass
class SubscriptParts:
    """
    The loop variables (`counters`) in a subscript, and its `choices`. `plain`: no counter is multiplied.
    `known`: no other part changes in the loop.
    """

    counters: set[SSAValue] = field(default_factory=set[SSAValue])
    choices: dict[SSAValue, Choice] = field(default_factory=dict[SSAValue, Choice])
    plain: bool = True
    known: bool = True

    @property
    def is_invariant(self) -> bool:
        return self.known and not self.counters and not self.choices


@dataclass(frozen=True)
class _Part:
    """
    A value on the way to the leaves of a subscript: with the variables that it was read `from`, and the
    values it is `added` to, which count if they are parts themselves.
    """

    value: SSAValue
    plain: bool = True
    read_from: frozenset[Hashable] = frozenset()
    added: frozenset[Hashable] = frozenset()

    def in_sum(self, operand: SSAValue) -> _Part:
        return _Part(operand, self.plain, frozenset(), self.added | self.read_from)


class LoopSubscripts:
    """Reads subscripts in one loop; the IR must not change."""

    def __init__(self, origins: ValueOrigins):
        self.origins = origins
        self._parts: dict[SSAValue, SubscriptParts] = {}

    def of_address(self, pointer: SSAValue) -> list[SubscriptParts]:
        """The subscripts on the way to an address, also through pointers in memory."""
        found: list[SubscriptParts] = []
        seen: set[SSAValue] = set()
        work = [pointer]
        while work:
            pointer = work.pop()
            if pointer in seen:
                continue
            seen.add(pointer)
            owner = pointer.owner
            if isinstance(owner, ADDRESS_OPS):
                indices = owner.subscripts if isinstance(owner, ElementOp) else owner.ssa_indices
                found += (self.parts(value) for value in indices)
                work.append(owner.ptr)
            elif isinstance(owner, (acc.CacheOp, *MAPPING_OPS)):
                work.append(owner.var)
            elif self.origins.is_inside(pointer):
                choices = self.origins.choices(pointer)
                if choices is not None:
                    work += choices
                elif isinstance(owner, llvm.LoadOp):
                    work.append(owner.ptr)
                elif not isinstance(owner, llvm.AddressOfOp | llvm.AllocaOp):
                    found.append(SubscriptParts(known=False))
        return found

    def parts(self, value: SSAValue) -> SubscriptParts:
        """The parts of a subscript."""
        if value not in self._parts:
            self._parts[value] = SubscriptParts()  # of a value that depends on itself
            self._parts[value] = self._read(value)
        return self._parts[value]

    def _read(self, value: SSAValue) -> SubscriptParts:
        found = SubscriptParts()
        seen: set[_Part] = set()
        work = [_Part(value)]
        while work:
            part = work.pop()
            if part in seen or not self.origins.is_inside(part.value):
                continue
            seen.add(part)
            if isinstance(part.value, BlockArgument):
                found.counters.add(part.value)
                found.known = found.known and bool(bounds_of_counter(part.value))
            else:
                work += self._taken_apart(part, found)
        return found

    def _taken_apart(self, part: _Part, found: SubscriptParts) -> list[_Part]:
        """The operands of a part that is split further; a leaf is added to `found`."""
        value, owner = part.value, part.value.owner
        assert isinstance(owner, Operation)
        choices = self.origins.choices(value)
        if choices is not None:
            key = variable_key(owner.ptr) if isinstance(owner, llvm.LoadOp) else None
            if key in part.added:
                found.known = False
            elif key is None or key not in part.read_from:
                read_from = part.read_from if key is None else part.read_from | {key}
                return [_Part(each, part.plain, read_from, part.added) for each in choices]
        elif isinstance(owner, _SUMS):
            return [part.in_sum(operand) for operand in owner.operands]
        elif isinstance(owner, _PRODUCTS):
            return [
                _Part(each, False, frozenset(), part.in_sum(each).added) for each in owner.operands
            ]
        elif isinstance(owner, _ONE_OF) or keeps_value(owner):
            values = owner.operands[1:] if isinstance(owner, arith.SelectOp) else owner.operands
            return [_Part(each, part.plain, part.read_from, part.added) for each in values]
        elif isinstance(owner, llvm.LoadOp) and self._is_invariant(owner):
            pass
        elif type(owner) in _CHOICES:
            found.choices[value] = _CHOICES[type(owner)]
            found.plain = found.plain and part.plain
        elif constant_value(value) is None:
            found.known = False
        return []

    def _is_invariant(self, load: llvm.LoadOp) -> bool:
        """Whether the loop always loads the same element, as far as its subscripts tell."""
        return all(part.is_invariant for part in self.of_address(load.ptr))


def bounds_of_counter(counter: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The bounds of a counted loop's variable; None for other values."""
    if not isinstance(counter, BlockArgument):
        return None
    loop = counter.block.parent_op()
    if loop is None:
        return None
    return next(
        ((lower, upper) for own, lower, upper, _ in bounds_of(loop) if own is counter), None
    )
