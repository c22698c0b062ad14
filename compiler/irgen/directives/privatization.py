"""`private`, `firstprivate` and `reduction` clauses (OpenACC 3.4, 2.5.13 to 2.5.15, 2.9.10, 2.9.11)."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import SSAValue

from ....passes.ir.variables.private_storage import section_element
from ...base.diagnostics import error
from ...c import ast as c
from ...c.types import (
    BOOL,
    ComplexType,
    CType,
    FloatType,
    IntType,
    RecordType,
    innermost,
    scalars,
)
from ...directives.records import (
    Clause,
    Directive,
    DirectiveKind,
    ReductionClause,
    VarListClause,
    VarRefItem,
)
from ..function import FunctionState
from . import data, recipes


@dataclass
class Privates:
    """The operations for the privatisation clauses of one construct, and the variables that they copy."""

    private: list[SSAValue] = field(default_factory=list[SSAValue])
    firstprivate: list[SSAValue] = field(default_factory=list[SSAValue])
    reduction: list[SSAValue] = field(default_factory=list[SSAValue])
    bindings: list[tuple[data.Located, SSAValue]] = field(
        default_factory=list[tuple[data.Located, SSAValue]]
    )

    def bind(self, fn: FunctionState, body: c.Stmt | None) -> None:
        """Makes the names mean the copies in code generated from now on, inside the construct."""
        for located, value in self.bindings:
            located.bind(fn, value, body)


def privates(
    fn: FunctionState, directive: Directive, own_loops: frozenset[c.VarDecl] = frozenset()
) -> Privates:
    """
    The operations for `directive`'s clauses, emitted here. The variables of the loops that it applies to
    (`own_loops`) are always private and get no operations.
    """
    out = Privates()
    for clause in directive.clauses:
        if isinstance(clause, ReductionClause):
            for item in clause.items:
                _reduction(fn, out, clause, item, loop=directive.kind is DirectiveKind.LOOP)
        elif isinstance(clause, VarListClause) and clause.name in ("private", "firstprivate"):
            for item in clause.items:
                if c.item_variable(item) not in own_loops:
                    _private(fn, out, clause, item)
    fn.b.at(directive.loc)
    return out


def _private(fn: FunctionState, out: Privates, clause: Clause, item: VarRefItem) -> None:
    located = data.locate(fn, clause, item)
    element = section_element(located.var_type, located.bounds)
    state = fn.module
    if clause.name == "private":
        recipe = recipes.private_recipe(state, element)
        value = data.entry(fn, acc.PrivateOp, located, recipe=recipe)
        out.private.append(value)
    else:
        recipe = recipes.firstprivate_recipe(state, element)
        value = data.entry(fn, acc.FirstprivateOp, located, recipe=recipe)
        out.firstprivate.append(value)
    out.bindings.append((located, value))


def _reduction(
    fn: FunctionState, out: Privates, clause: ReductionClause, item: VarRefItem, *, loop: bool
) -> None:
    if not loop and not isinstance(item.base.expr, c.VarRef):
        raise error(
            item.loc,
            f"the member '{item.name}' in 'reduction' of a compute construct without 'loop'",
            "put the clause on the loop inside, or reduce the whole structure",
        )
    located = data.locate(fn, clause, item)
    check_operator(clause, item, located.c_type)
    element = section_element(located.var_type, located.bounds)
    recipe: SymbolRefAttr = recipes.reduction_recipe(
        fn.module, clause.operator, element, located.c_type
    )
    value = data.entry(fn, acc.ReductionOp, located, recipe=recipe)
    out.reduction.append(value)
    out.bindings.append((located, value))


def check_operator(clause: ReductionClause, item: VarRefItem, t: CType) -> None:
    """
    Raises `CompileError` if the clause's operator cannot reduce values of type `t`, that is, each scalar in
    it, element or member (OpenACC 3.4, 2.5.15).
    """
    if clause.operator not in ("+", "*") and _is_complex(t):
        raise error(
            item.loc,
            f"'{clause.operator}' cannot reduce '{item.name}' of type '{t}'",
            "reduce with + or *, or its parts one by one",
        )
    found = list(scalars(t))
    for scalar in found:
        if isinstance(scalar, FloatType):
            if clause.operator in ("&", "|", "^"):
                raise error(
                    item.loc,
                    f"'{clause.operator}' cannot reduce '{item.name}' of type '{t}'",
                    "use an integer variable, or + * max min && ||",
                )
        elif not isinstance(scalar, IntType):
            raise error(
                item.loc,
                f"reduction of '{item.name}' of type '{t}'"
                + (f", which contains '{scalar}'," if scalar is not t else "")
                + " is not supported",
                "reduce integer or floating-point variables, or arrays and structures of them",
            )
    if clause.operator in ("+", "*") and BOOL in found and len(set(found)) > 1:
        raise error(
            item.loc,
            f"'{item.name}' of type '{t}' has '_Bool' members, of which '{clause.operator}' makes 0 or 1,"
            " and others",
            "name the members one by one",
        )
    signs = {s.signed for s in found if isinstance(s, IntType)}
    if clause.operator in ("max", "min") and len(signs) > 1:
        raise error(
            item.loc,
            f"'{item.name}' of type '{t}' has signed and unsigned members, which '{clause.operator}'"
            " compares differently",
            "name the members one by one",
        )


def _is_complex(t: CType) -> bool:
    t = innermost(t)
    if isinstance(t, RecordType) and not isinstance(t, ComplexType):
        return any(_is_complex(member.type.type) for member in t.fields or ())
    return isinstance(t, ComplexType)
