"""
Decides the tile of one directive: its layout, how conservative its accesses are, how it is filled, and how
what is written to it reaches the array.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.ir import Operation

from ...dialects.accx import EDGES
from ...dialects.accx_bulk import BULK_BYTES
from ...dialects.accx_compress import PACKED
from ..decisions import cache_plan as plans
from ..decisions import cache_shapes as shapes
from ..decisions.cache_banks import choose_padding
from ..decisions.cache_matrix import choose_fragment_padding
from ..decisions.cache_plan import Sharing, TilePlan
from ..decisions.cache_shapes import MANY_OUTPUTS
from ..decisions.declined import Declined
from ..ir.data.cached_accesses import Cached
from .bulk import why_not
from .choices import Choices
from .memory import emulated_cache
from .nest import CachedNest
from .plan import NestPlan
from .tiles import Planned, can_copy_async
from .uniformity import written_variables
from .uses import uses_of


def plan_tile_of(cached: Cached, nest: CachedNest, result: NestPlan, choices: Choices) -> Planned:
    """
    Plans the tile of one directive, with the reasons for its remark in `result.reasons`. Raises `Declined`
    if no tile serves the section, or with `strict` if bulk copies are asked for and impossible.
    """
    method, why = plans.choose_method(
        all(access.certain for access in cached.accesses), choices.trust, fits=True
    )
    if choices.method in ("rbi", "rbc"):
        method, why = choices.method, "by option"
    uses = uses_of(cached, nest)
    plan = _layout(cached, uses, result, choices)
    if choices.method == "ehc":
        return emulated_cache(result, Planned(cached, plan, "ehc", "through"), "by option")
    policy: plans.WritePolicy = "through"
    if uses.stores:
        policy, reason = _write_policy(cached, uses, plan, method, result, choices)
        if policy == "mask":
            plan = _plain_tile(cached, result, 0)
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


def _plain_tile(
    cached: Cached, result: NestPlan, padding: int, *, transposed: bool = False
) -> TilePlan:
    """The tile of a section with rows padded by `padding` elements. Raises `Declined` if there is none."""
    plan = plans.plan_tile(
        cached.section,
        result.nest.axes,
        result.sharing,
        result.widths,
        padding,
        transposed=transposed,
    )
    if isinstance(plan, str):
        raise Declined(plan)
    return plan


def _layout(cached: Cached, uses: plans.Uses, result: NestPlan, choices: Choices) -> TilePlan:
    """The tile's layout: by rows, or by columns if a thread then reads its outputs in wide words."""
    plan = _plain_tile(cached, result, _padding(cached, result, choices))
    axis = plans.column_axis(plan) if len(result.outputs) == 2 else None
    together = shapes.side_by_side(cached.section.element_bytes, result.outputs[axis or 0])
    by_columns = (
        choices.transpose
        and result.instruction is None
        and not choices.in_bulk
        and not uses.stores
        and cached.word.width.data // 8 == cached.section.element_bytes
        and axis is not None
        and (axis == 0 or _stores_right_by_columns(result))
        and together > 1
    )
    if not by_columns:
        return plan
    own = choices.tuning.padding
    padding = own if own >= 0 else together
    return _plain_tile(cached, result, padding, transposed=True)


def _padding(cached: Cached, result: NestPlan, choices: Choices) -> int:
    """The padding of a tile's rows, in elements: by option, or against bank conflicts."""
    if choices.tuning.padding >= 0:
        return choices.tuning.padding
    nest, sharing, threads = result.nest, result.sharing, result.threads
    if result.instruction is not None:
        return choose_fragment_padding(cached.section, nest.axes, sharing, result.widths)
    return choose_padding(
        cached.section,
        nest.axes,
        sharing,
        result.widths,
        threads,
        _moves(cached, nest, sharing),
        [1] * (len(threads) - 1)
        + [shapes.side_by_side(cached.section.element_bytes, result.outputs[-1])],
        multiple=BULK_BYTES if choices.in_bulk else 1,
    )


def _write_policy(
    cached: Cached,
    uses: plans.Uses,
    plan: TilePlan,
    method: plans.Method,
    result: NestPlan,
    choices: Choices,
) -> tuple[plans.WritePolicy, str]:
    """How written elements reach the array, and why."""
    disjoint = plans.tiles_are_disjoint(plan, result.nest.axes)
    policy, reason = plans.choose_write_policy(uses, disjoint)
    if choices.write != "auto":
        policy, reason = choices.write, "by option"
        if policy == "back" and not disjoint:
            policy, reason = "mask", "other blocks hold the same elements"
    if method == "rbc" and policy == "back":
        policy = "mask"
    if cached.touched_elsewhere:
        return "through", "code outside of the directive's scope also uses the array"
    return policy, reason


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
