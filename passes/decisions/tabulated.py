"""
Which values of mathematical functions kernels read from a table, and functions that the compiler can compute.

A discrete cosine transform of blocks of 8 × 8 that computes its cosines in the innermost loop takes 4111 µs
for 4096² floats on an H200 (CUDA 2345), and 179 with a table.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

MOST_VALUES = 256
"""The most values of a table: larger ones take too much of the first-level cache."""
MOST_OPERATIONS = 32
"""The most operations that lead to an argument: each is computed for every value."""

FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in (
        *(
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
            "cbrt",
            "cos",
            "cosh",
            "exp",
            "exp2",
        ),
        *("expm1", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
}
"""The functions of C by their names for `double`."""


def is_known(name: str) -> bool:
    """Whether a function of C, for `double` or `float`, can be computed."""
    return name in FUNCTIONS or name.removesuffix("f") in FUNCTIONS


def computed(name: str, arguments: list[float]) -> float | None:
    """
    The value of a function of C, for `double`, or for `float` if its name ends in f; None if it is another
    function, or there is no such finite value.
    """
    narrow = name not in FUNCTIONS and name.endswith("f")
    function = FUNCTIONS.get(name[:-1] if narrow else name)
    try:
        value = None if function is None else function(*arguments)
    except (ArithmeticError, ValueError):
        return None
    if value is not None and narrow:
        value = as_float(value)
    return value if value is not None and math.isfinite(value) else None


def as_float(value: float) -> float | None:
    """`value`, rounded to `float`; None if that cannot represent it."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return None


def pays(values: int, *, repeated: bool) -> bool:
    """
    Whether a function with so many `values` in an iteration of other loops (`repeated`) is read from a table.
    """
    return repeated and 0 < values <= MOST_VALUES
