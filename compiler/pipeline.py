"""
The pipeline: the stages in order, the passes between them, and why in this order.

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
from ..passes.ir.machine import Machine, set_machine
from ..passes.registry import IDLE_ON_HOST, IDLE_WITHOUT_DIRECTIVES, load_pass, passes_to
from .added_passes import configured, parse_added
from .base.diagnostics import UNKNOWN_LOC, CompileError, error
from .base.options import CompileOptions, TargetName
from .base.phases import LOADING, phase
from .ir.stages import check_stage


@dataclass(frozen=True)
class Stage:
    """A level of IR: its name, the passes that lead to it, and what they may now assume."""

    name: str
    passes: tuple[str, ...]
    why: str


ACC = Stage("acc", (), "what the front end makes")

_DATA = Stage(
    "data",
    passes_to("data", for_gpu=True),
    "What the threads of a team run becomes functions, like any others from then on. "
    "Small routines go into their callers, loops that count say so, and pointers that walk become "
    "subscripts, before any analysis. "
    "Serial and kernels become parallel then, so that every later pass knows one compute construct. "
    "In between, while a kernels construct is still whole, every loop gets to say what each scalar is to it, "
    "so that all that follows only reads clauses. "
    "Routines come before data attributes because a callee's use of a global is a use by the region. "
    "Those with cached sections go into the loops that call them when their levels are known. "
    "If clauses come after them because a false condition must skip the data actions too. "
    "Data regions come when what a construct maps, and whether it runs on the device, is all said. "
    "Constructs get versions, for arrays that overlap and for others, when their data operations are final.",
)
_SCHEDULED = Stage(
    "scheduled",
    passes_to("scheduled", for_gpu=True),
    "Clauses that only advise go first, so that all that follows sees the nest without them, "
    "parallel loops count up, and bounds move out of it, as those of collapsed loops have. "
    "Tiles are loops like others from here on, and so are the chunks of static gang loops. "
    "Collapsed loops without levels are split first, so "
    "that the schedule sees which loop walks along memory; those that gangs reduce are joined, or "
    "parted, where that pays. Loops that reduce what threads cache, or the "
    "terms of products, are marked seq here, before levels are chosen. Loops marked seq become plain ones, "
    "like those without a directive, among which those over the terms of products get sections to cache, "
    "and an inner loop's common work can move "
    "between them. That changes the shape of the nest, so it precedes the schedule. Versions "
    "for different block shapes are made next, each of which is then scheduled. Launch shapes are "
    "computed from trip counts before the loops are torn apart.",
)
_TRANSFORMED = Stage(
    "transformed",
    passes_to("transformed", for_gpu=True),
    "Scheduled loops are rewritten here, while loops and data clauses are still whole. "
    "Clauses that replace their loops come first: to the other passes there is no loop then. "
    "What lies outside of cached sections is looked for while directives still say what the sections are. "
    "Cached nests come next: they replace whole nests, keep several outputs per thread themselves, "
    "and what they leave alone must look to the jam as if there were no directive. "
    "Nests that read across memory get tiles of their own before a jam takes their rows apart. "
    "Counters are narrowed while each is in one place. "
    "Groups of iterations of two loops at once come before iterations of one, which they would no "
    "longer find. "
    "Iterations are put side by side next, so that what they share is there once for the others: rows "
    "first, then columns, which need to see what all rows of a thread read. "
    "Atomic updates find their gang's copy while they still name their operator and the grid, which "
    "pays for the copies, can still be changed. Inner loops are unrolled when their bodies are final, "
    "and then the stores of all iterations that have become one are counted together. "
    "Threads are coarsened last, as it multiplies what other passes would look at.",
)


_OUTLINED = (
    "Addresses are computed from subscripts when all that looks at accesses has run. "
    "Kernels are outlined while data operations still say what every pointer is. "
)
_KERNELS = {
    "gpu": _OUTLINED + "What is device code, and takes double for long double, is known then.",
    "host": _OUTLINED
    + "What is device code is then known, whose mathematics has no side effects; loops around "
    "sequential loops go into lanes when both can be told from the rest.",
}
_RUNTIME = (
    "What is left of acc belongs to host code: loops run sequentially, data actions are calls."
)
_NVVM = (
    "Mechanical: one operation per instruction. Functions get the names that other code calls them by "
    "last, when nothing looks for them any more."
)
_LATER = {
    kernels: tuple(
        Stage(name, passes_to(name, for_gpu=kernels == "gpu"), why)
        for name, why in ((kernels, _KERNELS[kernels]), ("runtime", _RUNTIME), ("nvvm", _NVVM))
    )
    for kernels in ("gpu", "host")
}
"""The stages from the one on that makes kernels, by its name."""


def stages(target: TargetName) -> tuple[Stage, ...]:
    """The stages from `acc` to the last one made of operations, for `target`."""
    return (ACC, _DATA, _SCHEDULED, _TRANSFORMED, *_LATER["host" if target == "host" else "gpu"])


def stage_names(target: TargetName) -> tuple[str, ...]:
    return tuple(stage.name for stage in stages(target))


def stage_of(module: ModuleOp) -> str:
    """The stage `module` has reached; a module that does not say is at `acc`."""
    attr = module.attributes.get(STAGE)
    return attr.data if isinstance(attr, StringAttr) else ACC.name


_BY_DIRECTIVES = ("acc.declare", PACKED)
"""What directives leave on operations of other dialects."""


def _has_directives(module: ModuleOp) -> bool:
    """Whether there is anything in a module at stage `acc` that directives have made."""
    return any(
        (op.name.startswith(("acc.", "accx.")) and not isinstance(op, ElementOp))
        or not op.attributes.keys().isdisjoint(_BY_DIRECTIVES)
        for op in module.walk()
        if op is not module
    )


CHECKING = "(checking)"
"""The phase in which IR and the contracts of stages are checked."""

PassRunner = Callable[[Context, ModulePass, ModuleOp], None]
StageCallback = Callable[[str, ModuleOp], None]


def machine_for(options: CompileOptions) -> Machine:
    """What passes are told of the options."""
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
    """`--pass-option "schedule-loops{strategy=2_1}"` by pass name."""
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
    if asked is not None:  # which needs clauses that are still there
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
    """The names, if all are passes of the pipeline."""
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


def preload(options: CompileOptions) -> None:
    """Loads all passes of the pipeline, before copies are made of a process that has them."""
    for stage in stages(options.target):
        for name in stage.passes:
            load_pass(name)


def _verify(module: ModuleOp, culprit: str, remedy: str) -> None:
    try:
        module.verify()
    except VerifyException as e:
        raise error(UNKNOWN_LOC, f"internal: {culprit} left invalid IR: {e}", remedy) from e


def _check(module: ModuleOp, stage: str, missing: Sequence[str]) -> None:
    """Checks the contract of a stage that passes may be missing from."""
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
    """The passes to `stage` that have not run yet: all, unless the IR was saved before one of them."""
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
    """Runs a pass, and nothing else."""
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
    `after_stage` sees the module after every stage, with the stage's name. Before the pass
    `stop_before`, everything stops: the module is what that pass would get, and goes on with it later.
    Passes that have nothing for a program without directives, or for the target, are left out, and not
    loaded, unless `every_pass` is wanted.

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
        Runs the passes that lead to `stage`, less those that would find nothing to do; false if one of them
        was to be stopped before.
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
