"""
Selects the clauses after `device_type` that apply to the device a program is compiled for (OpenACC 3.4,
2.4).

Clauses before the first `device_type` are defaults. Of the lists after it, those that name the device
apply; if there are none, those for `default` (every target's default device is its own); if there are none,
those for `*`. A clause that applies replaces the default clause of its name, and the default clauses that
it excludes: `gang device_type(host) seq` is `seq` on the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import Clause, Directive, DirectiveKind
from .rules import exclusive_on

DEVICE_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "nvptx": (("nvidia",), ("default",), ("*",)),
    "sim": (("nvidia",), ("default",), ("*",)),
    "host": (("host", "multicore"), ("default",), ("*",)),
}
"""Target → the names in `device_type` that mean it, the most specific first."""


def present_types(types: tuple[str, ...], target: str) -> tuple[str, ...]:
    """Those of the device types on `init` or `shutdown` that programs for `target` have (2.14.1); all of
    them, which is an error at run time, if there is none."""
    known = {"host", "multicore"}.union(*DEVICE_NAMES[target])
    return tuple(word for word in types if word in known) or types


def depends_on_device(directive: Directive) -> bool:
    """Whether some of the directive's clauses apply only to some devices."""
    return any(clause.device_types for clause in directive.clauses)


def select_clauses(directive: Directive, target: str) -> None:
    """
    Keep only the clauses of `directive` that apply to `target` ("nvptx", "host" or "sim"), as if written
    without `device_type`.
    """
    specific = _specific(directive, target)
    kept = [
        clause
        for clause in directive.clauses
        if clause in specific
        or (not clause.device_types and not _is_replaced(clause, specific, directive.kind))
    ]
    for clause in kept:
        clause.device_types = ()
    directive.clauses = kept


def _specific(directive: Directive, target: str) -> list[Clause]:
    for names in DEVICE_NAMES[target]:
        chosen = [c for c in directive.clauses if any(name in c.device_types for name in names)]
        if chosen:
            return chosen
    return []


def _is_replaced(clause: Clause, specific: list[Clause], kind: DirectiveKind) -> bool:
    groups = exclusive_on(kind)
    return any(
        other.name == clause.name or frozenset((clause.name, other.name)) in groups
        for other in specific
    )
