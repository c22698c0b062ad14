"""
`declare` (OpenACC 3.4, 2.13): an attribute `acc.declare` on globals; data operations between
`acc.declare_enter` and `acc.declare_exit` for the rest of a function's scope.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.dialects import acc

from ...base.diagnostics import error
from ...c import ast as c
from ...directives.records import Directive, DirectiveKind, VarListClause
from ..function import FunctionState
from . import data

if TYPE_CHECKING:
    from ..symbols import ModuleState

_GLOBAL_CLAUSES = frozenset(["create", "copyin", "deviceptr", "device_resident", "link"])


def global_clauses(
    unit: c.TranslationUnit,
) -> Iterator[tuple[c.VarDecl, acc.DataClause]]:
    """Every global variable named by a file-scope `declare`, with its clause."""
    for directive in unit.directives:
        if directive.kind is not DirectiveKind.DECLARE:
            continue
        for clause in directive.clauses:
            if not isinstance(clause, VarListClause):
                continue
            if clause.name not in _GLOBAL_CLAUSES:
                raise error(
                    clause.loc,
                    f"'{clause.spelling}' cannot declare a global variable",
                    "use create, copyin, deviceptr, device_resident or link",
                )
            for item in clause.items:
                base = item.base.expr
                assert isinstance(base, c.VarRef)
                yield base.decl, data.clause_attr(clause)


def emit_global(state: ModuleState, unit: c.TranslationUnit) -> dict[str, acc.DataClause]:
    """Symbols of the globals that `unit` declares, with their clauses (attached once all exist)."""
    return {state.symbol_of(decl): clause for decl, clause in global_clauses(unit)}


@contextmanager
def function_scope(fn: FunctionState) -> Generator[None]:
    """Emits a function's body in the scope of the `declare` directives before the function, which name its
    parameters."""
    assert fn.function is not None
    for directive in fn.function.directives:
        if directive.kind is DirectiveKind.DECLARE:
            _enter(fn, directive)
    yield


def emit_local(fn: FunctionState, s: c.AccStmt) -> None:
    """`declare` in a function, which applies to the rest of the enclosing block."""
    _enter(fn, s.directive)


def _enter(fn: FunctionState, directive: Directive) -> None:
    if fn.constructs and any(k.kind != "data" for k in fn.constructs):
        raise error(directive.loc, "'declare' inside a compute construct", "move it before it")
    fn.b.at(directive.loc)
    mappings: list[data.Mapping] = []
    for clause in directive.clauses:
        if not isinstance(clause, VarListClause):
            continue
        for item in clause.items:
            base = item.base.expr
            if clause.name == "link":
                raise error(
                    item.loc,
                    f"'link' declares the local variable '{item.name}'",
                    "use create or copyin; link is for global variables",
                )
            if isinstance(base, c.VarRef) and base.decl.storage is not c.Storage.AUTO:
                raise error(
                    item.loc,
                    f"'{item.name}' is global: its 'declare' belongs to file scope",
                    "move the directive out of the function, after the variable's declaration",
                )
            mappings.append(data.enter_item(fn, clause, item, structured=True))
    fn.b.at(directive.loc)
    data.gather(fn, [m.device for m in mappings])
    token = fn.b.value(
        acc.DeclareEnterOp(data_clause_operands=[m.device for m in mappings]), "declared"
    )

    def leave() -> None:
        fn.b.add(acc.DeclareExitOp(token=token, data_clause_operands=[m.device for m in mappings]))
        data.leave(fn, mappings)

    fn.exits.append(leave)
