"""Calls and the bodies that take their place, for the passes that inline routines of the program."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from .building import Cursor, constant_value, erase


def defined_functions(module: ModuleOp) -> dict[str, llvm.FuncOp]:
    """The functions with a body, by name."""
    return {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, llvm.FuncOp) and op.body.blocks
    }


def callee_of(op: Operation) -> str | None:
    """The function that a direct call names."""
    if isinstance(op, llvm.CallOp) and op.callee is not None:
        return op.callee.string_value()
    return None


def is_recursive(name: str, functions: Mapping[str, llvm.FuncOp]) -> bool:
    """Whether a function may call itself, also through others."""
    seen: set[str] = set()
    work = [name]
    while work:
        for op in functions[work.pop()].walk():
            callee = callee_of(op)
            if callee == name:
                return True
            if callee is not None and callee in functions and callee not in seen:
                seen.add(callee)
                work.append(callee)
    return False


def inline_call(call: llvm.CallOp, function: llvm.FuncOp, front: Block) -> list[Operation]:
    """
    Replaces a call by the body of its callee, one block that ends in its only return; variables of constant
    size become variables at the beginning of the block `front`. Returns the operations that were made.
    """
    body = function.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, call.args, strict=True))
    first = front.first_op
    assert first is not None
    here, variables = Cursor.before(call), Cursor.before(first)
    made: list[Operation] = []
    for op in body.ops:
        if isinstance(op, llvm.ReturnOp):
            for result in call.results:
                assert op.arg is not None
                result.replace_all_uses_with(values.get(op.arg, op.arg))
            continue
        copy = op.clone(values)
        at = here
        if isinstance(op, llvm.AllocaOp) and (size := constant_value(op.size)) is not None:
            at = variables
            copy.operands[0] = variables.constant(size, op.size.type)
        at.loc = op.location
        made.append(at.insert(copy))
    erase(call)
    return made
