"""
Compute `long double` as f64 in GPU code, which has no wider type, and keep the host's 80 bits in memory.

C lets `long double` have the precision of `double` (C17 6.2.5, 6.2.4.2). Memory always has the format of the
host, 16 bytes, so that copies between host and device are plain: a load rounds to the nearest f64, a store
is exact, and variables, arrays and structures get an i128, which has the size and alignment, where f80 was.
Values, arguments and results of functions are f64; the host rounds what it passes to a kernel. Functions of
the mathematical library are called in their `double` forms. One warning per kernel or routine says so.

Takes:  the gpu level.
Leaves: no f80 in `gpu.module`s.
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

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float80Type,
    FloatAttr,
    FunctionType,
    IntegerType,
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
from ..dialects.volatility import is_volatile
from .decisions.device_functions import MATH_F80
from .ir.building import Cursor, erase
from .ir.messages import Messages
from .ir.x87 import FROM_X87, SIGN_EXPONENT, SIGNIFICAND, conversions, x87_bits

_SLOT = IntegerType(128)
_WRITE_LONG_DOUBLE = frozenset(("modfl", "sincosl"))
_REMEDY = "use double in compute regions"


def in_memory(type: Attribute) -> Attribute:
    """`type` with 16 bytes in place of each f80, at the same offsets."""
    match type:
        case Float80Type():
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
    """`type` of a value, or of a function, with f64 for f80."""
    match type:
        case Float80Type():
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
    if isinstance(value.type, Float80Type):
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
    for type, offset in ((i64, 0), (i16, 8)):
        address = _second_half(cursor, op.ptr) if offset else op.ptr
        part = llvm.LoadOp(address, type)
        part.attributes.update(op.attributes)
        parts.append(cursor.value(part))
    call = cursor.value(
        llvm.CallOp(FROM_X87, *parts, return_type=f64), op.dereferenced_value.name_hint
    )
    op.dereferenced_value.replace_all_uses_with(call)
    erase(op)


def _store(op: llvm.StoreOp) -> None:
    cursor = Cursor.before(op)
    for symbol, type, offset in ((SIGNIFICAND, i64, 0), (SIGN_EXPONENT, i16, 8)):
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
    """Turns a call of a library function into that of its f64 form, whose name is the result."""
    assert op.callee is not None
    name = op.callee.string_value()
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
    wide = any(isinstance(v.type, Float80Type) for v in (*op.args, *op.results))
    return wide or (op.callee is not None and op.callee.string_value() in _WRITE_LONG_DOUBLE)


def _same_values(op: Operation) -> None:
    """Drops a conversion between the types that have become one."""
    if op.operands[0].type == op.results[0].type:
        op.results[0].replace_all_uses_with(op.operands[0])
        erase(op)


def _refuse_bits(op: Operation) -> None:
    if isinstance(op, arith.BitcastOp) and (_is_f80(op.input) or _is_f80(op.result)):
        loc = SourceLoc.from_attr(op.location)
        raise error(loc, "the bits of a 'long double' are not available on the GPU", _REMEDY)


def _retype(op: Operation) -> None:
    """The types that `op` names, and those of its results."""
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
    """A variable of the device, and its initial value."""
    op.global_type = in_memory(op.global_type)
    for inner in tuple(op.walk()):
        if isinstance(inner, arith.ExtFOp) and isinstance(inner.result.type, Float80Type):
            constant = inner.input.owner
            assert isinstance(constant, arith.ConstantOp)
            assert isinstance(constant.value, FloatAttr)
            bits = x87_bits(constant.value.value.data)
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
        if wide:
            for function in conversions(wide[0].location):
                self.body.add_op(function)

    def _function(self, func: gpu.FuncOp | llvm.FuncOp) -> None:
        if func.body.blocks:
            self._warn(func)
        func.function_type = as_value(func.function_type)  # type: ignore[assignment]
        inner = tuple(op for op in func.walk() if op is not func)
        stores = [op for op in inner if isinstance(op, llvm.StoreOp) and _is_f80(op.value)]
        for op in inner:
            _refuse_bits(op)
            if isinstance(op, llvm.CallOp) and _is_wide(op):
                self._call(op)
        for block in (b for op in (func, *inner) for r in op.regions for b in r.blocks):
            for argument in block.args:
                _narrow_value(argument, func)
        for op in inner:
            if isinstance(op, llvm.LoadOp) and _is_f80(op.dereferenced_value):
                _load(op)
            else:
                _retype(op)
        for op in inner:
            if isinstance(op, arith.ExtFOp | arith.TruncFOp):
                _same_values(op)
        for op in stores:
            _store(op)

    def _call(self, op: llvm.CallOp) -> None:
        if op.callee is None or op.callee.string_value() in self.defined:
            return
        self.replaced.add(op.callee.string_value())
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


def _is_f80(value: SSAValue) -> bool:
    return isinstance(value.type, Float80Type)


def _mentions(op: Operation) -> bool:
    """Whether a symbol of the module has anything to do with f80."""
    if isinstance(op, llvm.GlobalOp):
        return in_memory(op.global_type) is not op.global_type
    assert isinstance(op, gpu.FuncOp | llvm.FuncOp)
    if as_value(op.function_type) != op.function_type:
        return True
    plain: set[int] = set()  # types without it, by identity: there are few, and many values of each

    def is_plain(type: Attribute) -> bool:
        if id(type) not in plain:
            if in_memory(type) is not type:
                return False
            plain.add(id(type))
        return True

    for inner in op.walk():  # operands are results and arguments in it
        for result in inner.results:
            if not is_plain(result.type):
                return True
        for region in inner.regions:
            for block in region.blocks:
                if not all(is_plain(argument.type) for argument in block.args):
                    return True
        if isinstance(inner, llvm.AllocaOp | llvm.GEPOp) and not is_plain(inner.elem_type):
            return True
    return False


def _round_arguments(launch: gpu.LaunchFuncOp) -> None:
    """What the host passes by value."""
    cursor = Cursor.before(launch)
    for index, operand in enumerate(launch.operands):
        if _is_f80(operand):
            rounded = cursor.value(arith.TruncFOp(operand, f64), operand.name_hint)
            launch.operands[index] = rounded


@dataclass(frozen=True)
class NarrowLongDoublesPass(ModulePass):
    """`long double` in GPU code; see the file's docstring."""

    name = "narrow-long-doubles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        messages = Messages(op)
        for inner in op.walk():
            if isinstance(inner, gpu.LaunchFuncOp):
                _round_arguments(inner)
        for module in op.ops:
            if isinstance(module, gpu.ModuleOp):
                _Narrowing(module, messages).run()
        messages.save()
