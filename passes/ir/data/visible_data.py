"""
The data clauses and `default` clauses lexically visible to a construct, of `data` constructs and `declare`
around it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ....dialects.accx import FROM_KERNELS
from ..ops.acc_ops import ENTRY_OPS, ComputeOp, EntryOp, enclosing, operations_around
from ..values.region_values import same_variable


def visible_entry(construct: Operation, value: SSAValue) -> EntryOp | None:
    """
    The data operation for a variable of a lexically visible `data` construct or `declare`; None without
    one.
    """
    for around in operations_around(construct):
        if isinstance(around, acc.DataOp):
            entry = _entry_for(around.data_clause_operands, value)
            if entry is not None:
                return entry
    function = enclosing(construct, llvm.FuncOp)
    if function is not None:
        for block in function.body.blocks:
            for op in block.ops:
                if isinstance(op, acc.DeclareEnterOp):
                    entry = _entry_for(op.data_clause_operands, value)
                    if entry is not None:
                        return entry
    return None


def has_other_section(entry: EntryOp) -> bool:
    """Whether the construct that `entry` belongs to maps another section of the variable."""
    return any(
        other is not entry
        and isinstance(other, ENTRY_OPS)
        and not isinstance(other, acc.AttachOp)
        and bool(other.bounds and entry.bounds)
        and same_variable(other.var, entry.var)
        for use in entry.acc_var.uses
        if isinstance(use.operation, acc.DataOp | acc.DeclareEnterOp)
        for other in (operand.owner for operand in use.operation.data_clause_operands)
    )


def is_conditional(entry: EntryOp) -> bool:
    """Whether `entry` belongs to a `data` construct with an `if` clause: it may not be executed."""
    return any(
        isinstance(use.operation, acc.DataOp)
        and use.operation.if_cond is not None
        and FROM_KERNELS not in use.operation.attributes
        for use in entry.acc_var.uses
    )


def _entry_for(operands: Iterable[SSAValue], value: SSAValue) -> EntryOp | None:
    for operand in operands:
        entry = operand.owner
        if isinstance(entry, acc.AttachOp):
            continue
        if isinstance(entry, ENTRY_OPS) and same_variable(entry.var, value):
            return entry
    return None


def visible_default(construct: ComputeOp) -> acc.ClauseDefaultValue | None:
    """The nearest visible `default` clause: of the construct, or of a `data` construct around it."""
    if construct.default_attr is not None:
        return construct.default_attr.data
    for around in operations_around(construct):
        if isinstance(around, acc.DataOp) and around.default_attr is not None:
            return around.default_attr.data
    return None
