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
from typing import Literal

from .affine import Affine
from .cache_section import Rates, Section, rates_of

Method = Literal["rbi", "rbc", "ehc"]
WritePolicy = Literal["through", "back", "mask"]

WARP = 32
BANKS = 32
BANK_BYTES = 4
SHARED_LIMIT = 48 * 1024
"""Shared memory that a kernel may declare."""
_SHARED_BY_SM = {70: 96, 72: 96, 75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 120: 99}
ROOMY_BLOCK = (16, 16)
"""Threads that leave each 255 registers."""
FEW_BLOCKS = 4
"""Blocks along a loop below which more outputs per thread leave too few threads."""
SMALL_WINDOW = 32
"""Reads of a window per iteration up to which the L1 cache serves them as fast as a tile does."""


def largest_shared(sm: int) -> int:
    """
    Bytes of shared memory that a block of a GPU of this compute capability (90 for 9.0) may have (CUDA C++
    Programming Guide, "Technical Specifications per Compute Capability").
    """
    known = max((each for each in _SHARED_BY_SM if each <= sm), default=0)
    return _SHARED_BY_SM.get(known, SHARED_LIMIT // 1024) * 1024


@dataclass(frozen=True)
class Axis:
    """
    One parallel loop variable around the directive, outermost first in lists: its constant `step` and
    number of iterations (None: known only at run time); `gang_only`: the user gave it to gangs alone.
    """

    variable: Hashable
    name: str
    step: int | None = 1
    trips: int | None = None
    gang_only: bool = False


@dataclass(frozen=True)
class Sharing:
    """Which axes (by position) map to threads of a block, outermost first, and why others do not."""

    axes: tuple[int, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tuning:
    """
    Choices for experiments, 0 or "auto" for our own: threads of the block in the two directions,
    outputs per thread (`rows` × `columns`), padding in elements (-1: by analysis).
    """

    block_x: int = 0
    block_y: int = 0
    rows: int = 0
    columns: int = 0
    padding: int = -1


def _constant_rate(rates: Rates, axis: Axis) -> int | None:
    """Elements from one iteration of the loop to the next; None if known only at run time."""
    rate = rates.rate(axis.variable).as_constant
    if rate == 0:
        return 0
    return None if rate is None or axis.step is None else rate * axis.step


def section_rates(section: Section, axes: Sequence[Axis]) -> tuple[Rates, ...] | None:
    """The rates of every dimension; None if a lower bound is not linear in the loop variables."""
    found = [rates_of(dim.lower, [axis.variable for axis in axes]) for dim in section.dims]
    known = tuple(rates for rates in found if rates is not None)
    return known if len(known) == len(found) else None


def overlaps(section: Section, rates: Sequence[Rates], axis: Axis) -> bool:
    """Whether neighbouring iterations of the loop name common elements."""
    for dim, moves in zip(section.dims, rates, strict=True):
        rate = _constant_rate(moves, axis)
        if rate is None or abs(rate) >= dim.length > 0:
            return False
    return True


def extract_sharing(sections: Sequence[Section], axes: Sequence[Axis]) -> Sharing:
    """
    The loops to map to threads: the innermost one, so that lanes walk along memory, and up to one
    more outside of it whose neighbouring iterations share elements. A loop that the user gave to
    gangs alone keeps its place.
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


def block_threads(
    sections: Sequence[Section],
    axes: Sequence[Axis],
    sharing: Sharing,
    tuning: Tuning,
    given: tuple[int, int] = (0, 0),
) -> tuple[int, ...]:
    """
    Threads in each mapped direction. `given`: the user's num_workers and vector_length (0: left
    open). A section length that no mapped loop moves (the depth of a matrix product's tile) is the
    natural side of a square block.
    """
    workers, lanes = given
    if len(sharing.axes) == 1:
        width = tuning.block_x or (lanes * max(workers, 1) if lanes else 0)
        trips = axes[sharing.axes[0]].trips
        if not width:
            width = 256
            while trips is not None and width > WARP and width // 2 >= trips:
                width //= 2
        return (width,)
    side = 0
    for section in sections:
        rates = section_rates(section, axes) or ()
        for dim, moves in zip(section.dims, rates, strict=False):
            still = all(not moves.rate(axes[position].variable).terms for position in sharing.axes)
            if still and dim.length in (8, 16, 32):
                side = max(side, dim.length)
    default = (side, side) if side else (8, WARP)
    x = tuning.block_x or lanes or default[1]
    y = tuning.block_y or workers or max(1, min(default[0], 1024 // x))
    return (y, x)


def is_crowded(threads: Sequence[int], outputs: Sequence[int], tuning: Tuning) -> bool:
    """Whether a block that we chose has more threads than there are registers for many outputs."""
    if tuning.block_x or tuning.block_y or len(threads) != 2:
        return False
    return outputs[0] * outputs[1] >= 4 and threads[0] * threads[1] > 256


def outputs_per_thread(
    axes: Sequence[Axis],
    sharing: Sharing,
    threads: Sequence[int],
    tuning: Tuning,
    *,
    renewed: bool,
    element_bytes: int,
) -> tuple[int, ...]:
    """
    Outputs of a thread along each mapped axis. Where both loops share (a matrix product, whose tiles a
    sequential loop renews), 4 × 4 values loaded from tiles feed 16 operations from registers; the rows
    of a window keep what they share in registers. One each where a loop is known to be short.
    """
    if len(sharing.axes) < 2:
        return (tuning.columns or tuning.rows or 1,)
    rows, columns = 4, 1
    if renewed:
        columns = 4 if element_bytes <= 4 else 2
    found: list[int] = []
    for own, asked, position, size in zip(
        (rows, columns), (tuning.rows, tuning.columns), sharing.axes, threads, strict=True
    ):
        trips = axes[position].trips
        short = trips is not None and trips < own * size * FEW_BLOCKS
        found.append(asked or (1 if short else own))
    return tuple(found)


@dataclass(frozen=True)
class TileDim:
    """
    One dimension of a tile: `size` elements at full width, `pitch` bytes from one to the next in the
    tile, `stride` bytes in the array. `section_dim` is the dimension of the section it comes from,
    None for a dimension that stands for the iterations of one loop.
    """

    size: int
    pitch: int
    stride: Affine
    section_dim: int | None


@dataclass(frozen=True)
class Move:
    """An iteration of mapped axis `axis` (position in `Sharing.axes`) shifts tile dimension `dim`."""

    axis: int
    dim: int
    rate: int


@dataclass(frozen=True)
class TilePlan:
    """The tile of one section: dimensions outermost first, and how iterations move in it."""

    section: Section
    rates: tuple[Rates, ...]
    dims: tuple[TileDim, ...]
    moves: tuple[Move, ...]
    padding: int

    @property
    def bytes(self) -> int:
        return self.dims[0].size * self.dims[0].pitch

    @property
    def elements(self) -> int:
        total = 1
        for dim in self.dims:
            total *= dim.size
        return total


def plan_tile(
    section: Section, axes: Sequence[Axis], sharing: Sharing, widths: Sequence[int], padding: int
) -> TilePlan | str:
    """The tile for blocks of `widths` iterations along the mapped axes, or why there is none."""
    rates = section_rates(section, axes)
    if rates is None:
        return "its lower bound is not linear in the parallel loop variables"
    own: list[tuple[int, Affine]] = []
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
    return _lay_out(section, rates, own, sizes, moves, padding)


def _lay_out(
    section: Section,
    rates: tuple[Rates, ...],
    own: Sequence[tuple[int, Affine]],
    sizes: Sequence[int],
    moves: Sequence[tuple[int, int | None, int]],
    padding: int,
) -> TilePlan:
    """Row-major order: dimensions of single loops first, the section's own behind them."""
    all_sizes = [size for size, _ in own] + list(sizes)
    pitches = [0] * len(all_sizes)
    pitch = section.element_bytes
    for position in reversed(range(len(all_sizes))):
        pitches[position] = pitch
        pitch *= all_sizes[position]
        if position == len(all_sizes) - 1:
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
    return TilePlan(section, rates, tuple(dims), placed, padding)


def conflict_degree(coefficients: Sequence[int], threads: Sequence[int], access_bytes: int) -> int:
    """
    How many passes a warp's access to shared memory takes: thread (…, y, x) addresses byte
    `sum(coefficient · coordinate)`. Equal words are broadcast (CUDA programming guide, 16.4.3).
    """
    words: dict[int, set[int]] = {}
    lanes = max(1, min(WARP, WARP * BANK_BYTES // max(access_bytes, BANK_BYTES)))
    for lane in range(lanes):
        rest, address = lane, 0
        for coefficient, size in zip(reversed(coefficients), reversed(threads), strict=True):
            address += coefficient * (rest % size)
            rest //= size
        word = address // BANK_BYTES
        for extra in range(max(1, access_bytes // BANK_BYTES)):
            words.setdefault((word + extra) % BANKS, set()).add(word + extra)
    return max(len(found) for found in words.values())


def choose_padding(
    section: Section,
    axes: Sequence[Axis],
    sharing: Sharing,
    widths: Sequence[int],
    threads: Sequence[int],
    accesses: Sequence[Sequence[int]],
) -> int:
    """
    Elements to add to a row of the tile so that a warp's accesses fall into different banks.
    `accesses`: for each access the elements it moves per section dimension and mapped axis, row by
    row (`[dim][axis]` flattened). The least padding wins among equals.
    """
    best, best_cost = 0, 0
    for padding in (0, 1, 2, 4, 8):
        plan = plan_tile(section, axes, sharing, widths, padding)
        if isinstance(plan, str) or len(plan.dims) < 2:
            return 0
        cost = sum(_cost(plan, access, threads) for access in accesses)
        if padding == 0 or cost < best_cost:
            best, best_cost = padding, cost
    return best


def _cost(plan: TilePlan, access: Sequence[int], threads: Sequence[int]) -> int:
    """The conflict degree of one access."""
    axes = len(threads)
    coefficients = [0] * axes
    for position, dim in enumerate(plan.dims):
        for axis in range(axes):
            if dim.section_dim is not None:
                moved = access[dim.section_dim * axes + axis]
            else:
                moved = sum(m.rate for m in plan.moves if m.axis == axis and m.dim == position)
            coefficients[axis] += moved * dim.pitch
    return conflict_degree(coefficients, threads, plan.section.element_bytes)


@dataclass(frozen=True)
class Uses:
    """
    What the code does with a cached array in the directive's scope: reads per iteration (None: not
    known), whether a sequential loop renews the section, how it is written, whether a loop reads it.
    """

    reads: int | None
    renewed: bool
    stores: int = 0
    stores_in_loop: bool = False
    conditional_stores: bool = False
    read_in_loop: bool = False


def leave_alone(uses: Sequence[Uses], axes: int = 2) -> str | None:
    """
    Why the L1 cache serves all the arrays of a nest of `axes` parallel loops as well as tiles would;
    None if it does not. (Measured on an H200: a window that one loop slides and an inner loop reads
    gains from a tile, 241 µs against 320; a 3 × 3 window loses, 435 µs against 160.)
    """
    if axes == 1 and any(use.read_in_loop for use in uses):
        return None
    total = 0
    for use in uses:
        if use.renewed or use.reads is None or use.stores_in_loop:
            return None
        total += use.reads
    if total > SMALL_WINDOW:
        return None
    return f"{total} reads of a small window per iteration: the L1 cache already serves them"


def choose_method(proved: bool, trusted: bool, fits: bool) -> tuple[Method, str]:
    """How accesses find their element. `trusted`: the restriction of OpenACC 2.5 is relied upon."""
    if not fits:
        return "ehc", "the section is larger than shared memory"
    if proved:
        return "rbi", "every index lies in the section"
    if trusted:
        return "rbi", "indices are taken to lie in the section (OpenACC 2.5)"
    return "rbc", "an index could not be proved to lie in the section"


def choose_write_policy(uses: Uses, disjoint: bool) -> tuple[WritePolicy, str]:
    """
    `disjoint`: no element is in the tiles of two blocks. Writing a whole tile back would undo what
    another block wrote to an element they both hold; then only what was written goes back.
    """
    if not uses.stores_in_loop:
        return "through", "each element is written once"
    if uses.conditional_stores:
        return "through", "few of the iterations write"
    if disjoint:
        return "back", "a sequential loop writes the same elements again"
    return "mask", "a sequential loop writes again what other blocks hold too"


def tiles_are_disjoint(plan: TilePlan, axes: Sequence[Axis], sharing: Sharing) -> bool:
    """Whether every iteration has elements of its own, so that no two blocks hold the same one."""
    for position in range(len(axes)):
        axis = axes[position]
        moved = False
        for dim, rates in zip(plan.section.dims, plan.rates, strict=True):
            rate = _constant_rate(rates, axis)
            if rate is None or abs(rate) >= dim.length:
                moved = True
        if not moved:
            return False
    return True
