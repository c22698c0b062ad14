"""GNU C's built-in functions (`c/builtins.py`) as operations."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import IntegerType, i8, i32
from xdsl.dialects.llvm import StackSaveOp
from xdsl.ir import SSAValue

from ...dialects.llvm_ext import BitReverseOp, BSwapOp, FshlOp, FshrOp, TrapOp
from ..c import ast as c
from .float_tests import FLOAT_TESTS
from .function import FunctionState
from .layout import PTR


def is_builtin(e: c.Call) -> bool:
    """Whether `e` calls a built-in function."""
    if not isinstance(e.callee, c.FunctionRef) or e.callee.decl.body is not None:
        return False
    name = e.callee.decl.name
    return name.startswith("__builtin_") or (name == "alloca" and len(e.args) == 1)


def call(fn: FunctionState, e: c.Call) -> SSAValue | None:
    """The value of a call of a built-in function; None if it returns nothing."""
    assert isinstance(e.callee, c.FunctionRef)
    args = [fn.rvalue(arg) for arg in e.args]
    fn.b.at(e.loc)
    name = e.callee.decl.name.removeprefix("__builtin_")
    match name:
        case "prefetch" | "ia32_pause" | "__clear_cache":
            return None  # no observable effect
        case "unreachable":
            return None
        case "trap":
            fn.b.add(TrapOp())
            return None
        case "assume_aligned" | "expect_with_probability":
            return args[0]
        case "extract_return_addr" | "frob_return_addr":
            return args[0]
        case "return_address" | "frame_address":
            return _of_frame(fn, f"{name.removesuffix('_address')}address", args[0])
        case "stack_address":
            return fn.b.value(StackSaveOp(), "stack")
        case "alloca":
            op = llvm.AllocaOp(args[0], i8, alignment=16)
            return fn.b.value(op, "alloca")
        case _ if name.startswith("bswap"):
            return fn.b.value(BSwapOp(args[0]), name)
        case _ if name.startswith("bitreverse"):
            return fn.b.value(BitReverseOp(args[0]), name)
        case _ if name.startswith("rotateleft"):
            return fn.b.value(FshlOp(args[0], args[0], args[1]), name)
        case _ if name.startswith("rotateright"):
            return fn.b.value(FshrOp(args[0], args[0], args[1]), name)
        case _ if name in FLOAT_TESTS:
            return FLOAT_TESTS[name](fn, args)
        case _:
            return _as_int(fn, _COUNTS[name.removesuffix("l").removesuffix("l")](fn, args[0]))


def _of_frame(fn: FunctionState, name: str, level: SSAValue) -> SSAValue:
    """The address of a frame, or of the code that a function returns to, `level` callers up."""
    symbol = f"llvm.{name}" + (".p0" if name == "frameaddress" else "")
    fn.module.declare_intrinsic(symbol, [i32], PTR)
    value = fn.b.add(llvm.CallOp(symbol, level, return_type=PTR), name).returned
    assert value is not None
    return value


def _as_int(fn: FunctionState, value: SSAValue) -> SSAValue:
    return fn.b.resize(value, i32, signed=False)


def _popcount(fn: FunctionState, x: SSAValue) -> SSAValue:
    return fn.b.value(math.CtPopOp(x), "popcount")


def _parity(fn: FunctionState, x: SSAValue) -> SSAValue:
    return fn.b.value(arith.AndIOp(_popcount(fn, x), fn.b.int(1, x.type)), "parity")


def _clz(fn: FunctionState, x: SSAValue) -> SSAValue:
    return fn.b.value(math.CountLeadingZerosOp(x), "clz")


def _ctz(fn: FunctionState, x: SSAValue) -> SSAValue:
    return fn.b.value(math.CountTrailingZerosOp(x), "ctz")


def _ffs(fn: FunctionState, x: SSAValue) -> SSAValue:
    zero, one = fn.b.int(0, x.type), fn.b.int(1, x.type)
    place = fn.b.value(arith.AddiOp(_ctz(fn, x), one))
    none = fn.b.cmp("eq", x, zero)
    return fn.b.value(arith.SelectOp(none, zero, place), "ffs")


def _clrsb(fn: FunctionState, x: SSAValue) -> SSAValue:
    """The number of bits after the sign bit that equal it: the leading zeros of `x` or of its complement,
    less one."""
    t = x.type
    assert isinstance(t, IntegerType)
    sign = fn.b.value(arith.ShRSIOp(x, fn.b.int(t.width.data - 1, t)))
    zeros = _clz(fn, fn.b.value(arith.XOrIOp(x, sign)))
    return fn.b.value(arith.SubiOp(zeros, fn.b.int(1, t)), "clrsb")


_COUNTS: dict[str, Callable[[FunctionState, SSAValue], SSAValue]] = {
    "popcount": _popcount,
    "parity": _parity,
    "clz": _clz,
    "ctz": _ctz,
    "ffs": _ffs,
    "clrsb": _clrsb,
}
