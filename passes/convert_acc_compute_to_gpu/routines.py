"""
Device functions: calls in kernels, the routines they reach (OpenACC 3.4, 2.15.1), and globals.

A routine without parallelism is copied into the device module once. One with worker or vector
loops is copied for each block shape and calling mode that needs it, so that the shape is constant in it.
Functions without a body (the math library) keep their declaration.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32

from ...compiler.base.diagnostics import SourceLoc, error
from ...compiler.base.names import ptx_name
from ...dialects import nvvm
from ..ir.kernels.routine_calls import Calls
from ..ir.ops.building import PTR
from .device_module import DeviceModule


def device_symbol(name: str) -> str:
    """The name of a variable's device version: PTX has no '.' in names, which static ones have."""
    return ptx_name(name.replace(".", "_$_"))


def is_link(declared: acc.DeclareAttr) -> bool:
    """Whether a `declare` clause makes the device's version a pointer (`declare link`)."""
    return declared.data_clause.data is acc.DataClause.ACC_DECLARE_LINK


@dataclass
class DeviceReferences:
    """Copies the symbols to which device code refers into the device module."""

    device: DeviceModule
    calls: Calls
    copied: set[str] = field(default_factory=set[str])

    def declare(self, name: str) -> None:
        """Copies the declaration of a function without a body."""
        function = self.calls.symbols.get(name)
        if name in self.copied or not isinstance(function, llvm.FuncOp):
            return
        self.copied.add(name)
        self.device.names.add(name)
        self.device.add(function.clone())

    def global_variable(self, op: llvm.AddressOfOp) -> tuple[llvm.LLVMPointerType, bool]:
        """
        The device's version of a global variable: the type of its address, and whether it is a
        pointer to the variable (`declare link`). Constants are copied. Raises `CompileError` for a
        variable without `declare` (OpenACC 3.4, 2.13).
        """
        name = op.global_name.string_value()
        variable = self.calls.symbols.get(name)
        if not isinstance(variable, llvm.GlobalOp):
            raise error(
                SourceLoc.from_attr(op.location),
                f"'{name}' is used in device code but is not a variable of this program",
                f"define '{name}' in one of the program's files, with '#pragma acc declare'",
            )
        declared = variable.attributes.get("acc.declare")
        if isinstance(declared, acc.DeclareAttr):
            self._copy(variable, "weak")
            return nvvm.GLOBAL_POINTER, is_link(declared)
        if variable.constant is None:
            raise error(
                SourceLoc.from_attr(op.location),
                f"global variable '{name}' is used in device code but the device has no copy of it",
                f"write '#pragma acc declare create({name})' (or copyin) after its declaration",
            )
        self._copy(variable, "internal")
        return nvvm.GLOBAL_POINTER, False

    def declared_variables(self) -> list[llvm.GlobalOp]:
        """The program's global variables in a `declare` clause; each gets its device version."""
        found: list[llvm.GlobalOp] = []
        for symbol in self.calls.symbols.values():
            if isinstance(symbol, llvm.GlobalOp) and "acc.declare" in symbol.attributes:
                self._copy(symbol, "weak")
                found.append(symbol)
        return found

    def _copy(self, variable: llvm.GlobalOp, linkage: str) -> None:
        """
        Copies a variable into global memory, once. The runtime finds it by name and may change it,
        so a declared one gets weak linkage: LLVM must not assume its initial value.
        """
        name = variable.sym_name.data
        if name in self.copied:
            return
        self.copied.add(name)
        self.device.names.add(name)
        symbol = device_symbol(name)
        copy = variable.clone()
        copy.properties["sym_name"] = StringAttr(symbol)
        copy.attributes.pop("acc.declare", None)
        declared = variable.attributes.get("acc.declare")
        if isinstance(declared, acc.DeclareAttr) and is_link(declared):
            copy = llvm.GlobalOp(PTR, symbol, linkage)
            copy.location = variable.location
        copy.properties["linkage"] = llvm.LinkageAttr(linkage)
        copy.properties["addr_space"] = IntegerAttr(nvvm.ADDRESS_SPACE_GLOBAL, i32)
        self.device.add(copy)
        self._globals_of_initialiser(copy)

    def _globals_of_initialiser(self, variable: llvm.GlobalOp) -> None:
        for op in variable.body.walk():
            if isinstance(op, llvm.AddressOfOp):
                raise error(
                    SourceLoc.from_attr(variable.location),
                    f"the initial value of '{variable.sym_name.data}', used in device code,"
                    " contains an address",
                    "initialise the pointers in device code, or map the data",
                )
