"""
The pipeline: the stages, the passes between them, and the reasons for their order.

A stage is a level of IR with a name (`accopt --emit=<stage>`). A module records the stage it has
reached in its attribute `accx.stage`, so that saved IR of any stage, edited or not, continues from
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import VerifyException

from ..dialects.accx import IR_VERSION, NEXT_PASS, STAGE, VERSION
from ..dialects.accx_compress import PACKED
from ..dialects.accx_element import ElementOp
from ..dialects.quick_xdsl import attributes_unchecked
from ..passes.ir.ops.machine import Machine, set_machine
from ..passes.registry import IDLE_ON_HOST, IDLE_WITHOUT_DIRECTIVES, load_pass, passes_to
from .added_passes import configured, parse_added, parse_specs
from .base.diagnostics import UNKNOWN_LOC, CompileError, SourceLoc, error
from .base.options import CompileOptions, TargetName
from .base.phases import LOADING, phase
from .base.similar import did_you_mean
from .ir.definitions import misplaced_uses
from .ir.stages import check_stage
from .ir.verifier import Verifier


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
    "Small routines are inlined, tables become constants and structures scalars, counters become values of "
    "the iterations that begin them, loops that count are marked so, and pointers that are advanced in loops "
    "become subscripts, before any analysis. "
    "Serial and kernels then become parallel, so that later passes know only one compute construct; "
    "just before, while a kernels construct is still whole, every loop gets clauses for the role of "
    "each scalar in it, so that later passes only read clauses. "
    "Routines come before data attributes, because a callee's use of a global is a use by the region. "
    "Those with cached sections are inlined into the loops that call them when their levels are known. "
    "If clauses come after data attributes, because a false condition must skip the data actions too. "
    "Data regions come when it is known what each construct maps and whether it runs on the device. "
    "Constructs get versions for overlapping and disjoint arrays when their data operations are final: first "
    "for loops that are parallel only then, last for loads behind stores, in whatever the others have made.",
)
_SCHEDULED = Stage(
    "scheduled",
    passes_to("scheduled", for_gpu=True),
    "Private scalars become values first, and clauses that are only advice are removed, so that all later "
    "passes see the nest without them. "
    "Parallel loops then count up, and bounds are computed before the nest, as for collapsed loops; then "
    "sequential loops go into the rows that are their bodies, neighbouring loops with the same bounds become "
    "one, and loops that number the elements of rows become collapsed ones. "
    "Tiles become loops like others, and so do the chunks of static gang loops. "
    "Nests are reordered while collapsed loops are still one operation. "
    "Collapsed loops without levels are split next, so that the schedule sees which loop walks along "
    "memory; then it is known which loop is the innermost, and whether it or others may be short; unsigned "
    "and 64-bit subscripts become signed and 32 bits wide; nests that gangs reduce are joined or split where "
    "that pays. "
    "Products get constructs of their own, then loops that reduce cached data, the terms of products, or for "
    "each of many sums of a nest, are marked seq before levels are chosen. "
    "Loops marked seq become plain loops, like those without a directive; those over the terms of "
    "products get sections to cache, and common work of an inner loop can be moved between them. "
    "All of this changes the shape of the nest, so it precedes the schedule. "
    "Values of functions are tabulated before versions copy their calls. "
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
    "Sums in memory, and elements that a loop chooses or has just stored, are kept in registers first of "
    "what concerns loops without directives, then gangs share sums of free order, and stage the terms of "
    "others. "
    "Nests that read across memory get tiles before a jam takes their rows apart. "
    "Counters are narrowed while each is used in one place. "
    "Groups of iterations of two loops are formed before groups of one, which would hide them. "
    "Iterations are put side by side next, so that they share loads and computations: rows first, then "
    "columns, for which all rows that a thread reads must be known. "
    "Atomic updates get a copy per gang while they still name their operator, and while the grid, "
    "whose size decides whether the copies pay, can still be changed. "
    "Loads move before stores when all iterations side by side are there; objects that an iteration works "
    "on are then copied to arrays of its own. What objects of a thread gain from alignment is judged when "
    "it is known which accesses are wide already, and before loops are unrolled. "
    "Inner loops are unrolled when their bodies are final; then the stores of all iterations that have "
    "become one are counted together. "
    "Threads are coarsened last, as that multiplies the operations that other passes would visit. "
    "On the host, comparisons that keep a reduced maximum become operations when all passes that look for "
    "reductions are done. Independent loops, and loads of memory that does not change, are marked when no "
    "pass changes them any more.",
)


_OUTLINED = (
    "Addresses are computed from subscripts after all passes that read accesses. "
    "Kernels are outlined while data operations still say what every pointer is. "
)
_KERNELS = {
    "gpu": _OUTLINED + "Then it is known what device code is, in which long double becomes double.",
    "host": _OUTLINED
    + "Then it is known what device code is: its mathematical functions have no side effects, and "
    "its loops around sequential loops are interchanged into lanes. Distances along columns are carried when "
    "no pass reads subscripts any more. Large arrays leave the stack last, as other passes know local "
    "arrays by their allocas.",
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
        managed=options.managed and options.target != "sim",
    )


@dataclass(frozen=True)
class _Choices:
    """
    How options change the pipeline: options of its passes by name (`--pass-option`), the passes that are left
    out (`--skip-pass`), and those that are added after each stage (`--after`).
    """

    overrides: dict[str, ArgSpec]
    skipped: frozenset[str]
    added: dict[str, tuple[ModulePass, ...]]

    def module_pass(self, name: str) -> ModulePass:
        """The pass `name` of the pipeline with its options."""
        with phase(LOADING):
            kind = load_pass(name)
        spec = self.overrides.get(name)
        return kind() if spec is None else configured(kind, spec)


def _choices(options: CompileOptions, plan: Sequence[Stage]) -> _Choices:
    """Raises `CompileError` for options that cannot be read, or that name no pass or stage of `plan`."""
    return _Choices(
        _overrides(options.pass_options, plan),
        _known(options.skipped_passes, plan, "--skip-pass"),
        parse_added(options.added_passes, [stage.name for stage in plan]),
    )


def _overrides(texts: Sequence[str], plan: Sequence[Stage]) -> dict[str, ArgSpec]:
    """The options in texts such as `schedule-loops{strategy=2_1}` (`--pass-option`), by pass name."""
    specs = [spec for text in texts for spec in parse_specs(text, "--pass-option")]
    overrides = {spec.name: spec for spec in specs}
    asked = overrides.get("schedule-loops", ArgSpec("schedule-loops", {})).parameters.get("sizes")
    if asked is not None:  # free-mapping needs it too: it would remove the clauses
        free = overrides.get("free-mapping", ArgSpec("free-mapping", {})).parameters
        overrides["free-mapping"] = ArgSpec("free-mapping", {"sizes": asked, **free})
    _known(overrides, plan, "--pass-option")
    return overrides


def _known(names: Iterable[str], plan: Sequence[Stage], option: str) -> frozenset[str]:
    """The names as a set. Raises `CompileError` if one is not a pass of the pipeline."""
    known = {name for stage in plan for name in stage.passes}
    for name in names:
        if name not in known:
            raise error(
                UNKNOWN_LOC,
                f"{option}: '{name}' is not a pass of this target's pipeline",
                did_you_mean(name, known, 0.8) or "accopt --list-stages shows them",
            )
    return frozenset(names)


def pipeline_passes(options: CompileOptions) -> dict[str, tuple[ModulePass, ...]]:
    """Stage → the passes that lead to it, with the options they would run with."""
    plan = stages(options.target)
    choices = _choices(options, plan)
    return {
        stage.name: tuple(
            choices.module_pass(name) for name in stage.passes if name not in choices.skipped
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


def _verify(module: ModuleOp, verifier: Verifier, culprit: str, remedy: str) -> None:
    try:
        verifier.verify(module)
    except VerifyException as e:
        raise error(UNKNOWN_LOC, f"internal: {culprit} left invalid IR: {e}", remedy) from e
    for op, value in misplaced_uses(module):
        name = "a value" if value.name_hint is None else f"'%{value.name_hint}'"
        what = f"'{op.name}' uses {name}, which is not defined before it"
        where = SourceLoc.from_attr(op.location)
        raise error(where, f"internal: {culprit} left invalid IR: {what}", remedy)


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
    start, ahead = _way(module, last, options, plan)
    choices = _choices(options, plan)
    if stop_before is not None:
        option = f"--stop-before (from stage '{start}' to '{last}')"
        _known([stop_before], ahead, option)
    idle = frozenset[str]() if every_pass else _idle(module, start, options)
    run = _Run(ctx, module, options, run_pass, choices, idle - choices.overrides.keys())
    run.begin(start)
    for stage in ahead:
        if not run.reach(stage, stop_before):
            return
        if after_stage is not None:
            after_stage(stage.name, module)


def _way(
    module: ModuleOp, last: str, options: CompileOptions, plan: Sequence[Stage]
) -> tuple[str, Sequence[Stage]]:
    """The stage that a module is at, and those after it up to `last`."""
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
    return start, plan[names.index(start) + 1 : names.index(last) + 1]


def _idle(module: ModuleOp, start: str, options: CompileOptions) -> frozenset[str]:
    """The passes that would find nothing to do, on the target or in a module at stage `start`."""
    idle: frozenset[str] = IDLE_ON_HOST if options.target == "host" else frozenset()
    plain = start == ACC.name and not _has_directives(module)
    return idle | IDLE_WITHOUT_DIRECTIVES if plain else idle


@dataclass
class _Run:
    """The way of one module through the pipeline. `idle` passes are left out like those that options skip."""

    ctx: Context
    module: ModuleOp
    options: CompileOptions
    run_pass: PassRunner
    choices: _Choices
    idle: Set[str]
    verifier: Verifier = field(default_factory=Verifier)

    def begin(self, start: str) -> None:
        """Prepares a module at stage `start`, and runs the passes that are added to that stage, unless it was
        saved between two passes."""
        module = self.module
        set_machine(module, machine_for(self.options))
        module.attributes[VERSION] = IntegerAttr(IR_VERSION, i32)
        if NEXT_PASS in module.attributes:
            return
        if self.options.checks_ir:
            with phase(CHECKING):
                check_stage(module, start)
        if start == ACC.name:
            self._run(self.choices.added.get(start, ()))

    def reach(self, stage: Stage, stop_before: str | None) -> bool:
        """Takes the module to the next stage; false if it stopped before the pass `stop_before`, with which
        the module then continues."""
        checks = self.options.checks_ir
        with attributes_unchecked(not checks), phase(f"to stage {stage.name}", self.module):
            for name in _remaining(self.module, stage):
                if name == stop_before:
                    self.module.attributes[NEXT_PASS] = StringAttr(name)
                    return False
                if name not in self.choices.skipped and name not in self.idle:
                    self._run([self.choices.module_pass(name)])
            self._run(self.choices.added.get(stage.name, ()))
        self.module.attributes[STAGE] = StringAttr(stage.name)
        self._check(stage)
        return True

    def _run(self, passes: Sequence[ModulePass]) -> None:
        for module_pass in passes:
            name = module_pass.name
            with phase(name, self.module):
                self.run_pass(self.ctx, module_pass, self.module)
            if self.options.verify_each:
                with phase(CHECKING):
                    culprit = f"the pass '{name}'"
                    _verify(self.module, self.verifier, culprit, f"--print-after {name} shows it")

    def _check(self, stage: Stage) -> None:
        """Checks the module at a stage as the options ask, and always where passes to it were skipped."""
        missing = self.choices.skipped.intersection(stage.passes)
        with phase(CHECKING):
            if self.options.verify:
                culprit = f"one of the passes to stage '{stage.name}'"
                _verify(self.module, self.verifier, culprit, "--verify-each says which")
            if self.options.checks_ir or missing:
                _check(self.module, stage.name, sorted(missing))
