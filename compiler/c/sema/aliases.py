"""
Functions declared as other names of functions (GNU C's `alias`, `#pragma weak f = g`): each becomes a
function that calls the other, so that other files, objects and libraries find it, by the platform's
convention, and a definition elsewhere replaces a weak one.

Names of variables, and of functions that a call cannot forward to (variadic ones, and those declared with
another type), stay names: they are resolved within the program (`irgen/symbols.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...base.diagnostics import error
from ..ast import (
    Call,
    Compound,
    ExprStmt,
    FunctionDecl,
    FunctionRef,
    Load,
    Return,
    Stmt,
    VarDecl,
    VarRef,
)
from ..types import VoidType
from .conversions import compatible


def define_aliases(linked: Iterable[VarDecl | FunctionDecl]) -> None:
    """Gives bodies to the aliases among the names of a file, which is checked as a whole. Raises
    `CompileError` for an alias of something that the file does not define."""
    names = list(linked)
    by_symbol = {decl.symbol or decl.name: decl for decl in names}
    for decl in names:
        if decl.alias is None:
            continue
        target = _definition(decl, by_symbol)
        if isinstance(decl, FunctionDecl) and isinstance(target, FunctionDecl):
            _forward(decl, target)


def _definition(
    decl: VarDecl | FunctionDecl, by_symbol: Mapping[str, VarDecl | FunctionDecl]
) -> VarDecl | FunctionDecl:
    """What a name stands for in the end."""
    seen: list[VarDecl | FunctionDecl] = []
    target: VarDecl | FunctionDecl | None = decl
    while target is not None and target.alias is not None and target not in seen:
        seen.append(target)
        target = by_symbol.get(target.alias)
    defined = target.body if isinstance(target, FunctionDecl) else target and target.is_defined
    if target is None or target in seen or not defined:
        raise error(
            decl.loc,
            f"'{decl.name}' is an alias of '{decl.alias}', which this file does not define",
            "define it in this file, or declare only one of the names",
        )
    return target


def _forward(decl: FunctionDecl, target: FunctionDecl) -> None:
    """Makes `decl` a function that calls `target` with its arguments."""
    same = not decl.type.prototyped or compatible(decl.type, target.type)
    if not same or target.type.variadic or decl.body is not None:
        return
    loc, t = decl.loc, target.type
    decl.type = t
    decl.params = [
        VarDecl(param.name, param.qual, param.loc, is_param=True) for param in target.params
    ]
    callee = FunctionRef(type=t, loc=loc, decl=target)
    arguments = [
        Load(type=p.type, loc=loc, lvalue=VarRef(type=p.type, loc=loc, decl=p)) for p in decl.params
    ]
    call = Call(type=t.result, loc=loc, callee=callee, args=[*arguments], function_type=t)
    body: Stmt = (
        ExprStmt(loc=loc, expr=call)
        if isinstance(t.result, VoidType)
        else Return(loc=loc, value=call)
    )
    decl.body, decl.alias = Compound(loc=loc, body=[body], end_loc=loc), None
