"""
Emits accesses of a block's threads to tiles: addresses, loads, stores, and tests whether an index lies
inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import i1, i8, i64
from xdsl.ir import Operation, SSAValue

from ..decisions.declined import Declined
from ..decisions.polynomials import Polynomial
from ..ir.data.cached_accesses import CachedAccess
from ..ir.data.cached_code import polynomial
from ..ir.ops.building import Cursor
from . import tiles
from .tiles import Tile


@dataclass
class Output:
    """
    One iteration that a thread computes: its value map, its coordinates in the block, and whether it
    exists.
    """

    values: dict[SSAValue, SSAValue]
    coordinates: list[SSAValue]
    """Valid even if the block is not full: a thread without an iteration reads its own place of a tile."""
    active: SSAValue | None


@dataclass
class Placed:
    """An access and the tile that serves it."""

    access: CachedAccess
    tile: Tile


def guarded(output: Output, at: Cursor) -> Cursor:
    """A cursor in code that runs only if the output exists."""
    return at if output.active is None else at.if_then(output.active)


def compare(delta: Polynomial, length: int, output: Output, at: Cursor) -> SSAValue:
    """`0 <= delta < length` as one unsigned comparison."""
    value = polynomial(at, delta, output.values, i64)
    return at.value(arith.CmpiOp(value, at.i64(length), "ult"), "in_section")


@dataclass
class TileAccesses:
    """
    The accesses that go to tiles; `trusted`: those known to lie in their sections at the current position.
    """

    block: tiles.Block
    found: dict[Operation, Placed] = field(default_factory=dict[Operation, Placed])
    trusted: set[Operation] = field(default_factory=set[Operation])

    def address(self, placed: Placed, output: Output, at: Cursor) -> SSAValue:
        base = tiles.base_offset(at, placed.tile, self.block, output.coordinates)
        element = placed.access.element
        assert element is not None
        deltas = placed.access.deltas
        return tiles.element_address(at, placed.tile, base, deltas, element.inner, output.values)

    def element(self, op: Operation, output: Output, at: Cursor) -> SSAValue:
        """Emits the load of the element that `op`, which loads from a tile, reads for `output`."""
        result = op.results[0]
        address = self.address(self.found[op], output, at)
        return at.load(address, result.type, result.name_hint)

    def _key(self, placed: Placed, output: Output) -> tuple[SSAValue, ...]:
        """A key that is equal for outputs of the thread that access the same element."""
        axes = sorted({move.axis for move in placed.tile.plan.moves})
        symbols = [
            output.values.get(s, s)
            for delta in placed.access.deltas
            for s in delta.symbols
            if isinstance(s, SSAValue)
        ]
        return (*(output.coordinates[a] for a in axes), *symbols)

    def load(self, op: llvm.LoadOp, placed: Placed, outputs: Sequence[Output], at: Cursor) -> None:
        """Emits a load for each output; outputs that read the same element share one."""
        loaded: dict[tuple[SSAValue, ...], SSAValue] = {}
        for output in outputs:
            if placed.access.element is None:
                at.insert(op.clone(output.values))
                continue
            key = self._key(placed, output)
            if key not in loaded:
                loaded[key] = self._load_one(op, placed, output, at)
            output.values[op.dereferenced_value] = loaded[key]

    def _load_one(self, op: llvm.LoadOp, placed: Placed, output: Output, at: Cursor) -> SSAValue:
        type_, hint = op.dereferenced_value.type, op.dereferenced_value.name_hint
        condition = self.in_section(op, placed, output, at)
        if condition is None:
            return at.load(self.address(placed, output, at), type_, hint)
        (value,) = at.either(
            condition,
            lambda inside: [inside.load(self.address(placed, output, inside), type_, hint)],
            lambda outside: [outside.load(output.values.get(op.ptr, op.ptr), type_, hint)],
            [hint],
        )
        return value

    def in_section(
        self, op: Operation, placed: Placed, output: Output, at: Cursor
    ) -> SSAValue | None:
        """Emits the comparisons of a conservative access (i1); None if there is nothing to compare."""
        if placed.tile.planned.method == "rbi" or op in self.trusted:
            return None
        condition: SSAValue | None = None
        dims = placed.tile.plan.section.dims
        for delta, proved, dim in zip(
            placed.access.deltas, placed.access.proved, dims, strict=True
        ):
            if not proved:
                own = compare(delta, dim.length, output, at)
                condition = at.both(condition, own)
        return condition

    def store(
        self, op: llvm.StoreOp, placed: Placed, outputs: Sequence[Output], at: Cursor
    ) -> None:
        """Emits a store for each existing output, to the tile, the array or both, by the write policy."""
        for output in outputs:
            place = guarded(output, at)
            value = output.values.get(op.value, op.value)
            pointer = output.values.get(op.ptr, op.ptr)
            tile = placed.tile
            if placed.access.element is None:
                raise Declined(
                    f"a write to '{tile.plan.section.name}' does not follow the section's dimensions"
                )
            condition = self.in_section(op, placed, output, place)
            inside = place if condition is None else place.if_then(condition)
            address = self.address(placed, output, inside)
            inside.store(value, address)
            if tile.mask is not None:
                flag = tiles.mask_address(inside, tile, address)
                inside.store(inside.constant(1, i8), flag)
            if tile.planned.policy == "through":
                place.store(value, pointer)
            elif condition is not None:
                outside = place.value(arith.XOrIOp(condition, place.constant(1, i1)))
                place.if_then(outside).store(value, pointer)
