"""Kernels through to PTX, library functions, and what GPUs cannot do."""

from __future__ import annotations

import ctypes
import math

import pytest
from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.backend.ptx import emit_ptx
from accopt.compiler.backend.toolkit import find_libdevice
from accopt.compiler.base.diagnostics import CompileError, SourceLoc
from accopt.compiler.ir.context import make_context
from accopt.compiler.llvmir import print_llvm_module
from accopt.dialects import nvvm
from accopt.passes.convert_gpu_to_nvvm.convert_gpu_to_nvvm import (
    ConvertGpuToNvvmPass,
    register_range,
)
from accopt.passes.convert_to_llvm import ConvertToLlvmPass
from accopt.passes.decisions.device_functions import DEVICE_FUNCTIONS, MATH_F80
from accopt.passes.decisions.device_math import Expansion, Intrinsic, Libdevice, device_function
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

needs_libdevice = pytest.mark.skipif(find_libdevice() is None, reason="no libdevice")


def convert(body: str, **options) -> ModuleOp:
    """The module after conversion, with `body` in its `gpu.module`."""
    ctx = make_context()
    text = f'"gpu.module"() <{{sym_name = "m"}}> ({{ {body} }}) : () -> ()'
    module = Parser(ctx, text).parse_module()
    ConvertGpuToNvvmPass(**options).apply(ctx, module)
    ConvertToLlvmPass().apply(ctx, module)
    module.verify()
    return module


def on_host(body: str) -> HostProgram:
    """The GPU's functions as host code, as far as they use nothing of a GPU."""
    module = convert(body)
    (inner,) = (op for op in module.ops if isinstance(op, gpu.ModuleOp))
    block = inner.body.detach_block(inner.body.block)
    from xdsl.ir import Region

    return HostProgram(print_llvm_module(ModuleOp(Region(block)), target="host"))


def test_every_device_function_has_a_meaning():
    """But for those of long double, which constructs on the host may call, and CUDA's own functions."""
    names = DEVICE_FUNCTIONS - MATH_F80 - {"malloc", "free"}
    assert [name for name in sorted(names) if device_function(name) is None] == []


def test_choices():
    assert device_function("fabsf") == Intrinsic("fabs")
    assert device_function("__builtin_sqrt") == Intrinsic("sqrt")
    assert device_function("erf") == Libdevice("__nv_erf"), "ends in f, but is not f32"
    assert device_function("erff") == Libdevice("__nv_erff")
    assert device_function("sinf", approximate=True) == Libdevice("__nv_fast_sinf")
    assert device_function("sin", approximate=True) == Libdevice("__nv_sin")
    assert device_function("labs") is Expansion.ABSOLUTE
    assert device_function("malloc") is Expansion.MALLOC
    assert device_function("realloc") is None


def test_register_ranges():
    block = (32, 4, 1)
    assert register_range(nvvm.THREAD_ID, 0, block) == (0, 32)
    assert register_range(nvvm.THREAD_ID, 2, block) == (0, 1)
    assert register_range(nvvm.THREAD_ID, 0, None) == (0, 1024)
    assert register_range(nvvm.BLOCK_DIM, 1, block) == (4, 5)
    assert register_range(nvvm.BLOCK_ID, 1, None) == (0, 65535)


def test_predicates_and_classes():
    names = ("isnan", "__isinf", "__finite", "isnormal", "__signbit", "__fpclassify")
    program = on_host(
        "\n".join(
            f"llvm.func @{name}(f64) -> i32\n"
            f"llvm.func @call{name}(%a: f64) -> i32 {{ %r = llvm.call @{name}(%a) : (f64) -> i32\n"
            " llvm.return %r : i32 }"
            for name in names
        )
    )
    cases = {
        math.nan: (1, 0, 0, 0, 0, 0),
        math.inf: (0, 1, 0, 0, 0, 1),
        -math.inf: (0, 1, 0, 0, 1, 1),
        -0.0: (0, 0, 1, 0, 1, 2),
        5e-324: (0, 0, 1, 0, 0, 3),
        -1.5: (0, 0, 1, 1, 1, 4),
    }
    for value, expected in cases.items():
        found = tuple(
            program.function(f"call{n}", ctypes.c_int, ctypes.c_double)(value) for n in names
        )
        assert found == expected, value


def test_memory_functions_return_their_destination():
    program = on_host("""
    llvm.func @memset(!llvm.ptr, i32, i64) -> !llvm.ptr
    llvm.func @memcpy(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
    llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr, %n: i64) -> !llvm.ptr {
      %v = llvm.mlir.constant(65 : i32) : i32
      %a = llvm.call @memset(%p, %v, %n) : (!llvm.ptr, i32, i64) -> !llvm.ptr
      %b = llvm.call @memcpy(%q, %a, %n) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
      llvm.return %b : !llvm.ptr
    }""")
    p, q = ctypes.create_string_buffer(4), ctypes.create_string_buffer(4)
    f = program.function("f", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64)
    assert f(p, q, 3) == ctypes.addressof(q)
    assert q.value == b"AAA"


def test_absolute_values():
    program = on_host("""
    llvm.func @abs(i32) -> i32
    llvm.func @f(%a: i32) -> i32 { %r = llvm.call @abs(%a) : (i32) -> i32
      llvm.return %r : i32 }""")
    assert program.function("f", ctypes.c_int, ctypes.c_int)(-3) == 3


ON_DEVICE = {0: 0, 2: 0, 4: 1, 5: 1, 8: 0}


def test_acc_on_device():
    program = on_host("""
    llvm.func @acc_on_device(i32) -> i32
    llvm.func @f(%a: i32) -> i32 { %r = llvm.call @acc_on_device(%a) : (i32) -> i32
      llvm.return %r : i32 }""")
    f = program.function("f", ctypes.c_int, ctypes.c_int)
    assert {number: f(number) for number in ON_DEVICE} == ON_DEVICE


KERNEL = """
llvm.mlir.global internal constant @fmt("%d %f\\0A\\00") : !llvm.array<7 x i8>
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.func @abort()
"gpu.func"() <{function_type = (!llvm.ptr, index) -> (), kernel}> ({
^bb0(%x: !llvm.ptr, %n: index):
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %d = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %o = arith.muli %b, %d : index
  %i = arith.addi %o, %t : index
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^in, ^out
^in:
  %i64 = arith.index_cast %i : index to i64
  %i32 = arith.index_cast %i : index to i32
  %p = llvm.getelementptr %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %v = llvm.load %p : !llvm.ptr -> f64
  %s = math.powf %v, %v : f64
  llvm.store %s, %p : f64, !llvm.ptr
  %f = llvm.mlir.addressof @fmt : !llvm.ptr
  %r = llvm.call @printf(%f, %i32, %s) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32, f64) -> i32
  cf.br ^out
^out:
  "gpu.return"() : () -> ()
}) {sym_name = "k", gpu.known_block_size = array<i32: 128, 1, 1>} : () -> ()
"gpu.func"() <{function_type = () -> (), kernel}> ({
  llvm.call @abort() : () -> ()
  llvm.unreachable
}) {sym_name = "stop"} : () -> ()
"""


@needs_libdevice
def test_a_kernel_becomes_ptx():
    text = emit_ptx(print_llvm_module(convert(KERNEL), target="nvptx"), sm=80)
    assert ".visible .entry k(" in text and ".reqntid 128" in text
    assert ".extern .func  (.param .b32 func_retval0) vprintf" in text
    assert "ld.global" in text, "kernel pointers are known to be global"
    assert "trap;" in text
    assert "__nv_pow" not in text.replace("__internal", ""), "libdevice is inlined or internal"


REFUSALS = {
    "llvm.func @strlen(!llvm.ptr) -> i64\n llvm.func @f(%p: !llvm.ptr) {"
    " %r = llvm.call @strlen(%p) : (!llvm.ptr) -> i64\n llvm.return }":
        "the function 'strlen' is called in GPU code",
    "llvm.func @f(%x: f64) { %r = llvm.fpext %x : f64 to f80\n llvm.return }": "long double",
    "llvm.func @f(%x: !llvm.ptr) { llvm.intr.vastart %x : !llvm.ptr\n llvm.return }":
        "variable arguments",
    '"gpu.func"() <{function_type = () -> ()}> ({ %s = "gpu.num_subgroups"() : () -> index\n'
    ' "gpu.return"() : () -> () }) {sym_name = "f"} : () -> ()': "'gpu.num_subgroups' cannot be",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSALS)
def test_refusals(body):
    with pytest.raises(CompileError, match=REFUSALS[body]):
        convert(body)


def test_refusals_have_the_place_of_the_call():
    ctx = make_context()
    body = next(iter(REFUSALS))
    module = Parser(ctx, f'"gpu.module"() <{{sym_name = "m"}}> ({{ {body} }}) : () -> ()')
    module = module.parse_module()
    call = next(op for op in module.walk() if op.name == "llvm.call")
    call.location = SourceLoc("a.c", 12, 5).to_attr()
    with pytest.raises(CompileError) as caught:
        ConvertGpuToNvvmPass().apply(ctx, module)
    assert str(caught.value.diagnostics[0].loc) == "a.c:12:5"
