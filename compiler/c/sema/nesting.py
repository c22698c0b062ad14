"""
Checks the nesting of directives in the constructs of their function (OpenACC 3.4, 2.5 to 2.14). Rules
across functions are checked on the whole program (`passes/infer_routines.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...base.diagnostics import error
from ...directives.checks import check_level_arguments
from ...directives.records import (
    Directive,
    DirectiveKind,
    ReductionClause,
    VarListClause,
)
from ..ast import (
    VarDecl,
    item_variable,
)

_IN_DEVICE_CODE = frozenset(
    (
        DirectiveKind.LOOP,
        DirectiveKind.ATOMIC,
        DirectiveKind.CACHE,
        DirectiveKind.DECLARE,
        DirectiveKind.ROUTINE,
    )
)
"""The directives that are allowed in a compute construct; all others are for the host."""


def check_nesting(directive: Directive, around: Sequence[Directive]) -> None:
    """Raise `CompileError` if `directive` is not allowed inside the constructs `around`, outermost
    first."""
    construct = next((d for d in reversed(around) if d.is_compute), None)
    if construct is not None and directive.kind not in _IN_DEVICE_CODE:
        raise error(
            directive.loc,
            f"'{directive.kind.value}' inside a '{construct.kind.value}' construct",
            "only loop, atomic and cache are allowed there: move it out",
            [(construct.loc, "the construct is here")],
        )
    if directive.kind is DirectiveKind.LOOP:
        check_level_arguments(directive, construct)
        _check_operators(directive, around)


def _check_operators(directive: Directive, around: Sequence[Directive]) -> None:
    """Raise `CompileError` for a reduction over nested loops with different operators (2.9.11)."""
    for clause in directive.clauses:
        if not isinstance(clause, ReductionClause):
            continue
        for item in clause.items:
            outer = _reduction_around(item_variable(item), around)
            if outer is not None and outer.operator != clause.operator:
                raise error(
                    item.loc,
                    f"'{item.name}' is reduced with '{clause.operator}' inside a reduction of it"
                    f" with '{outer.operator}'",
                    "use one operator, or a variable of its own for the inner loop",
                    [(outer.loc, "the outer reduction is here")],
                )


def _reduction_around(
    variable: VarDecl | None, around: Sequence[Directive]
) -> ReductionClause | None:
    """The innermost enclosing reduction of `variable`; None if it is private inside of that."""
    for directive in reversed(around) if variable is not None else ():
        for clause in directive.clauses:
            if isinstance(clause, ReductionClause | VarListClause):
                mine = any(item_variable(item) is variable for item in clause.items)
                if mine and isinstance(clause, ReductionClause):
                    return clause
                if mine and clause.name in ("private", "firstprivate"):
                    return None
    return None
