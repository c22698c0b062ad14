"""
Warnings for pointers that a compute construct dereferences with the host's value and also assigns (`*p++ =
x`).

No data clause maps their target, not even an implicit one: what a pointer points to is known only if the
construct does not assign it. So the value is a host address in device code, unless the program stored a
device address in it.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Operation

from ..ops.acc_ops import source_loc, variable_name
from ..ops.messages import Messages, access_notes
from ..values.addresses import ADDRESS_OPS
from ..variables.function_scalars import FunctionScalars


def warn_of_followed(construct: Operation, scalars: FunctionScalars, messages: Messages) -> None:
    """
    Warns of each pointer that `construct` assigns, but may dereference while it still has the host's value.
    """
    for pointer, uses in scalars.uses.get(construct, {}).items():
        loads = [op for op in uses if isinstance(op, llvm.LoadOp) and _is_followed(op)]
        stores = [op for op in uses if isinstance(op, llvm.StoreOp) and op.ptr is pointer]
        if not loads or not stores or not scalars.flow.reads_first(construct, pointer):
            continue
        name = variable_name(pointer)
        messages.warn(
            source_loc(loads[0]),
            f"'{name}' still has the host's value here, and device code dereferences it: no clause"
            f" maps its target, because the construct also assigns '{name}'",
            f"assign '{name}' in the construct first, or write a subscript",
            access_notes(None, stores[0]),
        )


def _is_followed(load: llvm.LoadOp) -> bool:
    """Whether the loaded pointer, or an address computed from it, is the address of an access."""
    if not isinstance(load.dereferenced_value.type, llvm.LLVMPointerType):
        return False
    return any(
        isinstance(use.operation, (llvm.LoadOp, *ADDRESS_OPS))
        or (isinstance(use.operation, llvm.StoreOp) and use.index == 1)
        for use in load.dereferenced_value.uses
    )
