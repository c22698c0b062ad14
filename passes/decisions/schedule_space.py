"""
The legal schedules of a construct, for tuners: the default of `plan_construct`, the numbered
schedules where the nest has their depth, and other block shapes and numbers of iterations per
thread where the user left them open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .device import MAX_THREADS
from .launch_shape import Sizes
from .levels import LEVEL_NAMES, Level
from .loop_tree import LoopNode
from .schedule import STRATEGIES, LoopPlan, Schedule, ScheduleTuning, Strategy, plan_construct

_LANES = (64, 128, 256, 512)
_ROWS = (1, 2, 4, 8, 16, 32)
"""The candidates for iterations of a nest's outermost loop that run side by side."""
_ELEMENTS = (1, 2, 4, 8)
"""The candidates for iterations per thread of a loop with lanes."""


def alternatives(
    roots: list[LoopNode],
    sizes: Sizes,
    strategy: Strategy = "auto",
    tuning: ScheduleTuning | None = None,
) -> list[Schedule]:
    """
    The legal schedules of a construct for a GPU, without duplicates. The first is the one that `strategy`
    and `tuning` select. Raises `CompileError` for levels nested in a way OpenACC forbids.
    """
    found: list[Schedule] = []
    for schedule in _candidates(roots, sizes, strategy, tuning or ScheduleTuning()):
        if all(_differs(schedule, other) for other in found):
            found.append(schedule)
    return found


def _candidates(
    roots: list[LoopNode], sizes: Sizes, strategy: Strategy, tuning: ScheduleTuning
) -> Iterator[Schedule]:
    def plan(strategy: Strategy, tuning: ScheduleTuning) -> Schedule:
        return plan_construct(roots, sizes, "nvptx", strategy, Level.GANG, tuning)

    shapes = [plan(name, tuning) for name in (strategy, *STRATEGIES)]
    yield from shapes
    if sizes.single:
        return
    for rows in _ROWS:
        yield plan(strategy, replace(tuning, rows=rows))
    for elements in _ELEMENTS:
        yield plan(strategy, replace(tuning, elements=elements))
    if sizes.lanes is not None or sizes.dynamic_lanes:
        return
    for base in shapes:
        if any(Level.VECTOR in plan.levels for plan in base.loops.values()):
            for lanes in _LANES:
                if lanes * base.num_workers <= MAX_THREADS:
                    yield replace(base, vector_length=lanes, why=_shape(base.num_workers, lanes))


def _shape(workers: int, lanes: int) -> str:
    return f"{workers} workers of {lanes} lanes"


def _differs(left: Schedule, right: Schedule) -> bool:
    return (
        left.loops != right.loops
        or left.num_workers != right.num_workers
        or left.vector_length != right.vector_length
    )


def describe(schedule: Schedule) -> str:
    """One line: the block's shape, and each loop, outermost first, with its levels and iterations."""
    loops = " / ".join(_loop_text(plan) for plan in schedule.loops.values())
    return f"{schedule.num_workers}x{schedule.vector_length}: {loops}"


def _loop_text(plan: LoopPlan) -> str:
    if not plan.levels:
        return "seq"
    text = " ".join(LEVEL_NAMES[level] for level in sorted(plan.levels, reverse=True))
    if plan.gang_dim > 1:
        text += f"(dim:{plan.gang_dim})"
    return text if plan.elements == 1 else f"{text} x{plan.elements}"
