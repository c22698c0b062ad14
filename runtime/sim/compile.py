"""
Compiles kernels to Python functions: the code of a kernel and of all functions that it reaches, with their
constants, the addresses of their shared variables, and the arguments through which it stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation

from ...compiler.base.deep_stack import with_deep_stack
from ...compiler.base.diagnostics import SourceLoc, error
from ...dialects import llvm_ext
from ...dialects.dense import integers
from ...dialects.layout import size_of
from ...dialects.nvvm.address_spaces import ADDRESS_SPACE_SHARED
from . import values
from .access import SourcePlace
from .codegen import FunctionCompiler, Unsupported
from .controlflow import STRUCTURED, code
from .effects import EFFECTS
from .execution import Function
from .expressions import NAMESPACE
from .library import LIBRARY
from .liveness import root_of
from .mathlib import math_function
from .memory import CODE_BASE, SHARED_BASE, SharedLayout

_WRITERS = {**STRUCTURED, **EFFECTS}
FUNCTION_BYTES = 16
"""The distance between the addresses of functions."""

_RUN_TIME: dict[str, Any] = {
    **NAMESPACE,
    "take": values.take,
    "takes": values.takes,
    "split": values.split,
    "stay": values.stay,
    "merge": values.merge,
    "put": values.put,
    "leave": values.leave,
    "compose": values.compose,
    "Pending": values.Pending,
    "True_": np.True_,
    "False_": np.False_,
    "LIBRARY": LIBRARY,
    "math_function": math_function,
}


@dataclass(eq=False)
class SimKernel:
    """
    A kernel ready to run. `stored`: the arguments through which it stores, None when it may store through
    pointers it got in another way. `local_bytes`: the approximate size of a thread's stack. `places`: the C
    places of the kernel's functions, by their names in the text.
    """

    name: str
    run: Callable[..., Any]
    argument_types: tuple[Attribute, ...]
    shared: SharedLayout
    stored: frozenset[int] | None
    local_bytes: int
    block_size: tuple[int, ...] | None
    place: SourcePlace
    places: dict[str, SourcePlace]
    text: str = field(repr=False)


class ModuleCompiler:
    """
    Compiles one kernel of a `gpu.module`. `addresses`: those of the module's global variables; `counting`:
    whether the code counts the executed operations.
    """

    def __init__(self, module: gpu.ModuleOp, addresses: dict[str, int], *, counting: bool):
        self.counting = counting
        self.addresses = addresses
        self.shared = SharedLayout()
        self.symbols: dict[str, Operation] = {}
        for op in module.body.block.ops:
            if isinstance(op, gpu.FuncOp | llvm.FuncOp | llvm.GlobalOp):
                self.symbols[op.sym_name.data] = op
        self._code: dict[int, Function] = {}
        self._namespace: dict[str, Any] = {**_RUN_TIME, "CODE": self._code}
        self._scalars: dict[tuple[str, bytes], str] = {}
        self._places: dict[tuple[str, int], SourcePlace] = {}
        self._functions: dict[str, str] = {}
        self._waiting: list[str] = []

    # For the code of functions

    def constant(self, value: Any) -> str:
        """The name of a constant in generated code."""
        key = None
        if isinstance(value, np.generic):
            key = (value.dtype.str, value.tobytes())
            if key in self._scalars:
                return self._scalars[key]
        name = f"K{len(self._namespace)}"
        self._namespace[name] = value
        if key is not None:
            self._scalars[key] = name
        return name

    def integer(self, value: int) -> str:
        """The name of a 64-bit constant."""
        return self.constant(np.int64(value))

    def place_of(self, op: Operation) -> SourcePlace:
        """The place of an operation in C; the same object for all operations of a line."""
        loc = SourceLoc.from_attr(op.location)
        return self._places.setdefault((loc.file, loc.line), SourcePlace(loc.file, loc.line))

    def address(self, symbol: str) -> str:
        """The constant for a global variable's address; shared variables are allocated."""
        variable = self.symbols.get(symbol)
        if isinstance(variable, llvm.GlobalOp) and _is_shared(variable):
            if symbol not in self.shared.offsets:
                self.shared.add(symbol, size_of(variable.global_type))
            return self.integer(SHARED_BASE + self.shared.offsets[symbol])
        if self.function(symbol) is not None:
            return self.integer(CODE_BASE + FUNCTION_BYTES * list(self._functions).index(symbol))
        if symbol not in self.addresses:
            raise Unsupported(f"the address of '{symbol}'")
        return self.integer(self.addresses[symbol])

    def function(self, symbol: str) -> str | None:
        """The name in generated code of a function the module defines."""
        found = self._functions.get(symbol)
        if found is None and _body(self.symbols.get(symbol)) is not None:
            found = self._functions[symbol] = f"F{len(self._functions)}"
            self._waiting.append(symbol)
        return found

    # Compiling

    @with_deep_stack
    def kernel(self, symbol: str) -> SimKernel:
        """The kernel `symbol`. Raises `CompileError` for operations that the simulator does not support."""
        func = self.symbols[symbol]
        assert isinstance(func, gpu.FuncOp)
        entry = self.function(symbol)
        assert entry is not None
        texts: list[str] = []
        bodies: list[Operation] = []
        while self._waiting:
            name = self._waiting.pop()
            op = self.symbols[name]
            bodies.append(op)
            try:
                writer = FunctionCompiler(
                    self, self._functions[name], op.regions[0], _WRITERS, is_kernel=name == symbol
                )
                texts.append(code(writer))
            except Unsupported as problem:
                loc = SourceLoc.from_attr(op.location)
                raise error(loc, f"the simulator cannot run '{name}': {problem}") from None
        text = "\n\n".join(texts)
        try:
            compiled = compile(text, f"<simulated {symbol}>", "exec")
        except (SyntaxError, MemoryError, RecursionError):
            # Python allows 99 levels of indentation.
            raise error(
                SourceLoc.from_attr(func.location),
                f"the branches and loops of '{symbol}' are nested too deeply for the simulator",
                "run it with --target=host, or put the inner ones into a function",
            ) from None
        exec(compiled, self._namespace)
        for number, (name, generated) in enumerate(self._functions.items()):
            body = _body(self.symbols[name])
            assert body is not None
            self._code[CODE_BASE + FUNCTION_BYTES * number] = Function(
                self._namespace[generated], len(body.regions[0].blocks[0].args)
            )
        return SimKernel(
            symbol,
            self._namespace[entry],
            tuple(func.function_type.inputs),
            self.shared,
            _stored(func, bodies),
            sum(_local_bytes(op) for op in bodies),
            _block_size(func),
            self.place_of(func),
            {self._functions[name]: self.place_of(self.symbols[name]) for name in self._functions},
            text,
        )


def _is_shared(variable: llvm.GlobalOp) -> bool:
    return variable.addr_space.value.data == ADDRESS_SPACE_SHARED


def global_variables(module: gpu.ModuleOp) -> Iterable[llvm.GlobalOp]:
    """The module's variables in global and constant memory."""
    for op in module.body.block.ops:
        if isinstance(op, llvm.GlobalOp) and not _is_shared(op):
            yield op


def _body(op: Operation | None) -> Operation | None:
    return op if isinstance(op, gpu.FuncOp | llvm.FuncOp) and op.body.blocks else None


def _block_size(func: gpu.FuncOp) -> tuple[int, ...] | None:
    size = func.attributes.get("gpu.known_block_size")
    if not isinstance(size, DenseArrayBase):
        return None
    return integers(size)


def _stored(func: gpu.FuncOp, bodies: list[Operation]) -> frozenset[int] | None:
    """The numbers of the kernel's arguments through which it stores; None if it also stores elsewhere."""
    stored: set[int] = set()
    for body in bodies:
        for op in body.walk():
            match op:
                case llvm.StoreOp():
                    pointer = op.ptr
                case llvm_ext.AtomicRMWOp() | llvm_ext.CmpXchgOp():
                    pointer = op.ptr
                case llvm_ext.MemoryTransferOp() | llvm_ext.MemsetOp():
                    pointer = op.dst
                case _:
                    continue
            root = root_of(pointer)
            owner = root.owner
            if isinstance(owner, llvm.AllocaOp | llvm.AddressOfOp):
                if isinstance(owner, llvm.AddressOfOp) and not _shared_pointer(root.type):
                    return None
                continue
            if not isinstance(root, BlockArgument) or root.owner is not func.body.blocks[0]:
                return None
            stored.add(root.index)
    return frozenset(stored)


def _shared_pointer(type: Attribute) -> bool:
    space = type.addr_space if isinstance(type, llvm.LLVMPointerType) else None
    return isinstance(space, IntegerAttr) and space.value.data == ADDRESS_SPACE_SHARED


def _local_bytes(func: Operation) -> int:
    return sum(size_of(op.elem_type) for op in func.walk() if isinstance(op, llvm.AllocaOp))
