"""
Functions with `constructor` and `destructor` (GNU C): `main` begins with calling the former, in the order of
their priorities, and with registering the latter for the program's end, the last to run first.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32
from xdsl.dialects.llvm import LLVMVoidType

from ..base.diagnostics import UNKNOWN_LOC
from ..c import ast as c
from ..c.types import INT, VOID, FunctionType, PointerType, QualType
from .function import FunctionState
from .symbols import ModuleState

_ATEXIT_TYPE = FunctionType(INT, (PointerType(QualType(FunctionType(VOID))),))


def collect(state: ModuleState, units: Sequence[c.TranslationUnit]) -> None:
    """Notes the program's constructors and destructors."""
    defined = [f for unit in units for f in unit.functions if f.body is not None]
    first = [f for f in defined if f.constructor is not None]
    last = [f for f in defined if f.destructor is not None]
    state.constructors = sorted(first, key=lambda f: f.constructor or 0)
    state.destructors = sorted(last, key=lambda f: f.destructor or 0)


def call_constructors(fn: FunctionState) -> None:
    """At the beginning of `main`."""
    if fn.module.destructors:
        register = fn.module.function_symbol(c.FunctionDecl("atexit", _ATEXIT_TYPE, UNKNOWN_LOC))
        for function in fn.module.destructors:
            address = fn.symbol_address(fn.module.entry_symbol(function), function.name)
            fn.b.add(llvm.CallOp(register, address, return_type=i32))
    for function in fn.module.constructors:
        symbol = fn.module.function_symbol(function)
        t = fn.module.function_types[symbol]
        result = None if isinstance(t.output, LLVMVoidType) else t.output
        arguments = [fn.b.undef(each) for each in t.inputs]
        fn.b.add(llvm.CallOp(symbol, *arguments, return_type=result))
