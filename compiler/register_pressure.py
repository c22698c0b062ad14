"""
Reduces the iterations side by side where a kernel needs too many registers.

The schedule gives threads several iterations at once before the number of registers is known. Where ptxas
is installed and reports that the kernels of a construct spill registers or leave a multiprocessor nearly
empty, the program is scheduled again with half as many iterations side by side there, down to one
(`schedule-loops{most}`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .backend.toolkit import find_ptxas
from .base.options import CompileOptions
from .base.phases import phase
from .compiled import Executable
from .kernel_costs import KernelCost, costs_by_place

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

LEAST_OCCUPANCY = 0.125
"""The least share of its warps with which a multiprocessor hides the latency of memory."""


def may_retry(options: CompileOptions) -> bool:
    """
    Whether the compiler may change the schedule: not if the user tunes it, or asks for quick compilation.
    """
    tuned = any(text.startswith("schedule-loops") for text in options.pass_options)
    return options.target == "nvptx" and options.opt_level >= 2 and not tuned


def side_by_side(module: ModuleOp) -> dict[str, int]:
    """
    The largest number of iterations side by side in the constructs of each place (`file.c:7`) of a
    module at stage `scheduled`.
    """
    from ..passes.ir.ops.schedules import schedule_of
    from ..passes.schedule_loops.schedule_choices import construct_keys

    counts: dict[str, int] = {}
    for construct, key in construct_keys(module).items():
        place = key.partition("#")[0]
        for op in construct.walk():
            elements = schedule_of(op).elements
            if elements > 1:
                counts[place] = max(counts.get(place, 1), elements)
    return counts


def tiled_places(module: ModuleOp) -> set[str]:
    """
    The places whose constructs share tiles, in a module at stage `transformed`: the iterations of their
    threads were chosen with the tiles, so fewer in the schedule would change nothing.
    """
    from ..dialects.accx_cache import GangThreadsOp
    from ..passes.schedule_loops.schedule_choices import construct_keys

    return {
        key.partition("#")[0]
        for construct, key in construct_keys(module).items()
        if any(isinstance(op, GangThreadsOp) for op in construct.walk())
    }


@dataclass
class SideBySide:
    """
    The largest number of iterations side by side by place, collected from the stages of a module that `see`
    gets. `tiled` are places where the number was chosen with the tiles.
    """

    most: dict[str, int] = field(default_factory=dict[str, int])
    tiled: set[str] = field(default_factory=set[str])

    def see(self, stage: str, module: ModuleOp) -> None:
        """Reads the numbers from a module, at the stages that have them."""
        if stage == "scheduled":
            self.add(SideBySide(side_by_side(module)))
        elif stage == "transformed":
            self.tiled |= tiled_places(module)

    def add(self, other: SideBySide) -> None:
        """Adds the numbers of another part of the program."""
        for place, count in other.most.items():
            self.most[place] = max(self.most.get(place, 1), count)
        self.tiled |= other.tiled

    @property
    def counts(self) -> dict[str, int]:
        """The numbers at the places where fewer iterations in the schedule would have an effect."""
        return {place: most for place, most in self.most.items() if place not in self.tiled}


class Retry:
    """
    The data for scheduling a program again: the iterations side by side now, and a copy of the module
    before `schedule-loops`.
    """

    def __init__(self) -> None:
        self.side_by_side = SideBySide()
        self._unscheduled: ModuleOp | None = None

    def keep(self, module: ModuleOp) -> None:
        """Keeps a copy of the first module before `schedule-loops` that it gets, if a retry is possible."""
        if self._unscheduled is not None or find_ptxas() is None:
            return  # without ptxas, the registers needed stay unknown
        if any(op.name == "acc.parallel" for op in module.walk()):
            with phase("copying for another schedule"):
                self._unscheduled = module.clone()

    def copy(self) -> ModuleOp:
        """A new copy of the module before `schedule-loops`."""
        assert self._unscheduled is not None
        return self._unscheduled.clone()


def strained(kernel: KernelCost) -> bool:
    """Whether the kernel needs more registers or shared memory than it should."""
    return kernel.resources.spill_stores > 0 or kernel.occupancy.share < LEAST_OCCUPANCY


def lower_limits(
    counts: Mapping[str, int],
    limits: Mapping[str, int],
    costs: Mapping[str, tuple[KernelCost, ...]],
) -> dict[str, int] | None:
    """
    The limits for the next attempt: half of the present number at each strained place with several
    iterations side by side; None if there is none.
    """
    lowered = {
        place: limits.get(place, counts[place]) // 2
        for place, kernels in costs.items()
        if limits.get(place, counts.get(place, 1)) > 1 and any(strained(k) for k in kernels)
    }
    return {**limits, **lowered} if lowered else None


def relieve(
    executable: Executable,
    counts: Mapping[str, int],
    rebuild: Callable[[CompileOptions], Executable],
    costs_of: Callable[[Executable], Mapping[str, tuple[KernelCost, ...]]] = costs_by_place,
) -> Executable:
    """
    `executable`, or the result of `rebuild` with fewer iterations side by side where its kernels are
    strained. `counts` are those of `executable`. A construct that is also strained with one iteration keeps
    its number.
    """
    if all(count <= 1 for count in counts.values()) or not executable.ptx:
        return executable
    options, limits, best = executable.options, dict[str, int](), executable
    while True:
        costs = costs_of(best)
        next_limits = lower_limits(counts, limits, costs)
        if next_limits is None:
            break
        limits = next_limits
        best = rebuild(_limited(options, limits))
    hopeless = [
        place for place in limits if any(strained(kernel) for kernel in costs.get(place, ()))
    ]
    if hopeless:
        limits = {place: most for place, most in limits.items() if place not in hopeless}
        best = rebuild(_limited(options, limits)) if limits else executable
    return replace(best, options=options)


_LIMITS = re.compile(r"schedule-loops\{most=(.*)\}")


def limits_only(options: CompileOptions) -> bool:
    """Whether the only options of passes are the limits that `relieve` sets."""
    return all(map(_LIMITS.fullmatch, options.pass_options))


def limits_within(options: CompileOptions, module: ModuleOp) -> CompileOptions:
    """The options for a part of a program, without limits for places outside of it."""
    if not options.pass_options:
        return options
    from ..passes.schedule_loops.schedule_choices import construct_keys

    found = [_LIMITS.fullmatch(text) for text in options.pass_options]
    limits = [each for match in found if match for each in json.loads(f"[{match[1]}]")]
    places = set(construct_keys(module).values())
    own = {p: int(n) for p, _, n in (each.rpartition("=") for each in limits) if p in places}
    plain = replace(options, pass_options=())
    return _limited(plain, own) if own else plain


def _limited(options: CompileOptions, limits: Mapping[str, int]) -> CompileOptions:
    most = ",".join(f'"{place}={count}"' for place, count in limits.items())
    option = f"schedule-loops{{most={most}}}"
    return replace(options, pass_options=(*options.pass_options, option))
