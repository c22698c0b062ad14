"""
Decides the block of a nest: its threads and the outputs of each, one shape or several of which the host
chooses, and the matrix instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import acc

from ..decisions import cache_plan as plans
from ..decisions import cache_shapes as shapes
from ..decisions.cache_matrix import INSTRUCTIONS, Instruction
from ..decisions.cache_plan import Axis, CacheTuning, Sharing
from ..decisions.cache_shapes import Shape
from ..decisions.declined import Declined
from ..decisions.device import WARP
from ..ir.data.cached_accesses import Cached
from ..ir.ops.building import constant_value
from ..ir.ops.schedules import given_sizes
from .choices import Choices
from .matrix import Product
from .nest import CachedNest
from .plan import NestPlan
from .uses import uses_of


@dataclass(frozen=True)
class BlockChoice:
    """
    The threads of a block, the outputs per thread, and alternative shapes for grids with too few blocks to
    fill the device.
    """

    threads: tuple[int, ...]
    outputs: tuple[int, ...]
    measured: tuple[Shape, ...] = ()
    instruction: Instruction | None = None


def matrix_shape(product: Product, choices: Choices) -> BlockChoice | None:
    """
    The shapes of blocks that use matrix instructions; the largest one if other loops share the grid. None
    if there are none.
    """
    found = shapes.matrix_shapes(choices.sm)
    if not found or choices.in_bulk or choices.matrix != "auto":
        return None
    most = found[0]
    if most.instruction is None or product.turns % most.instruction.terms:
        return None
    return BlockChoice(most.threads, most.outputs, found, most.instruction)


def block_shape(
    nest: CachedNest,
    cached: Sequence[Cached],
    sharing: Sharing,
    choices: Choices,
    given: tuple[int, int],
    *,
    product: bool,
) -> BlockChoice:
    """The shape of a block, with alternatives for different numbers of blocks."""
    sections = [c.section for c in cached]
    threads = shapes.block_threads(sections, nest.axes, sharing, choices.tuning, given)
    _check_threads(threads)
    renewed = any(uses_of(c, nest).renewed for c in cached)
    element_bytes = max(section.element_bytes for section in sections)

    def shape_for(axes: Sequence[Axis]) -> BlockChoice:
        outputs = shapes.outputs_per_thread(
            axes,
            sharing,
            threads,
            choices.tuning,
            renewed=renewed,
            element_bytes=element_bytes,
            product=product,
            fixed=any(given),
        )
        crowded = not any(given) and shapes.is_crowded(threads, outputs, choices.tuning)
        return BlockChoice(shapes.ROOMY_BLOCK if crowded else threads, outputs)

    tuned = choices.tuning != CacheTuning(padding=choices.tuning.padding) or choices.stages
    if product and renewed and not tuned and not any(given):
        most = shape_for([replace(axis, trips=None) for axis in nest.axes])
        if measured := shapes.product_shapes(most.outputs, most.threads, element_bytes):
            return replace(shape_for(nest.axes), measured=measured)
    usual = shape_for(nest.axes)
    if not (renewed or product or tuned or any(given) or nest.reductions) and _is_large(
        cached, nest
    ):
        return BlockChoice(*shapes.window_shape(usual.threads, usual.outputs))
    return usual


def _is_large(cached: Sequence[Cached], nest: CachedNest) -> bool:
    """Whether the sections are windows that are only read, and read often enough for a tile to pay."""
    uses = [uses_of(c, nest) for c in cached]
    if any(use.stores or use.reads is None for use in uses):
        return False
    return plans.why_no_tiles(uses, len(nest.axes)) is None


def has_grid_of_its_own(result: NestPlan) -> bool:
    """
    Whether the nest alone determines the grid, so that the number of its blocks determines how many a
    multiprocessor runs.
    """
    nest = result.nest
    alone = result.form == "grid" and not result.shares_grid and not nest.outer
    return alone and not result.given_gangs and not nest.reductions


def for_blocks(result: NestPlan, measured: tuple[Shape, ...], choices: Choices) -> NestPlan:
    """
    The plan with the shape for the number of blocks, if it is known; otherwise with all shapes as
    alternatives, for the host to choose.
    """
    trips = [axis.trips for axis in result.nest.axes]
    known = [count for count in trips if count is not None]
    if len(known) < len(trips):
        return replace(result, alternatives=measured)
    mapped = result.sharing.axes
    around = prod(count for position, count in enumerate(known) if position not in mapped)
    own = [known[position] for position in mapped]
    return shaped_as(result, shapes.fastest(measured, own, around, choices.multiprocessors))


def shaped_as(result: NestPlan, shape: Shape) -> NestPlan:
    return replace(
        result,
        threads=shape.threads,
        outputs=shape.outputs,
        stages=shape.stages,
        instruction=shape.instruction,
    )


def with_matrix(result: NestPlan, choices: Choices, found: BlockChoice) -> NestPlan:
    """
    The plan with the matrix instruction of the shape, or of the option, if the nest and the block suit it.
    """
    if found.instruction is not None:
        return replace(result, instruction=found.instruction, stages=2)
    if choices.matrix in ("auto", "never") or result.product is None:
        return result
    instruction = INSTRUCTIONS[choices.matrix]
    terms = result.product.turns % instruction.terms
    if terms or not instruction.suits(result.threads, result.outputs):
        return result
    return replace(result, instruction=instruction)


def sizes_given(construct: acc.ParallelOp, *, every: bool) -> tuple[int, int]:
    """
    The user's num_workers and vector_length, 0 for those not given; with `every`, the construct's sizes
    from whatever source.
    """
    names = {"num_workers", "vector_length"} if every else given_sizes(construct)
    sizes: list[int] = []
    for name, values in (
        ("num_workers", construct.num_workers),
        ("vector_length", construct.vector_length),
    ):
        size = 0
        if name in names:
            known = constant_value(values[0])
            if known is None:
                raise Declined(f"{name} is known only at run time")
            size = known
        sizes.append(size)
    return sizes[0], sizes[1]


def _check_threads(threads: Sequence[int]) -> None:
    count = 1
    for size in threads:
        count *= size
    if not 1 <= count <= 1024 or count % WARP:
        shape = " × ".join(str(size) for size in threads)
        raise Declined(f"a block of {shape} threads is not a multiple of {WARP} up to 1024")
