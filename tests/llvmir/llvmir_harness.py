"""Compiles MLIR text to host code: parse, convert, print, JIT."""

from __future__ import annotations

import ctypes

from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.ir.context import make_context
from accopt.compiler.llvmir import print_llvm_module
from accopt.passes.convert_to_llvm import ConvertToLlvmPass
from accopt.passes.lower_scf_to_cf import LowerScfToCfPass
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

I32, I64, F32, F64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_float, ctypes.c_double


def parse(text: str) -> ModuleOp:
    """The verified module of an MLIR text."""
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def lower(text: str) -> ModuleOp:
    """The module after the last passes of host code."""
    ctx, module = make_context(), parse(text)
    LowerScfToCfPass().apply(ctx, module)
    ConvertToLlvmPass().apply(ctx, module)
    module.verify()
    return module


def jit(text: str, **options) -> HostProgram:
    """The program of an MLIR text, in memory."""
    return HostProgram(print_llvm_module(lower(text), target="host"), **options)
