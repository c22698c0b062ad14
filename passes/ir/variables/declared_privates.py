"""Private clauses of loops as variables that the loops' bodies declare."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc, llvm
from xdsl.ir import SSAValue

from ....compiler.base.names import value_name
from ..ops.acc_ops import drop_operands, replace_inside, variable_name
from ..ops.building import Cursor


def declare_privates(
    loop: acc.LoopOp, chosen: Callable[[acc.PrivateOp], bool]
) -> list[llvm.AllocaOp]:
    """
    Turns the private clauses of a loop for whole variables for which `chosen` holds into variables of its
    body: both belong to one iteration, whose lanes share them, and begin without a value (OpenACC 3.4,
    2.9.10). A variable without uses is not declared. Returns the new variables.
    """
    first = loop.region.blocks[0].first_op
    assert first is not None
    dropped: list[SSAValue] = []
    declared: list[llvm.AllocaOp] = []
    for value in loop.private_operands:
        owner = value.owner
        if not isinstance(owner, acc.PrivateOp) or owner.bounds or not chosen(owner):
            continue
        dropped.append(value)
        if any(use.operation is not loop for use in value.uses):
            name = value_name(variable_name(value))
            own = Cursor.before(first, owner.location).alloca(owner.var_type, name)
            replace_inside(loop, value, own)
            assert isinstance(own.owner, llvm.AllocaOp)
            declared.append(own.owner)
    drop_operands(loop, "private_operands", dropped)
    return declared
