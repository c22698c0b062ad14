"""
Passes that a user adds to the pipeline: `--after STAGE:PASS{OPTION=VALUE}`. They may be accopt's,
xDSL's, or those of any installed package with an entry point `xdsl.universe`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ..passes.registry import all_passes
from .base.diagnostics import UNKNOWN_LOC, CompileError, error
from .base.similar import did_you_mean

PassLoader = Callable[[], type[ModulePass]]


def available_passes() -> dict[str, PassLoader]:
    """Name → loader of every pass in this environment; for equal names, accopt's are taken."""
    from xdsl.universe import Universe

    return {**Universe.get_multiverse().all_passes, **all_passes()}


def no_such_pass(name: str, known: Iterable[str]) -> CompileError:
    """The error for a name that no pass in this environment has."""
    return error(
        UNKNOWN_LOC,
        f"there is no pass '{name}'",
        did_you_mean(name, known, 0.8)
        or "accopt --list-passes shows the names; a plugin's come with its package, once installed",
    )


def parse_passes(text: str) -> tuple[ModulePass, ...]:
    """
    The passes of a comma-separated list with their options. Raises `CompileError` for an unknown
    pass or option.
    """
    specs = parse_specs(text, f"the passes '{text}'")
    names = [spec.name for spec in specs]
    ours = all_passes()
    # Reading entry points takes time, so only for names that are not our own passes.
    loaders = ours if ours.keys() >= set(names) else available_passes()
    for name in names:
        if name not in loaders:
            raise no_such_pass(name, loaders)
    return tuple(configured(loaders[spec.name](), spec) for spec in specs)


def parse_specs(text: str, what: str) -> list[ArgSpec]:
    """The names of passes with options in a text. Raises `CompileError`, which calls the text `what`, if it
    has another form."""
    try:
        return list(parse_pipeline(text))
    except ArgSpecParseError as e:
        raise error(
            UNKNOWN_LOC,
            f"cannot read {what}: {str(e).splitlines()[-1].strip()}",
            "write pass{option=value},pass",
        ) from e


def configured(kind: type[ModulePass], spec: ArgSpec) -> ModulePass:
    """A pass with the options that `spec` gives."""
    try:
        return kind.from_spec(spec)
    except ValueError as e:
        raise error(
            UNKNOWN_LOC, f"{spec}: {e}", f"accopt --help-pass {spec.name} lists them"
        ) from e


def parse_added(texts: Sequence[str], stages: Sequence[str]) -> dict[str, tuple[ModulePass, ...]]:
    """
    Stage → passes to run when the pipeline has reached it, from texts `STAGE:PASSES`. Raises
    `CompileError` for a stage that is not in `stages`, and as `parse_passes` does.
    """
    added: dict[str, tuple[ModulePass, ...]] = {}
    for text in texts:
        stage, colon, passes = text.partition(":")
        if not colon or stage not in stages:
            raise error(
                UNKNOWN_LOC,
                f"--after {text}: '{stage}' is not a stage",
                f"write STAGE:PASS, with one of {', '.join(stages)}",
            )
        added[stage] = (*added.get(stage, ()), *parse_passes(passes))
    return added
