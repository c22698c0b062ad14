"""Combines the decisions of `decisions/cache_plan.py` for one nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from xdsl.dialects import acc
from xdsl.ir import Operation

from ...dialects.accx import EDGES
from ...dialects.accx_bulk import BULK_BYTES
from ...dialects.accx_compress import PACKED
from ..decisions import cache_plan as plans
from ..decisions import cache_shapes as shapes
from ..decisions.cache_banks import choose_padding
from ..decisions.cache_matrix import INSTRUCTIONS, MATRIX_SM, Instruction, choose_fragment_padding
from ..decisions.cache_plan import Axis, CacheTuning, Sharing, TilePlan
from ..decisions.cache_shapes import MANY_OUTPUTS, MULTIPROCESSORS, Shape
from ..decisions.declined import Declined
from ..ir.data.cached_accesses import Cached, read_accesses, read_section
from ..ir.ops.acc_ops import has_level
from ..ir.ops.building import constant_value
from ..ir.ops.schedules import given_sizes
from .bulk import BULK_SM, why_not
from .elsewhere import find_outside_accesses
from .extents import check_extent
from .legality import check_accesses, check_body, check_place, check_uniform, choose_sections
from .matrix import Product, find_product
from .memory import emulated_cache, fit, room_for, total_bytes
from .nest import CachedNest
from .pipeline import fetched_ahead
from .plan import Form, NestPlan, Width
from .tiles import Planned, can_copy_async
from .uniformity import varying_values, written_variables
from .uses import uses_of

Fetch = Literal["auto", "registers", "async", "bulk"]
MatrixChoice = Literal["auto", "never", "m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"]
Refuse = Callable[[acc.CacheOp, str], None]


@dataclass(frozen=True)
class Choices:
    """The options of the pass."""

    tuning: CacheTuning
    method: Literal["auto", "rbi", "rbc", "ehc"] = "auto"
    trust: bool = False
    promote: Literal["auto", "always", "never"] = "auto"
    communicate: bool = False
    fetch: Fetch = "auto"
    write: Literal["auto", "through", "back", "mask"] = "auto"
    sets: int = 8
    ways: int = 1
    stages: int = 0
    width: Width = "auto"
    transpose: bool = True
    shared_limit: int = plans.SHARED_LIMIT
    """The most bytes of shared memory for a block on the GPU."""
    sm: int = BULK_SM
    multiprocessors: int = MULTIPROCESSORS
    """The number of the GPU's multiprocessors."""
    matrix: MatrixChoice = "auto"
    """The instruction for products of doubles."""
    fused: bool = True
    """Whether a multiplication and an addition may be fused."""
    strict: bool = False
    """Whether an option that cannot be honoured is an error."""

    @property
    def in_bulk(self) -> bool:
        """Whether bulk copies are requested and the GPU has them."""
        return self.fetch == "bulk" and self.sm >= BULK_SM


def plan_nest(
    nest: CachedNest,
    ops: Sequence[acc.CacheOp],
    choices: Choices,
    refuse: Refuse,
    *,
    shaped: bool = False,
    shape: Shape | None = None,
) -> NestPlan:
    """
    The plan of a nest. Single directives that cannot be honoured go to `refuse`; raises `Declined` if none
    is left, or if the nest has no suitable form. `shaped`: the construct's block size is already decided;
    `shape`: so are outputs and buffers.
    """
    if choices.promote == "never":
        raise Declined("promote=never")
    refused: list[tuple[acc.CacheOp, str]] = []
    cached = _readable(nest, ops, refused)
    if not cached:
        raise Declined("; ".join(dict.fromkeys(reason for _, reason in refused)))
    sections = [c.section for c in cached]
    sharing = plans.extract_sharing(sections, nest.axes)
    product = plans.is_product(sections, nest.axes, sharing)
    if choices.promote == "auto":
        uses = [uses_of(c, nest) for c in cached]
        reason = plans.why_no_tiles(uses, len(nest.axes), product=product)
        if reason is not None:
            raise Declined(reason)
    if not sharing.axes:
        raise Declined("; ".join(sharing.notes))
    given = _given(nest.construct, every=shaped or nest.within)
    multiplied = None
    if product and choices.matrix != "never" and choices.sm >= MATRIX_SM:
        multiplied = find_product(nest, cached, sharing, fused=choices.fused)
    found = _shape(nest, cached, sharing, choices, given, product=product)
    if multiplied is not None and found.measured:
        found = _matrix_shape(multiplied, choices) or found
    if (shaped or nest.within) and prod(found.threads) != prod(given):
        raise Declined(f"other code of the construct needs {prod(given)} threads")
    gives_gangs = _gives_gangs(nest.construct)
    result = NestPlan(nest, sharing, found.threads, found.outputs, [], {}, gives_gangs)
    result = replace(result, sets=choices.sets, ways=choices.ways, width=choices.width)
    result.form, result.shares_grid = _form(nest)
    result.product = multiplied
    result = _with_matrix(result, choices, found)
    if shape is not None:
        result = _shaped(result, shape)
    elif found.measured and _has_grid_of_its_own(result):
        result = _for_blocks(result, found.measured, choices)
    result = _with_tiles(result, cached, choices, refused)
    check_body(nest)
    for op, reason in refused:
        refuse(op, reason)
    return result


@dataclass(frozen=True)
class _BlockShape:
    """
    The threads of a block, the outputs per thread, and alternative shapes for grids with too few blocks to
    fill the device.
    """

    threads: tuple[int, ...]
    outputs: tuple[int, ...]
    measured: tuple[Shape, ...] = ()
    instruction: Instruction | None = None


def _matrix_shape(product: Product, choices: Choices) -> _BlockShape | None:
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
    return _BlockShape(most.threads, most.outputs, found, most.instruction)


def _shape(
    nest: CachedNest,
    cached: Sequence[Cached],
    sharing: Sharing,
    choices: Choices,
    given: tuple[int, int],
    *,
    product: bool,
) -> _BlockShape:
    """The shape of a block, with alternatives for different numbers of blocks."""
    sections = [c.section for c in cached]
    threads = shapes.block_threads(sections, nest.axes, sharing, choices.tuning, given)
    _check_threads(threads)
    renewed = any(uses_of(c, nest).renewed for c in cached)
    element_bytes = max(section.element_bytes for section in sections)

    def shape_for(axes: Sequence[Axis]) -> _BlockShape:
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
        return _BlockShape(shapes.ROOMY_BLOCK if crowded else threads, outputs)

    tuned = choices.tuning != CacheTuning(padding=choices.tuning.padding) or choices.stages
    if product and renewed and not tuned and not any(given):
        most = shape_for([replace(axis, trips=None) for axis in nest.axes])
        if measured := shapes.product_shapes(most.outputs, most.threads, element_bytes):
            return replace(shape_for(nest.axes), measured=measured)
    usual = shape_for(nest.axes)
    if not (renewed or product or tuned or any(given) or nest.reductions) and _is_large(
        cached, nest
    ):
        return _BlockShape(*shapes.window_shape(usual.threads, usual.outputs))
    return usual


def _is_large(cached: Sequence[Cached], nest: CachedNest) -> bool:
    """Whether the sections are windows that are only read, and read often enough for a tile to pay."""
    uses = [uses_of(c, nest) for c in cached]
    if any(use.stores or use.reads is None for use in uses):
        return False
    return plans.why_no_tiles(uses, len(nest.axes)) is None


def _has_grid_of_its_own(result: NestPlan) -> bool:
    """
    Whether the nest alone determines the grid, so that the number of its blocks determines how many a
    multiprocessor runs.
    """
    nest = result.nest
    alone = result.form == "grid" and not result.shares_grid and not nest.outer
    return alone and not result.given_gangs and not nest.reductions


def _for_blocks(result: NestPlan, measured: tuple[Shape, ...], choices: Choices) -> NestPlan:
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
    return _shaped(result, shapes.fastest(measured, own, around, choices.multiprocessors))


def _shaped(result: NestPlan, shape: Shape) -> NestPlan:
    return replace(
        result,
        threads=shape.threads,
        outputs=shape.outputs,
        stages=shape.stages,
        instruction=shape.instruction,
    )


def _with_matrix(result: NestPlan, choices: Choices, found: _BlockShape) -> NestPlan:
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


def _with_tiles(
    result: NestPlan,
    cached: Sequence[Cached],
    choices: Choices,
    refused: list[tuple[acc.CacheOp, str]],
) -> NestPlan:
    """The plan with its tiles, of smaller blocks if the tiles of the usual ones do not fit."""
    nest = result.nest
    always = choices.promote == "always"
    room = room_for(nest, result.thread_count, choices.shared_limit, always=always)
    mapped = [nest.variables[position] for position in result.sharing.axes]
    varying = varying_values(nest.operations, mapped, written_variables(nest.construct))
    usable: list[Cached] = []
    for each in cached:
        try:
            check_place(each.op, nest, varying)
            check_uniform(each.section, nest, result.sharing, varying)
            result.planned.append(_plan_one(each, nest, result, choices))
            usable.append(each)
        except Declined as reason:
            refused.append((each.op, str(reason)))
    if not result.planned:
        raise Declined("; ".join(dict.fromkeys(reason for _, reason in refused)))
    asked = choices.tuning.rows or choices.tuning.columns or result.instruction is not None
    while total_bytes(result) > room.declared and prod(result.outputs) > 1 and not asked:
        fewer = tuple(max(1, own // 2) for own in result.outputs)
        result = replace(result, outputs=fewer, planned=[], reasons={})
        result.planned = [_plan_one(each, nest, result, choices) for each in usable]
    in_bulk = any(planned.bulk for planned in result.planned)
    if shapes.buffers(result.outputs, choices.stages or result.stages) == 2 and not in_bulk:
        result.planned = fetched_ahead(nest, result.planned, result.thread_count)
    if choices.width == "fixed":
        for number, position in enumerate(result.sharing.axes):
            if not result.has_fixed_width(number):
                raise Declined(
                    f"width=fixed: the trip count of loop '{nest.axes[position].name}' is not known to be"
                    f" a multiple of {result.widths[number]}"
                )
    if not always and not _is_dense(result):
        room = replace(room, launched=0)
    fit(result, room, refused, emulate=always or choices.method == "ehc")
    return result


def _is_dense(result: NestPlan) -> bool:
    """Whether every tile is read often enough to justify fewer resident blocks."""
    return all(
        plans.is_worth_launching(
            uses_of(planned.cached, result.nest).reads, prod(result.widths), planned.plan.elements
        )
        for planned in result.planned
    )


def _readable(
    nest: CachedNest, ops: Sequence[acc.CacheOp], refused: list[tuple[acc.CacheOp, str]]
) -> list[Cached]:
    """The directives whose sections and accesses can be analysed; the others are added to `refused`."""
    found: list[Cached] = []
    for op in ops:
        try:
            cached = Cached(op, read_section(op, nest.symbols))
            read_accesses(cached, nest.symbols)
            found.append(cached)
        except Declined as reason:
            refused.append((op, str(reason)))
    choose_sections(found)
    good: list[Cached] = []
    for cached in found:
        try:
            check_accesses(cached)
            check_extent(cached, nest.symbols)
            find_outside_accesses(cached, nest)
            good.append(cached)
        except Declined as reason:
            refused.append((cached.op, str(reason)))
    return good


def _form(nest: CachedNest) -> tuple[Form, bool]:
    """The distribution of blocks over gangs, and whether other loops use the grid too."""
    if nest.within:
        return "within", True
    mine = {nest.loops[0], *nest.outer}
    shares = any(
        isinstance(op, acc.LoopOp) and has_level(op.gang) and op not in mine
        for op in _outside(nest)
    )
    axes, dims = len(nest.axes), len(nest.construct.num_gangs)
    if nest.reductions and axes > 1:
        if shares and dims > 1:
            raise Declined("other loops of the construct use more dimensions of the grid")
        return "line", shares
    if not shares or dims == axes or nest.outer:
        return "grid", shares
    if dims > 1:
        raise Declined("other loops of the construct use other dimensions of the grid")
    return "line", shares


def _outside(nest: CachedNest) -> Iterator[Operation]:
    """The operations of the construct that are not in the nest."""
    work: list[Operation] = [nest.construct]
    while work:
        for region in work.pop().regions:
            for op in (op for block in region.blocks for op in block.ops):
                if op is not nest.loops[0]:
                    yield op
                    work.append(op)


def _given(construct: acc.ParallelOp, *, every: bool) -> tuple[int, int]:
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


def _gives_gangs(construct: acc.ParallelOp) -> bool:
    return "num_gangs" in given_sizes(construct)


def _check_threads(threads: Sequence[int]) -> None:
    count = 1
    for size in threads:
        count *= size
    if not 1 <= count <= 1024 or count % plans.WARP:
        shape = " × ".join(str(size) for size in threads)
        raise Declined(f"a block of {shape} threads is not a multiple of {plans.WARP} up to 1024")


def _plan_one(cached: Cached, nest: CachedNest, result: NestPlan, choices: Choices) -> Planned:
    """Plans the tile of one directive."""
    method, why = plans.choose_method(
        all(access.certain for access in cached.accesses), choices.trust, fits=True
    )
    if choices.method in ("rbi", "rbc"):
        method, why = choices.method, "by option"
    uses = uses_of(cached, nest)
    sharing, widths, threads = result.sharing, result.widths, result.threads
    padding = choices.tuning.padding
    if padding < 0 and result.instruction is not None:
        padding = choose_fragment_padding(cached.section, nest.axes, sharing, widths)
    elif padding < 0:
        padding = choose_padding(
            cached.section,
            nest.axes,
            sharing,
            widths,
            threads,
            _moves(cached, nest, sharing),
            [1] * (len(threads) - 1)
            + [shapes.side_by_side(cached.section.element_bytes, result.outputs[-1])],
            multiple=BULK_BYTES if choices.in_bulk else 1,
        )
    plan = plans.plan_tile(cached.section, nest.axes, sharing, widths, padding)
    if isinstance(plan, str):
        raise Declined(plan)
    axis = plans.column_axis(plan) if len(result.outputs) == 2 else None
    together = shapes.side_by_side(cached.section.element_bytes, result.outputs[axis or 0])
    if (
        choices.transpose
        and result.instruction is None
        and not choices.in_bulk
        and not uses.stores
        and cached.word.width.data // 8 == cached.section.element_bytes
        and axis is not None
        and (axis == 0 or _stores_right_by_columns(result))
        and together > 1
    ):
        if choices.tuning.padding < 0:
            padding = together
        plan = plans.plan_tile(cached.section, nest.axes, sharing, widths, padding, transposed=True)
        assert isinstance(plan, TilePlan)
    if choices.method == "ehc":
        return emulated_cache(result, Planned(cached, plan, "ehc", "through"), "by option")
    policy: plans.WritePolicy = "through"
    if uses.stores:
        disjoint = plans.tiles_are_disjoint(plan, nest.axes, sharing)
        policy, reason = plans.choose_write_policy(uses, disjoint)
        if choices.write != "auto":
            policy, reason = choices.write, "by option"
            if policy == "back" and not disjoint:
                policy, reason = "mask", "other blocks hold the same elements"
        if method == "rbc" and policy == "back":
            policy = "mask"
        if cached.touched_elsewhere:
            policy, reason = "through", "code outside of the directive's scope also uses the array"
        if policy == "mask":
            plan = plans.plan_tile(cached.section, nest.axes, sharing, widths, 0)
            assert isinstance(plan, TilePlan)
        why += f"; write-{policy}: {reason}"
    words = {"rbi": "range-based intelligent", "rbc": "range-based conservative", "ehc": "emulated"}
    result.reasons[cached.op] = f"{words[method]}: {why}"
    use_async = _wants_async(cached, result, choices) and can_copy_async(cached, plan)
    use_async = use_async and policy != "mask"
    found = Planned(
        cached,
        plan,
        method,
        policy,
        use_async,
        choices.communicate,
        edges=EDGES in cached.op.attributes,
    )
    if choices.fetch != "bulk":
        return found
    reason = why_not(cached, plan, policy, written_variables(nest.construct), choices.sm)
    if reason is None:
        return replace(found, bulk=True)
    if choices.strict:
        raise Declined(f"fetch=bulk: {reason}")
    result.reasons[cached.op] += f"; filled through registers: {reason}"
    return found


def _stores_right_by_columns(result: NestPlan) -> bool:
    """
    Whether to store the tile of a product's right factor by columns if its rows hold terms: lanes then read
    it in wide words, but its words are stored apart. (Measured on an H200, 4096² floats: A Bᵀ 40.8 TFLOP/s
    instead of 34.1, Aᵀ Bᵀ 40.4 instead of 30.6; with few outputs per thread it is slower.)
    """
    outputs = prod(result.outputs)
    left = any(planned.plan.transposed for planned in result.planned)
    return result.has_measured_shape and outputs >= (MANY_OUTPUTS if left else MANY_OUTPUTS // 2)


def _wants_async(cached: Cached, result: NestPlan, choices: Choices) -> bool:
    """
    Whether to fill a tile by asynchronous copies: by option, or because it is an operand of matrix
    instructions, whose sums leave no registers for words in flight.
    """
    owner = cached.base.owner
    packed = isinstance(owner, Operation) and PACKED in owner.attributes
    factor = choices.fetch == "auto" and result.instruction is not None
    return choices.fetch == "async" or (factor and not packed)


def _moves(cached: Cached, nest: CachedNest, sharing: Sharing) -> list[list[int]]:
    """For each access, the elements it moves per section dimension and mapped axis."""
    found: list[list[int]] = []
    for access in cached.accesses:
        if access.element is None:
            continue
        row: list[int] = []
        for index in access.element.indices:
            for position in sharing.axes:
                axis = nest.axes[position]
                parts = index.split(axis.variable)
                rate = None if parts is None else parts[1].as_constant
                row.append((rate or 0) * (axis.step or 1))
        found.append(row)
    return found
