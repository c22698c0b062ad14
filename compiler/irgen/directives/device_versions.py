"""
Routines with directives for the host in them, which the specification does not foresee (OpenACC 3.4, 2.15.1)
and other compilers take: they act when the host calls the routine, and mean nothing in device code.

Such a function is generated twice. Its device version has the statements without those directives, and the
routine is bound to it. Compute constructs are no such directives: what they would mean there is not clear.
"""

from __future__ import annotations

from ...c import ast as c
from ...c.tree import walk
from ...directives.records import DirectiveKind
from .. import bodies
from ..function import FunctionState

HOST_DIRECTIVES = frozenset(
    (
        DirectiveKind.DATA,
        DirectiveKind.HOST_DATA,
        DirectiveKind.ENTER_DATA,
        DirectiveKind.EXIT_DATA,
        DirectiveKind.UPDATE,
        DirectiveKind.WAIT,
        DirectiveKind.INIT,
        DirectiveKind.SHUTDOWN,
        DirectiveKind.SET,
        DirectiveKind.DECLARE,
    )
)


def needs_device_version(function: c.FunctionDecl) -> bool:
    """Whether a function with a `routine` directive has directives that are not for device code."""
    routine = next((d for d in function.directives if d.kind is DirectiveKind.ROUTINE), None)
    if routine is None or routine.has("bind") or function.body is None:
        return False
    return any(
        isinstance(node, c.AccStmt) and node.directive.kind in HOST_DIRECTIVES
        for node in walk(function.body)
    )


def emit(fn: FunctionState, s: c.AccStmt) -> None:
    """The statement of a directive that has no meaning here."""
    assert fn.function is not None
    kind = s.directive.kind.value
    fn.module.sink.warn(
        s.directive.loc,
        f"'{kind}' in the routine '{fn.function.name}': it holds when the host calls the routine, and is"
        " ignored in device code",
        "move it to the callers",
    )
    if s.body is not None:
        bodies.emit_body(fn, s.body)
