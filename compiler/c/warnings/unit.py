"""All warnings about a translation unit, sorted by line."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.diagnostics import Diagnostic, DiagnosticSink
from ...base.library_headers import is_library
from .. import ast as c
from ..function_texts import is_left_out
from ..tree import READING, Node, walk
from .assigned_reductions import assigned_reductions
from .effects import without_effect
from .formats import wrong_formats
from .host_copies import host_copies
from .lost_reductions import lost_reductions
from .lost_writes import lost_writes
from .overflows import overflowing_writes
from .private_copies import read_unassigned_copies
from .returns import missing_return
from .statements import assigned_conditions, empty_bodies, returned_locals
from .unassigned import read_unassigned
from .unused import unused_functions, unused_variables

_READING = READING | {c.BinaryOp}


def check_unit(unit: c.TranslationUnit, sink: DiagnosticSink, *, wall: bool = True) -> None:
    """Adds the warnings about `unit` to `sink`: those about certain mistakes, and with `wall` also the
    others."""
    found = [w for f in own_functions(unit) for w in _function(f, wall=wall)]
    found += unused_functions(unit) if wall else ()
    sink.diagnostics += sorted(found, key=lambda d: (d.loc.file, d.loc.line, d.loc.column))


def own_functions(unit: c.TranslationUnit) -> Iterator[c.FunctionDecl]:
    """The functions that the program's own files define, except those whose bodies were left out."""
    defined = ((f, f.body) for f in unit.functions if f.body is not None)
    return (f for f, body in defined if not is_library(f.loc) and not is_left_out(body))


def _function(function: c.FunctionDecl, *, wall: bool) -> Iterator[Diagnostic]:
    assert function.body is not None
    nodes: list[Node] = list(walk(function.body))
    # Statements, calls and assignments: few of the nodes, and all that most warnings look for.
    acting = [node for node in nodes if type(node) not in _READING]
    yield from read_unassigned_copies(acting)
    yield from returned_locals(acting)
    yield from assigned_conditions(acting, wall=wall)
    yield from overflowing_writes(function, acting)
    yield from lost_writes(function, acting)
    yield from lost_reductions(acting)
    yield from host_copies(acting)
    yield from assigned_reductions(acting)
    if not wall:
        return
    yield from empty_bodies(acting)
    yield from unused_variables(nodes)
    yield from missing_return(function)
    yield from read_unassigned(function, nodes)
    yield from without_effect(acting)
    yield from wrong_formats(acting)
