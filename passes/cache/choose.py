"""Puts the decisions of `analysis/cache_plan.py` together for one nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from xdsl.dialects import acc, scf
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.accx import GIVEN_SIZES
from ..analysis import cache_plan as plans
from ..analysis.acc_ops import constant_value, has_level
from ..analysis.cache_plan import Sharing, TilePlan, Tuning, Uses
from ..analysis.cache_section import Section
from ..analysis.layout import size_of
from . import emulated
from .accesses import (
    Access,
    Cached,
    Declined,
    Symbols,
    read_accesses,
    read_section,
    usual_turns,
)
from .legality import check_accesses, choose_sections
from .nest import Nest
from .pipeline import fetched_ahead
from .tiles import Planned, buffer_bytes, can_copy_async
from .uniformity import (
    has_effects,
    is_pure,
    varying_values,
    written_variables,
)

WIDEST_ACCESS = 16
"""Bytes of the widest access to shared memory."""

Form = Literal["grid", "line", "within"]

Refuse = Callable[[acc.CacheOp, str], None]


@dataclass(frozen=True)
class Choices:
    """The options of the pass."""

    tuning: Tuning
    method: Literal["auto", "rbi", "rbc", "ehc"] = "auto"
    trust: bool = False
    promote: Literal["auto", "always", "never"] = "auto"
    communicate: bool = False
    fetch: Literal["auto", "registers", "async"] = "auto"
    write: Literal["auto", "through", "back", "mask"] = "auto"
    sets: int = 8
    ways: int = 1
    stages: int = 0


@dataclass
class NestPlan:
    """
    What becomes of a nest: the mapped axes, threads and outputs per thread along each, and the tiles.
    `given_gangs`: the grid is the user's; `shares_grid`: other loops of the construct use it too.
    `form`: the blocks have a dimension of the grid for each loop, or one for all, or a gang takes all.
    """

    nest: Nest
    sharing: Sharing
    threads: tuple[int, ...]
    outputs: tuple[int, ...]
    planned: list[Planned]
    reasons: dict[acc.CacheOp, str]
    given_gangs: bool
    sets: int = 8
    ways: int = 1
    form: Form = "grid"
    shares_grid: bool = False

    @property
    def thread_count(self) -> int:
        """Threads of a block."""
        return prod(self.threads)

    @property
    def widths(self) -> tuple[int, ...]:
        """Iterations of a block along each mapped axis."""
        return tuple(t * o for t, o in zip(self.threads, self.outputs, strict=True))

    @property
    def together(self) -> int:
        """Neighbouring outputs of one thread along the lanes: what fills a 16-byte access."""
        element = max(planned.plan.section.element_bytes for planned in self.planned)
        together = max(1, min(4, WIDEST_ACCESS // element))
        while self.outputs[-1] % together:
            together //= 2
        return together

    def remark(self, planned: Planned) -> str:
        """One sentence on a tile."""
        names = ", ".join(self.nest.axes[a].name for a in self.sharing.axes)
        shape = " × ".join(str(t) for t in self.threads)
        plan = planned.plan
        size = " × ".join(str(d.size) for d in plan.dims)
        if planned.method == "ehc":
            return (
                f"cache({plan.section.name}) in shared memory: {self.sets} sets of {self.ways} per"
                f" thread; {self.reasons[planned.cached.op]}"
            )
        text = (
            f"cache({plan.section.name}) in shared memory: tile of {size} elements"
            f" ({plan.bytes} bytes{f', rows padded by {plan.padding}' if plan.padding else ''}),"
            f" shared by {shape} threads along {names}"
        )
        each = " × ".join(str(o) for o in self.outputs)
        if each.replace("1", "").strip(" ×"):
            text += f", {each} outputs per thread"
        text += f"; {self.reasons[planned.cached.op]}"
        kept = f"the loops outside keep their place: {self.nest.kept}" if self.nest.kept else ""
        return "; ".join([text, *self.sharing.notes, *filter(None, [kept])])


def plan_nest(
    nest: Nest,
    ops: Sequence[acc.CacheOp],
    choices: Choices,
    refuse: Refuse,
    *,
    shaped: bool = False,
) -> NestPlan:
    """
    Decides on a nest. Directives that cannot be honoured alone go to `refuse`; raises `Declined` if
    none is left or the nest has no suitable form. `shaped`: the construct's threads are decided.
    """
    if choices.promote == "never":
        raise Declined("promote=never")
    refused: list[tuple[acc.CacheOp, str]] = []
    cached = _readable(nest, ops, refused)
    if not cached:
        raise Declined("; ".join(dict.fromkeys(reason for _, reason in refused)))
    sections = [c.section for c in cached]
    if choices.promote == "auto":
        reason = plans.leave_alone([uses_of(c, nest) for c in cached], len(nest.axes))
        if reason is not None:
            raise Declined(reason)
    sharing = plans.extract_sharing(sections, nest.axes)
    if not sharing.axes:
        raise Declined("; ".join(sharing.notes))
    given = _given(nest.construct, every=shaped or nest.within)
    threads = plans.block_threads(sections, nest.axes, sharing, choices.tuning, given)
    _check_threads(threads)
    if (shaped or nest.within) and prod(threads) != prod(given):
        raise Declined(f"other code of the construct needs {prod(given)} threads")
    outputs = plans.outputs_per_thread(
        nest.axes,
        sharing,
        threads,
        choices.tuning,
        renewed=any(uses_of(c, nest).renewed for c in cached),
        element_bytes=max(section.element_bytes for section in sections),
    )
    if not any(given) and plans.is_crowded(threads, outputs, choices.tuning):
        threads = plans.ROOMY_BLOCK
    mapped = [nest.variables[position] for position in sharing.axes]
    varying = varying_values(nest.operations, mapped, written_variables(nest.construct))
    result = NestPlan(
        nest,
        sharing,
        threads,
        outputs,
        [],
        {},
        _gives_gangs(nest.construct),
        choices.sets,
        choices.ways,
        *_form(nest),
    )
    for each in cached:
        try:
            _check_place(each.op, nest, varying)
            _check_uniform(each.section, nest, sharing, varying)
            result.planned.append(_plan_one(each, nest, result, choices))
        except Declined as reason:
            refused.append((each.op, str(reason)))
    if not result.planned:
        raise Declined("; ".join(dict.fromkeys(reason for _, reason in refused)))
    if choices.stages == 2:
        result.planned = fetched_ahead(nest, result.planned)
    _fit(result, refused)
    _check_body(nest)
    for op, reason in refused:
        refuse(op, reason)
    return result


def _readable(
    nest: Nest, ops: Sequence[acc.CacheOp], refused: list[tuple[acc.CacheOp, str]]
) -> list[Cached]:
    """The directives whose sections and accesses can be read; the others go to `refused`."""
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
            good.append(cached)
        except Declined as reason:
            refused.append((cached.op, str(reason)))
    return good


def _form(nest: Nest) -> tuple[Form, bool]:
    """How blocks are shared out among gangs, and whether other loops use the grid too."""
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


def _outside(nest: Nest) -> Iterator[Operation]:
    """The operations of the construct that are not in the nest."""
    work: list[Operation] = [nest.construct]
    while work:
        for region in work.pop().regions:
            for op in (op for block in region.blocks for op in block.ops):
                if op is not nest.loops[0]:
                    yield op
                    work.append(op)


def _given(construct: acc.ParallelOp, *, every: bool) -> tuple[int, int]:
    """The user's num_workers and vector_length, 0 for what is left open; `every`: the construct's."""
    names = {"num_workers", "vector_length"} if every else _given_names(construct)
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


def _given_names(construct: acc.ParallelOp) -> set[str]:
    attr = construct.attributes.get(GIVEN_SIZES)
    if not isinstance(attr, ArrayAttr):
        return set()
    return {name.data for name in attr if isinstance(name, StringAttr)}


def _gives_gangs(construct: acc.ParallelOp) -> bool:
    return "num_gangs" in _given_names(construct)


def _check_threads(threads: Sequence[int]) -> None:
    count = 1
    for size in threads:
        count *= size
    if not 1 <= count <= 1024 or count % plans.WARP:
        shape = " × ".join(str(size) for size in threads)
        raise Declined(f"a block of {shape} threads is no multiple of {plans.WARP} up to 1024")


def _emulated(result: NestPlan, planned: Planned, why: str) -> Planned:
    """The same directive with an emulated cache instead of a tile. Raises `Declined`."""
    _ = planned.cached.element_type
    result.reasons[planned.cached.op] = f"emulated hardware cache: {why}"
    return replace(planned, method="ehc", policy="through", asynchronous=False, communicate=False)


def _plan_one(cached: Cached, nest: Nest, result: NestPlan, choices: Choices) -> Planned:
    """The tile of one directive."""
    method, why = plans.choose_method(
        all(access.certain for access in cached.accesses), choices.trust, fits=True
    )
    if choices.method in ("rbi", "rbc"):
        method, why = choices.method, "by option"
    uses = uses_of(cached, nest)
    sharing, widths, threads = result.sharing, result.widths, result.threads
    padding = choices.tuning.padding
    if padding < 0:
        padding = plans.choose_padding(
            cached.section, nest.axes, sharing, widths, threads, _moves(cached, nest, sharing)
        )
    plan = plans.plan_tile(cached.section, nest.axes, sharing, widths, padding)
    if isinstance(plan, str):
        raise Declined(plan)
    if choices.method == "ehc":
        return _emulated(result, Planned(cached, plan, "ehc", "through"), "by option")
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
        if policy == "mask":
            plan = plans.plan_tile(cached.section, nest.axes, sharing, widths, 0)
            assert isinstance(plan, TilePlan)
        why += f"; write-{policy}: {reason}"
    words = {"rbi": "range-based intelligent", "rbc": "range-based conservative", "ehc": "emulated"}
    result.reasons[cached.op] = f"{words[method]}: {why}"
    use_async = choices.fetch == "async" and can_copy_async(cached, plan) and policy != "mask"
    return Planned(cached, plan, method, policy, use_async, choices.communicate)


def _moves(cached: Cached, nest: Nest, sharing: Sharing) -> list[list[int]]:
    """Elements that each access moves per section dimension and mapped axis."""
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


def _fit(result: NestPlan, refused: list[tuple[acc.CacheOp, str]]) -> None:
    """Drops the largest tiles until the others fit."""
    threads = 1
    for count in result.threads:
        threads *= count

    def _needed(planned: Planned) -> int:
        if planned.method != "ehc":
            return _bytes(planned)
        width = size_of(planned.cached.element_type)
        return emulated.bytes_needed(result.sets, result.ways, threads, width)

    if sum(_needed(p) for p in result.planned) > plans.SHARED_LIMIT:
        result.planned = [replace(p, ahead=False) for p in result.planned]
    while True:
        size = sum(_needed(p) for p in result.planned)
        if size <= plans.SHARED_LIMIT:
            return
        tiles = [p for p in result.planned if p.method != "ehc"]
        worst = max(tiles or result.planned, key=_needed)
        result.planned.remove(worst)
        if tiles:
            try:
                why = f"a tile of {worst.plan.bytes} bytes does not fit into shared memory"
                result.planned.append(_emulated(result, worst, why))
                continue
            except Declined:
                pass
        refused.append(
            (
                worst.cached.op,
                f"its tile of {_needed(worst)} bytes does not fit into the"
                f" {plans.SHARED_LIMIT} bytes of shared memory of a gang",
            )
        )
        if not result.planned:
            raise Declined(refused[-1][1])


def _bytes(planned: Planned) -> int:
    extra = planned.plan.elements if planned.policy == "mask" else 0
    return (
        buffer_bytes(planned.plan) * (2 if planned.ahead else 1)
        + -(-extra // 16) * 16
        + (16 if planned.communicate else 0)
    )


# How an array is used -----------------------------------------------------------------------------


def uses_of(cached: Cached, nest: Nest) -> Uses:
    """Counts the accesses in the directive's scope."""
    reads: int | None = 0
    stores = in_loop = conditional = read_in_loop = 0
    scope = cached.op.parent_op()
    assert scope is not None
    for access in cached.accesses:
        trips, branches = _trips(access, scope, nest.symbols)
        if access.is_store:
            stores += 1
            in_loop += trips != 1
            conditional += branches
        else:
            read_in_loop += isinstance(access.op.parent_op(), scf.ForOp)
        if not access.is_store and reads is not None:
            reads = None if trips is None else reads + trips
    renewed = cached.op.parent_op() is not nest.loops[-1]
    return Uses(reads, renewed, stores, in_loop > 0, conditional > 0, read_in_loop > 0)


def _trips(access: Access, scope: Operation, symbols: Symbols) -> tuple[int | None, bool]:
    """How often an access runs in its scope (None: not known), and whether under a condition."""
    trips: int | None = 1
    conditional = False
    parent = access.op.parent_op()
    while parent is not None and parent is not scope:
        if isinstance(parent, scf.ForOp):
            own = usual_turns(parent, symbols)
            trips = None if trips is None or own is None else trips * own
        elif isinstance(parent, scf.IfOp):
            conditional = True
        else:
            trips = None
        parent = parent.parent_op()
    return trips, conditional


# What the form of a block demands -------------------------------------------------------------------


def _check_place(op: acc.CacheOp, nest: Nest, varying: set[SSAValue]) -> None:
    """All threads of a block must come past the directive together."""
    parent = op.parent_op()
    while parent is not None and parent is not nest.loops[-1]:
        if isinstance(parent, scf.ForOp):
            control: Sequence[SSAValue] = (parent.lb, parent.ub, parent.step)
        elif isinstance(parent, scf.IfOp):
            control = (parent.cond,)
        elif isinstance(parent, acc.LoopOp):
            control = (*parent.lowerbound, *parent.upperbound, *parent.step)
        else:
            raise Declined("it stands in control flow that threads may follow differently")
        if any(value in varying for value in control):
            raise Declined("it stands in control flow that depends on the parallel loop variables")
        parent = parent.parent_op()


def _check_uniform(section: Section, nest: Nest, sharing: Sharing, varying: set[SSAValue]) -> None:
    variables = {nest.variables[position] for position in sharing.axes}
    for dim in section.dims:
        for symbol in dim.lower.symbols | dim.stride.symbols:
            if symbol in varying and symbol not in variables:
                raise Declined(
                    f"the lower bound of the section of '{section.name}' is not linear in the"
                    " parallel loop variables"
                )


def _check_body(nest: Nest) -> None:
    """Code that threads without an iteration could not skip."""
    for op in nest.body.walk():
        if isinstance(op, acc.LoopOp) and (
            op.private_operands or op.firstprivate_operands or op.reduction_operands
        ):
            raise Declined("a loop inside has variables of its own")
        if op.regions or op.name.startswith("acc.") or is_pure(op):
            continue
        if op.results and has_effects(op):
            raise Declined(f"'{op.name}' in the loop has effects and a result")
