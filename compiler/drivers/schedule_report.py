"""
The schedule space of a program (`accopt --schedules`): for every compute construct the legal schedules, and
the cost of their kernels on the GPU if ptxas is installed. It is for users and tuners, who select a
schedule with `--pass-option 'schedule-loops{choose="f.c:7=2"}'`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..backend.toolkit import find_ptxas
from ..base.diagnostics import UNKNOWN_LOC, DiagnosticSink, error
from ..base.options import CompileOptions
from ..executable import build
from ..kernel_costs import KernelCost, costs_by_place

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ScheduleChoice:
    """
    Schedule `number` of a construct: its description (`schedule_space.describe`), and the costs of the
    kernels of its source line; empty without ptxas.
    """

    number: int
    text: str
    kernels: tuple[KernelCost, ...]


@dataclass(frozen=True)
class ConstructSpace:
    """The legal schedules of one construct; `key` is its name in `schedule-loops{choose}`."""

    key: str
    choices: tuple[ScheduleChoice, ...]


def listed_space(module: ModuleOp) -> dict[str, tuple[str, ...]]:
    """The schedules that `schedule-loops{space}` listed, by the construct's key."""
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    from ...dialects.accx import SCHEDULES
    from ...passes.schedule_loops.schedule_choices import construct_keys

    space: dict[str, tuple[str, ...]] = {}
    for construct, key in construct_keys(module).items():
        listed = construct.attributes.get(SCHEDULES)
        assert isinstance(listed, ArrayAttr)
        space[key] = tuple(line.data for line in listed if isinstance(line, StringAttr))
    return space


def _with_schedules(options: CompileOptions, arguments: str) -> CompileOptions:
    if any(text.startswith("schedule-loops") for text in options.pass_options):
        raise error(
            UNKNOWN_LOC,
            "the schedule space cannot be listed under other options of schedule-loops",
            "leave out --pass-option 'schedule-loops{…}'",
        )
    option = f"schedule-loops{{{arguments}}}"
    return replace(options, pass_options=(*options.pass_options, option))


def schedule_space(
    paths: Sequence[Path], options: CompileOptions, *, costs: bool = True
) -> list[ConstructSpace]:
    """
    The schedule space of the program in `paths` on a GPU. With `costs`, the program is compiled once
    for every number of a schedule, and the kernels are assembled. Raises `CompileError`.
    """
    if options.target == "host":
        raise error(UNKNOWN_LOC, "the target 'host' has one schedule", "leave out --target=host")
    found: dict[str, tuple[str, ...]] = {}

    def keep(stage: str, module: ModuleOp) -> None:
        if stage == "scheduled":
            found.update(listed_space(module))

    build(paths, _with_schedules(options, "space=true"), DiagnosticSink(), keep)
    numbers = range(max(map(len, found.values()), default=0)) if costs and find_ptxas() else ()
    by_number = [_costs_by_place(paths, options, found, number) for number in numbers]

    def choice(key: str, number: int, text: str) -> ScheduleChoice:
        place = key.partition("#")[0]
        kernels = by_number[number].get(place, ()) if by_number else ()
        return ScheduleChoice(number, text, kernels)

    return [
        ConstructSpace(key, tuple(choice(key, n, text) for n, text in enumerate(texts)))
        for key, texts in found.items()
    ]


def _costs_by_place(
    paths: Sequence[Path],
    options: CompileOptions,
    space: Mapping[str, tuple[str, ...]],
    number: int,
) -> dict[str, tuple[KernelCost, ...]]:
    """Kernels by `file.c:7` when every construct takes schedule `number`, or its last one."""
    chosen = ",".join(f'"{key}={min(number, len(texts) - 1)}"' for key, texts in space.items())
    executable = build(
        paths, _with_schedules(options, f"choose={chosen}"), DiagnosticSink(), cached=False
    )
    return costs_by_place(executable)


def render_space(space: Sequence[ConstructSpace]) -> str:
    """The table that `accopt --schedules` prints."""
    lines: list[str] = []
    for construct in space:
        lines.append(f"{construct.key}:")
        width = max(len(choice.text) for choice in construct.choices)
        for choice in construct.choices:
            costs = "; ".join(_cost_text(kernel) for kernel in choice.kernels)
            lines.append(f"  {choice.number:2}  {choice.text:{width}}  {costs}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def _cost_text(kernel: KernelCost) -> str:
    needs, held = kernel.resources, kernel.occupancy
    text = f"{needs.registers} registers"
    if needs.shared:
        text += f", {needs.shared} bytes shared"
    if needs.spill_stores:
        text += f", {needs.spill_stores} bytes spilled"
    return f"{text}, occupancy {held.share:.0%} ({held.limit})"
