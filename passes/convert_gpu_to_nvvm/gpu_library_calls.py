"""Calls of C library functions in GPU code (see `decisions/device_math.py`), one function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.base.abi import DeviceType
from ...compiler.base.diagnostics import SourceLoc, error
from ...compiler.base.names import c_name
from ...dialects import llvm_ext
from ...dialects.llvm_ext import IsFPClassOp
from ..decisions.device_math import (
    DEVICE_RUNTIME,
    LLVM_OPERATIONS,
    MATH_OPERATIONS,
    Expansion,
    Intrinsic,
    Libdevice,
    device_function,
)
from ..ir.ops.acc_ops import enclosing
from ..ir.ops.building import Cursor, erase

PTR = llvm.LLVMPointerType()

_INTRINSICS: dict[str, type[Operation]] = {
    "ceil": llvm.FCeilOp,
    "copysign": llvm.FCopySignOp,
    "fabs": llvm.FAbsOp,
    "floor": llvm.FFloorOp,
    "fma": llvm.FMAOp,
    "maxnum": llvm.VectorFMaxOp,
    "minnum": llvm.VectorFMinOp,
    "nearbyint": llvm_ext.NearbyintOp,
    "rint": llvm_ext.RintOp,
    "sqrt": llvm.FSqrtOp,
    "trunc": llvm_ext.FTruncOp,
}

_CLASS_MASKS = {
    Expansion.IS_NAN: IsFPClassOp.NAN,
    Expansion.IS_INFINITE: IsFPClassOp.INFINITE,
    Expansion.IS_FINITE: IsFPClassOp.FINITE,
    Expansion.IS_NORMAL: IsFPClassOp.NORMAL,
}


class LibraryCalls:
    """Lowers the library calls of one `gpu.module`, and declares the functions that replace them."""

    def __init__(self, module: gpu.ModuleOp, *, approximate: bool):
        self.approximate = approximate
        self._body = module.body.block
        self._symbols = {
            op.sym_name.data: op
            for op in self._body.ops
            if isinstance(op, llvm.FuncOp | llvm.GlobalOp)
        }
        self._symbols |= {
            op.sym_name.data: op for op in self._body.ops if isinstance(op, gpu.FuncOp)
        }
        self._replaced: set[str] = set()

    def call(self, call: llvm.CallOp) -> None:
        """
        Replaces a call of a library function. Raises `CompileError` for a function that is neither known
        nor defined in the module.
        """
        if call.callee is None:
            return
        name = call.callee.root_reference.data
        symbol = self._symbols.get(name)
        if (isinstance(symbol, llvm.FuncOp) and symbol.body.blocks) or isinstance(
            symbol, gpu.FuncOp
        ):
            return
        if name.startswith(("__nv_", "llvm.")) or name in DEVICE_RUNTIME:
            return
        found = device_function(name, approximate=self.approximate)
        if found is None:
            raise error(
                SourceLoc.from_attr(call.location),
                f"the function '{c_name(name)}' is called in GPU code, where it does not exist",
                "define it in one of the source files, or move the call out of the compute region",
            )
        self._replaced.add(name)
        cursor = Cursor.before(call)
        match found:
            case Intrinsic():
                result = cursor.value(_intrinsic(found.name, call))
            case Libdevice():
                result = self.libdevice(cursor, found, call.args, _result_type(call))
            case Expansion():
                result = _EXPANSIONS[found](self, cursor, call)
        if call.returned is not None:
            assert result is not None
            result.name_hint = call.returned.name_hint
            call.returned.replace_all_uses_with(result)
        erase(call)

    def operation(self, op: Operation) -> None:
        """Replaces an operation of `math` or `llvm` that needs a library function."""
        name = MATH_OPERATIONS.get(op.name) or LLVM_OPERATIONS[op.name]
        type = op.results[0].type
        if isinstance(type, Float32Type):
            name = f"{name}f"
        elif not isinstance(type, Float64Type):
            raise error(
                SourceLoc.from_attr(op.location),
                f"'{op.name}' is not available for {type} on GPUs",
                "use float or double",
            )
        found = device_function(name, approximate=self.approximate)
        symbol = found if isinstance(found, Libdevice) else Libdevice(f"__nv_{name}")
        result = self.libdevice(Cursor.before(op), symbol, op.operands, type)
        assert result is not None
        result.name_hint = op.results[0].name_hint
        op.results[0].replace_all_uses_with(result)
        erase(op)

    def remove_declarations(self) -> None:
        """Removes the declarations of the functions that were replaced."""
        for name in self._replaced:
            declaration = self._symbols.get(name)
            if isinstance(declaration, llvm.FuncOp) and not declaration.body.blocks:
                erase(declaration)

    def declare(self, name: str, inputs: Sequence[Attribute], result: Attribute | None) -> None:
        """
        Declares an external function in the module, once. A function whose expansion calls itself keeps its
        declaration.
        """
        self._replaced.discard(name)
        if name not in self._symbols:
            type = llvm.LLVMFunctionType(inputs, result)
            func = llvm.FuncOp(name, type, llvm.LinkageAttr("external"))
            self._symbols[name] = func
            self._body.add_op(func)

    def libdevice(
        self,
        cursor: Cursor,
        function: Libdevice,
        arguments: Sequence[SSAValue],
        result: Attribute | None,
    ) -> SSAValue | None:
        """Calls a function of libdevice."""
        arguments = list(arguments)
        if function.narrow_last:
            arguments[-1] = _saturate_to_i32(cursor, arguments[-1])
        self.declare(function.symbol, [argument.type for argument in arguments], result)
        call = cursor.insert(llvm.CallOp(function.symbol, *arguments, return_type=result))
        return call.returned


def _saturate_to_i32(cursor: Cursor, value: SSAValue) -> SSAValue:
    low = cursor.value(llvm_ext.SMaxOp(value, _constant(cursor, -(1 << 31), i64)))
    bounded = cursor.value(llvm_ext.SMinOp(low, _constant(cursor, (1 << 31) - 1, i64)))
    return cursor.value(llvm.TruncOp(bounded, i32))


def _result_type(call: llvm.CallOp) -> Attribute | None:
    return None if call.returned is None else call.returned.type


def _intrinsic(name: str, call: llvm.CallOp) -> Operation:
    return _INTRINSICS[name].create(
        operands=call.args,
        result_types=[call.results[0].type],
        properties={"fastmathFlags": call.fastmathFlags},
    )


def _constant(cursor: Cursor, value: int, type: IntegerType) -> SSAValue:
    op = llvm.ConstantOp(IntegerAttr(value, type), type)
    return cursor.value(op, f"c{value}".replace("-", "m"))


def _absolute(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    return cursor.value(llvm_ext.AbsOp(call.args[0], is_int_min_poison=True))


def _copy(cls: type[llvm_ext.MemoryTransferOp]) -> Callable[..., SSAValue]:
    def lower(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
        dst, src, length = call.args
        cursor.insert(cls(dst, src, length))
        return dst

    return lower


def _memset(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    dst, value, length = call.args
    byte = value if value.type == i8 else cursor.value(llvm.TruncOp(value, i8), "byte")
    cursor.insert(llvm_ext.MemsetOp(dst, byte, length))
    return dst


_TOO_LARGE = 1 << 62
"""A size larger than any device's memory that GPUs' `malloc` can round up without overflow of 64 bits."""


def _allocated(calls: LibraryCalls, cursor: Cursor, size: SSAValue) -> SSAValue:
    """
    Emits the allocation of `size` bytes (i64) on the device's heap; the result is null if there is no such
    block.
    """
    limited = cursor.value(arith.MinUIOp(size, cursor.constant(_TOO_LARGE, i64)), "bytes")
    calls.declare("malloc", [i64], PTR)
    found = cursor.insert(llvm.CallOp("malloc", limited, return_type=PTR)).returned
    assert found is not None
    return found


def _malloc(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    return _allocated(calls, cursor, call.args[0])


def _calloc(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    """Expands `calloc`: `malloc` and zeros; null if the product of the arguments overflows (C17 7.22.3.2)."""
    count, size = call.args
    zero = cursor.constant(0, i64)
    bytes = cursor.mul(count, size, "bytes")
    one = cursor.constant(1, i64)
    empty = cursor.value(arith.CmpiOp(count, zero, "eq"))
    divisor = cursor.value(arith.SelectOp(empty, one, count))
    fits = cursor.value(arith.CmpiOp(cursor.value(arith.DivUIOp(bytes, divisor)), size, "eq"))
    fits = cursor.value(arith.OrIOp(fits, empty), "fits")
    wanted = cursor.value(arith.SelectOp(fits, bytes, cursor.constant(-1, i64)))
    found = _allocated(calls, cursor, wanted)
    address = cursor.value(llvm.PtrToIntOp(found, i64))
    failed = cursor.value(arith.CmpiOp(address, zero, "eq"))
    cleared = cursor.value(arith.SelectOp(failed, zero, bytes))
    cursor.insert(llvm_ext.MemsetOp(found, cursor.constant(0, i8), cleared))
    return found


def _entry_cursor(op: Operation) -> Cursor:
    """The start of the function around `op`, where stack slots are made."""
    function = enclosing(op, gpu.FuncOp, llvm.FuncOp)
    assert function is not None
    first = function.regions[0].blocks[0].first_op
    assert first is not None
    return Cursor.before(first, op.location)


def _printf(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue | None:
    """
    Expands `printf` to `vprintf(format, buffer)`: the buffer holds the arguments, promoted as in C and each
    aligned to its size (CUDA C++ Programming Guide, "Formatted Output"; PTX interoperability, "System
    Calls").
    """
    format, *arguments = call.args
    buffer: SSAValue
    if arguments:
        struct = llvm.LLVMStructType.from_type_list([argument.type for argument in arguments])
        entry = _entry_cursor(call)
        one = _constant(entry, 1, i32)
        buffer = entry.value(llvm.AllocaOp(one, struct, alignment=8), "printf_arguments")
        for index, argument in enumerate(arguments):
            slot = cursor.value(llvm.GEPOp(buffer, [0, index], struct), "slot")
            cursor.insert(llvm.StoreOp(argument, slot))
    else:
        buffer = cursor.value(llvm.ZeroOp.create(result_types=[PTR]), "no_arguments")
    calls.declare("vprintf", [PTR, PTR], i32)
    return cursor.insert(llvm.CallOp("vprintf", format, buffer, return_type=i32)).returned


def _trap(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> None:
    cursor.insert(llvm_ext.TrapOp())


def _assert_fail(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> None:
    """
    Replaces `__assert_fail` by the CUDA driver's `__assertfail`, which also takes the size of a character.
    """
    size = _constant(cursor, 1, i64)
    calls.declare("__assertfail", [PTR, PTR, i32, PTR, i64], None)
    cursor.insert(llvm.CallOp("__assertfail", *call.args, size))


def _as_int(cursor: Cursor, flag: SSAValue, call: llvm.CallOp) -> SSAValue:
    """An i1 as the int that C's predicates return."""
    return cursor.value(llvm.ZExtOp(flag, call.results[0].type))


def _in_class(kind: Expansion) -> Callable[..., SSAValue]:
    def lower(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
        return _as_int(cursor, cursor.value(IsFPClassOp(call.args[0], _CLASS_MASKS[kind])), call)

    return lower


def _sign_bit(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    value = call.args[0]
    type = i32 if isinstance(value.type, Float32Type) else i64
    bits = cursor.value(llvm.BitcastOp(value, type), "bits")
    zero = _constant(cursor, 0, type)
    predicate = IntegerAttr(llvm.ICmpPredicateFlag.SLT.to_int(), i64)
    return _as_int(cursor, cursor.value(llvm.ICmpOp(bits, zero, predicate)), call)


_ZERO = 0b0001100000
_CLASSES = ((0, IsFPClassOp.NAN), (1, IsFPClassOp.INFINITE), (2, _ZERO), (3, 0b0010010000))
"""glibc's values of `fpclassify` (4: normal) and the classes of each (nan, infinite, zero, subnormal)."""


def _classify(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    result = _constant(cursor, 4, i32)
    for number, mask in _CLASSES:
        flag = cursor.value(IsFPClassOp(call.args[0], mask))
        result = cursor.value(llvm.SelectOp(flag, _constant(cursor, number, i32), result))
    return result


def _bessel(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    """Expands `jn`: at 0, where libdevice's recurrence gives NaN, its value is 1 for order 0 and else 0."""
    order, x = call.args
    type = cast(Float32Type | Float64Type, x.type)
    name = "__nv_jnf" if isinstance(type, Float32Type) else "__nv_jn"
    result = calls.libdevice(cursor, Libdevice(name), call.args, type)
    assert result is not None
    first = cursor.value(arith.CmpiOp(order, cursor.constant(0, i32), "eq"))
    at_zero = cursor.value(arith.UIToFPOp(first, type))
    return cursor.value(llvm.SelectOp(cursor.value(IsFPClassOp(x, _ZERO)), at_zero, result))


def _on_device(calls: LibraryCalls, cursor: Cursor, call: llvm.CallOp) -> SSAValue:
    """Expands `acc_on_device`, which is true for the device types of NVIDIA GPUs (OpenACC 3.4, 3.2.9)."""
    argument = call.args[0]
    type = cast(IntegerType, argument.type)
    predicate = IntegerAttr(llvm.ICmpPredicateFlag.EQ.to_int(), i64)
    not_host, nvidia = (
        cursor.value(llvm.ICmpOp(argument, _constant(cursor, int(device), type), predicate))
        for device in (DeviceType.NOT_HOST, DeviceType.NVIDIA)
    )
    return _as_int(cursor, cursor.value(llvm.OrOp(not_host, nvidia)), call)


_EXPANSIONS: dict[Expansion, Callable[[LibraryCalls, Cursor, llvm.CallOp], SSAValue | None]] = {
    Expansion.ABSOLUTE: _absolute,
    Expansion.MEMCPY: _copy(llvm_ext.MemcpyOp),
    Expansion.MEMMOVE: _copy(llvm_ext.MemmoveOp),
    Expansion.MEMSET: _memset,
    Expansion.MALLOC: _malloc,
    Expansion.CALLOC: _calloc,
    Expansion.PRINTF: _printf,
    Expansion.TRAP: _trap,
    Expansion.ASSERT_FAIL: _assert_fail,
    **{kind: _in_class(kind) for kind in _CLASS_MASKS},
    Expansion.SIGN_BIT: _sign_bit,
    Expansion.CLASSIFY: _classify,
    Expansion.ON_DEVICE: _on_device,
    Expansion.BESSEL: _bessel,
}
