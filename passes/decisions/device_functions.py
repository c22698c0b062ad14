"""
Library functions that device code may call without a `routine` directive: C's math library and the few
others that every target provides (libdevice, LLVM intrinsics, the CUDA device runtime; libc and
libm on the host).
"""

from __future__ import annotations

import re

_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1"
    " fabs fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround"
    " log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo"
    " rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc y0 y1 yn"
    " exp10 rsqrt sincos sinpi cospi"
)

MATH_F64 = frozenset(_MATH.split())
"""`double` functions of `<math.h>` (and common extensions), by their C name."""

MATH_F32 = frozenset(name + "f" for name in MATH_F64)
"""The `float` forms: the C name with an `f`."""

_CLASSIFY_F80 = ("__isnanl", "__isinfl", "__finitel", "__signbitl", "__fpclassifyl")

MATH_F80 = frozenset((*(name + "l" for name in MATH_F64), *_CLASSIFY_F80))
"""The `long double` forms of the host; GPU code calls the `double` forms instead."""

INTEGER = frozenset(("abs", "labs", "llabs"))

MEMORY = frozenset(("memcpy", "memset", "memmove"))

HEAP = frozenset(("malloc", "calloc", "free"))
"""The heap in the device's memory; CUDA's has no `realloc`."""

OUTPUT = frozenset(("printf",))

_PREDICATES = (
    "isnan isinf isfinite isnormal signbit __isnan __isinf __finite __signbit"
    " __isnanf __isinff __finitef __signbitf __fpclassify __fpclassifyf isnanf isinff finite"
    " finitef"
)

PREDICATES = frozenset(_PREDICATES.split())

RUNTIME = frozenset(("acc_on_device",))
"""OpenACC routines that device code may call."""

CONTROL = frozenset(("abort", "__assert_fail"))

DEVICE_FUNCTIONS = (
    MATH_F64
    | MATH_F32
    | MATH_F80
    | INTEGER
    | MEMORY
    | HEAP
    | OUTPUT
    | PREDICATES
    | RUNTIME
    | CONTROL
)
"""Every name that needs no `routine` directive."""


_WRITES_MEMORY = frozenset(
    name + suffix
    for name in ("frexp", "modf", "remquo", "sincos", "lgamma")
    for suffix in ("", "f", "l")
)

PURE_FUNCTIONS = ((MATH_F64 | MATH_F32 | MATH_F80) - _WRITES_MEMORY) | INTEGER | PREDICATES
"""Functions without side effects whose result depends on their arguments only."""

_HEAP_OF_THE_HOST = frozenset(("realloc", "aligned_alloc", "memalign", "posix_memalign", "valloc"))

KNOWN_FUNCTIONS = DEVICE_FUNCTIONS | _HEAP_OF_THE_HOST | frozenset(("fprintf",))
"""Library functions of which some pass knows what they do, by name."""


def is_device_callable(name: str) -> bool:
    """
    Whether device code may call the library function `name` without a `routine` directive;
    compiler builtins (`__builtin_…`) and LLVM intrinsics (`llvm.…`) count as the functions they stand for.
    """
    if name.startswith("llvm."):
        return True
    return name.removeprefix("__builtin_") in DEVICE_FUNCTIONS


_OPENMP = re.compile(
    r"__accopt_omp_\w+|omp_(?:get|set|in|is|init|destroy|unset|test)_\w+|.*\.__omp_cell.*"
)


OPENMP_MARK = "__accopt_omp_taskwait"
"""The prefix of functions in OpenMP's runtime, which is part of programs compiled with OpenMP."""


def is_openmp(name: str) -> bool:
    """Whether `name` is a symbol of OpenMP's runtime (`compiler/c/openmp`) or of a critical section."""
    return _OPENMP.fullmatch(name) is not None
