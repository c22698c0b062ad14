"""
The array accesses that nearly every iteration of a loop makes, and the stores under other conditions.

An access counts as made by nearly every iteration if it is unconditional, or under a condition on the
loop's variables that all but a few iterations fulfil (`loop_conditions.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.accx_element import ElementOp, Index
from ...decisions.dependence import Subscripts
from ..ops.acc_ops import accessed_type, is_defined_inside, own_copies
from ..values.accesses import StepUnit, is_scalar_variable, root_of, subscripts_of
from ..values.loop_conditions import left_out
from ..values.loop_symbols import LoopSymbols
from .loop_dependence import root_key


@dataclass(frozen=True)
class ArrayAccess:
    """
    An access to an array defined outside the loop, identified by `key`. At most `missing` iterations do not
    make the access.
    """

    op: llvm.LoadOp | llvm.StoreOp
    key: Hashable
    root: SSAValue
    subscripts: Subscripts
    units: tuple[StepUnit, ...]
    type: Attribute
    missing: int = 0


def array_accesses(
    loop: acc.LoopOp, symbols: LoopSymbols, *, between_iterations: bool = False
) -> Iterator[ArrayAccess]:
    """
    The accesses that (nearly) every iteration makes, in program order. Inner loops are taken to run at
    least once. With `between_iterations`, arrays that cannot carry values between iterations are left out:
    those of which no element is stored, and those of which each iteration has its own elements
    (`_with_own_elements`).
    """
    if len(loop.region.blocks) != 1:
        return
    own = set(own_copies(loop))
    found = [
        _in_array(op, loop, symbols, own, missing)
        for op, missing in _certain(loop.region.block, loop, symbols, 0)
    ]
    known = [place for place in found if place is not None]
    if between_iterations:
        wanted = {place.key for place in known if isinstance(place.op, llvm.StoreOp)}
        known = [place for place in known if place.key in wanted]
        own_elements = _with_own_elements(loop, known)
        known = [place for place in known if place.key not in own_elements]
    for place in known:
        yield _access(place, symbols)


def has_conditions(loop: acc.LoopOp) -> bool:
    """Whether anything in `loop` is executed under a condition other than that an inner loop runs."""
    return any(
        op.regions
        and (not isinstance(op, scf.ForOp | acc.LoopOp) or len(op.regions[0].blocks) != 1)
        for op in loop.walk()
    )


def conditional_stores(loop: acc.LoopOp, symbols: LoopSymbols) -> Iterator[ArrayAccess]:
    """The stores that iterations make under conditions which more than a few iterations may fail."""
    own = set(own_copies(loop))
    certain: set[Operation] = set()
    if len(loop.region.blocks) == 1:
        certain = {op for op, _ in _certain(loop.region.block, loop, symbols, 0)}
    for op in loop.walk():
        if isinstance(op, llvm.StoreOp) and op not in certain:
            place = _in_array(op, loop, symbols, own, 0)
            if place is not None:
                yield _access(place, symbols)


def _access(place: _InArray, symbols: LoopSymbols) -> ArrayAccess:
    op = place.op
    type_ = accessed_type(op)
    subscripts, units = subscripts_of(op.ptr, symbols)
    return ArrayAccess(op, place.key, place.root, subscripts, units, type_, place.missing)


def _certain(
    block: Block, loop: acc.LoopOp, symbols: LoopSymbols, missing: int
) -> Iterator[tuple[llvm.LoadOp | llvm.StoreOp, int]]:
    """
    The loads and stores that (nearly) every iteration executes if its inner loops run, each with the number
    of iterations that may not.
    """
    for op in block.ops:
        if isinstance(op, scf.ForOp | acc.LoopOp):
            (region,) = op.regions
            if len(region.blocks) == 1:
                yield from _certain(region.block, loop, symbols, missing)
        elif isinstance(op, scf.IfOp):
            for region, holds in ((op.true_region, True), (op.false_region, False)):
                less = left_out(op.cond, holds, loop, symbols) if region.blocks else None
                if less is not None:
                    yield from _certain(region.block, loop, symbols, missing + less)
        elif isinstance(op, llvm.LoadOp | llvm.StoreOp):
            yield op, missing


@dataclass(frozen=True)
class _InArray:
    """An access to an array from outside the loop, as in `ArrayAccess`."""

    op: llvm.LoadOp | llvm.StoreOp
    key: Hashable
    root: SSAValue
    missing: int


def _in_array(
    op: llvm.LoadOp | llvm.StoreOp,
    loop: acc.LoopOp,
    symbols: LoopSymbols,
    own: set[SSAValue],
    missing: int,
) -> _InArray | None:
    root = root_of(op.ptr)
    if root in own or is_scalar_variable(root):
        return None
    if is_defined_inside(root, loop) and not isinstance(root.owner, llvm.LoadOp | llvm.AddressOfOp):
        return None
    key = root_key(root, loop, symbols)
    return None if key is None else _InArray(op, key, root, missing)


def _with_own_elements(loop: acc.LoopOp, places: Iterable[_InArray]) -> set[Hashable]:
    """
    Arrays of which each element belongs to one iteration, found without reading subscripts as polynomials:
    in all accesses, each variable of the loop is, unchanged, the subscript in the same position.
    """
    variables = loop.region.block.args
    common: dict[Hashable, list[set[int]]] = {}
    for place in places:
        owner = place.op.ptr.owner
        positions = [set[int]() for _ in variables]
        if isinstance(owner, ElementOp) and root_of(owner.ptr) is owner.ptr:
            for position, step in enumerate(owner.steps()):
                if isinstance(step, Index) and step.value in variables:
                    positions[variables.index(step.value)].add(position)
        known = common.setdefault(place.key, positions)
        for own, new in zip(known, positions, strict=True):
            own &= new
    return {key for key, found in common.items() if all(found)}
