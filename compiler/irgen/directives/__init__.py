"""OpenACC directives in statement position → `acc` operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...directives.records import DirectiveKind
from . import (
    atomics,
    cache,
    compute,
    declarations,
    device,
    device_versions,
    executable,
    loops,
    regions,
)

if TYPE_CHECKING:
    from ...c import ast as c
    from ..function import FunctionState

_EMITTERS = {
    DirectiveKind.DATA: regions.emit_data,
    DirectiveKind.HOST_DATA: regions.emit_host_data,
    DirectiveKind.ENTER_DATA: executable.emit_enter_data,
    DirectiveKind.EXIT_DATA: executable.emit_exit_data,
    DirectiveKind.UPDATE: executable.emit_update,
    DirectiveKind.WAIT: executable.emit_wait,
    DirectiveKind.INIT: executable.emit_init,
    DirectiveKind.SHUTDOWN: executable.emit_shutdown,
    DirectiveKind.SET: executable.emit_set,
    DirectiveKind.LOOP: loops.emit_directive,
    DirectiveKind.CACHE: cache.emit_cache,
    DirectiveKind.ATOMIC: atomics.emit,
    DirectiveKind.DECLARE: declarations.emit_local,
}


def emit(fn: FunctionState, s: c.AccStmt) -> None:
    """One directive with the statement it applies to."""
    directive = s.directive
    fn.b.at(directive.loc)
    if fn.on_device and directive.kind in device_versions.HOST_DIRECTIVES:
        device_versions.emit(fn, s)
        return
    if directive.has(device.CLAUSE):
        device.emit(fn, s, emit)
        return
    if directive.is_compute:
        compute.emit(fn, s)
    else:
        _EMITTERS[directive.kind](fn, s)
