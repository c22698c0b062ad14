"""
The stage checker: checks which IR is legal at each level, as docs/design.md promises.

Run between stages under `--verify` and in tests, it turns what would be a wrong answer later into a message
that names the operation and its place in the C source. The rules for operations are in `loop_rules.py`,
`data_rules.py` and `kernel_rules.py`, those for attributes in `dialects/facts.py`; each operation is
visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from xdsl.dialects import acc, gpu, llvm, scf
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.ir import Operation

from ...dialects.accx import LaunchHostOp
from ...dialects.accx_cache import HoldsInBlockOp, SharedTileOp
from ...dialects.accx_element import ElementOp
from ...dialects.accx_gangs import LastGangOp, LaunchMemoryOp
from ...dialects.accx_scan import ScanStepOp
from ...dialects.accx_side_by_side import SideBySideOp
from ...dialects.accx_teams import TaskOp, TeamOp
from ...dialects.data_places import ENTRIES, EXITS
from ...dialects.facts import broken_facts
from ..base.diagnostics import SourceLoc, error
from . import data_rules, kernel_rules, loop_rules

_ACC_LEVEL = frozenset(("builtin", "llvm", "arith", "math", "scf", "cf", "acc", "accx"))

LEGAL_DIALECTS: dict[str, frozenset[str]] = {
    "acc": _ACC_LEVEL,
    "data": _ACC_LEVEL,
    "scheduled": _ACC_LEVEL,
    "transformed": _ACC_LEVEL,
    "gpu": _ACC_LEVEL | {"gpu", "nvvm"},
    "host": _ACC_LEVEL,
    "runtime": frozenset(("builtin", "llvm", "arith", "math", "scf", "cf", "gpu", "nvvm")),
    "nvvm": frozenset(("builtin", "llvm", "nvvm", "gpu")),
}
"""Stage → dialects whose operations may occur in it."""

_ORDER = tuple(LEGAL_DIALECTS)
_DIRECTIVES = _ORDER[:4]
"""The levels at which loops and data clauses are whole."""
_SCHEDULED = ("scheduled", "transformed")
_WITH_SUBSCRIPTS = ("acc", "data", "scheduled")
"""The levels at which all accesses by subscripts are accx.element; later passes lower some of them."""

_ATOMICS = (acc.AtomicReadOp, acc.AtomicWriteOp, acc.AtomicUpdateOp, acc.AtomicCaptureOp)
_GONE_FROM: tuple[tuple[str, tuple[type[Operation], ...], str], ...] = (
    ("data", (acc.SerialOp, acc.KernelsOp), "legalize-serial and split-kernels"),
    ("data", (TeamOp, TaskOp), "outline-teams"),
    ("transformed", _ATOMICS, "lower-acc-atomics"),
    ("gpu", (ElementOp,), "lower-elements"),
    ("host", (ElementOp,), "lower-elements"),
    ("gpu", (acc.ParallelOp, acc.CacheOp), "convert-acc-compute-to-gpu"),
    ("host", (acc.ParallelOp,), "convert-acc-compute-to-host"),
    ("runtime", (gpu.LaunchFuncOp,), "convert-acc-data-to-runtime"),
)
"""Stage, operations that no longer occur from it on, and the passes that remove them."""

Rule = Callable[[Any], Iterator[str]]
_COMPUTE = (acc.ParallelOp, acc.SerialOp, acc.KernelsOp)
_OF_DEVICES = (acc.InitOp, acc.ShutdownOp, acc.SetOp)
"""Operations whose device types are values of the program, not conditions on clauses."""
_RECIPES = (acc.PrivateRecipeOp, acc.FirstprivateRecipeOp, acc.ReductionRecipeOp)
RULES: tuple[tuple[tuple[str, ...], tuple[type[Operation], ...], Rule], ...] = (
    (_DIRECTIVES, (acc.LoopOp,), loop_rules.loop),
    (_ORDER, (scf.ForOp,), loop_rules.counted_for),
    (_DIRECTIVES, _COMPUTE, loop_rules.construct),
    (_DIRECTIVES, (acc.DataOp,), loop_rules.data_operands),
    (_DIRECTIVES, (acc.CopyoutOp, acc.DeleteOp, acc.DetachOp), loop_rules.exit_operation),
    (("acc",), ENTRIES, data_rules.entry_placed),
    (("acc",), EXITS, data_rules.exit_placed),
    (_DIRECTIVES, (acc.DataBoundsOp,), loop_rules.bounds),
    (_DIRECTIVES, loop_rules.PRIVATISING, loop_rules.recipe_named),
    (_DIRECTIVES, _RECIPES, loop_rules.recipe),
    (_DIRECTIVES[:1], (llvm.AllocaOp,), loop_rules.declared),
    (_DIRECTIVES[1:2], (llvm.AllocaOp,), loop_rules.variable),
    (_WITH_SUBSCRIPTS, (llvm.GEPOp,), loop_rules.address),
    (("data", "scheduled"), _COMPUTE, loop_rules.outside_values),
    (("data", *_SCHEDULED), (acc.LoopOp,), loop_rules.decided),
    (_SCHEDULED, (acc.ParallelOp,), loop_rules.launch_sizes),
    (_SCHEDULED, (acc.LoopOp,), loop_rules.scheduled),
    (("transformed",), (acc.LoopOp,), loop_rules.jammed),
    (("transformed",), (SideBySideOp,), loop_rules.coarse),
    (("transformed",), loop_rules.MAPPING, loop_rules.packed),
    (("transformed",), (acc.CacheOp, HoldsInBlockOp, ScanStepOp), loop_rules.expanded),
    (("transformed",), (SharedTileOp, LaunchMemoryOp, LastGangOp), loop_rules.of_gang_threads),
    (("gpu", "runtime", "nvvm"), (gpu.ModuleOp,), kernel_rules.gpu_module),
    (("gpu",), (gpu.LaunchFuncOp,), kernel_rules.launch),
    (("host",), (LaunchHostOp,), kernel_rules.host_launch),
    (("host", "runtime"), (llvm.FuncOp,), kernel_rules.host_kernel),
)
"""Stages, types of operations, and the rule that applies to them."""


@cache
def _rules(stage: str, kind: type[Operation]) -> tuple[Rule, ...]:
    """The rules for operations of one type."""
    rules = [rule for stages, kinds, rule in RULES if stage in stages and kind in kinds]
    if stage in _DIRECTIVES and kind.name.startswith("acc.") and kind not in _OF_DEVICES:
        rules.append(loop_rules.device_types)
    if stage in _DIRECTIVES:
        rules.append(loop_rules.typed)
    return tuple(rules)


@cache
def _gone(stage: str, kind: type[Operation]) -> str | None:
    """The pass that should have removed operations of a type before `stage`; None if they are allowed."""
    for first, kinds, who in _GONE_FROM:
        other = stage == "host" and first == "gpu"  # each program has one of these two levels
        if kind in kinds and _ORDER.index(first) <= _ORDER.index(stage) and not other:
            return who
    return None


def _illegal(module: ModuleOp, stage: str) -> Iterator[tuple[Operation, str]]:
    """The operations that break a promise of `stage`, with the reason."""
    yield from ((module, why) for why in broken_facts(module))
    for top in module.body.block.ops:
        device = isinstance(top, gpu.ModuleOp)
        for op in top.walk():
            yield from ((op, why) for why in _broken(op, stage))
            if stage in ("gpu", "runtime", "nvvm") and not (device and op is top):
                place = kernel_rules.device_operation if device else kernel_rules.host_operation
                yield from ((op, why) for why in place(op))


def _broken(op: Operation, stage: str) -> Iterator[str]:
    if isinstance(op, UnrealizedConversionCastOp):
        yield "a conversion cast is left"
        return
    if op.name.partition(".")[0] not in LEGAL_DIALECTS[stage]:
        yield f"its dialect is not legal at stage '{stage}'"
        return
    who = _gone(stage, type(op))
    if who is not None:
        yield f"it should have been removed by {who}"
        return
    for rule in _rules(stage, type(op)):
        yield from rule(op)
    if op.attributes:
        yield from broken_facts(op)


def check_stage(module: ModuleOp, stage: str) -> None:
    """Raises `CompileError` naming the first operation of `module` that is illegal at `stage`."""
    for op, why in _illegal(module, stage):
        raise error(
            SourceLoc.from_attr(op.location),
            f"internal: operation '{op.name}' is not legal at stage '{stage}': {why}",
            "please report this program, unless a pass of yours ran; --print-after-all shows every pass's IR",
        )
