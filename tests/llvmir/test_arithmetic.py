"""Numbers: LLVM IR from the writer computes what Python does, in all widths."""

from __future__ import annotations

import ctypes
import math
import struct

import pytest
from llvmir_harness import F32, F64, I32, I64, jit

INTS = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: I32, 64: I64}


def wrap(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def truncated_quotient(a: int, b: int) -> int:
    return int(math.copysign(abs(a) // abs(b), a * b))


BINARY = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "divsi": lambda a, b, w: truncated_quotient(a, b),
    "remsi": lambda a, b, w: a - b * truncated_quotient(a, b),
    "divui": lambda a, b, w: unsigned(a, w) // unsigned(b, w),
    "remui": lambda a, b, w: unsigned(a, w) % unsigned(b, w),
    "floordivsi": lambda a, b, w: a // b,
    "ceildivsi": lambda a, b, w: -(-a // b),
    "ceildivui": lambda a, b, w: -(-unsigned(a, w) // unsigned(b, w)),
    "minsi": lambda a, b, w: min(a, b),
    "maxsi": lambda a, b, w: max(a, b),
    "minui": lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
    "maxui": lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    "shli": lambda a, b, w: a << (b % w),
    "shrsi": lambda a, b, w: a >> (b % w),
    "shrui": lambda a, b, w: unsigned(a, w) >> (b % w),
}


def test_integer_arithmetic_in_all_widths():
    functions = []
    for name in BINARY:
        for width in INTS:
            mask = f"%m = arith.constant {width - 1} : i{width}\n %c = arith.andi %b, %m : i{width}"
            shift = name.startswith("sh")
            functions.append(
                f"llvm.func @{name}{width}(%a: i{width}, %b: i{width}) -> i{width} {{\n"
                + (mask if shift else "")
                + f"\n %r = arith.{name} %a, {'%c' if shift else '%b'} : i{width}\n"
                f" llvm.return %r : i{width} }}"
            )
    program = jit("\n".join(functions))
    for name, reference in BINARY.items():
        for width, ctype in INTS.items():
            call = program.function(f"{name}{width}", ctype, ctype, ctype)
            for a, b in ((7, 3), (-7, 3), (7, -3), (-7, -3), (100, 1), (-128, 2), (0, 5)):
                expected = wrap(reference(a, b, width), width)
                assert call(a, b) == expected, (name, width, a, b)


def test_integer_comparisons():
    predicates = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
    program = jit(
        "\n".join(
            f"llvm.func @{p}(%a: i32, %b: i32) -> i32 {{ %c = arith.cmpi {p}, %a, %b : i32\n"
            f" %r = arith.extui %c : i1 to i32\n llvm.return %r : i32 }}"
            for p in predicates
        )
    )
    for a, b in ((1, 2), (2, 2), (-1, 1), (1, -1)):
        u, v = unsigned(a, 32), unsigned(b, 32)
        expected = [a == b, a != b, a < b, a <= b, a > b, a >= b, u < v, u <= v, u > v, u >= v]
        found = [program.function(p, I32, I32, I32)(a, b) for p in predicates]
        assert found == [int(e) for e in expected]


def test_float_comparisons_with_nan():
    predicates = [
        "oeq",
        "ogt",
        "oge",
        "olt",
        "ole",
        "one",
        "ord",
        "ueq",
        "ugt",
        "uge",
        "ult",
        "ule",
        "une",
        "uno",
    ]
    program = jit(
        "\n".join(
            f"llvm.func @f{p}(%a: f64, %b: f64) -> i32 {{ %c = arith.cmpf {p}, %a, %b : f64\n"
            f" %r = arith.extui %c : i1 to i32\n llvm.return %r : i32 }}"
            for p in predicates
        )
    )
    nan = math.nan
    for a, b in ((1.0, 2.0), (2.0, 2.0), (2.0, 1.0), (nan, 1.0), (1.0, nan)):
        disordered = math.isnan(a) or math.isnan(b)
        base = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
        for p in predicates:
            if p in ("ord", "uno"):
                expected = disordered == (p == "uno")
            else:
                expected = disordered if p[0] == "u" and disordered else base[p[1:]]
                if p[0] == "o" and disordered:
                    expected = False
            assert program.function(f"f{p}", I32, F64, F64)(a, b) == int(expected), (p, a, b)


def test_conversions():
    casts = [
        ("trunci", "i64", "i8", I64, ctypes.c_int8, 0x1FF, -1),
        ("extsi", "i8", "i64", ctypes.c_int8, I64, -3, -3),
        ("extui", "i8", "i64", ctypes.c_int8, I64, -3, 253),
        ("sitofp", "i32", "f64", I32, F64, -5, -5.0),
        ("uitofp", "i32", "f64", I32, F64, -1, 4294967295.0),
        ("fptosi", "f64", "i32", F64, I32, -2.9, -2),
        ("fptoui", "f32", "i64", F32, I64, 3e9, 3000000000),
        ("extf", "f32", "f64", F32, F64, 0.5, 0.5),
        ("truncf", "f64", "f32", F64, F32, 0.1, struct.unpack("f", struct.pack("f", 0.1))[0]),
        ("bitcast", "f32", "i32", F32, I32, 1.0, 0x3F800000),
        ("bitcast", "i64", "f64", I64, F64, 0x3FF0000000000000, 1.0),
    ]
    for op, source, target, source_type, target_type, value, expected in casts:
        program = jit(
            f"llvm.func @c(%a: {source}) -> {target} {{ %r = arith.{op} %a : {source} to {target}\n"
            f" llvm.return %r : {target} }}"
        )
        assert program.function("c", target_type, source_type)(value) == expected, op


def test_index_is_64_bits_wide_and_signed():
    program = jit("""
    llvm.func @f(%a: i32) -> i64 {
      %i = arith.index_cast %a : i32 to index
      %two = arith.constant 2 : index
      %d = arith.muli %i, %two : index
      %r = arith.index_cast %d : index to i64
      llvm.return %r : i64
    }""")
    assert program.function("f", I64, I32)(-(2**31)) == -(2**32)


MATH = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "log": math.log,
    "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt, "floor": math.floor,
    "ceil": math.ceil, "trunc": math.trunc, "absf": abs, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "atan": math.atan, "erf": math.erf, "cbrt": lambda x: x ** (1 / 3),
    "log1p": math.log1p, "expm1": math.expm1, "acosh": math.acosh, "asinh": math.asinh,
    "exp2": lambda x: 2.0**x, "rsqrt": lambda x: x**-0.5, "roundeven": round,
}  # fmt: skip


def test_mathematics_of_both_precisions():
    program = jit(
        "\n".join(
            f"llvm.func @{name}{width}(%a: f{width}) -> f{width} {{"
            f" %r = math.{name} %a : f{width}\n llvm.return %r : f{width} }}"
            for name in MATH
            for width in (32, 64)
        )
    )
    for name, reference in MATH.items():
        assert program.function(f"{name}64", F64, F64)(1.75) == pytest.approx(reference(1.75))
        assert program.function(f"{name}32", F32, F32)(1.75) == pytest.approx(
            reference(1.75), rel=1e-6
        )


def test_constants_of_all_float_types_are_exact():
    values = (0.0, -0.0, 1.0, -1.5, 0.1, 1e-310, 1e308, 3.141592653589793)
    for value in values:
        program = jit(
            f"llvm.func @f() -> f64 {{ %a = llvm.mlir.constant({value:.17e} : f64) : f64\n"
            " llvm.return %a : f64 }\n"
            f"llvm.func @g() -> f64 {{ %a = llvm.mlir.constant({value:.17e} : f80) : f80\n"
            " %b = llvm.fptrunc %a : f80 to f64\n llvm.return %b : f64 }"
        )
        for name in ("f", "g"):
            found = program.function(name, F64)()
            assert struct.pack("d", found) == struct.pack("d", value), (name, value)


def test_negative_zero_is_not_a_zero_initialiser():
    program = jit(
        "llvm.mlir.global external @z(dense<[0.0, -0.0]> : tensor<2xf64>) : !llvm.array<2 x f64>"
    )
    values = (F64 * 2).from_address(program.address("z"))
    assert [math.copysign(1, value) for value in values] == [1, -1]


def test_special_floats():
    program = jit("""
    llvm.func @inf() -> f32 { %a = llvm.mlir.constant(0x7F800000 : f32) : f32
      llvm.return %a : f32 }
    llvm.func @nan() -> f64 { %a = llvm.mlir.constant(0x7FF8000000000000 : f64) : f64
      llvm.return %a : f64 }""")
    assert program.function("inf", F32)() == math.inf
    assert math.isnan(program.function("nan", F64)())


def test_integer_intrinsics():
    unary = {
        "ctpop": (0b1011, 3), "bswap": (0x01020304, 0x04030201), "bitreverse": (1, -(2**31)),
    }  # fmt: skip
    program = jit(
        "\n".join(
            f"llvm.func @{n}(%a: i32) -> i32 {{ %r = llvm.intr.{n}(%a) : (i32) -> i32\n"
            " llvm.return %r : i32 }"
            for n in unary
        )
        + "".join(
            f'llvm.func @{n}(%a: i32) -> i32 {{ %r = "llvm.intr.{n}"(%a) <{{{flag} = false}}>'
            " : (i32) -> i32\n llvm.return %r : i32 }\n"
            for n, flag in (
                ("ctlz", "is_zero_poison"),
                ("cttz", "is_zero_poison"),
                ("abs", "is_int_min_poison"),
            )
        )
        + """llvm.func @fshl(%a: i32, %b: i32) -> i32 {
          %r = llvm.intr.fshl(%a, %a, %b) : (i32, i32, i32) -> i32
          llvm.return %r : i32 }"""
    )
    for name, (value, expected) in unary.items():
        assert program.function(name, I32, I32)(value) == expected
    assert [program.function(n, I32, I32)(0) for n in ("ctlz", "cttz")] == [32, 32]
    assert program.function("abs", I32, I32)(-6) == 6
    assert program.function("fshl", I32, I32, I32)(-(2**31) + 1, 1) == 3


def test_float_classes():
    masks = {"nan": 3, "inf": 0b1000000100, "finite": 0b0111111000, "normal": 0b0100001000}
    program = jit(
        "\n".join(
            f'llvm.func @{n}(%a: f64) -> i32 {{ %c = "llvm.intr.is.fpclass"(%a)'
            f" <{{bit = {m} : i32}}> : (f64) -> i1\n %r = llvm.zext %c : i1 to i32\n"
            " llvm.return %r : i32 }"
            for n, m in masks.items()
        )
    )
    cases = {
        math.nan: "nan",
        -math.inf: "inf",
        1.0: "finite normal",
        0.0: "finite",
        5e-324: "finite",
    }
    for value, classes in cases.items():
        for name in masks:
            assert program.function(name, I32, F64)(value) == int(name in classes.split())
