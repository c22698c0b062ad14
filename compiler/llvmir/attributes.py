"""Attributes of functions and parameters: MLIR's names → LLVM IR's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Attribute, TypeAttribute

from ...dialects import nvvm
from ...dialects.dense import integers
from .types import TypePrinter, escape

_UNIT_PARAMETERS = {
    "llvm.noalias": "noalias",
    "llvm.nocapture": "captures(none)",
    "llvm.nofree": "nofree",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.readnone": "readnone",
    "llvm.readonly": "readonly",
    "llvm.returned": "returned",
    "llvm.signext": "signext",
    "llvm.writeonly": "writeonly",
    "llvm.zeroext": "zeroext",
    "llvm.inreg": "inreg",
}

_TYPED_PARAMETERS = {"llvm.byval": "byval", "llvm.sret": "sret"}

_UNIT_FUNCTION_ATTRIBUTES = {
    "always_inline": "alwaysinline",
    "cold": "cold",
    "inline_hint": "inlinehint",
    "no_inline": "noinline",
    "no_return": "noreturn",
    "noreturn": "noreturn",
    "optimize_none": "optnone",
    "returns_twice": "returns_twice",
    "will_return": "willreturn",
}


def parameter_attributes(attributes: DictionaryAttr, types: TypePrinter) -> str:
    """The words for the attributes of a parameter or result, each followed by a space."""
    words: list[str] = []
    for name, value in attributes.data.items():
        if name in _UNIT_PARAMETERS:
            words.append(_UNIT_PARAMETERS[name])
        elif name == "llvm.align" and isinstance(value, IntegerAttr):
            words.append(f"align {value.value.data}")
        elif name in ("llvm.dereferenceable", "llvm.dereferenceable_or_null"):
            assert isinstance(value, IntegerAttr)
            words.append(f"{name.removeprefix('llvm.')}({value.value.data})")
        elif name in _TYPED_PARAMETERS and isinstance(value, TypeAttribute):
            words.append(f"{_TYPED_PARAMETERS[name]}({types(value)})")
    return "".join(f"{word} " for word in words)


def _passthrough(attribute: Attribute) -> str:
    if isinstance(attribute, StringAttr):
        return attribute.data
    key, value = (cast(StringAttr, item).data for item in cast("ArrayAttr[Attribute]", attribute))
    return f'"{escape(key.encode())}"="{escape(value.encode())}"'


def _launch_bounds(attributes: Mapping[str, Attribute]) -> list[str]:
    """`nvvm.reqntid` and other launch bounds as the string attributes that LLVM's NVPTX target reads."""
    words: list[str] = []
    for name in (nvvm.REQNTID, nvvm.MAXNTID):
        value = attributes.get(name)
        if isinstance(value, DenseArrayBase):
            sizes = ",".join(str(size) for size in integers(value))
            words.append(f'"{name}"="{sizes}"')
    blocks = attributes.get(nvvm.MINCTASM)
    if isinstance(blocks, IntegerAttr):
        words.append(f'"{nvvm.MINCTASM}"="{blocks.value.data}"')
    return words


def function_attributes(func: FuncOp, *, convergent: bool) -> list[str]:
    """
    The attributes of a function; C functions are `nounwind`. With `convergent`, for GPUs, any function may
    contain a barrier until LLVM finds that it does not.
    """
    attributes = {**func.attributes, **func.properties}
    words = ["convergent"] if convergent else []
    words.append("nounwind")
    words += [word for name, word in _UNIT_FUNCTION_ATTRIBUTES.items() if name in attributes]
    if "optnone" in words and "noinline" not in words:
        words.append("noinline")
    if isinstance(passthrough := attributes.get("passthrough"), ArrayAttr):
        words += [_passthrough(item) for item in passthrough]
    return words + _launch_bounds(attributes)
