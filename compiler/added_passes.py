"""
Passes that a user adds to the pipeline: `--after STAGE:PASS{OPTION=VALUE}`. They may be accopt's,
xDSL's, or those of any installed package with an entry point `xdsl.universe`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ..passes.registry import all_passes
from .base.diagnostics import UNKNOWN_LOC, CompileError, error, warning
from .base.similar import did_you_mean
from .drivers.reporting import report

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PassLoader = Callable[[], type[ModulePass]]


_OF_XDSL = "xdsl.universe:XDSL_UNIVERSE"
_OF_ACCOPT = "accopt.compiler.universe:ACCOPT_UNIVERSE"


@cache
def available_passes() -> Mapping[str, PassLoader]:
    """
    Name → loader of every pass in this environment. A plug-in that cannot be loaded, or that has a name of
    accopt, of xDSL or of a plug-in before it, is reported, and the others are as without it.
    """
    # Not xDSL's own `get_multiverse`, which fails as a whole.
    from xdsl.universe import XDSL_UNIVERSE

    found = {**XDSL_UNIVERSE.all_passes, **all_passes()}
    owners = {name: "accopt" if name in all_passes() else "xDSL" for name in found}
    dialects = dict.fromkeys(XDSL_UNIVERSE.all_dialects, "xDSL") | {"accx": "accopt"}
    for point in sorted(_entry_points(), key=lambda point: point.name):
        if point.value in (_OF_XDSL, _OF_ACCOPT):
            continue
        plugin = f"the plug-in '{point.name}' of the package '{point.dist and point.dist.name}'"
        passes, others = _loaded(point, plugin)
        _claim("dialect", others, dialects, plugin)
        found |= {name: passes[name] for name in _claim("pass", passes, owners, plugin)}
    return found


def _claim(kind: str, names: Iterable[str], owners: dict[str, str], plugin: str) -> list[str]:
    """The names without an owner, which become the plug-in's; a warning for the others."""
    free = [name for name in names if name not in owners]
    for name in names:
        if name in owners:
            _warn(
                f"{plugin} has a {kind} '{name}', as {owners[name]} has, whose {kind} is taken",
                "give it another name",
            )
    owners.update(dict.fromkeys(free, plugin))
    return free


def _entry_points() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points

    try:
        return entry_points(group="xdsl.universe")
    except Exception as e:  # an installed package has no name, or cannot be read
        _warn(f"plug-ins cannot be found ({_told(e)})", "pip check lists incomplete packages")
        return ()


def _loaded(point: EntryPoint, plugin: str) -> tuple[Mapping[str, PassLoader], Collection[str]]:
    """A plug-in's passes, and the names of its dialects; none, with a warning, if it cannot be loaded."""
    try:
        universe = point.load()
        passes: dict[Any, Any] = dict(universe.all_passes)
        if all(isinstance(name, str) and callable(loader) for name, loader in passes.items()):
            return passes, list(universe.all_dialects)
        why = "its all_passes must map names to functions"
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever the code of others raises
        why = _told(e)
    _warn(f"{plugin} cannot be loaded ({why}): its passes are missing", "repair or uninstall it")
    return {}, ()


def _told(failure: BaseException) -> str:
    text = str(failure).partition("\n")[0]
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


def _warn(message: str, remedy: str) -> None:
    report([warning(UNKNOWN_LOC, message, remedy)])


def load_pass(name: str, loaders: Mapping[str, PassLoader]) -> type[ModulePass]:
    """The pass of this name. Raises `CompileError` if there is none, or it cannot be loaded."""
    if name not in loaders:
        raise no_such_pass(name, loaders)
    if name in all_passes():
        return all_passes()[name]()
    try:
        kind: type[Any] = loaders[name]()
        if issubclass(kind, ModulePass):
            return kind
        why = f"{kind.__name__} is no ModulePass"
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever the code of others raises
        why = _told(e)
    raise error(UNKNOWN_LOC, f"the pass '{name}' cannot be loaded ({why})", "tell its authors")


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
    kinds = [load_pass(name, loaders) for name in names]
    return tuple(map(configured, kinds, specs))


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
