"""
The replacement of each C library function in GPU code: an LLVM intrinsic that NVPTX has instructions for, a
function of NVIDIA's libdevice, or an expansion. `device_functions.py` lists the functions that may be
called at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from .device_functions import MATH_F32, MATH_F64


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """An operation `llvm.intr.<name>` with the call's operands and result type."""

    name: str


@dataclass(frozen=True, slots=True)
class Libdevice:
    """
    A function of libdevice with the call's operands. `narrow_last`: its last operand is i32 where
    C's is `long`.
    """

    symbol: str
    narrow_last: bool = False


class Expansion(Enum):
    """Functions that the lowering expands into operations."""

    ABSOLUTE = auto()
    MEMCPY = auto()
    MEMMOVE = auto()
    MEMSET = auto()
    MALLOC = auto()
    CALLOC = auto()
    PRINTF = auto()
    TRAP = auto()
    ASSERT_FAIL = auto()
    IS_NAN = auto()
    IS_INFINITE = auto()
    IS_FINITE = auto()
    IS_NORMAL = auto()
    SIGN_BIT = auto()
    CLASSIFY = auto()
    ON_DEVICE = auto()
    BESSEL = auto()


DeviceFunction = Intrinsic | Libdevice | Expansion

_NATIVE = {
    "ceil": "ceil",
    "copysign": "copysign",
    "fabs": "fabs",
    "floor": "floor",
    "fma": "fma",
    "fmax": "maxnum",
    "fmin": "minnum",
    "nearbyint": "nearbyint",
    "rint": "rint",
    "sqrt": "sqrt",
    "trunc": "trunc",
}

_RENAMED = {
    "lrint": Libdevice("__nv_llrint"),
    "lrintf": Libdevice("__nv_llrintf"),
    "lround": Libdevice("__nv_llround"),
    "lroundf": Libdevice("__nv_llroundf"),
    "scalbln": Libdevice("__nv_scalbn", narrow_last=True),
    "scalblnf": Libdevice("__nv_scalbnf", narrow_last=True),
}
"""`long` is `long long` on GPUs' hosts, and exponents outside i32 saturate the result anyway."""

_APPROXIMATE = frozenset(
    ("cosf", "exp10f", "expf", "log10f", "log2f", "logf", "powf", "sincosf", "sinf", "tanf")
)
"""f32 functions with a faster, less accurate version in libdevice (`__nv_fast_sinf`)."""

_EXPANSIONS = {
    "abs": Expansion.ABSOLUTE,
    "labs": Expansion.ABSOLUTE,
    "llabs": Expansion.ABSOLUTE,
    "memcpy": Expansion.MEMCPY,
    "memmove": Expansion.MEMMOVE,
    "memset": Expansion.MEMSET,
    "malloc": Expansion.MALLOC,
    "calloc": Expansion.CALLOC,
    "printf": Expansion.PRINTF,
    "abort": Expansion.TRAP,
    "__assert_fail": Expansion.ASSERT_FAIL,
    "isnormal": Expansion.IS_NORMAL,
    "acc_on_device": Expansion.ON_DEVICE,
    **dict.fromkeys(("jn", "jnf"), Expansion.BESSEL),
    **dict.fromkeys(("isnan", "isnanf", "__isnan", "__isnanf"), Expansion.IS_NAN),
    **dict.fromkeys(("isinf", "isinff", "__isinf", "__isinff"), Expansion.IS_INFINITE),
    **dict.fromkeys(
        ("isfinite", "finite", "finitef", "__finite", "__finitef"), Expansion.IS_FINITE
    ),
    **dict.fromkeys(("signbit", "__signbit", "__signbitf"), Expansion.SIGN_BIT),
    **dict.fromkeys(("__fpclassify", "__fpclassifyf", "fpclassify"), Expansion.CLASSIFY),
}


def device_function(name: str, *, approximate: bool = False) -> DeviceFunction | None:
    """
    The replacement of the C function `name` (with or without `__builtin_`) in GPU code; None if there is
    none. `approximate` allows the less accurate functions (about 2 to 4 ulp more).
    """
    name = name.removeprefix("__builtin_")
    if (expansion := _EXPANSIONS.get(name)) is not None:
        return expansion
    if name not in MATH_F64 and name not in MATH_F32:
        return None
    if approximate and name in _APPROXIMATE:
        return Libdevice(f"__nv_fast_{name}")
    base = name[:-1] if name in MATH_F32 and name not in MATH_F64 else name
    if base in _NATIVE:
        return Intrinsic(_NATIVE[base])
    return _RENAMED.get(name, Libdevice(f"__nv_{name}"))


_OF_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 log log10 log1p"
    " log2 round rsqrt sin sinh tan tanh"
)
MATH_OPERATIONS = {
    **{f"math.{name}": name for name in _OF_MATH.split()},
    "math.fpowi": "powi",
    "math.powf": "pow",
}
"""Operations of `math` without an NVPTX instruction → the C name of the f64 function."""

_OF_LLVM = (
    "acos asin atan atan2 cos cosh exp exp10 exp2 log log10 log2 pow powi round sin sinh tan tanh"
)
LLVM_OPERATIONS = {f"llvm.intr.{name}": name for name in _OF_LLVM.split()}
"""Operations of `llvm` without an NVPTX instruction → the C name of the f64 function."""

DEVICE_RUNTIME = frozenset(("vprintf", "__assertfail", "malloc", "free"))
"""
Functions that the CUDA driver provides to kernels (CUDA C++ Programming Guide, "Formatted Output", "Dynamic
Global Memory Allocation").
"""
