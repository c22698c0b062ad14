"""
Pointers that a compute construct follows from the value they have on the host, and assigns too (`*p++ = x`).
No data clause is for them, implicit or not: only of a pointer that the construct leaves alone is it known
what it points to. Their value is no address of the device then, but for those that the program made itself.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Operation

from .acc_ops import source_loc, variable_name
from .addresses import ADDRESS_OPS
from .function_scalars import FunctionScalars
from .messages import Messages


def warn_of_followed(construct: Operation, scalars: FunctionScalars, messages: Messages) -> None:
    """A warning for each such pointer."""
    for pointer, uses in scalars.uses.get(construct, {}).items():
        loads = [op for op in uses if isinstance(op, llvm.LoadOp) and _is_followed(op)]
        stores = [op for op in uses if isinstance(op, llvm.StoreOp) and op.ptr is pointer]
        if not loads or not stores or not scalars.flow.reads_first(construct, pointer):
            continue
        name = variable_name(pointer)
        messages.warn(
            source_loc(loads[0]),
            f"'{name}' still has the host's value here, and device code follows it: as the construct"
            f" assigns '{name}' too, nothing maps what it points to",
            f"assign '{name}' in the construct first, or write a subscript",
            [(source_loc(stores[0]), "it is assigned here")],
        )


def _is_followed(load: llvm.LoadOp) -> bool:
    """Whether a pointer that is loaded is the address of an access, or that is computed from it."""
    if not isinstance(load.dereferenced_value.type, llvm.LLVMPointerType):
        return False
    return any(
        isinstance(use.operation, (llvm.LoadOp, *ADDRESS_OPS))
        or (isinstance(use.operation, llvm.StoreOp) and use.index == 1)
        for use in load.dereferenced_value.uses
    )
