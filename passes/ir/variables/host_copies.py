"""
Copies of private and reduction variables in code that one CPU thread runs: stack memory, initialised and
combined by the recipe's regions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import acc
from xdsl.ir import SSAValue

from ....dialects import llvm_ext
from ..ops.building import Cursor, constant_value
from ..ops.layout import Elements, elements_of, size_of
from ..values.addresses import ADDRESS_OPS
from .combiners import Whole
from .private_storage import (
    Extent,
    PrivateMemory,
    copy_extent,
    extent_of,
    for_each_element,
    make_storage,
)
from .recipe_reading import CopyRecipe, Recipes, ReductionRecipe, Run, check_object, runs_for

PrivateOp = acc.PrivateOp | acc.FirstprivateOp


def private_copy(
    op: PrivateOp, recipes: Recipes, entry: Cursor, place: Cursor, start: Cursor
) -> SSAValue:
    """
    Makes the copy that `op` asks for; returns the address that replaces the variable's. Stack slots are
    made at `entry`, sizes computed at `place`, initial values stored at `start`.
    """
    name = "private" if op.var_name is None else op.var_name.data
    recipe = recipes.copies(op)
    extent = extent_of(op, place, None if recipe.is_plain else recipe.object)
    storage = make_storage(extent, entry, place, name)
    if recipe.has_init:
        _each_object(start, op, extent, recipe, recipe.start, storage.memory)
    if isinstance(op, acc.FirstprivateOp) and recipe.is_bitwise:
        copy_extent(start, extent, storage.memory, op.var)
    elif isinstance(op, acc.FirstprivateOp):
        first = op.var if extent.start is None else start.offset(op.var, extent.start)
        _each_object(start, op, extent, recipe, recipe.move, first, storage.memory)
    return storage.visible


def _each_object(
    at: Cursor,
    op: PrivateOp,
    extent: Extent,
    recipe: CopyRecipe,
    act: Callable[..., None],
    *addresses: SSAValue,
) -> None:
    """Applies `act` of `recipe` to the objects at `addresses`; for a section, to each of its elements."""
    check_object(op, recipe, extent.unit)
    whole = Elements(recipe.object, 0, 1, size_of(recipe.object))

    def each(inside: Cursor, run: Elements, offset: SSAValue | None) -> None:
        act(inside, *(_address(inside, address, offset) for address in addresses))

    for_each_element(at, extent, [whole], each)


def reduction_copy(
    op: acc.ReductionOp, recipes: Recipes, entry: Cursor, place: Cursor
) -> ReductionCopy:
    """Makes the copy that `op` asks for, uninitialised. `entry` and `place` are as for `private_copy`."""
    name = "reduction" if op.var_name is None else op.var_name.data
    recipe = recipes.reduction(op)
    extent = extent_of(op, place, recipe.object if recipe.operator() is None else None)
    runs = runs_for(op, recipe, extent.unit)
    storage = make_storage(extent, entry, place, name)
    return ReductionCopy(op, recipe, runs, extent, storage, op.var)


@dataclass(frozen=True)
class ReductionCopy:
    """A reduction's private copy: `extent` of the variable at `target`, copied in `storage`."""

    op: acc.ReductionOp
    recipe: ReductionRecipe
    runs: tuple[Run, ...]
    extent: Extent
    storage: PrivateMemory
    target: SSAValue

    def initialise(self, cursor: Cursor) -> None:
        """Gives the private copy its first value."""

        def start(at: Cursor, run: Run, offset: SSAValue | None) -> None:
            run.combiner.start(at, _address(at, self.storage.memory, offset))

        for_each_element(cursor, self.extent, self.runs, start)

    def combine_into_target(self, cursor: Cursor, source: SSAValue | None = None) -> None:
        """Folds the private copy (or another at `source`) into the variable."""
        part = self.storage.memory if source is None else source
        start = self.extent.start_at(cursor)
        target = _address_at(cursor, self.target)
        if start is not None:
            target = cursor.offset(target, start)

        def fold(at: Cursor, run: Run, offset: SSAValue | None) -> None:
            run.combiner.fold(at, _address(at, target, offset), _address(at, part, offset))

        for_each_element(cursor, self.extent, self.runs, fold)

    def save(self, cursor: Cursor, target: SSAValue) -> None:
        """Copies the private copy to memory at `target`."""
        if any(isinstance(run.combiner, Whole) for run in self.runs):
            size = self.extent.bytes(cursor)
            cursor.insert(llvm_ext.MemcpyOp(target, self.storage.memory, size))
            return

        def move(at: Cursor, run: Elements, offset: SSAValue | None) -> None:
            value = at.load(_address(at, self.storage.memory, offset), run.scalar)
            at.store(value, _address(at, target, offset))

        parts = [part for run in self.runs for part in _parts(run)]
        for_each_element(cursor, self.extent, parts, move)


def _parts(run: Elements) -> list[Elements]:
    """The scalars of a run; a complex number counts as its two parts."""
    return [
        replace(run, scalar=part.scalar, offset=run.offset + part.offset)
        for part in elements_of(run.scalar)
    ]


def _address_at(cursor: Cursor, target: SSAValue) -> SSAValue:
    """The address `target` for use at `cursor`: that of a member is computed again there."""
    address = target.owner
    if not isinstance(address, ADDRESS_OPS):
        return target
    again = {address.ptr: _address_at(cursor, address.ptr)}
    for operand in address.operands[1:]:
        constant = constant_value(operand)
        if constant is None:
            return target
        again[operand] = cursor.constant(constant, operand.type)
    return cursor.insert(address.clone(again)).results[0]


def _address(cursor: Cursor, base: SSAValue, offset: SSAValue | None) -> SSAValue:
    return base if offset is None else cursor.offset(base, offset)
