"""GNU C's built-in functions (`c/builtins.py`) as operations."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, llvm, math
from xdsl.dialects.builtin import IntegerType, i8, i32
from xdsl.ir import SSAValue

from ...dialects.llvm_ext import BSwapOp, TrapOp
from ..c import ast as c
from ..c.builtins import BUILTIN_TYPES
from . import expressions
from .function import FunctionState


def is_builtin(e: c.Call) -> bool:
    """Whether `e` calls a built-in function."""
    return isinstance(e.callee, c.FunctionRef) and (
        e.callee.decl.body is None and e.callee.decl.name in BUILTIN_TYPES
    )


def call(fn: FunctionState, e: c.Call) -> SSAValue | None:
    """The value of such a call; None if it has none."""
    assert isinstance(e.callee, c.FunctionRef)
    args = [expressions.rvalue(fn, arg) for arg in e.args]
    fn.b.at(e.loc)
    name = e.callee.decl.name.removeprefix("__builtin_")
    match name:
        case "prefetch" | "unreachable":
            return None
        case "trap":
            fn.b.add(TrapOp())
            return None
        case "assume_aligned" | "expect_with_probability":
            return args[0]
        case "alloca":
            op = llvm.AllocaOp(args[0], i8, alignment=16)
            return fn.b.value(op, "alloca")
        case "bswap16" | "bswap32" | "bswap64":
            return fn.b.value(BSwapOp(args[0]), name)
        case _:
            return _as_int(fn, _COUNTS[name.removesuffix("l").removesuffix("l")](fn, args[0]))


def _as_int(fn: FunctionState, value: SSAValue) -> SSAValue:
    return value if value.type == i32 else fn.b.value(arith.TruncIOp(value, i32), value.name_hint)


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
    none = fn.b.value(arith.CmpiOp(x, zero, "eq"))
    return fn.b.value(arith.SelectOp(none, zero, place), "ffs")


def _clrsb(fn: FunctionState, x: SSAValue) -> SSAValue:
    """Bits after the sign that equal it: the leading zeros of `x` or of its complement, less one."""
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
