"""Built-ins that classify floating values, such as `__builtin_isnan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i32
from xdsl.ir import SSAValue

from ...dialects.llvm_ext import IsFPClassOp
from .function import FunctionState

# LLVM LangRef, "llvm.is.fpclass"
_NAN, _INFINITE, _NORMAL, _SUBNORMAL, _ZERO = 0x003, 0x204, 0x108, 0x090, 0x060
_SIGNALING = 0x001
_MASKS = {
    "isnan": _NAN,
    "isinf": _INFINITE,
    "isfinite": _NORMAL | _SUBNORMAL | _ZERO,
    "isnormal": _NORMAL,
    "issubnormal": _SUBNORMAL,
    "iszero": _ZERO,
    "issignaling": _SIGNALING,
}


def _is(fn: FunctionState, x: SSAValue, mask: int) -> SSAValue:
    return fn.b.value(IsFPClassOp(x, mask), "is_class")


def _test(mask: int) -> Callable[[FunctionState, Sequence[SSAValue]], SSAValue]:
    return lambda fn, args: fn.b.resize(_is(fn, args[0], mask), i32, signed=False)


def _is_negative(fn: FunctionState, x: SSAValue) -> SSAValue:
    """The sign bit as i1, also of NaNs."""
    assert isinstance(x.type, AnyFloat)
    bits = IntegerType(x.type.bitwidth)
    return fn.b.cmp("slt", fn.b.value(arith.BitcastOp(x, bits)), fn.b.int(0, bits))


def _signbit(fn: FunctionState, args: Sequence[SSAValue]) -> SSAValue:
    return fn.b.resize(_is_negative(fn, args[0]), i32, signed=False)


def _inf_sign(fn: FunctionState, args: Sequence[SSAValue]) -> SSAValue:
    """1 or -1 for an infinite argument, else 0."""
    infinite, negative = _is(fn, args[0], _INFINITE), _is_negative(fn, args[0])
    sign = fn.b.value(arith.SelectOp(negative, fn.b.int(-1), fn.b.int(1)))
    return fn.b.value(arith.SelectOp(infinite, sign, fn.b.int(0)))


def _classify(fn: FunctionState, args: Sequence[SSAValue]) -> SSAValue:
    """`__builtin_fpclassify(nan, infinite, normal, subnormal, zero, x)`: the code for the kind of x."""
    *codes, x = args
    value = codes[-1]
    for mask, code in zip((_NAN, _INFINITE, _NORMAL, _SUBNORMAL), codes, strict=False):
        value = fn.b.value(arith.SelectOp(_is(fn, x, mask), code, value))
    return value


FLOAT_TESTS: dict[str, Callable[[FunctionState, Sequence[SSAValue]], SSAValue]] = {
    **{name: _test(mask) for name, mask in _MASKS.items()},
    "isinf_sign": _inf_sign,
    "signbit": _signbit,
    "fpclassify": _classify,
}
"""Name without `__builtin_` → the function that emits its value (i32) from the arguments."""
