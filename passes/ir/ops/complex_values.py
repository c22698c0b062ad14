"""Complex numbers as values: first-class structures of a real and an imaginary part (C11 6.2.5p13)."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

Place = Callable[[Operation], SSAValue]
"""A function that places an operation and returns its result."""

_PREFIX = "struct._Complex"


def is_complex(type: Attribute) -> bool:
    """Whether `type` is the structure of a complex type (`compiler/c/types.py`, `COMPLEX_TAG`)."""
    return isinstance(type, llvm.LLVMStructType) and type.struct_name.data.startswith(_PREFIX)


def element_type(type: Attribute) -> AnyFloat:
    """The type of the parts of complex type `type`."""
    assert isinstance(type, llvm.LLVMStructType)
    element = type.types.data[0]
    assert isa(element, AnyFloat)
    return element


def parts(place: Place, value: SSAValue) -> list[SSAValue]:
    """The members of a structure or array, of a complex number its real and imaginary part."""
    return [
        place(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [n]), value, type_))
        for n, type_ in enumerate(_member_types(value.type))
    ]


def _member_types(type_: Attribute) -> list[Attribute]:
    if isinstance(type_, llvm.LLVMArrayType):
        return [type_.type] * type_.size.data
    assert isinstance(type_, llvm.LLVMStructType)
    return list(type_.types.data)


def make(place: Place, type: Attribute, *members: SSAValue) -> SSAValue:
    """The structure or array of this type with these members."""
    value = place(llvm.UndefOp(type))
    for n, part in enumerate(members):
        value = place(llvm.InsertValueOp(DenseArrayBase.from_list(i64, [n]), value, part))
    return value


def one(place: Place, type: Attribute) -> SSAValue:
    """The complex number 1, the neutral value of products."""
    element = element_type(type)
    re, im = (place(arith.ConstantOp(FloatAttr(v, element))) for v in (1.0, 0.0))
    return make(place, type, re, im)


def product(place: Place, a: SSAValue, b: SSAValue) -> SSAValue:
    """`a * b` by the textbook formula."""
    (ar, ai), (br, bi) = parts(place, a), parts(place, b)
    re = place(arith.SubfOp(place(arith.MulfOp(ar, br)), place(arith.MulfOp(ai, bi))))
    im = place(arith.AddfOp(place(arith.MulfOp(ar, bi)), place(arith.MulfOp(ai, br))))
    return make(place, a.type, re, im)
