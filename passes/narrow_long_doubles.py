"""
Compute `long double` as f64 in GPU code, which has no wider type, and keep the host's format in memory.

C lets `long double` have the precision of `double` (C17 6.2.5, 6.2.4.2). Memory always has the host's
format of 16 bytes, so that copies between host and device need no conversion: a load rounds to the nearest
f64, a store is exact, and variables, arrays and structures have an i128, of the same size and alignment,
instead of f80 (f128 on AArch64). Values, arguments and results of functions are f64; the host rounds what
it passes to a kernel. Functions of the mathematical library are called in their `double` forms. One warning
per kernel or routine says so.

Takes:  the gpu level.
Leaves: no f80 or f128 in `gpu.module`s.
Fails:  on `long double` as part of a structure passed or returned by value (complex numbers),
        in `printf`, and in functions that write one through a pointer (`modfl`).

Before:
  %v = llvm.load %p : !llvm.ptr -> f80
  %w = arith.mulf %v, %v : f80
After:
  %m = llvm.load %p : !llvm.ptr -> i64
  %q = llvm.getelementptr inbounds %p[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %e = llvm.load %q : !llvm.ptr -> i16
  %v = llvm.call @__accopt_from_x87(%m, %e) : (i64, i16) -> f64
  %w = arith.mulf %v, %v : f64
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float80Type,
    Float128Type,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    f64,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..compiler.base.diagnostics import SourceLoc, error
from ..dialects.layout import is_long_double
from ..dialects.volatility import is_volatile
from .decisions.device_functions import MATH_F80
from .ir.kernels import binary128, x87
from .ir.ops.acc_ops import callee_of
from .ir.ops.building import Cursor, erase
from .ir.ops.messages import Messages

_SLOT = IntegerType(128)


@dataclass(frozen=True)
class _Format:
    """
    The format of `long double` in memory: the type of the second of its two words, the functions that
    convert between the words and f64, and the bits of a constant.
    """

    second: IntegerType
    to_double: str
    words: tuple[str, str]
    bits: Callable[[float], int]
    conversions: Callable[[LocationAttr], tuple[llvm.FuncOp, ...]]


_X87 = _Format(
    i16, x87.FROM_X87, (x87.SIGNIFICAND, x87.SIGN_EXPONENT), x87.x87_bits, x87.conversions
)
_BINARY128 = _Format(
    i64,
    binary128.FROM_BINARY128,
    (binary128.LOW, binary128.HIGH),
    binary128.binary128_bits,
    binary128.conversions,
)
_WRITE_LONG_DOUBLE = frozenset(("modfl", "sincosl"))
_REMEDY = "use double in compute regions"


def _format(type: Attribute) -> _Format:
    return _BINARY128 if isinstance(type, Float128Type) else _X87


def in_memory(type: Attribute) -> Attribute:
    """`type` with 16 bytes in place of each `long double`, at the same offsets."""
    match type:
        case Float80Type() | Float128Type():
            return _SLOT
        case llvm.LLVMArrayType():
            inner = in_memory(type.type)
            return type if inner is type.type else llvm.LLVMArrayType(type.size, inner)
        case llvm.LLVMStructType():
            members = [in_memory(member) for member in type.types]
            if all(a is b for a, b in zip(members, type.types, strict=True)):
                return type
            name = f"{type.struct_name.data}.device" if type.struct_name.data else ""
            return llvm.LLVMStructType(StringAttr(name), ArrayAttr(members))
        case _:
            return type


def as_value(type: Attribute) -> Attribute:
    """The type of a value, or of a function, with f64 for `long double`."""
    match type:
        case Float80Type() | Float128Type():
            return f64
        case FunctionType():
            return FunctionType.from_lists(
                [as_value(t) for t in type.inputs], [as_value(t) for t in type.outputs]
            )
        case llvm.LLVMFunctionType():
            inputs = [as_value(t) for t in type.inputs]
            return llvm.LLVMFunctionType(inputs, as_value(type.output), type.is_variadic)
        case _:
            return type


def _narrow_value(value: SSAValue, at: Operation) -> None:
    if is_long_double(value.type):
        Rewriter.replace_value_with_new_type(value, f64)
    elif in_memory(value.type) is not value.type:
        raise error(
            SourceLoc.from_attr(at.location),
            "'long double' in a structure or complex number used as a value is not possible on the GPU",
            _REMEDY,
        )


def _load(op: llvm.LoadOp) -> None:
    cursor = Cursor.before(op)
    parts: list[SSAValue] = []
    format = _format(op.dereferenced_value.type)
    for type, offset in ((i64, 0), (format.second, 8)):
        address = _second_half(cursor, op.ptr) if offset else op.ptr
        part = llvm.LoadOp(address, type)
        part.attributes.update(op.attributes)
        parts.append(cursor.value(part))
    call = cursor.value(
        llvm.CallOp(format.to_double, *parts, return_type=f64), op.dereferenced_value.name_hint
    )
    op.dereferenced_value.replace_all_uses_with(call)
    erase(op)


def _store(op: llvm.StoreOp, format: _Format) -> None:
    cursor = Cursor.before(op)
    for symbol, type, offset in ((format.words[0], i64, 0), (format.words[1], format.second, 8)):
        part = cursor.value(llvm.CallOp(symbol, op.value, return_type=type))
        address = _second_half(cursor, op.ptr) if offset else op.ptr
        store = llvm.StoreOp(part, address, volatile=is_volatile(op))
        store.attributes.update(op.attributes)
        cursor.insert(store)
    erase(op)


def _second_half(cursor: Cursor, pointer: SSAValue) -> SSAValue:
    """The address of sign and exponent, in the pointer's address space."""
    return cursor.value(llvm.GEPOp(pointer, [8], i8, inbounds=True, result_type=pointer.type))  # type: ignore[arg-type]


def _call_for_double(op: llvm.CallOp) -> str:
    """Replaces a call of a library function by that of its f64 form; returns the form's name."""
    name = callee_of(op)
    assert name is not None
    stem = name.removeprefix("__builtin_")
    if stem not in MATH_F80 - _WRITE_LONG_DOUBLE:
        raise error(
            SourceLoc.from_attr(op.location),
            f"'{name}' with 'long double' is not available in GPU code",
            "convert to double, and call the function for double",
        )
    op.callee = SymbolRefAttr(stem[:-1])
    return stem[:-1]


def _is_wide(op: llvm.CallOp) -> bool:
    wide = any(is_long_double(v.type) for v in (*op.args, *op.results))
    return wide or callee_of(op) in _WRITE_LONG_DOUBLE


def _same_values(op: Operation) -> None:
    """Removes a conversion between types that have become equal."""
    if op.operands[0].type == op.results[0].type:
        op.results[0].replace_all_uses_with(op.operands[0])
        erase(op)


def _constant_bits(op: arith.BitcastOp) -> int:
    """The bits of a `long double` constant that is not a double."""
    constant = op.input.owner
    assert isinstance(constant, arith.ConstantOp) and isinstance(constant.value, IntegerAttr)
    return constant.value.value.data & (1 << _width(op)) - 1


def _width(op: arith.BitcastOp) -> int:
    return 128 if isinstance(op.result.type, Float128Type) else 80


def _bits(op: Operation) -> None:
    """
    Replaces a constant given by its bits by the nearest double. Raises `CompileError` for other uses of the
    bits.
    """
    if not isinstance(op, arith.BitcastOp):
        return
    if is_long_double(op.result.type) and isinstance(op.input.owner, arith.ConstantOp):
        value = binary128.nearest_double(_constant_bits(op), _width(op))
        op.result.replace_all_uses_with(Cursor.before(op).constant(value, f64))
        erase(op)
    elif _is_wide_value(op.input) or _is_wide_value(op.result):
        loc = SourceLoc.from_attr(op.location)
        raise error(loc, "the bits of a 'long double' are not available on the GPU", _REMEDY)


def _retype(op: Operation) -> None:
    """Converts the types in the properties of `op`, and those of its results."""
    match op:
        case llvm.AllocaOp() | llvm.GEPOp():
            op.elem_type = in_memory(op.elem_type)  # type: ignore[assignment]
        case llvm.CallOp() if op.var_callee_type is not None:
            op.var_callee_type = as_value(op.var_callee_type)  # type: ignore[assignment]
        case arith.ConstantOp() | llvm.ConstantOp() if isinstance(op.value, FloatAttr):
            op.properties["value"] = FloatAttr(op.value.value.data, as_value(op.value.type))  # type: ignore[arg-type]
        case _:
            pass
    for result in op.results:
        _narrow_value(result, op)


def _global(op: llvm.GlobalOp) -> None:
    """Converts the type and the initial value of a global variable."""
    op.global_type = in_memory(op.global_type)
    for inner in tuple(op.walk()):
        if isinstance(inner, arith.BitcastOp) and is_long_double(inner.result.type):
            value = Cursor.before(inner).constant(_constant_bits(inner), _SLOT)
            inner.result.replace_all_uses_with(value)
            erase(inner)
            continue
        if isinstance(inner, arith.ExtFOp) and is_long_double(inner.result.type):
            constant = inner.input.owner
            assert isinstance(constant, arith.ConstantOp)
            assert isinstance(constant.value, FloatAttr)
            bits = _format(inner.result.type).bits(constant.value.value.data)
            value = Cursor.before(inner).constant(bits, _SLOT)
            inner.result.replace_all_uses_with(value)
            erase(inner)
            continue
        for result in inner.results:
            if in_memory(result.type) is not result.type:
                Rewriter.replace_value_with_new_type(result, in_memory(result.type))


class _Narrowing:
    """Rewrites one `gpu.module`."""

    def __init__(self, module: gpu.ModuleOp, messages: Messages):
        self.body = module.body.block
        self.messages = messages
        functions = [op for op in self.body.ops if isinstance(op, llvm.FuncOp)]
        self.defined = frozenset(f.sym_name.data for f in functions if f.body.blocks)
        self.replaced: set[str] = set()
        self.formats: set[_Format] = set()
        """
        The formats of memory that is read or written: at most one, as a program is compiled for one host.
        """
        self.declared = {f.sym_name.data: f for f in functions if not f.body.blocks}

    def run(self) -> None:
        wide = [op for op in self.body.ops if _mentions(op)]
        for op in wide:
            if isinstance(op, gpu.FuncOp | llvm.FuncOp):
                self._function(op)
            elif isinstance(op, llvm.GlobalOp):
                _global(op)
        for name in self.replaced & self.declared.keys():
            erase(self.declared[name])
        for format in self.formats:
            for function in format.conversions(wide[0].location):
                self.body.add_op(function)

    def _function(self, func: gpu.FuncOp | llvm.FuncOp) -> None:
        if func.body.blocks:
            self._warn(func)
        func.function_type = as_value(func.function_type)  # type: ignore[assignment]
        inner = tuple(op for op in func.walk() if op is not func)
        stores = [
            (op, _format(op.value.type))
            for op in inner
            if isinstance(op, llvm.StoreOp) and _is_wide_value(op.value)
        ]
        for op in inner:
            _bits(op)
            if isinstance(op, llvm.CallOp) and _is_wide(op):
                self._call(op)
        for block in (b for op in (func, *inner) for r in op.regions for b in r.blocks):
            for argument in block.args:
                _narrow_value(argument, func)
        for op in inner:
            if isinstance(op, llvm.LoadOp) and _is_wide_value(op.dereferenced_value):
                self.formats.add(_format(op.dereferenced_value.type))
                _load(op)
            else:
                _retype(op)
        for op in inner:
            if isinstance(op, arith.ExtFOp | arith.TruncFOp):
                _same_values(op)
        self.formats.update(format for _, format in stores)
        for op, format in stores:
            _store(op, format)

    def _call(self, op: llvm.CallOp) -> None:
        called = callee_of(op)
        if called is None or called in self.defined:
            return
        self.replaced.add(called)
        name = _call_for_double(op)
        if name not in self.declared and name not in self.defined:
            results = op.results[0].type if op.results else None
            type = llvm.LLVMFunctionType([a.type for a in op.args], results)
            func = llvm.FuncOp(name, as_value(type), llvm.LinkageAttr("external"))  # type: ignore[arg-type]
            self.declared[name] = func
            self.body.add_op(func)

    def _warn(self, func: Operation) -> None:
        self.messages.warn(
            SourceLoc.from_attr(func.location),
            "'long double' is computed as double on the GPU",
            "write double, or compile for the host where 64 bits of precision matter",
        )


def _is_wide_value(value: SSAValue) -> bool:
    return is_long_double(value.type)


_SIZED = (llvm.AllocaOp, llvm.GEPOp)
"""Operations with the type of what they address."""


def _mentions(op: Operation) -> bool:
    """Whether a symbol of the module mentions `long double`."""
    if isinstance(op, llvm.GlobalOp):
        return in_memory(op.global_type) is not op.global_type
    assert isinstance(op, gpu.FuncOp | llvm.FuncOp)
    if as_value(op.function_type) != op.function_type:
        return True
    plain: set[int] = (
        set()
    )  # types without it, by identity: there are few types, and many values of each

    def is_plain(type: Attribute) -> bool:
        if id(type) not in plain:
            if in_memory(type) is not type:
                return False
            plain.add(id(type))
        return True

    for inner in op.walk():  # its operands are results and block arguments inside
        for result in inner.results:
            type = result.type
            if id(type) not in plain and not is_plain(type):
                return True
        for region in inner.regions:
            for block in region.blocks:
                if not all(is_plain(argument.type) for argument in block.args):
                    return True
        if isinstance(inner, _SIZED) and not is_plain(inner.elem_type):
            return True
    return False


def _round_arguments(launch: gpu.LaunchFuncOp) -> None:
    """Converts `long double` arguments of a launch to f64."""
    cursor = Cursor.before(launch)
    for index, operand in enumerate(launch.operands):
        if _is_wide_value(operand):
            rounded = cursor.value(arith.TruncFOp(operand, f64), operand.name_hint)
            launch.operands[index] = rounded


@dataclass(frozen=True)
class NarrowLongDoublesPass(ModulePass):
    """`long double` in GPU code; see the file's docstring."""

    name = "narrow-long-doubles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        messages = Messages(op)
        for symbol in op.ops:
            if isinstance(symbol, gpu.ModuleOp):
                continue
            for inner in symbol.walk():
                if isinstance(inner, gpu.LaunchFuncOp):
                    _round_arguments(inner)
        for module in op.ops:
            if isinstance(module, gpu.ModuleOp):
                _Narrowing(module, messages).run()
        messages.save()
