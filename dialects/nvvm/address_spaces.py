"""NVPTX's numbers for PTX's state spaces (LLVM's guide to NVPTX, "Address Spaces")."""

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

ADDRESS_SPACE_GLOBAL = 1
ADDRESS_SPACE_SHARED = 3
ADDRESS_SPACE_CONSTANT = 4
ADDRESS_SPACE_LOCAL = 5

GLOBAL_POINTER = LLVMPointerType(IntAttr(ADDRESS_SPACE_GLOBAL))
SHARED_POINTER = LLVMPointerType(IntAttr(ADDRESS_SPACE_SHARED))


def check_pointer(operand: SSAValue, expected: LLVMPointerType) -> None:
    """Raises `VerifyException` unless the operand points to the state space of `expected`."""
    if operand.type != expected:
        raise VerifyException(f"expected {expected}, got {operand.type}")
