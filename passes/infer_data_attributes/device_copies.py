"""
Which scalar variables may have a device copy: those whose address a data clause names, or that other code
may pass to a data clause. The value of any other scalar can be passed to a kernel as an argument, in every
kind of construct.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue, Use

from ..ir.ops.acc_ops import EXIT_OPS, MAPPING_OPS, PRIVATIZING_OPS, callee_of, is_implicit

READERS = frozenset(
    f"{prefix}{name}" for prefix in ("", "__isoc99_") for name in ("scanf", "fscanf", "sscanf")
)
"""Library functions that store through their pointer arguments and do not keep them."""


def may_have_device_copy(addresses: Iterable[SSAValue]) -> bool:
    """Whether the variable at `addresses` may have a device copy."""
    return any(_hands_over(use) for address in addresses for use in address.uses)


def _hands_over(use: Use) -> bool:
    """Whether this use of an address may create a device copy of the variable."""
    match use.operation:
        case llvm.LoadOp():
            return False
        case llvm.StoreOp():
            return use.index != 1
        case llvm.CallOp() as call:
            return callee_of(call) not in READERS
        case op if isinstance(op, PRIVATIZING_OPS):
            return False
        case op:
            return not (isinstance(op, MAPPING_OPS + EXIT_OPS) and is_implicit(op))


def shared_globals(module: ModuleOp) -> frozenset[str]:
    """The global variables that may have a device copy."""
    found: set[str] = set()
    for op in module.walk():
        if isinstance(op, llvm.AddressOfOp):
            name = op.global_name.string_value()
            if name not in found and may_have_device_copy((op.result,)):
                found.add(name)
    return frozenset(found)
