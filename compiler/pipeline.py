"""
The pipeline: the stages, the passes between them, and the reasons for their order.

A stage is a level of IR with a name (`accopt --emit=<stage>`). A module records the stage it has
reached in its attribute `accx.stage`, so that saved IR of any stage, edited or not, continues from
there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, VerifyException

from ..dialects.accx import IR_VERSION, NEXT_PASS, STAGE, VERSION
from ..dialects.accx_compress import PACKED
from ..dialects.accx_element import ElementOp
from ..dialects.quick_xdsl import attributes_unchecked
from ..passes.ir.ops.machine import Machine, set_machine
from ..passes.registry import IDLE_ON_HOST, IDLE_WITHOUT_DIRECTIVES, load_pass, passes_to
from .added_passes import configured, parse_added
from .base.diagnostics import UNKNOWN_LOC, CompileError, error
from .base.options import CompileOptions, TargetName
from .base.phases import LOADING, phase
from .ir.stages import check_stage


@dataclass(frozen=True)
class Stage:
    """A level of IR: its name, the passes that lead to it, and the reasons for their order."""

    name: str
    passes: tuple[str, ...]
    why: str


ACC = Stage("acc", (), "the output of the front end")

_DATA = Stage(
    "data",
    passes_to("data", for_gpu=True),
    "Regions that a team of threads runs become functions first, like all others from then on. "
    "Small routines are inlined, loops that count are marked so, and pointers that are advanced in "
    "loops become subscripts, before any analysis. "
    "Serial and kernels then become parallel, so that later passes know only one compute construct; "
    "just before, while a kernels construct is still whole, every loop gets clauses for the role of "
    "each scalar in it, so that later passes only read clauses. "
    "Routines come before data attributes, because a callee's use of a global is a use by the region. "
    "Those with cached sections are inlined into the loops that call them when their levels are known. "
    "If clauses come after data attributes, because a false condition must skip the data actions too. "
    "Data regions come when it is known what each construct maps and whether it runs on the device. "
    "Constructs get versions for overlapping and disjoint arrays when their data operations are final.",
)
_SCHEDULED = Stage(
    "scheduled",
    passes_to("scheduled", for_gpu=True),
    "Clauses that are only advice are removed first, so that all later passes see the nest without them. "
    "Parallel loops then count up, and bounds are computed before the nest, as for collapsed loops; loops "
    "that number the elements of rows become collapsed loops. "
    "Tiles become loops like others, and so do the chunks of static gang loops. "
    "Nests are reordered while collapsed loops are still one operation; then it is known which loop is "
    "the innermost, and whether it may be short. "
    "Collapsed loops without levels are split next, so that the schedule sees which loop walks along "
    "memory; unsigned and 64-bit subscripts become signed and 32 bits wide; nests that gangs reduce are "
    "joined or split where that pays. "
    "Loops that reduce cached data, or the terms of products, are marked seq before levels are chosen. "
    "Loops marked seq become plain loops, like those without a directive; those over the terms of "
    "products get sections to cache, and common work of an inner loop can be moved between them. "
    "All of this changes the shape of the nest, so it precedes the schedule. "
    "Versions for different block shapes are made last before it, so that each is scheduled. "
    "Launch sizes are computed from trip counts while the loops are still whole.",
)
_TRANSFORMED = Stage(
    "transformed",
    passes_to("transformed", for_gpu=True),
    "Scheduled loops are rewritten here, while loops and data clauses are still whole. "
    "Scans come first: they replace their loops, which other passes then do not see. "
    "Accesses outside of cached sections are found while directives still say what the sections are. "
    "Cached nests come next: their tiles replace whole nests and give each thread several outputs; "
    "nests that are not cached must look to the jam as if they had no directive. "
    "Nests that read across memory get tiles before a jam takes their rows apart. "
    "Counters are narrowed while each is used in one place. "
    "Groups of iterations of two loops are formed before groups of one, which would hide them. "
    "Iterations are put side by side next, so that they share loads and computations: rows first, then "
    "columns, for which all rows that a thread reads must be known. "
    "Atomic updates get a copy per gang while they still name their operator, and while the grid, "
    "whose size decides whether the copies pay, can still be changed. "
    "Inner loops are unrolled when their bodies are final; then the stores of all iterations that have "
    "become one are counted together. "
    "Threads are coarsened last, as that multiplies the operations that other passes would visit.",
)


_OUTLINED = (
    "Addresses are computed from subscripts after all passes that read accesses. "
    "Kernels are outlined while data operations still say what every pointer is. "
)
_KERNELS = {
    "gpu": _OUTLINED + "Then it is known what device code is, in which long double becomes double.",
    "host": _OUTLINED
    + "Then it is known what device code is: its mathematical functions have no side effects, and "
    "its loops around sequential loops are interchanged into lanes.",
}
_RUNTIME = (
    "The remaining acc operations are host code: loops run sequentially, data actions become calls."
)
_NVVM = (
    "A mechanical translation to one operation per instruction. Functions get the names by which other "
    "code calls them last, when no pass looks them up any more."
)
_LATER = {
    kernels: tuple(
        Stage(name, passes_to(name, for_gpu=kernels == "gpu"), why)
        for name, why in ((kernels, _KERNELS[kernels]), ("runtime", _RUNTIME), ("nvvm", _NVVM))
    )
    for kernels in ("gpu", "host")
}
"""Name of the stage that outlines kernels → the stages from it on."""


def stages(target: TargetName) -> tuple[Stage, ...]:
    """The stages from `acc` to the last one made of operations, for `target`."""
    return (ACC, _DATA, _SCHEDULED, _TRANSFORMED, *_LATER["host" if target == "host" else "gpu"])


def stage_names(target: TargetName) -> tuple[str, ...]:
    return tuple(stage.name for stage in stages(target))


def stage_of(module: ModuleOp) -> str:
    """The stage that `module` has reached; `acc` for a module without the attribute."""
    attr = module.attributes.get(STAGE)
    return attr.data if isinstance(attr, StringAttr) else ACC.name


_BY_DIRECTIVES = ("acc.declare", PACKED)
"""Attributes that directives put on operations of other dialects."""


def _has_directives(module: ModuleOp) -> bool:
    """Whether a module at stage `acc` contains operations or attributes that come from directives."""
    return any(
        (op.name.startswith(("acc.", "accx.")) and not isinstance(op, ElementOp))
        or not op.attributes.keys().isdisjoint(_BY_DIRECTIVES)
        for op in module.walk()
        if op is not module
    )


CHECKING = "(checking)"
"""The name of the phase in which IR and the contracts of stages are checked."""

PassRunner = Callable[[Context, ModulePass, ModuleOp], None]
StageCallback = Callable[[str, ModuleOp], None]


def machine_for(options: CompileOptions) -> Machine:
    """The machine attribute by which passes read the options."""
    return Machine(
        "host" if options.target == "host" else "nvptx",
        options.sm if options.target != "host" else 0,
        simulated=options.target == "sim",
        fast_math=options.fast_math,
        check_cache=options.check_cache,
        as_written=options.sizes == "as-written",
        no_fma=not options.fma,
    )


def _make_pass(name: str, overrides: dict[str, ArgSpec]) -> ModulePass:
    with phase(LOADING):
        kind = load_pass(name)
    return configured(kind, overrides.get(name, ArgSpec(name, {})))


def _overrides(specs: Sequence[str], plan: Sequence[Stage]) -> dict[str, ArgSpec]:
    """The options in texts such as `schedule-loops{strategy=2_1}` (`--pass-option`), by pass name."""
    known = {name for stage in plan for name in stage.passes}
    try:
        overrides = {spec.name: spec for text in specs for spec in parse_pipeline(text)}
    except ArgSpecParseError as e:
        raise error(
            UNKNOWN_LOC,
            f"cannot read --pass-option: {str(e).splitlines()[-1].strip()}",
            "write pass{option=value}",
        ) from e
    asked = overrides.get("schedule-loops", ArgSpec("schedule-loops", {})).parameters.get("sizes")
    if asked is not None:  # free-mapping needs it too: it would remove the clauses
        free = overrides.get("free-mapping", ArgSpec("free-mapping", {})).parameters
        overrides["free-mapping"] = ArgSpec("free-mapping", {"sizes": asked, **free})
    for name in overrides.keys() - known:
        raise error(
            UNKNOWN_LOC,
            f"--pass-option: '{name}' is not a pass of this target's pipeline",
            f"choose one of {', '.join(sorted(known))}",
        )
    return overrides


def _known(names: Sequence[str], plan: Sequence[Stage], option: str) -> frozenset[str]:
    """The names as a set. Raises `CompileError` if one is not a pass of the pipeline."""
    known = {name for stage in plan for name in stage.passes}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1, cutoff=0.8)
            raise error(
                UNKNOWN_LOC,
                f"{option}: '{name}' is not a pass of this target's pipeline",
                f"did you mean '{near[0]}'?" if near else "accopt --list-stages shows them",
            )
    return frozenset(names)


def pipeline_passes(options: CompileOptions) -> dict[str, tuple[ModulePass, ...]]:
    """Stage → the passes that lead to it, with the options they would run with."""
    plan = stages(options.target)
    overrides = _overrides(options.pass_options, plan)
    skipped = _known(options.skipped_passes, plan, "--skip-pass")
    return {
        stage.name: tuple(
            _make_pass(name, overrides) for name in stage.passes if name not in skipped
        )
        for stage in plan
    }


def preload(options: CompileOptions, *, plain: bool = False) -> None:
    """
    Loads the passes of the pipeline, so that copies made of this process need not load them: all, or those
    that programs without directives (`plain`) need.
    """
    for stage in stages(options.target):
        for name in stage.passes:
            if not (plain and name in IDLE_WITHOUT_DIRECTIVES):
                load_pass(name)


def _verify(module: ModuleOp, culprit: str, remedy: str) -> None:
    try:
        module.verify()
    except VerifyException as e:
        raise error(UNKNOWN_LOC, f"internal: {culprit} left invalid IR: {e}", remedy) from e


def _check(module: ModuleOp, stage: str, missing: Sequence[str]) -> None:
    """Checks the contract of a stage; the message names the passes to it that were left out, `missing`."""
    try:
        check_stage(module, stage)
    except CompileError as e:
        if not missing:
            raise
        (found,) = e.diagnostics
        raise error(
            found.loc,
            f"stage '{stage}' cannot be reached without {', '.join(missing)}:"
            f" {found.message.removeprefix('internal: ')}",
            "only optimisations can be left out: drop that --skip-pass",
        ) from e


def _remaining(module: ModuleOp, stage: Stage) -> tuple[str, ...]:
    """The passes to `stage` that have not run yet: all of them, or, for IR that was saved before one of
    them, that one and those after it."""
    following = module.attributes.pop(NEXT_PASS, None)
    if not isinstance(following, StringAttr):
        return stage.passes
    if following.data not in stage.passes:
        raise error(
            UNKNOWN_LOC,
            f"the IR was saved before '{following.data}', which does not lead to stage '{stage.name}'",
            "give the --target it was made for",
        )
    return stage.passes[stage.passes.index(following.data) :]


def apply_pass(ctx: Context, module_pass: ModulePass, module: ModuleOp) -> None:
    """Runs a pass, without instrumentation."""
    module_pass.apply(ctx, module)


def run_to_stage(
    ctx: Context,
    module: ModuleOp,
    last: str,
    options: CompileOptions,
    run_pass: PassRunner = apply_pass,
    after_stage: StageCallback | None = None,
    *,
    stop_before: str | None = None,
    every_pass: bool = False,
) -> None:
    """
    Takes `module` from the stage it is at to stage `last`, in place. `run_pass` applies each pass;
    `after_stage` sees the module after every stage, with the stage's name. Stops before the pass
    `stop_before`; the module then records that it continues with that pass. Passes that would find nothing
    to do, in a program without directives or on the target, are skipped and not loaded, unless `every_pass`
    is set.

    Raises `CompileError` if there is no such stage for the target, if the module is already past
    it, or for what the passes refuse.
    """
    plan = stages(options.target)
    names = [stage.name for stage in plan]
    if last not in names:
        raise error(
            UNKNOWN_LOC,
            f"there is no stage '{last}' for target '{options.target}'",
            f"choose one of {', '.join(names)}",
        )
    start = stage_of(module)
    if start not in names or names.index(start) > names.index(last):
        raise error(
            UNKNOWN_LOC,
            f"IR at stage '{start}' cannot be taken to stage '{last}' of target '{options.target}'",
            "give IR of an earlier stage, or the --target it was made for",
        )
    overrides = _overrides(options.pass_options, plan)
    added = parse_added(options.added_passes, names)

    skipped = _known(options.skipped_passes, plan, "--skip-pass")
    if stop_before is not None:
        within = plan[names.index(start) + 1 : names.index(last) + 1]
        _known([stop_before], within, f"--stop-before (from stage '{start}' to '{last}')")

    def run(module_pass: ModulePass) -> None:
        with phase(module_pass.name, module):
            run_pass(ctx, module_pass, module)
        if options.verify_each:
            name = module_pass.name
            with phase(CHECKING):
                _verify(module, f"the pass '{name}'", f"--print-after {name} shows it")

    def run_stage(stage: Stage) -> bool:
        """
        Runs the passes that lead to `stage`, without those that would find nothing to do; false if it
        stopped before one of them.
        """
        for name in _remaining(module, stage):
            if name == stop_before:
                module.attributes[NEXT_PASS] = StringAttr(name)
                return False
            if name in skipped or (name in idle and name not in overrides):
                continue
            run(_make_pass(name, overrides))
        for module_pass in added.get(stage.name, ()):
            run(module_pass)
        return True

    idle: frozenset[str] = frozenset()
    if not every_pass:
        idle = IDLE_ON_HOST if options.target == "host" else idle
        plain = start == ACC.name and not _has_directives(module)
        idle = idle | IDLE_WITHOUT_DIRECTIVES if plain else idle
    set_machine(module, machine_for(options))
    module.attributes[VERSION] = IntegerAttr(IR_VERSION, i32)
    if options.checks_ir and NEXT_PASS not in module.attributes:
        with phase(CHECKING):
            check_stage(module, start)
    if start == ACC.name and NEXT_PASS not in module.attributes:
        for module_pass in added.get(start, ()):
            run(module_pass)
    for stage in plan[names.index(start) + 1 : names.index(last) + 1]:
        with attributes_unchecked(not options.checks_ir), phase(f"to stage {stage.name}", module):
            if not run_stage(stage):
                return
        module.attributes[STAGE] = StringAttr(stage.name)
        missing = skipped.intersection(stage.passes)
        with phase(CHECKING):
            if options.verify:
                culprit = f"one of the passes to stage '{stage.name}'"
                _verify(module, culprit, "--verify-each says which")
            if options.checks_ir or missing:
                _check(module, stage.name, sorted(missing))
        if after_stage is not None:
            after_stage(stage.name, module)
