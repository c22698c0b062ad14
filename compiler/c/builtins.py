"""
GNU C's built-in functions that compile to an instruction, such as `__builtin_popcount`, with their types.
Built-ins that accept several types are in `sema/builtin_calls.py`. In the tree, they are calls of functions
without a body; IR generation (`irgen/builtins.py`) recognises their names.
"""

from __future__ import annotations

from .types import (
    INT,
    LONG,
    SIZE_T,
    UCHAR,
    UINT,
    UINT128,
    ULLONG,
    ULONG,
    USHORT,
    VOID,
    CType,
    FunctionType,
    pointer_to,
)

_COUNTS = ("popcount", "parity", "clz", "ctz", "ffs", "clrsb")
_WIDTHS: tuple[tuple[str, CType], ...] = (("", UINT), ("l", ULONG), ("ll", ULLONG))
_SWAPS: tuple[tuple[int, CType], ...] = ((16, USHORT), (32, UINT), (64, ULONG), (128, UINT128))
_WORDS: tuple[tuple[int, CType], ...] = ((8, UCHAR), (16, USHORT), (32, UINT), (64, ULONG))
_POINTER = pointer_to(VOID)

BUILTIN_TYPES: dict[str, FunctionType] = {
    **{
        f"__builtin_{name}{suffix}": FunctionType(INT, (t,))
        for name in _COUNTS
        for suffix, t in _WIDTHS
    },
    **{f"__builtin_bswap{bits}": FunctionType(t, (t,)) for bits, t in _SWAPS},
    **{
        f"__builtin_{name}{bits}": FunctionType(t, (t,) if name == "bitreverse" else (t, t))
        for name in ("bitreverse", "rotateleft", "rotateright")
        for bits, t in _WORDS
    },
    "__builtin_extract_return_addr": FunctionType(_POINTER, (_POINTER,)),
    "__builtin_frob_return_addr": FunctionType(_POINTER, (_POINTER,)),
    "__builtin_stack_address": FunctionType(_POINTER, ()),
    "__builtin___clear_cache": FunctionType(VOID, (_POINTER, _POINTER)),
    "__builtin_ia32_pause": FunctionType(VOID, ()),
    "__builtin_alloca": FunctionType(_POINTER, (SIZE_T,)),
    "__builtin_assume_aligned": FunctionType(_POINTER, (_POINTER, SIZE_T)),
    "__builtin_prefetch": FunctionType(VOID, (_POINTER,), variadic=True),
    "__builtin_unreachable": FunctionType(VOID, ()),
    "__builtin_trap": FunctionType(VOID, ()),
    "__builtin_expect_with_probability": FunctionType(LONG, (LONG, LONG), variadic=True),
}
"""Name → type."""
