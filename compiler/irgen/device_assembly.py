"""
Refuses inline assembly and thread-local variables in device code, also in functions that it calls: they
exist only for the host's processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.diagnostics import error
from ..base.names import CONTROL_PREFIX
from ..c import ast as c
from ..c.tree import walk
from ..directives.records import DirectiveKind

if TYPE_CHECKING:
    from .symbols import ModuleState


def check_device_assembly(state: ModuleState, units: Sequence[c.TranslationUnit]) -> None:
    """Raise `CompileError` for inline assembly or thread-local variables in compute constructs, routines,
    and functions that these call."""
    if not any(unit.has_assembly or unit.has_thread_locals for unit in units):
        return
    seen: set[int] = set()
    for unit in units:
        for function in unit.functions:
            if function.body is None:
                continue
            if any(d.kind is DirectiveKind.ROUTINE for d in function.directives):
                _refuse_in(state, function.body, seen)
            for node in walk(function.body):
                if isinstance(node, c.AccStmt) and node.directive.is_compute:
                    _refuse_in(state, node, seen)


def _refuse_in(state: ModuleState, code: c.Stmt, seen: set[int]) -> None:
    pending: list[c.Stmt] = [code]
    while pending:
        for node in walk(pending.pop()):
            if isinstance(node, c.Asm) and not is_empty(node):
                raise error(
                    node.loc,
                    "inline assembly in device code: it is written for the host's processor",
                    "write the operation in C, or keep it out of constructs and what they call",
                    [(code.loc, "the device's code")],
                )
            if isinstance(node, c.VarRef) and node.decl.name.startswith(CONTROL_PREFIX):
                name = node.decl.name.removeprefix(CONTROL_PREFIX)
                raise error(
                    node.loc,
                    f"the thread-local variable '{name}' in device code: each thread of the host has its own",
                    "copy it to a variable before the construct",
                    [(code.loc, "the device's code")],
                )
            if isinstance(node, c.FunctionRef):
                callee = state.definition(node.decl)
                if callee is not None and callee.body is not None and id(callee) not in seen:
                    seen.add(id(callee))
                    pending.append(callee.body)


def is_empty(e: c.Asm) -> bool:
    """Whether an `asm` statement has no instructions: it only keeps compilers from moving accesses, which
    this one does not do."""
    return not (e.template.strip() or e.outputs or e.inputs)
