"""
The effect of called functions on memory, as far as the analysis of the calling loop needs it.

There are two answers: the pointers that the function reads through (parameters and globals), or None if it
may do anything else, such as write to memory other than its own variables.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ...decisions.device_functions import DEVICE_FUNCTIONS, OUTPUT, PURE_FUNCTIONS
from ..ops.acc_ops import callee_of, enclosing_module
from ..ops.purity import is_pure
from ..values.accesses import address_escapes, root_of

MOST_CALLS = 16
"""Chains of calls deeper than this are not followed: they may do anything."""


@dataclass(frozen=True)
class Read:
    """
    A function reads values of `type` through the pointer that is its parameter number `parameter`, or from
    a global.
    """

    parameter: int | None
    symbol: str | None
    type: Attribute


def is_harmless(call: llvm.CallOp) -> bool:
    """Whether a called library function only computes its result."""
    name = callee_of(call)
    if name in PURE_FUNCTIONS:
        return True
    pointers = any(isinstance(v.type, llvm.LLVMPointerType) for v in call.operands)
    return name in DEVICE_FUNCTIONS and name not in OUTPUT and not pointers


def reads_of_call(call: llvm.CallOp) -> tuple[Read, ...] | None:
    """The reads of a called function of the program; None if it may have other effects."""
    return _reads(callee_of(call), enclosing_module(call), 0)


def _reads(name: str | None, module: ModuleOp, depth: int) -> tuple[Read, ...] | None:
    function = next(
        (
            op
            for op in module.body.block.ops
            if isinstance(op, llvm.FuncOp) and op.sym_name.data == name
        ),
        None,
    )
    if function is None or not function.body.blocks or depth > MOST_CALLS:
        return None
    found: dict[Read, None] = {}
    for op in function.body.walk():
        reads = _of_operation(op, module, depth)
        if reads is None:
            return None
        found |= dict.fromkeys(reads)
    return tuple(found)


def _of_operation(op: Operation, module: ModuleOp, depth: int) -> tuple[Read, ...] | None:
    match op:
        case llvm.LoadOp():
            return _read(op.ptr, op.dereferenced_value.type)
        case llvm.StoreOp():
            root = root_of(op.ptr)
            own = isinstance(root.owner, llvm.AllocaOp) and not address_escapes(root)
            return () if own else None
        case llvm.CallOp() if is_harmless(op):
            return ()
        case llvm.CallOp():
            return _through(op, module, depth)
        case llvm.AllocaOp() | acc.LoopOp():
            return ()
        case _ if op.name.startswith(("scf.", "cf.")) or is_pure(op):
            return ()
        case _:
            return None


def _read(pointer: SSAValue, type_: Attribute) -> tuple[Read, ...] | None:
    root = root_of(pointer)
    owner = root.owner
    if isinstance(owner, llvm.AllocaOp):
        return () if not address_escapes(root) else None
    if isinstance(owner, llvm.AddressOfOp):
        return (Read(None, owner.global_name.string_value(), type_),)
    if isinstance(root, BlockArgument) and isinstance(root.block.parent_op(), llvm.FuncOp):
        return (Read(root.index, None, type_),)
    return None


def _through(call: llvm.CallOp, module: ModuleOp, depth: int) -> tuple[Read, ...] | None:
    """The reads of a callee of `function`, in terms of the parameters of `function`."""
    inner = _reads(callee_of(call), module, depth + 1)
    if inner is None:
        return None
    found: list[Read] = []
    for read in inner:
        if read.parameter is None:
            found.append(read)
            continue
        outer = _read(call.args[read.parameter], read.type)
        if outer is None:
            return None
        found += outer
    return tuple(found)
