"""
Functions with `constructor` and `destructor` (GNU C). Two functions of the module call them, the
constructors in the order of their priorities, the destructors in the opposite order. The loader of the
module's code calls the first of the two before all other code, and the second after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.ir import Block, Region

from ..base.abi import CONSTRUCT, DESTRUCT
from ..c import ast as c
from .function import FunctionState
from .symbols import EXTERNAL, ModuleState


def emit_callers(state: ModuleState, units: Sequence[c.TranslationUnit]) -> None:
    """The functions that call the constructors and the destructors, where there are any."""
    defined = [f for unit in units for f in unit.functions if f.body is not None]
    first = sorted(
        (f for f in defined if f.constructor is not None), key=lambda f: f.constructor or 0
    )
    last = sorted((f for f in defined if f.destructor is not None), key=lambda f: f.destructor or 0)
    if first:
        _emit_caller(state, CONSTRUCT, first)
    if last:
        _emit_caller(state, DESTRUCT, last[::-1])


def _emit_caller(state: ModuleState, name: str, functions: Sequence[c.FunctionDecl]) -> None:
    block = Block()
    fn = FunctionState.of_block(state, block)
    for function in functions:
        fn.b.at(function.loc)
        symbol = state.function_symbol(function)
        fn.call(symbol, [fn.b.undef(each) for each in state.function_types[symbol].inputs])
    fn.b.add(llvm.ReturnOp())
    op = llvm.FuncOp(name, LLVMFunctionType([]), EXTERNAL, body=Region(block))
    op.location = functions[0].loc.to_attr()
    state.module.body.block.add_op(op)
