"""
Results that an asynchronous directive stores in a variable of a function which returns before anything waits
for its queue (OpenACC 3.4, 2.16.1): they would be stored where another function's variables are by then.

The decision reads one function: it is made only where nothing there may wait, neither a directive nor a
call of any function but those of the C library. The function then waits for those queues before it
returns. `main` is left out: the program ends with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from ...compiler.base.names import c_name
from ..ir.data.host_effects import is_library_function
from ..ir.ops.acc_ops import COMPUTE_OPS, callee_of, enclosing, source_loc, variable_name
from ..ir.ops.building import constant_value
from ..ir.ops.messages import Messages

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
        names = _automatic_results(directive)
        function = enclosing(directive, llvm.FuncOp)
        if not names or function is None or function.sym_name.data == "main":
            continue
        if function not in late:
            late[function] = []
            if any(_may_wait(op) for op in function.walk()):
                continue
        elif not late[function]:
            continue
        late[function].append(directive)
        for name in names:
            messages.warn(
                source_loc(directive),
                f"the result in '{name}' may come after '{c_name(function.sym_name.data)}' has returned, so "
                "the function waits for it",
                f"write a wait directive where '{name}' is needed, or leave out async",
            )
    for function, found in late.items():
        if found:
            _wait_at_end(function, found)


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


def _automatic_results(directive: Operation) -> list[str]:
    """The names of the function's own variables that a directive copies to the host, in its order."""
    found: dict[str, None] = {}
    for operand in directive.operands:
        if isinstance(operand.type, llvm.LLVMPointerType):
            for use in operand.uses:
                op = use.operation
                if isinstance(op, acc.CopyoutOp | acc.UpdateHostOp) and isinstance(
                    op.var.owner, llvm.AllocaOp
                ):
                    found[variable_name(op.var)] = None
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
