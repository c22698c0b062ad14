"""NVPTX's numbers for PTX's state spaces (LLVM's guide to NVPTX, "Address Spaces")."""

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.llvm import LLVMPointerType

ADDRESS_SPACE_GLOBAL = 1
ADDRESS_SPACE_SHARED = 3
ADDRESS_SPACE_CONSTANT = 4
ADDRESS_SPACE_LOCAL = 5

GLOBAL_POINTER = LLVMPointerType(IntAttr(ADDRESS_SPACE_GLOBAL))
SHARED_POINTER = LLVMPointerType(IntAttr(ADDRESS_SPACE_SHARED))
