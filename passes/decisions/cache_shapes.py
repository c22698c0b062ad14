"""
Threads per block and outputs per thread for blocks that share tiles: more outputs per thread save loads,
fewer give more blocks to fill the device.

Nothing here sees IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol, TypeVar

from .cache_matrix import INSTRUCTIONS, MATRIX_SM, Instruction
from .cache_plan import Axis, CacheTuning, Sharing, section_rates
from .cache_section import CachedSection
from .device import WARP, WIDE_BYTES

ROOMY_BLOCK = (16, 16)
"""The most threads of a block in which each can have 255 registers."""
MANY_OUTPUTS = 64
"""The outputs of a thread from which on it needs more than a hundred registers."""
FEW_BLOCKS = 4
"""The least blocks along a loop; with fewer, more outputs per thread would leave too few threads."""


def block_threads(
    sections: Sequence[CachedSection],
    axes: Sequence[Axis],
    sharing: Sharing,
    tuning: CacheTuning,
    given: tuple[int, int] = (0, 0),
) -> tuple[int, ...]:
    """
    The threads of a block in each mapped direction. `given`: the user's num_workers and vector_length (0:
    not given). A section length that no mapped loop moves (the depth of a matrix product's tile) is the
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


def is_crowded(threads: Sequence[int], outputs: Sequence[int], tuning: CacheTuning) -> bool:
    """
    Whether the compiler's choice of threads does not suit the outputs per thread: too many threads for the
    registers of many outputs, or too few to share tiles for very many outputs.
    """
    if tuning.block_x or tuning.block_y or len(threads) != 2:
        return False
    each, count = outputs[0] * outputs[1], threads[0] * threads[1]
    return (each >= 4 and count > 256) or (each >= MANY_OUTPUTS and count < 256)


def outputs_per_thread(
    axes: Sequence[Axis],
    sharing: Sharing,
    threads: Sequence[int],
    tuning: CacheTuning,
    *,
    renewed: bool,
    element_bytes: int,
    product: bool = False,
    fixed: bool = False,
) -> tuple[int, ...]:
    """
    The outputs of a thread along each mapped axis. In a matrix product, whose tiles a sequential loop
    renews, a thread computes 8 × 8 outputs (8 + 8 loads feed 64 operations), or 4 × 4 if the product has
    few terms. In a window, a thread computes several rows and keeps shared elements in registers. The
    numbers are smaller for a loop that is known to be short, and where the user's threads (`fixed`) are too
    many for so many registers.
    """
    if len(sharing.axes) < 2:
        return (tuning.columns or tuning.rows or 1,)
    wanted: tuple[tuple[int, ...], ...] = (4,), (1,)
    if renewed:
        crowded = (fixed or tuning.block_x or tuning.block_y) and threads[0] * threads[1] > 256
        few = (4,) if crowded else (8, 4)
        wanted = (few, few) if element_bytes <= 4 else (few, (4, 2))
    elif product:
        wanted = (4,), (4 if element_bytes <= 4 else 2,)
    found: list[int] = []
    for choices, asked, position, size in zip(
        wanted, (tuning.rows, tuning.columns), sharing.axes, threads, strict=True
    ):
        trips = axes[position].trips
        fitting = [own for own in choices if trips is None or trips >= own * size * FEW_BLOCKS]
        found.append(asked or (fitting[0] if fitting else 1))
    return tuple(found)


def window_shape(
    threads: tuple[int, ...], outputs: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    The threads and outputs per thread for a large window, instead of the usual `threads` and `outputs`:
    rows and columns share loads in registers. (Measured on an H200, 8192², with and without: 7 × 7 406 and
    632 µs, 5 × 5 294 and 416; it is also faster at 256².)
    """
    if (threads, outputs) == ((8, WARP), (4, 1)):
        return (4, WARP), (4, 2)
    return threads, outputs


def resident_blocks(threads: Sequence[int], outputs: Sequence[int], *, ahead: bool) -> int:
    """
    The blocks for which the registers of a multiprocessor should suffice at the same time; 0: no demand.
    Without a second buffer (`ahead`), one block must compute while the other waits for its tile.
    """
    many = prod(outputs) >= MANY_OUTPUTS and prod(threads) == prod(ROOMY_BLOCK)
    return 2 if many and not ahead else 0


def side_by_side(element_bytes: int, outputs: int) -> int:
    """How many neighbouring elements one access to shared memory loads, a divisor of `outputs`."""
    together = max(1, min(4, WIDE_BYTES // element_bytes))
    while outputs % together:
        together //= 2
    return together


def buffers(outputs: Sequence[int], asked: int) -> int:
    """
    The buffers of a tile that a loop renews, unless the user has `asked` for a number. A second buffer, for
    fetching ahead, takes registers and pays if a thread computes for long between two tiles. (Measured on
    an H200: a matrix product becomes 1.2 times as fast with 8 × 8 outputs, 0.93 times with 4 × 4.)
    """
    return asked or (2 if prod(outputs) >= MANY_OUTPUTS // 2 else 1)


T = TypeVar("T")


class Numbers(Protocol[T]):
    """Arithmetic with counts: integers, or values that the host computes."""

    def constant(self, value: int) -> T: ...

    def subtract(self, a: T, b: T) -> T: ...

    def multiply(self, a: T, b: T) -> T: ...

    def ceil_divide(self, a: T, b: T) -> T: ...

    def minimum(self, a: T, b: T) -> T: ...

    def maximum(self, a: T, b: T) -> T: ...


class Integers:
    """`Numbers` on compile-time integers."""

    def constant(self, value: int) -> int:
        return value

    def subtract(self, a: int, b: int) -> int:
        return a - b

    def multiply(self, a: int, b: int) -> int:
        return a * b

    def ceil_divide(self, a: int, b: int) -> int:
        return -(-a // b)

    def minimum(self, a: int, b: int) -> int:
        return min(a, b)

    def maximum(self, a: int, b: int) -> int:
        return max(a, b)


@dataclass(frozen=True)
class Shape:
    """
    A block shape for products: threads, outputs per thread, and buffers of its tiles. Its time for one term
    is `alone` as the only block on a multiprocessor, and `round` if `resident` blocks share one.
    """

    threads: tuple[int, int]
    outputs: tuple[int, int]
    alone: int
    round: int
    resident: int = 1
    stages: int = 2
    instruction: Instruction | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The iterations of a block along both loops."""
        return self.threads[0] * self.outputs[0], self.threads[1] * self.outputs[1]


_PRODUCTS: dict[int, tuple[Shape, ...]] = {
    4: (
        Shape((16, 16), (8, 8), 1100, 1060),
        Shape((8, 16), (8, 4), 390, 655, 2),
        Shape((8, 8), (4, 4), 250, 145),
        Shape((8, 8), (2, 2), 170, 53),
    ),
    8: (
        Shape((8, 16), (8, 4), 650, 545),
        Shape((8, 8), (4, 4), 390, 235),
        Shape((8, 8), (2, 2), 300, 95),
    ),
}
"""
The shapes by bytes of an element, largest blocks first. (Measured on an H200, in tenths of a nanosecond,
with square products of 128 to 4096.)
"""


_PAIRS, _SINGLE = INSTRUCTIONS["m16n8k4"], INSTRUCTIONS["m8n8k4"]
_MATRIX_PRODUCTS = (
    Shape((16, 4), (4, 16), 520, 775, 4, instruction=_PAIRS),
    Shape((32, 4), (2, 8), 290, 255, 2, instruction=_PAIRS),
    Shape((16, 4), (2, 8), 250, 230, 2, instruction=_PAIRS),
)
"""The shapes for products of doubles by matrix instructions."""


def matrix_shapes(sm: int) -> tuple[Shape, ...]:
    """
    The shapes to choose from, largest blocks first, for a product of doubles by matrix instructions on GPUs
    of compute capability `sm`. Where the GPU has the instructions with two rows per thread, which are twice
    as fast, those are used.
    """
    if sm < MATRIX_SM:
        return ()
    instruction = _PAIRS if sm >= _PAIRS.sm else _SINGLE
    return tuple(replace(shape, instruction=instruction) for shape in _MATRIX_PRODUCTS)


def product_shapes(outputs: Sequence[int], threads: Sequence[int], bytes: int) -> tuple[Shape, ...]:
    """
    The shapes to choose from for a product whose tiles a loop renews and whose default shape is `threads`
    with `outputs` each. Empty if there is no other shape.
    """
    wanted = (8, 8) if bytes <= 4 else (8, 4)
    if tuple(outputs) != wanted or tuple(threads) != ROOMY_BLOCK:
        return ()
    return _PRODUCTS[4 if bytes <= 4 else 8]


def time_of(
    shape: Shape, trips: Sequence[T], around: T, numbers: Numbers[T], multiprocessors: int
) -> T:
    """
    The estimated time of a product for one term, with `trips` iterations along the mapped axes and `around`
    iterations of the loops outside of these. Blocks are spread evenly over the multiprocessors and run in
    rounds of as many as fit.
    """
    blocks = around
    for count, size in zip(trips, shape.size, strict=True):
        along = numbers.ceil_divide(count, numbers.constant(size))
        blocks = numbers.multiply(blocks, along)
    constant, both = numbers.constant, numbers.constant(2)
    rounds = numbers.ceil_divide(blocks, constant(multiprocessors * shape.resident))
    busy = numbers.multiply(rounds, constant(shape.round))
    if shape.alone < shape.round:
        share = numbers.ceil_divide(blocks, constant(multiprocessors))
        missing = numbers.subtract(both, numbers.minimum(share, both))
        busy = numbers.subtract(
            busy, numbers.multiply(missing, constant(shape.round - shape.alone))
        )
    return numbers.maximum(busy, constant(shape.alone))


def fastest(
    shapes: Sequence[Shape], trips: Sequence[int], around: int, multiprocessors: int
) -> Shape:
    """The shape with the least time for known numbers of iterations; the first of equal ones."""
    numbers = Integers()

    def time(shape: Shape) -> int:
        return time_of(shape, trips, around, numbers, multiprocessors)

    return min(shapes, key=time)
