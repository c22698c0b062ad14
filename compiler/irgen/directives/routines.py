"""`routine` (OpenACC 3.4, 2.15.1) → `acc.routine`, one per function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, i64

from ...base.diagnostics import error
from ...c import ast as c
from ...directives.records import BindClause, Directive, DirectiveKind, GangClause
from .common import (
    DEFAULT_DEVICE,
    gang_dimension,
)

if TYPE_CHECKING:
    from ..symbols import ModuleState

_LEVELS = ("gang", "worker", "vector", "seq")
_NO_LEVEL = ("", 1)


def emit(state: ModuleState, units: Sequence[c.TranslationUnit]) -> None:
    """
    Emits the routines of all files. The directives of a function have the same `bind`, and the same level,
    except for those that leave it to the compiler.
    """
    found: dict[str, tuple[c.TranslationUnit, Directive]] = {}
    nohost: set[str] = set()
    for unit in units:
        for function in unit.functions:
            for directive in function.directives:
                if directive.kind is not DirectiveKind.ROUTINE:
                    continue
                symbol = state.function_symbol(function)
                if directive.has("nohost"):
                    nohost.add(symbol)
                first = found.setdefault(symbol, (unit, directive))[1]
                _check_agreement(function.name, first, directive)
                if _level(first) == _NO_LEVEL:
                    found[symbol] = unit, directive
    for number, (symbol, (unit, directive)) in enumerate(found.items()):
        _emit(state, unit, directive, symbol, number, nohost=symbol in nohost)


def _check_agreement(name: str, first: Directive, directive: Directive) -> None:
    if _NO_LEVEL not in (_level(first), _level(directive)) and _level(first) != _level(directive):
        raise error(
            directive.loc,
            f"'routine' gives '{name}' another level of parallelism",
            "use the same level in every 'routine' directive of a function",
            [(first.loc, "the first one is here")],
        )
    if _bound(first) != _bound(directive):
        raise error(
            directive.loc,
            f"'routine' binds '{name}' to another name",
            "use the same 'bind' in every 'routine' directive of a function",
            [(first.loc, "the first one is here")],
        )


def _level(directive: Directive) -> tuple[str, int]:
    """The level that a directive gives and the dimension of its gangs; `_NO_LEVEL` if it gives none."""
    dim = gang_dimension(directive.find("gang", GangClause))
    return next((n for n in _LEVELS if directive.has(n)), ""), dim


def _bound(directive: Directive) -> tuple[str, bool] | None:
    bind = directive.find("bind", BindClause)
    return None if bind is None else (bind.target, bind.is_string)


def _bound_symbol(state: ModuleState, unit: c.TranslationUnit, bind: BindClause) -> str:
    """The symbol of the function that `bind(name)` names, as a call in the file would find it."""
    named = [f for f in unit.functions if f.name == bind.target]
    found = next((f for f in named if f.body is not None), named[0] if named else None)
    return bind.target if found is None else state.function_symbol(found)


def _emit(
    state: ModuleState,
    unit: c.TranslationUnit,
    directive: Directive,
    symbol: str,
    number: int,
    *,
    nohost: bool,
) -> None:
    level, dim = _level(directive)
    bind = directive.find("bind", BindClause)
    bound_name, bound_text = None, None
    if bind is not None and bind.is_string:
        bound_text = StringAttr(state.symbol_named(bind.target))
    elif bind is not None:
        bound_name = SymbolRefAttr(_bound_symbol(state, unit, bind))
    device = state.device_versions.get(symbol)
    if device is not None:
        bound_name = SymbolRefAttr(device)
    sized = level == "gang" and dim > 1
    op = acc.RoutineOp(
        sym_name=state.unique(f"acc_routine_{number}"),
        func_name=symbol,
        bind_id_name=ArrayAttr([bound_name]) if bound_name else None,
        bind_id_name_device_type=DEFAULT_DEVICE if bound_name else None,
        bind_str_name=ArrayAttr([bound_text]) if bound_text else None,
        bind_str_name_device_type=DEFAULT_DEVICE if bound_text else None,
        gang=DEFAULT_DEVICE if level == "gang" and not sized else None,
        gang_dim=ArrayAttr([IntegerAttr(dim, i64)]) if sized else None,
        gang_dim_device_type=DEFAULT_DEVICE if sized else None,
        worker=DEFAULT_DEVICE if level == "worker" else None,
        vector=DEFAULT_DEVICE if level == "vector" else None,
        seq=DEFAULT_DEVICE if level == "seq" else None,
        nohost=nohost,
    )
    op.location = directive.loc.to_attr()
    state.module.body.block.add_op(op)
    if device is not None:
        version = op.clone()
        version.properties["sym_name"] = StringAttr(state.unique(f"{op.sym_name.data}_device"))
        version.properties["func_name"] = SymbolRefAttr(device)
        for bind_name in ("bindIdName", "bindIdNameDeviceType"):
            version.properties.pop(bind_name, None)
        version.location = op.location
        state.module.body.block.add_op(version)
