"""
Whether LLVM may be told that the iterations of a loop are independent.

LLVM then looks for no dependences at all, also not within an iteration. Where an access advances by a
constant number of elements, such as `a[2 * i]`, it loads neighbouring elements together at the place of
the first of these loads, and stores them together at that of the last store. That is wrong if an
iteration stores to one of them in between, or if another access follows that reaches what is stored late.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, llvm, scf
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects.accx import ARRAY
from ....dialects.accx_element import Index
from ...decisions.polynomials import ZERO, Polynomial
from ..ops.acc_ops import is_defined_inside
from ..ops.layout import size_of
from .accesses import aliased_type, share_type
from .addresses import base_of, steps_to
from .value_polynomials import from_value, keeps_value

_SUMS = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp, llvm.AddOp, llvm.MulOp)
MOST_PAIRS = 4096
"""The pairs of a store and an access that are compared; with more, their order counts."""


class _Values:
    """Reads values as polynomials of all values that are not sums or products."""

    def polynomial(self, value: SSAValue | Index) -> Polynomial | None:
        return from_value(value, _symbol)


def _symbol(value: SSAValue) -> SSAValue | None:
    owner = value.owner
    return None if isinstance(owner, _SUMS) or keeps_value(owner) else value


@dataclass(frozen=True)
class _Access:
    """
    `distance`: bytes from the base; None if they are not a polynomial. `array`: the number of an array
    that no other pointer leads to. `moves`: LLVM may move it. `loops`: those around it in the loop,
    innermost first.
    """

    op: Operation
    base: SSAValue
    array: Attribute | None
    distance: Polynomial | None
    size: int
    type: Attribute
    writes: bool
    moves: bool
    loops: tuple[scf.ForOp, ...]
    place: int


def _distance(pointer: SSAValue) -> Polynomial | None:
    total = ZERO
    for step in steps_to(pointer):
        moved = step.in_bytes(_Values())
        if moved is None:
            return None
        total += moved
    return total


def _is_loaded(value: SSAValue, loop: scf.ForOp) -> bool:
    """
    Whether a value is computed from memory in each iteration: an address of it has no constant stride.
    """
    work, seen = [value], set[SSAValue]()
    while work:
        value = work.pop()
        owner = value.owner
        if value in seen or not isinstance(owner, Operation) or not is_defined_inside(value, loop):
            continue
        seen.add(value)
        if isinstance(owner, llvm.LoadOp):
            return True
        if not owner.regions:
            work += owner.operands
    return False


def _has_stride(distance: Polynomial | None, size: int, loop: scf.ForOp) -> bool:
    """Whether the address may advance, in each iteration, by a constant other than 0 and `size`."""
    if distance is None:
        return True
    variable = loop.body.block.args[0]
    for symbol in distance.symbols:
        assert isinstance(symbol, SSAValue)
        if symbol is variable or not is_defined_inside(symbol, loop):
            continue
        if not isinstance(symbol, BlockArgument) and not _is_loaded(symbol, loop):
            return True
        if not isinstance(symbol, BlockArgument):
            return False
    slope = distance.slope(variable)
    step = from_value(loop.step, _symbol)
    stride = None if slope is None or step is None else (step * slope).as_constant
    return stride is not None and abs(stride) not in (0, size)


def _read(op: Operation, loop: scf.ForOp, place: int) -> _Access:
    assert isinstance(op, llvm.LoadOp | llvm.StoreOp)
    type_ = op.dereferenced_value.type if isinstance(op, llvm.LoadOp) else op.value.type
    distance, size = _distance(op.ptr), size_of(type_)
    loops: list[scf.ForOp] = []
    around = op.parent_op()
    while around is not None and around is not loop:
        if isinstance(around, scf.ForOp):
            loops.append(around)
        around = around.parent_op()
    return _Access(
        op,
        base_of(op.ptr),
        op.attributes.get(ARRAY),
        distance,
        size,
        aliased_type(op.ptr, type_),
        isinstance(op, llvm.StoreOp),
        _has_stride(distance, size, loop),
        tuple(loops),
        place,
    )


def _may_meet(store: _Access, other: _Access, *, typed: bool) -> bool:
    """Whether, in one iteration, `other` may come after `store` and reach what it stores."""
    if store.base is not other.base:
        known = store.array is not None and other.array is not None
        local = any(isinstance(a.base.owner, llvm.AllocaOp) for a in (store, other))
        if known or local or (typed and not share_type(store.type, other.type)):
            return False
    shared = [loop for loop in store.loops if loop in other.loops]
    follows = other.place > store.place
    if not follows and not shared:
        return False
    if store.base is not other.base or store.distance is None or other.distance is None:
        return True
    gap = other.distance - store.distance
    apart = gap.as_constant
    if apart is None or len(shared) > 1 or store.loops != other.loops:
        return True
    if follows and -other.size < apart < store.size:
        return True
    if not shared:
        return False
    variable, step = shared[0].body.block.args[0], from_value(shared[0].step, _symbol)
    slope, stride = other.distance.slope(variable), None if step is None else step.as_constant
    if slope is None or stride is None:
        return True
    advance = slope * stride
    return not (
        (advance > 0 and apart + advance >= store.size)
        or (advance < 0 and apart + advance <= -other.size)
    )


def order_matters(loop: scf.ForOp, accesses: Iterable[Operation], *, typed: bool) -> bool:
    """
    Whether LLVM, if it is told that the iterations of `loop` are independent, may swap two of `accesses`,
    in their order, of one iteration that reach the same memory. `typed`: accesses of different types do
    not.
    """
    found = [_read(op, loop, place) for place, op in enumerate(accesses)]
    if not any(access.moves for access in found):
        return False
    stores = [access for access in found if access.writes]
    if len(stores) * len(found) > MOST_PAIRS:
        return True
    return any(
        (store.moves or (other.moves and not other.writes)) and _may_meet(store, other, typed=typed)
        for store in stores
        for other in found
        if store is not other
    )
