"""The 80-bit format, and the types that memory and values get in its place."""

from __future__ import annotations

import ctypes

import pytest
from accopt.passes.ir.kernels.x87 import x87_bits
from accopt.passes.ir.ops.layout import layout_of, member_offset
from accopt.passes.narrow_long_doubles import as_value, in_memory
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float80Type, FunctionType, f64, i32

NUMBERS = [0.0, -0.0, 1.0, -3.75, 0.1, 1e308, -1e-308, 2.0**-1022, 3e-310, 5e-324, float("-inf")]


@pytest.mark.parametrize("number", NUMBERS)
def test_bits_are_those_of_the_machine(number: float) -> None:
    assert x87_bits(number).to_bytes(10, "little") == bytes(ctypes.c_longdouble(number))[:10]


def test_memory_keeps_its_layout() -> None:
    wide = llvm.LLVMStructType.from_type_list(
        [i32, Float80Type(), llvm.LLVMArrayType(3, Float80Type()), i32]
    )
    narrow = in_memory(wide)
    assert isinstance(narrow, llvm.LLVMStructType)
    assert layout_of(narrow) == layout_of(wide)
    assert [member_offset(narrow, i) for i in range(4)] == [
        member_offset(wide, i) for i in range(4)
    ]
    same = llvm.LLVMStructType.from_type_list([i32, f64])
    assert in_memory(same) is same


def test_functions_take_doubles() -> None:
    f80 = Float80Type()
    assert as_value(FunctionType.from_lists([f80, i32], [f80])) == FunctionType.from_lists(
        [f64, i32], [f64]
    )
    variadic = as_value(llvm.LLVMFunctionType([f80], f80, is_variadic=True))
    assert variadic == llvm.LLVMFunctionType([f64], f64, is_variadic=True)
