"""
The recipes of `private`, `firstprivate` and `reduction` clauses (docs/design.md, "Data clauses"), with the
operator that a clause means for a C type. `passes/ir/variables/recipes.py` builds them.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute

from ....passes.ir.variables import recipes
from ...base.diagnostics import UNKNOWN_LOC
from ...c.types import (
    BOOL,
    CType,
    IntType,
    scalars,
)
from ..symbols import ModuleState

KINDS = {
    "+": acc.ReductionOpKind.ADD,
    "*": acc.ReductionOpKind.MUL,
    "max": acc.ReductionOpKind.MAX,
    "min": acc.ReductionOpKind.MIN,
    "&": acc.ReductionOpKind.IAND,
    "|": acc.ReductionOpKind.IOR,
    "^": acc.ReductionOpKind.XOR,
    "&&": acc.ReductionOpKind.LAND,
    "||": acc.ReductionOpKind.LOR,
}

_OF_TRUTH_VALUES = {"+": "||", "*": "&&", "max": "||", "min": "&&", "|": "||", "&": "&&"}
"""Operator → the logical operator with the same results where all values are 0 or 1."""

_NOWHERE = UNKNOWN_LOC.to_attr()
"""The location of recipes, which clauses at many places share."""


def private_recipe(state: ModuleState, t: Attribute) -> SymbolRefAttr:
    """A recipe that makes an uninitialised copy."""
    return recipes.private_recipe(state.recipes, t, _NOWHERE)


def firstprivate_recipe(state: ModuleState, t: Attribute) -> SymbolRefAttr:
    """A recipe that makes an initialised copy."""
    return recipes.firstprivate_recipe(state.recipes, t, _NOWHERE)


def reduction_recipe(
    state: ModuleState, operator: str, t: Attribute, c_type: CType
) -> SymbolRefAttr:
    """
    A recipe that makes a copy holding the identity and combines two copies into the first. For `_Bool`, to
    which C converts sums and products as 0 or 1 (C11 6.3.1.2), the recipe uses the logical operator with
    the same results.
    """
    found = list(scalars(c_type))
    if set(found) == {BOOL}:
        operator = _OF_TRUTH_VALUES.get(operator, operator)
    # The integers among them agree (`check_operator`).
    signed = next((t.signed for t in found if isinstance(t, IntType)), True)
    return recipes.reduction_recipe(state.recipes, KINDS[operator], t, _NOWHERE, signed=signed)
