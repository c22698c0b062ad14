"""
Give functions that pass structures by value, or are not the library's, their C names.

Their entries (`compiler/irgen/records_by_value.py`), which follow the convention, get the names; the
functions themselves become internal. Functions that bear the name of a library function get it back, too:
passes, which know the library's functions by name, must not take them for these.

Takes:  functions, and entries with `accx.entry`, which call them; others with `accx.entry`.
Leaves: no `accx.entry`; calls within the program are unchanged.
Fails:  never.

Before:
  llvm.func @length(%p : !llvm.struct<(f32, f32)>) -> f32 { … }
  llvm.func @length.entry(%p : f64) -> f32 attributes {accx.entry = "length"} { … llvm.call @length … }
After:
  llvm.func internal @length.by_value(%p : !llvm.struct<(f32, f32)>) -> f32 { … }
  llvm.func @length(%p : f64) -> f32 { … llvm.call @length.by_value … }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..dialects.accx import ENTRY


@dataclass(frozen=True)
class NameEntriesPass(ModulePass):
    """See the contract at the top of this file."""

    name = "name-entries"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, llvm.FuncOp)}
        names: dict[str, str] = {}
        for symbol, function in functions.items():
            target = function.attributes.pop(ENTRY, None)
            if isinstance(target, StringAttr):
                names[symbol] = target.data
            if isinstance(target, StringAttr) and target.data in functions:
                names[target.data] = _unused(f"{target.data}.by_value", functions)
                functions[target.data].linkage = llvm.LinkageAttr("internal")
        if not names:
            return
        for symbol, name in names.items():
            functions[symbol].sym_name = StringAttr(name)
        for top in op.body.block.ops:
            if isinstance(top, llvm.FuncOp | llvm.GlobalOp):
                _rename_uses(top, names)


def _unused(name: str, taken: dict[str, llvm.FuncOp]) -> str:
    found, n = name, 0
    while found in taken:
        n += 1
        found = f"{name}.{n}"
    return found


def _rename_uses(top: Operation, names: dict[str, str]) -> None:
    for inner in top.walk():
        if isinstance(inner, llvm.CallOp) and inner.callee is not None:
            new = names.get(inner.callee.root_reference.data)
            if new is not None:
                inner.callee = SymbolRefAttr(new)
        elif isinstance(inner, llvm.AddressOfOp):
            new = names.get(inner.global_name.root_reference.data)
            if new is not None:
                inner.properties["global_name"] = SymbolRefAttr(new)
