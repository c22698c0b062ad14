"""
C's math library on arrays, by C name. Functions that NumPy has are NumPy's, in the precision of the
arguments; the others call the C library for every element.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .arithmetic import fpclass
from .values import Value, ndarray

Function = Callable[..., Value]

_NUMPY: dict[str, Function] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fabs": np.abs,
    "floor": np.floor,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "nearbyint": np.rint,
    "nextafter": np.nextafter,
    "pow": np.power,
    "rint": np.rint,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}


def fma(a: Value, b: Value, c: Value) -> Value:
    """Fused multiply-add: for float32 computed in double, exact except for one double rounding; for double,
    rounded twice."""
    if a.dtype == np.float32:
        wide = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
        return wide.astype(np.float32)
    wide = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    return wide.astype(np.float64)


def _round(a: Value) -> Value:
    """C's `round`: halves are rounded away from zero."""
    below = np.trunc(a)
    away = np.abs(a - below) >= a.dtype.type(0.5)
    return np.copysign(below + np.where(away, np.copysign(a.dtype.type(1), a), a.dtype.type(0)), a)


def _as(dtype: Any, function: Function) -> Function:
    return lambda *args: function(*args).astype(dtype)


def _fdim(a: Value, b: Value) -> Value:
    return np.where(a > b, a - b, a.dtype.type(0)) + (a - b) * a.dtype.type(0)


def _scaled(a: Value, n: Value) -> Value:
    return np.ldexp(a, np.clip(n, -(1 << 30), 1 << 30).astype(np.int32))


_OWN: dict[str, Function] = {
    "fma": fma,
    "round": _round,
    "fdim": _fdim,
    "exp10": lambda a: np.power(a.dtype.type(10), a),
    "rsqrt": lambda a: a.dtype.type(1) / np.sqrt(a),
    "sinpi": lambda a: np.sin(a * a.dtype.type(np.pi)),
    "cospi": lambda a: np.cos(a * a.dtype.type(np.pi)),
    "lrint": _as(np.int64, np.rint),
    "llrint": _as(np.int64, np.rint),
    "lround": _as(np.int64, _round),
    "llround": _as(np.int64, _round),
    "logb": lambda a: np.frexp(a)[1].astype(a.dtype) - a.dtype.type(1),
    "ilogb": lambda a: np.frexp(a)[1].astype(np.int32) - np.int32(1),
    **dict.fromkeys(("ldexp", "scalbn", "scalbln"), _scaled),
    "powi": lambda a, n: np.power(a, n.astype(a.dtype)),
    "abs": np.abs,
    "labs": np.abs,
    "llabs": np.abs,
}

_LIBM: dict[str, str] = {
    **dict.fromkeys(("erf", "erfc", "j0", "j1", "lgamma", "tgamma", "y0", "y1"), "d"),
    "remainder": "dd",
    "jn": "id",
    "yn": "id",
}
"""Functions that NumPy lacks → their arguments: `d` a floating-point number, of the type of the result, `i`
an integer."""

_CLASSES = {
    "isnan": 0b11,
    "isinf": 0b10_0000_0100,
    "finite": 0b01_1111_1000,
    "isfinite": 0b01_1111_1000,
    "isnormal": 0b01_0000_1000,
    "signbit": -1,
    "fpclassify": -2,
}


@cache
def _from_libm(name: str) -> Function:
    kinds = _LIBM[name]
    library = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
    function = getattr(library, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_int if kind == "i" else ctypes.c_double for kind in kinds]
    each = np.frompyfunc(function, len(kinds), 1)

    def apply(*args: Value) -> Value:
        exact = [a if k == "i" else a.astype(np.float64) for a, k in zip(args, kinds, strict=True)]
        out = each(*exact)
        dtype = args[-1].dtype
        return out.astype(dtype) if isinstance(out, ndarray) else dtype.type(out)

    return apply


def _classify(mask: int) -> Function:
    def apply(a: Value) -> Value:
        if mask == -1:
            return np.signbit(a).astype(np.int32)
        if mask == -2:
            out = np.full(np.shape(a), 4, np.int32)
            for number, bits in ((0, 3), (1, 0x204), (2, 0x60), (3, 0x90)):
                out = np.where(fpclass(a, bits), np.int32(number), out)
            return out[()]
        return fpclass(a, mask).astype(np.int32)

    return apply


@cache
def math_function(name: str) -> Function | None:
    """The C function `name` (float or double form), None if it is not one of the math library's."""
    for candidate in (name, name.removesuffix("f")):
        found = _NUMPY.get(candidate) or _OWN.get(candidate)
        if found is not None:
            return found
        if candidate in _LIBM:
            return _from_libm(candidate)
        mask = _CLASSES.get(candidate.lstrip("_"))
        if mask is not None:
            return _classify(mask)
    return None
