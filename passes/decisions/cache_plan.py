"""
How cached sections become tiles in shared memory: which loops map to the threads of a block, how
large a tile is, how its rows are padded, how accesses find their element, how writes reach memory.

Nothing here sees IR. A tile holds what all iterations of a block need: for a dimension whose lower
bound moves by `rate` from one iteration to the next that is `length + |rate| · (width - 1)` elements;
a loop whose iterations' sections lie further apart than they are long, or whose rate is known only
at run time (rows of a matrix kept in one dimension), gets a dimension of the tile of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from .cache_section import CachedSection, Rates, rates_of
from .device import OLDEST, multiprocessor
from .polynomials import Polynomial

Method = Literal["rbi", "rbc", "ehc"]
WritePolicy = Literal["through", "back", "mask"]

SHARED_LIMIT = 48 * 1024
"""The bytes of shared memory that a kernel may declare statically."""
DENSE_READS = 16
"""The least reads per element for which a tile in dynamic shared memory pays."""
SMALL_WINDOW = 32
"""The most reads of a window per iteration that the L1 cache serves as fast as a tile does."""
PRODUCT_READS = 16
"""As above for products, whose outputs share their loads."""


def largest_shared(sm: int) -> int:
    """
    The most bytes of shared memory for a block on a GPU of compute capability `sm` (90 for 9.0) (CUDA C++
    Programming Guide, "Technical Specifications per Compute Capability").
    """
    limits = multiprocessor(sm)
    return SHARED_LIMIT if sm < OLDEST else limits.shared - limits.reserved


@dataclass(frozen=True)
class Axis:
    """
    One parallel loop variable around the directive, outermost first in lists: its constant `step` and
    number of iterations (None: known only at run time), which is a multiple of `multiple`; `gang_only`:
    its clause names gang only.
    """

    variable: Hashable
    name: str
    step: int | None = 1
    trips: int | None = None
    gang_only: bool = False
    multiple: int = 1


@dataclass(frozen=True)
class Sharing:
    """Which axes (by position) map to threads of a block, outermost first, and why others do not."""

    axes: tuple[int, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CacheTuning:
    """
    Choices for experiments; 0 or "auto" leaves a choice to the compiler: threads of the block in the two
    directions, outputs per thread (`rows` × `columns`), padding in elements (-1: by analysis).
    """

    block_x: int = 0
    block_y: int = 0
    rows: int = 0
    columns: int = 0
    padding: int = -1


def _constant_rate(rates: Rates, axis: Axis) -> int | None:
    """
    The elements by which a section moves from one iteration of the loop to the next; None if known only at
    run time.
    """
    rate = rates.rate(axis.variable).as_constant
    if rate == 0:
        return 0
    return None if rate is None or axis.step is None else rate * axis.step


def section_rates(section: CachedSection, axes: Sequence[Axis]) -> tuple[Rates, ...] | None:
    """The rates of every dimension; None if a lower bound is not linear in the loop variables."""
    found = [rates_of(dim.lower, [axis.variable for axis in axes]) for dim in section.dims]
    known = tuple(rates for rates in found if rates is not None)
    return known if len(known) == len(found) else None


def overlaps(section: CachedSection, rates: Sequence[Rates], axis: Axis) -> bool:
    """Whether the sections of neighbouring iterations of the loop overlap."""
    for dim, moves in zip(section.dims, rates, strict=True):
        rate = _constant_rate(moves, axis)
        if rate is None or abs(rate) >= dim.length > 0:
            return False
    return True


def extract_sharing(sections: Sequence[CachedSection], axes: Sequence[Axis]) -> Sharing:
    """
    The loops to map to threads: the innermost one, so that lanes access neighbouring elements, and at most
    one more outside of it whose neighbouring iterations share elements. A loop whose clause names gang only
    is not mapped.
    """
    notes: list[str] = []
    inner = len(axes) - 1
    if axes[inner].gang_only:
        return Sharing((), (f"loop '{axes[inner].name}' is given to gangs by its clause",))
    chosen = [inner]
    for position in reversed(range(inner)):
        axis = axes[position]
        shared = [
            section.name
            for section in sections
            if (rates := section_rates(section, axes)) is not None
            and overlaps(section, rates, axis)
        ]
        if not shared or len(chosen) == 2:
            continue
        if axis.gang_only:
            notes.append(f"'{axis.name}' shares {', '.join(shared)}, but its clause says gang")
            continue
        chosen.append(position)
    return Sharing(tuple(reversed(chosen)), tuple(notes))


def followed_axis(section: CachedSection, axes: Sequence[Axis], sharing: Sharing) -> int | None:
    """
    The single mapped loop (by position in `Sharing.axes`) with which a section moves; None if there is none
    or several.
    """
    rates = section_rates(section, axes)
    if rates is None:
        return None
    moved = [
        number
        for number, position in enumerate(sharing.axes)
        if any(_constant_rate(each, axes[position]) != 0 for each in rates)
    ]
    return moved[0] if len(moved) == 1 else None


def is_product(sections: Sequence[CachedSection], axes: Sequence[Axis], sharing: Sharing) -> bool:
    """
    Whether the nest is a product: each section moves with one of the two mapped loops only, and both loops
    have a section. Then n × n outputs of a thread need 2 n elements for each term.
    """
    followed = {followed_axis(section, axes, sharing) for section in sections}
    return len(sharing.axes) == 2 and followed == {0, 1}


@dataclass(frozen=True)
class TileDim:
    """
    One dimension of a tile: `size` elements at full width, `pitch` bytes from one to the next in the
    tile, `stride` bytes in the array. `section_dim` is the dimension of the section it comes from,
    None for a dimension made of the iterations of one loop.
    """

    size: int
    pitch: int
    stride: Polynomial
    section_dim: int | None


@dataclass(frozen=True)
class Move:
    """An iteration of mapped axis `axis` (position in `Sharing.axes`) shifts tile dimension `dim`."""

    axis: int
    dim: int
    rate: int


@dataclass(frozen=True)
class TilePlan:
    """The tile of one section: its dimensions, outermost first, and how it moves with the iterations."""

    section: CachedSection
    rates: tuple[Rates, ...]
    dims: tuple[TileDim, ...]
    moves: tuple[Move, ...]
    padding: int
    transposed: bool = False
    """Two dimensions, stored column by column: neighbours in the first are adjacent."""

    @property
    def bytes(self) -> int:
        return max(dim.size * dim.pitch for dim in self.dims)

    @property
    def elements(self) -> int:
        return prod(dim.size for dim in self.dims)


def plan_tile(
    section: CachedSection,
    axes: Sequence[Axis],
    sharing: Sharing,
    widths: Sequence[int],
    padding: int,
    *,
    transposed: bool = False,
) -> TilePlan | str:
    """The tile for blocks of `widths` iterations along the mapped axes, or why there is none."""
    rates = section_rates(section, axes)
    if rates is None:
        return "its lower bound is not linear in the parallel loop variables"
    own: list[tuple[int, Polynomial]] = []
    sizes = [dim.length for dim in section.dims]
    moves: list[tuple[int, int | None, int]] = []
    for position, dim in enumerate(section.dims):
        for number, axis_position in enumerate(sharing.axes):
            axis = axes[axis_position]
            symbolic = rates[position].rate(axis.variable)
            if not symbolic.terms:
                continue
            rate = _constant_rate(rates[position], axis)
            if rate is None or abs(rate) > dim.length:
                if axis.step is None:
                    return f"the step of loop '{axis.name}' is not constant"
                own.append((widths[number], symbolic * dim.stride * axis.step))
                moves.append((number, -len(own), 1))
            else:
                sizes[position] += abs(rate) * (widths[number] - 1)
                moves.append((number, position, rate))
    return _lay_out(section, rates, own, sizes, moves, padding, transposed)


def _lay_out(
    section: CachedSection,
    rates: tuple[Rates, ...],
    own: Sequence[tuple[int, Polynomial]],
    sizes: Sequence[int],
    moves: Sequence[tuple[int, int | None, int]],
    padding: int,
    transposed: bool,
) -> TilePlan:
    """
    Lays out a tile in row-major order: first the dimensions made of single loops, then the section's own.
    `transposed`: two dimensions in column-major order.
    """
    all_sizes = [size for size, _ in own] + list(sizes)
    pitches = [0] * len(all_sizes)
    pitch = section.element_bytes
    order = list(range(len(all_sizes))) if transposed else list(reversed(range(len(all_sizes))))
    for position in order:
        pitches[position] = pitch
        pitch *= all_sizes[position]
        if position == order[0]:
            pitch += padding * section.element_bytes
    dims: list[TileDim] = []
    for position, (size, stride) in enumerate(own):
        dims.append(TileDim(size, pitches[position], stride, None))
    for position, dim in enumerate(section.dims):
        where = len(own) + position
        dims.append(TileDim(all_sizes[where], pitches[where], dim.stride, position))
    placed = tuple(
        Move(axis, len(own) + dim if dim is not None and dim >= 0 else -(dim or 0) - 1, rate)
        for axis, dim, rate in moves
    )
    return TilePlan(section, rates, tuple(dims), placed, padding, transposed)


def column_axis(plan: TilePlan) -> int | None:
    """
    The mapped loop along which a thread's outputs use elements of one column of the tile (a factor of a
    matrix product): if the tile is stored by columns, one wide access loads several. None if there is no
    such loop.
    """
    if len(plan.dims) != 2 or plan.section.element_bytes not in (4, 8) or plan.dims[1].size < 2:
        return None
    moves = [(move.dim, move.rate) for move in plan.moves]
    return plan.moves[0].axis if moves == [(0, 1)] else None


def row_axis(plan: TilePlan) -> int | None:
    """
    The mapped loop along which a thread's outputs use neighbouring elements in the tile's memory; None if
    there is no such loop.
    """
    along = 0 if plan.transposed else len(plan.dims) - 1
    moves = [(move.dim, move.rate) for move in plan.moves]
    return plan.moves[0].axis if len(plan.dims) == 2 and moves == [(along, 1)] else None


@dataclass(frozen=True)
class Uses:
    """
    The uses of a cached array in the directive's scope: reads per iteration (None: not known), whether a
    sequential loop renews the section, the number and kind of its stores, whether a loop reads it.
    """

    reads: int | None
    renewed: bool
    stores: int = 0
    stores_in_loop: bool = False
    conditional_stores: bool = False
    read_in_loop: bool = False


def why_no_tiles(uses: Sequence[Uses], axes: int = 2, *, product: bool = False) -> str | None:
    """
    The reason not to make tiles for a nest of `axes` parallel loops, because the L1 cache serves its arrays
    as well; None if tiles pay. (Measured on an H200, with and without a tile: a window that one loop slides
    and an inner loop reads takes 241 and 320 µs, a product of 16 terms with several outputs per thread 381
    and 524, a 3 × 3 window 435 and 160.)
    """
    if axes == 1 and any(use.read_in_loop for use in uses):
        return None
    total = 0
    for use in uses:
        if use.renewed or use.reads is None or use.stores_in_loop:
            return None
        total += use.reads
    if total > (PRODUCT_READS if product else SMALL_WINDOW):
        return None
    return f"{total} reads of a small window per iteration: the L1 cache already serves them"


def is_worth_launching(reads: int | None, iterations: int, elements: int) -> bool:
    """
    Whether a tile of `elements` for `iterations` with `reads` each (None: not known) pays although it
    leaves room for few blocks on a multiprocessor. (Measured on an H200, with and without the tile: 54 KiB
    and 40 reads per element, 1097 and 1191 µs; 77 KiB and 8 reads, 450 and 393 µs.)
    """
    return reads is None or reads * iterations >= DENSE_READS * elements


def choose_method(proved: bool, trusted: bool, fits: bool) -> tuple[Method, str]:
    """
    How accesses find their element, and the reason. `proved`: all indices lie in the section; `trusted`:
    the program is trusted to obey the restriction of OpenACC 2.5; `fits`: the section fits into shared
    memory.
    """
    if not fits:
        return "ehc", "the section is larger than shared memory"
    if proved:
        return "rbi", "every index lies in the section"
    if trusted:
        return "rbi", "indices are taken to lie in the section (OpenACC 2.5)"
    return "rbc", "an index could not be proved to lie in the section"


def choose_write_policy(uses: Uses, disjoint: bool) -> tuple[WritePolicy, str]:
    """
    How writes to a tile reach memory, and the reason. `disjoint`: no element is in the tiles of two blocks.
    Otherwise writing a whole tile back could overwrite elements that another block has written; then only
    the elements written are written back.
    """
    if not uses.stores_in_loop:
        return "through", "each element is written once"
    if uses.conditional_stores:
        return "through", "few of the iterations write"
    if disjoint:
        return "back", "a sequential loop writes the same elements again"
    return "mask", "a sequential loop repeatedly writes elements that other blocks hold too"


def tiles_are_disjoint(plan: TilePlan, axes: Sequence[Axis]) -> bool:
    """
    Whether no element is in the tiles of two blocks, because every iteration has elements of its own. In a
    dimension that moves with several loops (rows of a matrix kept in one dimension), each loop must step
    over the range of the loops with smaller rates, so a rate or trip count known only at run time is not
    enough.
    """
    apart: set[int] = set()
    for dim, rates in zip(plan.section.dims, plan.rates, strict=True):
        known = [(position, _constant_rate(rates, axis)) for position, axis in enumerate(axes)]
        moves = sorted((abs(rate), position) for position, rate in known if rate)
        if any(rate is None for _, rate in known):
            continue
        reach: int | None = dim.length
        for rate, position in moves:
            if reach is not None and rate >= reach:
                apart.add(position)
            trips = axes[position].trips
            reach = None if reach is None or trips is None else reach + rate * max(0, trips - 1)
    return len(apart) == len(axes)
