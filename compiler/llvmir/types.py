"""Types as LLVM IR text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IntAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute

from ..base.diagnostics import UNKNOWN_LOC, error

FLOAT_NAMES: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
    Float80Type: "x86_fp80",
    Float128Type: "fp128",
}

_FLOAT_SUFFIXES: dict[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f32",
    Float64Type: "f64",
    Float80Type: "f80",
    Float128Type: "f128",
}

_PLAIN_IDENTIFIER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-")


def identifier(name: str) -> str:
    """`name` as written after `@` or `%`, quoted where LLVM's syntax requires it (LangRef, Identifiers)."""
    if name and _PLAIN_IDENTIFIER.issuperset(name) and not name[0].isdigit():
        return name
    return f'"{escape(name.encode())}"'


def escape(data: bytes) -> str:
    """The contents of an LLVM string literal: printable ASCII as is, other bytes as `\\XX`."""
    return _ODD.sub(lambda found: f"\\{ord(found[0]):02X}", data.decode("latin-1"))


_ODD = re.compile(r'[^ -~]|["\\]')
"""Characters that LLVM's strings have as `\\XX`."""


class TypePrinter:
    """
    The text of types, remembered by type. Identified structs are collected in `definitions`, to be
    printed at the top of the module.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}
        self._texts: dict[int, str] = {}
        self._kept: list[Attribute] = []

    def __call__(self, type: Attribute) -> str:
        """
        The text of `type`. Keyed by the attribute's identity, because hashing attributes is slow;
        `_kept` keeps the keys alive. Raises `CompileError` for types that LLVM does not have.
        """
        text = self._texts.get(id(type))
        if text is None:
            text = self._print(type)
            self._texts[id(type)] = text
            self._kept.append(type)
        return text

    def _print(self, type: Attribute) -> str:
        printer = self._printers.get(type.__class__)
        if printer is None:
            raise error(
                UNKNOWN_LOC,
                f"the type {type} has no LLVM form",
                "run the pass convert-to-llvm before printing LLVM IR",
            )
        return printer(self, type)

    def _integer(self, type: Attribute) -> str:
        assert isinstance(type, IntegerType)
        return f"i{type.width.data}"

    def _float(self, type: Attribute) -> str:
        return FLOAT_NAMES[type.__class__]

    def _pointer(self, type: Attribute) -> str:
        space = cast(LLVMPointerType, type).addr_space
        return (
            f"ptr addrspace({space.data})" if isinstance(space, IntAttr) and space.data else "ptr"
        )

    def _array(self, type: Attribute) -> str:
        array = cast(LLVMArrayType, type)
        return f"[{array.size.data} x {self(array.type)}]"

    def _vector(self, type: Attribute) -> str:
        vector = cast("VectorType[Attribute]", type)
        return f"<{vector.get_shape()[0]} x {self(vector.element_type)}>"

    def _struct(self, type: Attribute) -> str:
        struct = cast(LLVMStructType, type)
        body = ", ".join(map(self, struct.types.data))
        text = f"{{ {body} }}" if body else "{}"
        if not struct.struct_name.data:
            return text
        name = f"%{identifier(struct.struct_name.data)}"
        self.definitions[name] = text
        return name

    def _function(self, type: Attribute) -> str:
        function = cast(LLVMFunctionType, type)
        inputs = [self(t) for t in function.inputs]
        if function.is_variadic:
            inputs.append("...")
        return f"{self(function.output)} ({', '.join(inputs)})"

    def _void(self, type: Attribute) -> str:
        return "void"

    _printers: ClassVar[dict[type[Attribute], Callable[[TypePrinter, Attribute], str]]] = {
        IntegerType: _integer,
        LLVMPointerType: _pointer,
        LLVMArrayType: _array,
        VectorType: _vector,
        LLVMStructType: _struct,
        LLVMFunctionType: _function,
        LLVMVoidType: _void,
        **dict.fromkeys(FLOAT_NAMES, _float),
    }


def overload_suffix(type: Attribute) -> str:
    """How `type` appears in the name of an overloaded intrinsic (`f32` in `llvm.sqrt.f32`)."""
    if isinstance(type, IntegerType):
        return f"i{type.width.data}"
    if isinstance(type, LLVMPointerType):
        return f"p{type.addr_space.data if isinstance(type.addr_space, IntAttr) else 0}"
    if isinstance(type, VectorType):
        return f"v{type.get_shape()[0]}{overload_suffix(type.element_type)}"
    return _FLOAT_SUFFIXES[type.__class__]
