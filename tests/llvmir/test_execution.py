# ruff: noqa: E501  (MLIR types do not break across lines)
"""Every family of operations, run: MLIR → LLVM IR → JIT → ctypes, compared with Python."""

from __future__ import annotations

import ctypes

import pytest
from llvmir_harness import F64, I32, I64, jit, parse


def test_atomics():
    kinds = {
        "add": (10, 3, 13), "sub": (10, 3, 7), "_and": (12, 10, 8), "_or": (12, 10, 14),
        "_xor": (12, 10, 6), "nand": (12, 10, ~8), "max": (-5, 3, 3), "min": (-5, 3, -5),
        "umax": (-5, 3, -5), "umin": (-5, 3, 3), "xchg": (1, 9, 9),
    }  # fmt: skip
    program = jit(
        "\n".join(
            f"llvm.func @a{kind}(%p: !llvm.ptr, %v: i32) -> i32 {{"
            f" %o = llvm.atomicrmw {kind} %p, %v seq_cst : !llvm.ptr, i32\n llvm.return %o : i32 }}"
            for kind in kinds
        )
        + """
    llvm.func @fadd(%p: !llvm.ptr, %v: f64) -> f64 {
      %o = llvm.atomicrmw fadd %p, %v monotonic : !llvm.ptr, f64
      llvm.return %o : f64
    }
    llvm.func @cas(%p: !llvm.ptr, %c: i64, %v: i64) -> i32 {
      %o = llvm.cmpxchg %p, %c, %v acq_rel monotonic : !llvm.ptr, i64
      llvm.fence seq_cst
      %f = llvm.extractvalue %o[1] : !llvm.struct<(i64, i1)>
      %r = llvm.zext %f : i1 to i32
      llvm.return %r : i32
    }
    llvm.func @acquire(%p: !llvm.ptr) -> i32 {
      %v = llvm.load %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
      llvm.return %v : i32
    }"""
    )
    for kind, (start, operand, expected) in kinds.items():
        cell = I32(start)
        assert (
            program.function(f"a{kind}", I32, ctypes.c_void_p, I32)(ctypes.addressof(cell), operand)
            == start
        )
        assert cell.value == expected, kind
        assert program.function("acquire", I32, ctypes.c_void_p)(ctypes.addressof(cell)) == expected
    real = F64(1.5)
    assert program.function("fadd", F64, ctypes.c_void_p, F64)(ctypes.addressof(real), 2.0) == 1.5
    assert real.value == 3.5
    wide = I64(5)
    cas = program.function("cas", I32, ctypes.c_void_p, I64, I64)
    assert (cas(ctypes.addressof(wide), 4, 9), wide.value) == (0, 5)
    assert (cas(ctypes.addressof(wide), 5, 9), wide.value) == (1, 9)


def test_switch_with_block_arguments_and_shared_destinations():
    program = jit("""
    llvm.func @f(%x: i32, %a: i64, %b: i64) -> i64 {
      llvm.switch %x : i32, ^done(%a : i64) [
        1: ^done(%b : i64),
        -2: ^other,
        7: ^done(%a : i64)
      ]
    ^other:
      %s = llvm.add %a, %b : i64
      llvm.br ^done(%s : i64)
    ^done(%r: i64):
      llvm.return %r : i64
    }""")
    f = program.function("f", I64, I32, I64, I64)
    assert [f(x, 10, 20) for x in (0, 1, -2, 7)] == [10, 20, 30, 10]


def test_conditional_branch_to_one_block_with_different_arguments():
    program = jit("""
    llvm.func @f(%c: i32, %a: i64, %b: i64) -> i64 {
      %z = llvm.mlir.constant(0 : i32) : i32
      %t = llvm.icmp "ne" %c, %z : i32
      llvm.cond_br %t, ^done(%a : i64), ^done(%b : i64)
    ^done(%r: i64):
      llvm.return %r : i64
    }""")
    f = program.function("f", I64, I32, I64, I64)
    assert (f(1, 10, 20), f(0, 10, 20)) == (10, 20)


def test_blocks_in_an_order_other_than_dominance():
    program = jit("""
    llvm.func @f(%a: i64) -> i64 {
      llvm.br ^second
    ^third:
      %r = llvm.add %v, %k : i64
      llvm.return %r : i64
    ^second:
      %k = llvm.mlir.constant(5 : i64) : i64
      %v = llvm.mul %a, %a : i64
      llvm.br ^third
    }""")
    assert program.function("f", I64, I64)(3) == 14


def test_structs_geps_and_memory_intrinsics():
    program = jit("""
    llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr, %i: i64) -> i32 {
      %s = llvm.getelementptr inbounds %p[%i, 1, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<"pair", (i64, !llvm.array<4 x i32>)>
      %v = llvm.load %s {alignment = 4 : i64} : !llvm.ptr -> i32
      %n = llvm.mlir.constant(24 : i64) : i64
      "llvm.intr.memcpy"(%q, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      %b = llvm.mlir.constant(7 : i8) : i8
      %one = llvm.mlir.constant(1 : i64) : i64
      "llvm.intr.memset"(%q, %b, %one) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
      llvm.return %v : i32
    }
    llvm.func @g(%a: i32, %b: f64) -> f64 {
      %u = llvm.mlir.undef : !llvm.struct<(i32, !llvm.array<2 x f64>)>
      %s = llvm.insertvalue %a, %u[0] : !llvm.struct<(i32, !llvm.array<2 x f64>)>
      %t = llvm.insertvalue %b, %s[1, 1] : !llvm.struct<(i32, !llvm.array<2 x f64>)>
      %x = llvm.extractvalue %t[1, 1] : !llvm.struct<(i32, !llvm.array<2 x f64>)>
      %y = llvm.extractvalue %t[0] : !llvm.struct<(i32, !llvm.array<2 x f64>)>
      %z = llvm.sitofp %y : i32 to f64
      %r = llvm.fadd %x, %z : f64
      llvm.return %r : f64
    }""")
    source = (I32 * 12)(*range(12))
    target = (I32 * 12)()
    f = program.function("f", I32, ctypes.c_void_p, ctypes.c_void_p, I64)
    assert f(ctypes.addressof(source), ctypes.addressof(target), 1) == 10
    assert list(target)[:6] == [7, 1, 2, 3, 4, 5]
    assert program.function("g", F64, I32, F64)(2, 0.5) == 2.5


def test_globals_with_relocations_and_nested_initialisers():
    program = jit("""
    llvm.mlir.global external @word(258 : i32) {alignment = 4 : i64} : i32
    llvm.mlir.global internal constant @text("h\\C3\\A9\\00") : !llvm.array<4 x i8>
    llvm.mlir.global external @numbers(dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>) : !llvm.array<2 x array<2 x i16>>
    llvm.mlir.global external @zeros() : !llvm.array<3 x i64> {
      %z = llvm.mlir.zero : !llvm.array<3 x i64>
      llvm.return %z : !llvm.array<3 x i64>
    }
    llvm.mlir.global external @table() : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)> {
      %u = llvm.mlir.zero : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
      %w = llvm.mlir.addressof @word : !llvm.ptr
      %f = llvm.mlir.addressof @twice : !llvm.ptr
      %n = llvm.mlir.addressof @numbers : !llvm.ptr
      %e = llvm.getelementptr %n[0, 1, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<2 x array<2 x i16>>
      %k = llvm.mlir.constant(9 : i32) : i32
      %1 = llvm.insertvalue %w, %u[0] : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
      %2 = llvm.insertvalue %f, %1[1] : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
      %3 = llvm.insertvalue %k, %2[2, 1] : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
      %4 = llvm.insertvalue %e, %3[3] : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
      llvm.return %4 : !llvm.struct<"entry", (ptr, ptr, array<2 x i32>, ptr)>
    }
    llvm.func @twice(%x: i32) -> i32 { %r = llvm.add %x, %x : i32
      llvm.return %r : i32 }
    llvm.func @text_at() -> !llvm.ptr { %t = llvm.mlir.addressof @text : !llvm.ptr
      llvm.return %t : !llvm.ptr }
    llvm.func @through_pointer(%p: !llvm.ptr, %x: i32) -> i32 {
      %r = llvm.call %p(%x) : !llvm.ptr, (i32) -> i32
      llvm.return %r : i32
    }""")
    words = (ctypes.c_void_p * 4).from_address(program.address("table"))
    assert words[0] == program.address("word")
    assert I32.from_address(words[0]).value == 258
    assert words[1] == program.address("twice")
    assert list((I32 * 2).from_address(program.address("table") + 16)) == [0, 9]
    assert ctypes.c_int16.from_address(words[3]).value == 4
    assert list((I64 * 3).from_address(program.address("zeros"))) == [0, 0, 0]
    assert ctypes.string_at(program.function("text_at", ctypes.c_void_p)()) == "hé".encode()
    assert program.function("through_pointer", I32, ctypes.c_void_p, I32)(words[1], 21) == 42


def test_calls_with_variable_arguments():
    program = jit("""
    llvm.func @snprintf(!llvm.ptr, i64, !llvm.ptr, ...) -> i32
    llvm.mlir.global internal constant @format("%d %s %.2f %lld\\00") : !llvm.array<16 x i8>
    llvm.func @f(%o: !llvm.ptr, %i: i32, %s: !llvm.ptr, %d: f64, %l: i64) -> i32 {
      %n = llvm.mlir.constant(64 : i64) : i64
      %t = llvm.mlir.addressof @format : !llvm.ptr
      %r = llvm.call @snprintf(%o, %n, %t, %i, %s, %d, %l) vararg(!llvm.func<i32 (ptr, i64, ptr, ...)>) : (!llvm.ptr, i64, !llvm.ptr, i32, !llvm.ptr, f64, i64) -> i32
      llvm.return %r : i32
    }""")
    out = ctypes.create_string_buffer(64)
    f = program.function("f", I32, ctypes.c_char_p, I32, ctypes.c_char_p, F64, I64)
    assert f(out, -4, b"xy", 2.5, 1 << 40) == len(out.value)
    assert out.value == b"-4 xy 2.50 1099511627776"


def test_functions_with_variable_arguments():
    program = jit("""
    llvm.func @sum(%n: i32, ...) -> f64 {
      %one = llvm.mlir.constant(1 : i32) : i32
      %list = llvm.alloca %one x !llvm.array<24 x i8> {alignment = 16 : i64} : (i32) -> !llvm.ptr
      %copy = llvm.alloca %one x !llvm.array<24 x i8> {alignment = 16 : i64} : (i32) -> !llvm.ptr
      llvm.intr.vastart %list : !llvm.ptr
      llvm.intr.vacopy %list to %copy : !llvm.ptr, !llvm.ptr
      %i = llvm.va_arg %list : (!llvm.ptr) -> i32
      %d = llvm.va_arg %list : (!llvm.ptr) -> f64
      %p = llvm.va_arg %list : (!llvm.ptr) -> !llvm.ptr
      %again = llvm.va_arg %copy : (!llvm.ptr) -> i32
      llvm.intr.vaend %list : !llvm.ptr
      llvm.intr.vaend %copy : !llvm.ptr
      %v = llvm.load %p : !llvm.ptr -> f64
      %s = llvm.add %i, %again : i32
      %f = llvm.sitofp %s : i32 to f64
      %t = llvm.fadd %f, %d : f64
      %r = llvm.fadd %t, %v : f64
      llvm.return %r : f64
    }
    llvm.func @f(%p: !llvm.ptr) -> f64 {
      %n = llvm.mlir.constant(3 : i32) : i32
      %i = llvm.mlir.constant(5 : i32) : i32
      %d = llvm.mlir.constant(0.25 : f64) : f64
      %r = llvm.call @sum(%n, %i, %d, %p) vararg(!llvm.func<f64 (i32, ...)>) : (i32, i32, f64, !llvm.ptr) -> f64
      llvm.return %r : f64
    }""")
    value = F64(100.0)
    assert program.function("f", F64, ctypes.c_void_p)(ctypes.addressof(value)) == 110.25


def test_structured_control_flow():
    program = jit("""
    llvm.func @f(%n: i64) -> i64 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %three = arith.constant 3 : i64
      %sum = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (i64) : i64 {
        %r = arith.remui %i, %three : i64
        %m = arith.cmpi eq, %r, %zero : i64
        %t = scf.if %m -> (i64) {
          %u = arith.addi %s, %i : i64
          scf.yield %u : i64
        } else {
          scf.yield %s : i64
        }
        scf.yield %t : i64
      } {accx.simd, accx.unroll = 2 : i32}
      %w:2 = scf.while (%a = %sum, %k = %zero) : (i64, i64) -> (i64, i64) {
        %c = arith.cmpi sgt, %a, %three : i64
        scf.condition(%c) %a, %k : i64, i64
      } do {
      ^bb0(%a: i64, %k: i64):
        %h = arith.divui %a, %three : i64
        %k2 = arith.addi %k, %one : i64
        scf.yield %h, %k2 : i64, i64
      }
      %index = arith.index_cast %w#1 : i64 to index
      %x = scf.index_switch %index -> i64
      case 2 {
        scf.yield %three : i64
      }
      default {
        %e = scf.execute_region -> (i64) {
          %c = arith.cmpi slt, %n, %three : i64
          cf.cond_br %c, ^small, ^large
        ^small:
          scf.yield %zero : i64
        ^large:
          scf.yield %one : i64
        }
        scf.yield %e : i64
      }
      %hundred = arith.constant 100 : i64
      %p = arith.muli %sum, %hundred : i64
      %q = arith.addi %p, %x : i64
      llvm.return %q : i64
    }""")

    def reference(n: int) -> int:
        total = sum(i for i in range(n) if i % 3 == 0)
        a, k = total, 0
        while a > 3:
            a, k = a // 3, k + 1
        return total * 100 + (3 if k == 2 else 0 if n < 3 else 1)

    f = program.function("f", I64, I64)
    assert [f(n) for n in range(40)] == [reference(n) for n in range(40)]


def test_a_symbol_needing_quotes():
    program = jit('llvm.func @"odd name"() -> i32 { %a = llvm.mlir.constant(3 : i32) : i32\n'
                  " llvm.return %a : i32 }")  # fmt: skip
    assert program.function("odd name", I32)() == 3


def test_parse_verifies():
    from xdsl.utils.exceptions import VerifyException

    with pytest.raises(VerifyException):
        parse("llvm.func @f() { llvm.fence monotonic\n llvm.return }")
