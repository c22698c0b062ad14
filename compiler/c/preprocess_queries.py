"""
The values of `__has_attribute`, `__has_builtin` and `__has_c_attribute` in conditions (GCC manual,
"Conditional Syntax"; C23 6.10.1). `__has_include` and `__has_embed` are in `preprocess_conditions.py`.
"""

from __future__ import annotations

from typing import Any

QUERIES = frozenset(
    (
        "__has_attribute",
        "__has_builtin",
        "__has_c_attribute",
        "__has_embed",
        "__has_include",
        "__has_include_next",
    )
)

_HINT_WORDS = """
access alloc_align alloc_size always_inline artificial assume_aligned cold const deprecated error fallthrough
flatten format format_arg gnu_inline hot leaf malloc may_alias noclone noinline nonnull nonstring noreturn
nothrow pure returns_nonnull returns_twice sentinel unused used visibility warn_unused_result warning section
no_instrument_function
"""
_HINTS = frozenset(_HINT_WORDS.split())
"""Attributes that we accept and ignore."""
_STANDARD = {
    "deprecated": 201904,
    "fallthrough": 201904,
    "maybe_unused": 201904,
    "nodiscard": 202003,
    "noreturn": 202202,
    "_Noreturn": 202202,
}


def answer(query: str, name: str) -> int:
    """The value of `query(name)` in an `#if`."""
    if query == "__has_c_attribute":
        return _STANDARD.get(name.strip("_"), 0)
    if query == "__has_attribute":
        from .attribute_syntax import KEPT_ATTRIBUTES

        return int(name.strip("_") in _HINTS | KEPT_ATTRIBUTES - {"vector_size"})
    return int(_is_builtin(name))


def _is_builtin(name: str) -> bool:
    """Whether a program may call `name` without declaring it."""
    from .builtins import BUILTIN_TYPES
    from .library_builtins import library_type
    from .sema.atomic_calls import AtomicChecker
    from .sema.builtin_calls import BuiltinChecker
    from .types import VOID

    unit: Any = None  # only names are looked up
    if name in BUILTIN_TYPES or name in _OTHERS:
        return True
    if name.startswith(("__sync_", "__atomic_")):
        return AtomicChecker(unit).knows(name)
    plain = name.removeprefix("__builtin_")
    if plain == name:
        return False
    known = library_type(plain, lambda: VOID) is not None
    return known or BuiltinChecker(unit).find(plain) is not None


_OTHER_WORDS = """
va_start va_end va_copy va_arg offsetof expect constant_p complex huge_val huge_valf huge_vall inf inff infl
nan nanf nanl isgreater isgreaterequal isless islessequal
"""
_OTHERS = frozenset(f"__builtin_{name}" for name in _OTHER_WORDS.split())
