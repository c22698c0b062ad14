"""
Results that an asynchronous directive stores in a variable of a function which returns before anything waits
for its queue (OpenACC 3.4, 2.16.1): they would be stored where another function's variables are by then.

The decision reads one function: it is made only where nothing there may wait, neither a directive nor a
call of any function but those of the C library. The function then waits for those queues before it
returns; a use of the result before that is not made to wait, and named by the warning. `main` is left out:
the program ends with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from ...compiler.base.names import c_name
from ..ir.data.host_effects import is_library_function
from ..ir.ops.acc_ops import COMPUTE_OPS, callee_of, enclosing, is_inside, source_loc, variable_name
from ..ir.ops.building import constant_value
from ..ir.ops.messages import Messages
from ..ir.values.addresses import base_of

QUEUED_OPS = (*COMPUTE_OPS, acc.DataOp, acc.ExitDataOp, acc.UpdateOp)
"""Directives that may copy results to the host on a queue."""

_SYNC = -2
"""`acc_async_sync`."""


def wait_for_late_results(directives: Iterable[Operation], messages: Messages) -> None:
    """
    Warns of the directives (of `QUEUED_OPS`, their data clauses explicit) whose results would come after
    their function has returned, and makes those functions wait.
    """
    late: dict[llvm.FuncOp, list[Operation]] = {}
    for directive in directives:
        if not _is_queued(directive):
            continue
        results = _automatic_results(directive)
        function = enclosing(directive, llvm.FuncOp)
        if not results or function is None or function.sym_name.data == "main":
            continue
        if function not in late:
            late[function] = []
            if any(_may_wait(op) for op in function.walk()):
                continue
        elif not late[function]:
            continue
        late[function].append(directive)
        for variable in results:
            _warn(directive, variable, function, messages)
    for function, found in late.items():
        if found:
            _wait_at_end(function, found)


def _warn(
    directive: Operation, variable: SSAValue, function: llvm.FuncOp, messages: Messages
) -> None:
    name, callee = variable_name(variable), c_name(function.sym_name.data)
    use = _first_use(variable, directive, function)
    if use is None:
        messages.warn(
            source_loc(directive),
            f"the result in '{name}' may come after '{callee}' has returned, so the function waits for it",
            f"write a wait directive where '{name}' is needed, or leave out async",
        )
    else:
        messages.warn(
            source_loc(directive),
            f"the result in '{name}' may come after it is used: '{callee}' waits for it only when it returns",
            "write a wait directive before that use, or leave out async",
            [(source_loc(use), f"'{name}' is used here")],
        )


def _first_use(variable: SSAValue, directive: Operation, function: llvm.FuncOp) -> Operation | None:
    """
    The first operation with which the host may use the value of `variable` after `directive`: a load, or a
    call with its address, behind the directive or in a loop around it.
    """
    repeated = enclosing(directive, scf.ForOp, scf.WhileOp)
    while repeated is not None and (around := enclosing(repeated, scf.ForOp, scf.WhileOp)):
        repeated = around
    behind = False
    for op in function.walk():
        behind = behind or op is directive
        if not behind and not (repeated is not None and is_inside(op, repeated)):
            continue
        used = [op.ptr] if isinstance(op, llvm.LoadOp) else []
        if isinstance(op, llvm.CallOp):
            used = [arg for arg in op.args if isinstance(arg.type, llvm.LLVMPointerType)]
        if any(base_of(pointer) is variable for pointer in used) and not _are_apart(op, directive):
            return op
    return None


def _are_apart(op: Operation, other: Operation) -> bool:
    """Whether only one of two operations runs: in branches of an `if` that no loop repeats."""
    branch = enclosing(other, scf.IfOp)
    while branch is not None:
        if is_inside(op, branch):
            together = any(r.is_ancestor(op) and r.is_ancestor(other) for r in branch.regions)
            return not together and enclosing(branch, scf.ForOp, scf.WhileOp) is None
        branch = enclosing(branch, scf.IfOp)
    return False


def _is_queued(op: Operation) -> bool:
    """Whether a directive runs on a queue, so that the host does not wait for it."""
    if isinstance(op, acc.ExitDataOp | acc.EnterDataOp | acc.WaitOp):
        operand = op.async_operand
        if operand is not None:
            return constant_value(operand) != _SYNC
        return op.async_attr is not None
    if isinstance(op, (*COMPUTE_OPS, acc.DataOp, acc.UpdateOp)):
        if op.async_operands:
            return constant_value(op.async_operands[0]) != _SYNC
        return op.async_only is not None
    return False


def _automatic_results(directive: Operation) -> list[SSAValue]:
    """The function's own variables that a directive copies to the host, in its order."""
    found: dict[SSAValue, None] = {}
    for operand in directive.operands:
        if isinstance(operand.type, llvm.LLVMPointerType):
            for use in operand.uses:
                op = use.operation
                if isinstance(op, acc.CopyoutOp | acc.UpdateHostOp) and isinstance(
                    op.var.owner, llvm.AllocaOp
                ):
                    found[op.var] = None
    return list(found)


def _may_wait(op: Operation) -> bool:
    """Whether the host may wait for a queue in `op` itself, not in its regions."""
    if isinstance(op, llvm.CallOp):
        name = callee_of(op)
        return name is None or not is_library_function(name)
    if isinstance(op, acc.WaitOp):
        return not _is_queued(op)
    if isinstance(op, acc.ShutdownOp):
        return True
    if isinstance(op, acc.ExitDataOp | acc.EnterDataOp):
        return bool(op.wait_operands or op.wait_attr) and not _is_queued(op)
    if isinstance(op, (*COMPUTE_OPS, acc.DataOp, acc.UpdateOp)):
        return bool(op.wait_operands or op.wait_only) and not _is_queued(op)
    return False


def _wait_at_end(function: llvm.FuncOp, late: list[Operation]) -> None:
    """Makes a function wait before it returns: for the queues of `late` if they are constants, or for all."""
    queues = {_queue_number(op) for op in late}
    for block in function.body.blocks:
        end = block.last_op
        if not isinstance(end, llvm.ReturnOp):
            continue
        made: list[Operation] = []
        if None not in queues:
            made = [
                arith.ConstantOp.from_int_and_width(q or 0, i32) for q in sorted(queues, key=str)
            ]
        made.append(acc.WaitOp(wait_operands=[op.results[0] for op in made]))
        for op in made:
            op.location = late[0].location
        block.insert_ops_before(made, end)


def _queue_number(op: Operation) -> int | None:
    """The number of the queue of a directive, if it is a constant."""
    if isinstance(op, acc.ExitDataOp):
        return None if op.async_operand is None else constant_value(op.async_operand)
    assert isinstance(op, (*COMPUTE_OPS, acc.DataOp, acc.UpdateOp))
    return constant_value(op.async_operands[0]) if op.async_operands else None
