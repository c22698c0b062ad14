"""
Replace mathematical functions in device code of the host target by ones without `errno`, which LLVM can
vectorise.

LLVM may then move such calls, vectorise them, and remove unused ones. Device code has no `errno`, and the
thread that runs a kernel is not the one that could read it.

Square roots become `math.sqrt`, the greater or less of two numbers `arith.maxnumf` or `arith.minnumf`.
Functions that have vector forms become calls of `__accopt_math_<name>`,
or of `__accopt_fast_<name>` where `fast` allows results within 4 ulp; `compiler/base/host_mathematics.py`
lists the ones that this machine has. Functions that the program defines itself stay.

Takes:  the host level: kernels are functions.
Leaves: the same IR with other callees, and their declarations.
Fails:  never.

Before:
  %y = llvm.call @exp(%x) : (f64) -> f64
After:
  %y = llvm.call @__accopt_math_exp(%x) : (f64) -> f64
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..compiler.base.host_mathematics import FAST_PREFIX, PREFIX, VECTOR_FUNCTIONS
from .ir.kernels.device_symbols import is_device_code
from .ir.kernels.outline import symbol_table
from .ir.ops.acc_ops import callee_of
from .ir.ops.building import Cursor, erase, put_first
from .ir.ops.machine import machine_of

_OPERATIONS: dict[str, type[Operation]] = {
    **dict.fromkeys(("sqrt", "sqrtf"), math.SqrtOp),
    **dict.fromkeys(("fmax", "fmaxf"), arith.MaxnumfOp),
    **dict.fromkeys(("fmin", "fminf"), arith.MinnumfOp),
}
"""Function of C's library → the operation that it is."""


def _is_library_function(name: str, symbols: dict[str, Operation]) -> bool:
    known = symbols.get(name)
    return known is None or (isinstance(known, llvm.FuncOp) and not known.body.blocks)


@dataclass(frozen=True)
class HostMathematicsPass(ModulePass):
    """Mathematics without side effects in device code; see the file's docstring."""

    name = "host-mathematics"

    fast: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = symbol_table(op)
        fast = machine_of(op).fast_math if self.fast is None else self.fast
        prefix = FAST_PREFIX if fast else PREFIX
        for function in [f for f in op.body.block.ops if isinstance(f, llvm.FuncOp)]:
            if not is_device_code(function):
                continue
            for call in [c for c in function.walk() if isinstance(c, llvm.CallOp)]:
                name = callee_of(call)
                if name is None or not _is_library_function(name, symbols):
                    continue
                if name in _OPERATIONS:
                    _become_operation(call, _OPERATIONS[name])
                elif name in VECTOR_FUNCTIONS:
                    _rename(call, prefix + name, op, symbols)


def _become_operation(call: llvm.CallOp, kind: type[Operation]) -> None:
    at = Cursor.before(call)
    result = at.value(kind(*call.args), call.results[0].name_hint)
    call.results[0].replace_all_uses_with(result)
    erase(call)


def _rename(call: llvm.CallOp, name: str, module: ModuleOp, symbols: dict[str, Operation]) -> None:
    call.properties["callee"] = SymbolRefAttr(name)
    if name in symbols:
        return
    type_ = llvm.LLVMFunctionType([a.type for a in call.args], call.results[0].type)
    declared = llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))
    put_first(module.body.block, declared)
    symbols[name] = declared
