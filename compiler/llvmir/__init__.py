"""LLVM IR text from the `llvm` and `nvvm` dialects."""

from __future__ import annotations

from .printer import print_llvm_module

__all__ = ["print_llvm_module"]
