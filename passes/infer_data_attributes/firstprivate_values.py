"""
Replaces firstprivate scalars that a compute construct only reads by their values. They are loaded before
the construct and become arguments of its kernel, so that values computed from them are known before the
launch.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm

from ...dialects.volatility import is_ordered
from ..ir.ops.acc_ops import ComputeOp, is_inside, is_scalar, set_operand_groups
from ..ir.ops.building import erase
from ..ir.variables.recipe_reading import Recipes


def read_before(construct: ComputeOp, recipes: Recipes) -> None:
    """Replaces the firstprivate copies that the region of `construct` only loads from."""
    if isinstance(construct, acc.KernelsOp):
        return
    left = [
        operand
        for operand in construct.firstprivate_operands
        if not isinstance(operand.owner, acc.FirstprivateOp)
        or not recipes.copies(operand.owner).is_plain
        or not _forward(construct, operand.owner)
    ]
    if len(left) == len(construct.firstprivate_operands):
        return
    gone = [o.owner for o in construct.firstprivate_operands if o not in left]
    set_operand_groups(construct, firstprivate_operands=left)
    for entry in gone:
        if isinstance(entry, acc.FirstprivateOp) and entry.acc_var.first_use is None:
            erase(entry)


def _forward(construct: ComputeOp, entry: acc.FirstprivateOp) -> bool:
    """
    Replaces the loads of a scalar copy that the region only loads by the variable's value; returns whether
    it did.
    """
    scalar = is_scalar(entry.var_type) and not isinstance(entry.var_type, llvm.LLVMStructType)
    if not scalar or entry.bounds:
        return False
    loads: list[llvm.LoadOp] = []
    for use in entry.acc_var.uses:
        op = use.operation
        if op is construct:
            continue
        if not isinstance(op, llvm.LoadOp) or not is_inside(op, construct):
            return False
        if is_ordered(op) or op.dereferenced_value.type != entry.var_type:
            return False
        loads.append(op)
    if not loads:
        return False
    block = entry.parent_block()
    assert block is not None
    before = loads[0].clone({entry.acc_var: entry.var})
    before.location = construct.location
    block.insert_op_after(before, entry)
    for load in loads:
        load.dereferenced_value.replace_all_uses_with(before.dereferenced_value)
        erase(load)
    return True
