"""
Routines that contain directives for the host. The specification does not provide for them (OpenACC 3.4,
2.15.1), but other compilers accept them: such directives take effect when the host calls the routine, and
none in device code.

Such a function is generated twice. Its device version has the statements without those directives, and the
routine is bound to it. Compute constructs in routines are not accepted, as their meaning is unclear.
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
    """Emits the statement of a directive that is ignored in device code, with a warning."""
    assert fn.function is not None
    kind = s.directive.kind.value
    fn.module.sink.warn(
        s.directive.loc,
        f"'{kind}' in the routine '{fn.function.name}': it takes effect when the host calls the routine,"
        " and is ignored in device code",
        "move it to the callers",
    )
    if s.body is not None:
        bodies.emit_body(fn, s.body)
