"""Combines the decisions of `decisions/cache_plan.py` for one nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..decisions import cache_plan as plans
from ..decisions import cache_shapes as shapes
from ..decisions.cache_matrix import MATRIX_SM
from ..decisions.cache_shapes import Shape
from ..decisions.declined import Declined
from ..ir.data.cached_accesses import Cached, read_accesses, read_section
from ..ir.ops.acc_ops import has_level
from ..ir.ops.schedules import given_sizes
from .block_choice import (
    block_shape,
    for_blocks,
    has_grid_of_its_own,
    matrix_shape,
    shaped_as,
    sizes_given,
    with_matrix,
)
from .choices import Choices
from .elsewhere import find_outside_accesses
from .extents import check_extent
from .legality import check_accesses, check_body, check_place, check_uniform, choose_sections
from .matrix import find_product
from .memory import fit, room_for, total_bytes
from .nest import CachedNest
from .pipeline import fetched_ahead
from .plan import Form, NestPlan
from .tile_choice import plan_tile_of
from .uniformity import varying_values, written_variables
from .uses import uses_of

Refuse = Callable[[acc.CacheOp, str], None]


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
    given = sizes_given(nest.construct, every=shaped or nest.within)
    multiplied = None
    if product and choices.matrix != "never" and choices.sm >= MATRIX_SM:
        multiplied = find_product(nest, cached, sharing, fused=choices.fused)
    found = block_shape(nest, cached, sharing, choices, given, product=product)
    if multiplied is not None and found.measured:
        found = matrix_shape(multiplied, choices) or found
    if (shaped or nest.within) and prod(found.threads) != prod(given):
        raise Declined(f"other code of the construct needs {prod(given)} threads")
    gives_gangs = _gives_gangs(nest.construct)
    result = NestPlan(nest, sharing, found.threads, found.outputs, [], {}, gives_gangs)
    result = replace(result, sets=choices.sets, ways=choices.ways, width=choices.width)
    result.form, result.shares_grid = _form(nest)
    result.product = multiplied
    result = with_matrix(result, choices, found)
    if shape is not None:
        result = shaped_as(result, shape)
    elif found.measured and has_grid_of_its_own(result):
        result = for_blocks(result, found.measured, choices)
    result = _with_tiles(result, cached, choices, refused)
    check_body(nest)
    for op, reason in refused:
        refuse(op, reason)
    return result


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
            result.planned.append(plan_tile_of(each, nest, result, choices))
            usable.append(each)
        except Declined as reason:
            refused.append((each.op, str(reason)))
    if not result.planned:
        raise Declined("; ".join(dict.fromkeys(reason for _, reason in refused)))
    asked = choices.tuning.rows or choices.tuning.columns or result.instruction is not None
    while total_bytes(result) > room.declared and prod(result.outputs) > 1 and not asked:
        fewer = tuple(max(1, own // 2) for own in result.outputs)
        result = replace(result, outputs=fewer, planned=[], reasons={})
        result.planned = [plan_tile_of(each, nest, result, choices) for each in usable]
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


def _gives_gangs(construct: acc.ParallelOp) -> bool:
    return "num_gangs" in given_sizes(construct)
