"""
The implicit data attribute of a variable without a clause (OpenACC 3.4, 2.6.2 and 2.6.3).

`decide` is the decision table; the pass `infer-data-attributes` reads the facts and writes the operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xdsl.dialects import acc


class VariableKind(Enum):
    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    """An array, structure or union."""
    POINTER = "pointer"
    """A pointer used as an array."""


class DataAction(Enum):
    FIRSTPRIVATE = "firstprivate"
    COPY = "copy"
    COPYIN = "copyin"
    PRESENT = "present"
    NO_CREATE = "no_create"
    DEVICEPTR = "deviceptr"


@dataclass(frozen=True)
class VariableFacts:
    """
    The facts that decide the attribute of one variable in one construct.

    `visible_clause`: the clause of a lexically visible `data` or `declare`, if there is one.
    `conditional`: that construct has an `if` clause, so its data may be absent. `section_known`: the bounds
    of a pointer's section follow from the loops. `shared`: the variable may already have a device copy
    (a data clause or a call uses its address).
    """

    kind: VariableKind
    from_kernels: bool = False
    default_present: bool = False
    reads: bool = True
    writes: bool = True
    reduction: bool = False
    visible_clause: acc.DataClause | None = None
    conditional: bool = False
    section_known: bool = True
    shared: bool = True


def decide(facts: VariableFacts) -> DataAction:
    """
    The implicit attribute. A read-only variable is `copyin`, which is `copy` without the useless copy back;
    a scalar that only a `kernels` construct reads and that has no device copy is passed by value.
    Write-only variables stay `copy`: elements that are not written must keep their values.
    """
    visible = facts.visible_clause
    if visible is acc.DataClause.ACC_DEVICEPTR:
        return DataAction.DEVICEPTR
    if visible is acc.DataClause.ACC_NO_CREATE:
        return DataAction.NO_CREATE
    if visible is not None and facts.conditional:
        return DataAction.COPY if facts.writes else DataAction.COPYIN
    if visible is not None:
        return DataAction.PRESENT
    if facts.kind is VariableKind.SCALAR:
        if facts.reduction:
            return DataAction.COPY
        if not facts.from_kernels:
            return DataAction.FIRSTPRIVATE
        if facts.writes:
            return DataAction.COPY
        return DataAction.COPYIN if facts.shared else DataAction.FIRSTPRIVATE
    if facts.default_present:
        return DataAction.PRESENT
    if facts.kind is VariableKind.POINTER and not facts.section_known:
        return DataAction.PRESENT
    return DataAction.COPY if facts.writes else DataAction.COPYIN
