"""
Inlining of calls, and the functions that can be inlined, for the passes that inline routines of the
program.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from .acc_ops import callee_of
from .building import Cursor, constant_value, erase


def defined_functions(module: ModuleOp) -> dict[str, llvm.FuncOp]:
    """The functions with a body, by name."""
    return {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, llvm.FuncOp) and op.body.blocks
    }


def recursive_functions(functions: Mapping[str, llvm.FuncOp]) -> set[str]:
    """The functions that may call themselves, directly or through others."""
    return in_cycles(
        {
            name: [
                c for op in function.walk() if (c := callee_of(op)) in functions and c is not None
            ]
            for name, function in functions.items()
        }
    )


def in_cycles(calls: Mapping[str, list[str]]) -> set[str]:
    """
    The functions on cycles of a call graph, by two depth-first searches: one along calls, one along
    reversed calls in the opposite order of completion (Kosaraju and Sharir).
    """
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for name, callees in calls.items():
        for callee in callees:
            callers[callee].append(name)
    finished: list[str] = []
    seen: set[str] = set()
    for name in calls:
        finished += _finished_from(name, calls, seen)
    found = {name for name, callees in calls.items() if name in callees}
    seen.clear()
    for name in reversed(finished):
        component = _finished_from(name, callers, seen)
        if len(component) > 1:
            found.update(component)
    return found


def _finished_from(start: str, edges: Mapping[str, list[str]], seen: set[str]) -> list[str]:
    """
    The functions reachable from `start` that are not in `seen`, in the order in which a depth-first search
    completes them.
    """
    order: list[str] = []
    if start in seen:
        return order
    seen.add(start)
    path = [(start, iter(edges[start]))]
    while path:
        name, following = path[-1]
        for other in following:
            if other not in seen:
                seen.add(other)
                path.append((other, iter(edges[other])))
                break
        else:
            order.append(name)
            path.pop()
    return order


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
