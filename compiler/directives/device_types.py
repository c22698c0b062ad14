"""
Clauses behind `device_type`: which of them hold for the device a program is compiled for
(OpenACC 3.4, 2.4).

Clauses before the first `device_type` are defaults. Of the lists behind it, those that name the
device hold; failing that, those that say `default` (the device every target prefers is its own);
failing that, those that say `*`. A clause that holds replaces the default clause of its name, and
default clauses it excludes: `gang device_type(host) seq` is `seq` on the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import Clause, Directive, DirectiveKind
from .rules import EXCLUSIVE, EXCLUSIVE_ROUTINE

DEVICE_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "nvptx": (("nvidia",), ("default",), ("*",)),
    "sim": (("nvidia",), ("default",), ("*",)),
    "host": (("host", "multicore"), ("default",), ("*",)),
}
"""Target → the names in `device_type` that mean it, the nearest first."""


def depends_on_device(directive: Directive) -> bool:
    """Whether some of its clauses hold on some devices only."""
    return any(clause.device_types for clause in directive.clauses)


def select_clauses(directive: Directive, target: str) -> None:
    """
    Leave in `directive` the clauses that hold on `target` ("nvptx", "host" or "sim"), all as if
    there were no `device_type`.
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
    groups = EXCLUSIVE_ROUTINE if kind is DirectiveKind.ROUTINE else EXCLUSIVE
    return any(
        other.name == clause.name or frozenset((clause.name, other.name)) in groups
        for other in specific
    )
