"""The tiles of one block of threads: their memory, and the addresses of elements in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import SSAValue

from ...dialects.accx_cache import SharedTileOp
from ...dialects.nvvm import SHARED_POINTER
from ..decisions.cache_plan import Method, TilePlan, WritePolicy
from ..decisions.device import WIDE_BYTES
from ..decisions.polynomials import Polynomial
from ..ir.data.cached_accesses import Cached
from ..ir.data.cached_code import Values, mapped, polynomial, scaled, total
from ..ir.ops.building import Cursor, constant_value

ALIGNMENT = 16
"""The alignment of tiles in bytes, which the widest access to shared memory requires."""


@dataclass(frozen=True)
class Planned:
    """One cached section with the decisions about it."""

    cached: Cached
    plan: TilePlan
    method: Method
    policy: WritePolicy
    asynchronous: bool = False
    communicate: bool = False
    ahead: bool = False
    """Whether it is filled one turn of the renewing loop ahead, into two alternating buffers."""
    bulk: bool = False
    """Whether it is filled by bulk copies of its rows, if they are aligned."""
    wide: bool = False
    """Whether its words are as wide as the widest access: a form of asynchronous copies for aligned rows."""
    edges: bool = False
    """Whether some blocks are not full, in a version of its own: they copy their rows in wide words, too."""

    @property
    def word_bytes(self) -> int:
        """The bytes that one thread copies at a time."""
        return WIDE_BYTES if self.wide else self.cached.word.width.data // 8


@dataclass
class AxisState:
    """
    One mapped loop in the block: the block has `width` iterations of it (i32), at most `full`, and always
    as many if `fixed`; `first` is the loop variable in the block's first iteration.
    """

    full: int
    fixed: bool
    width: SSAValue
    first: SSAValue


@dataclass
class Block:
    """
    The state shared by all tiles of a block: its axes, its number of threads, and the thread's number
    (i32).
    """

    axes: list[AxisState]
    threads: int
    thread: SSAValue
    first_values: dict[SSAValue, SSAValue]


@dataclass
class Tile:
    """A tile with its memory. `mask` has a byte per element if only written elements are written back."""

    planned: Planned
    address: SSAValue
    mask: SSAValue | None
    start_slot: SSAValue | None
    starts: SSAValue | None = None
    bases: dict[tuple[SSAValue, ...], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, ...], SSAValue]
    )

    @property
    def plan(self) -> TilePlan:
        return self.planned.plan


def in_tile(at: Cursor, tile: SSAValue, offset: SSAValue, hint: str | None = None) -> SSAValue:
    """The address `offset` bytes into the tile's memory."""
    gep = llvm.GEPOp.from_mixed_indices(tile, [offset], i8, SHARED_POINTER, inbounds=True)
    return at.value(gep, hint)


def buffer_bytes(plan: TilePlan) -> int:
    """The bytes from one buffer of a tile to the next."""
    return -(-plan.bytes // ALIGNMENT) * ALIGNMENT


def allocate(at: Cursor, planned: Planned) -> Tile:
    """Allocates the shared memory of a tile."""
    name = planned.plan.section.name
    size = buffer_bytes(planned.plan)
    address = at.value(
        SharedTileOp(2 * size if planned.ahead else planned.plan.bytes, name), f"{name}_tile"
    )
    mask = slot = None
    if planned.policy == "mask":
        mask = at.value(SharedTileOp(planned.plan.elements, f"{name}_dirty"), f"{name}_dirty")
    if planned.communicate:
        slot = at.value(SharedTileOp(8, f"{name}_start"), f"{name}_start")
    return Tile(planned, address, mask, slot)


def base_offset(at: Cursor, tile: Tile, block: Block, coordinates: Sequence[SSAValue]) -> SSAValue:
    """
    The offset in bytes (i32) of the section of the iteration with these coordinates in the tile; kept in a
    register for all accesses.
    """
    used = tuple(coordinates[axis] for axis in sorted({m.axis for m in tile.plan.moves}))
    if used in tile.bases:
        return tile.bases[used]
    parts: list[SSAValue] = []
    for move in tile.plan.moves:
        coordinate = coordinates[move.axis]
        if move.rate < 0:
            last = at.sub(block.axes[move.axis].width, at.i32(1))
            # A thread without an iteration reads its own place here too.
            here = at.value(arith.CmpiOp(coordinate, last, "sle"))
            coordinate = at.value(arith.SelectOp(here, at.sub(last, coordinate), coordinate))
        parts.append(scaled(at, coordinate, abs(move.rate) * tile.plan.dims[move.dim].pitch))
    found = total(at, *parts)
    tile.bases[used] = at.i32(0) if found is None else found
    return tile.bases[used]


def element_address(
    at: Cursor,
    tile: Tile,
    base: SSAValue,
    deltas: Sequence[Polynomial],
    inner: int,
    values: Values,
) -> SSAValue:
    """
    The address in the tile of the element at `deltas` in the iteration's own section: the offset from that
    section is one value for all iterations of the thread.
    """
    poly = Polynomial.constant(inner)
    own = [dim for dim in tile.plan.dims if dim.section_dim is not None]
    for delta, dim in zip(deltas, own, strict=True):
        poly = poly + delta * dim.pitch
    name = tile.plan.section.name
    hint, place = f"{name}_cached", f"{name}_place"
    own_place = at.once((tile.address, base), lambda: _moved(at, tile.address, base, place))
    terms = [
        (*(mapped(values, s) for s in m if isinstance(s, SSAValue)), c)
        for m, c in poly.terms.items()
    ]
    delta = at.once((i32, *terms), lambda: polynomial(at, poly, values, i32))
    return _moved(at, own_place, delta, hint)


def _moved(at: Cursor, address: SSAValue, bytes: SSAValue, hint: str) -> SSAValue:
    return address if constant_value(bytes) == 0 else in_tile(at, address, bytes, hint)


def can_copy_async(cached: Cached, plan: TilePlan) -> bool:
    """Whether words have a size that `cp.async` supports, and are aligned to it in the array and the tile."""
    size = cached.word.width.data // 8
    return size in (4, 8) and all(dim.pitch % size == 0 for dim in plan.dims)


def mask_address(at: Cursor, tile: Tile, address: SSAValue) -> SSAValue:
    """
    The address of the mask's byte for the element at `address` of the tile. (Tiles with a mask have no
    padding.)
    """
    assert tile.mask is not None
    first = at.value(llvm.PtrToIntOp(tile.address, i64))
    here = at.value(llvm.PtrToIntOp(address, i64))
    size = at.i64(tile.plan.section.element_bytes)
    number = at.value(arith.DivUIOp(at.sub(here, first), size))
    return in_tile(at, tile.mask, number)
