"""The semantic layer: pycparser trees to the typed tree of `compiler/c/ast.py`."""

from .checker import check_text, check_translation_unit
from .constants import AddressConstant, ConstantValue, constant_value

__all__ = [
    "AddressConstant",
    "ConstantValue",
    "check_text",
    "check_translation_unit",
    "constant_value",
]
