"""
The semantic layer: pycparser trees to the typed tree of `compiler/c/ast.py`. What checks a file is loaded
when it is first used, as trees from the cache need only the constants.
"""

from typing import TYPE_CHECKING

from .constants import AddressConstant, ConstantValue, constant_value

if TYPE_CHECKING:
    from .checker import check_text, check_translation_unit

__all__ = [
    "AddressConstant",
    "ConstantValue",
    "check_text",
    "check_translation_unit",
    "constant_value",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import checker

    return getattr(checker, name)
