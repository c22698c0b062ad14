# ruff: noqa: E501  (LLVM and MLIR lines do not break)
"""What LLVM IR text the printer chooses where execution does not show it."""

from __future__ import annotations

import time

import llvmlite.binding as llvm
import pytest
from accopt.compiler.base.diagnostics import CompileError, SourceLoc
from accopt.compiler.emit import compilers_fuse
from accopt.compiler.llvmir import print_llvm_module
from accopt.dialects.accx import KERNEL
from llvmir_harness import lower, parse
from xdsl.dialects import llvm as llvm_dialect
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i64
from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Block, Region

SAXPY = """
llvm.func @saxpy(%n: i64, %a: f32, %x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %q = llvm.getelementptr inbounds %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %u = llvm.load %p {accx.access_groups = [0 : i32]} : !llvm.ptr -> f32
    %v = llvm.load %q {accx.access_groups = [0 : i32]} : !llvm.ptr -> f32
    %m = arith.mulf %a, %u : f32
    %s = arith.addf %m, %v : f32
    llvm.store %s, %q {accx.access_groups = [0 : i32]} : f32, !llvm.ptr
  } {accx.simd, accx.access_groups = [0 : i32]}
  llvm.return
}"""


def test_simd_loops_are_vectorised():
    from accopt.compiler.backend.host_code import host_machine
    from accopt.compiler.backend.optimize import open_module, optimize

    text = print_llvm_module(lower(SAXPY), target="host")
    machine = host_machine()
    with open_module(f'target triple = "{machine.triple}"\n{text}', "test") as (module, _):
        optimize(module, machine, 3)
        assert "x float>" in str(module)


def test_loop_metadata_and_access_groups():
    text = print_llvm_module(lower(SAXPY), target="host")
    assert text.count("!llvm.access.group !0") == 3
    assert '!{!"llvm.loop.parallel_accesses", !0}' in text
    assert '!{!"llvm.loop.vectorize.enable", i1 true}' in text
    assert text.count("!llvm.loop !") == 1


@pytest.mark.parametrize("contract", [True, False])
def test_contraction_is_a_choice(contract):
    text = print_llvm_module(lower(SAXPY), target="host", contract=contract)
    assert ("fmul contract float" in text) == contract


@pytest.mark.parametrize(
    ("kernel", "sequential"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_contraction_outside_of_constructs_is_another_one(kernel, sequential):
    module = lower(SAXPY)
    (function,) = (op for op in module.body.ops if isinstance(op, FuncOp))
    if kernel:
        function.attributes[KERNEL] = UnitAttr()
    text = print_llvm_module(module, target="host", contract_sequential=sequential)
    assert ("fmul contract float" in text) == (kernel or sequential)
    assert "contract" not in print_llvm_module(module, target="host", contract=False)


def test_c_compilers_fuse_where_all_processors_can():
    assert compilers_fuse("aarch64") and not compilers_fuse("x86_64")


def test_parameter_attributes():
    text = print_llvm_module(lower(SAXPY), target="host")
    assert "ptr noalias readonly %x" in text
    assert "ptr noalias align 64 %y" in text


def test_line_tables_pass_llvm():
    module = lower(SAXPY)
    for number, op in enumerate(module.walk(), start=1):
        op.location = SourceLoc("dir/a.c" if number % 2 else "other.h", number, 3).to_attr()
    text = print_llvm_module(module, target="host", debug_lines=True)
    llvm.parse_assembly(text).verify()
    assert 'DIFile(filename: "a.c", directory: "dir")' in text
    assert "DILexicalBlockFile" in text and "LineTablesOnly" in text
    nvptx = print_llvm_module(module, target="nvptx", debug_lines=True)
    assert "DebugDirectivesOnly" in nvptx


def test_unlowered_operations_are_named():
    module = parse("""
    llvm.func @f(%a: i32) -> i32 { %r = arith.addi %a, %a : i32
      llvm.return %r : i32 }""")
    add = next(op for op in module.walk() if op.name == "arith.addi")
    add.location = SourceLoc("a.c", 7, 2).to_attr()
    with pytest.raises(CompileError, match=r"a\.c:7:2: error: 'arith\.addi' has no LLVM IR form"):
        print_llvm_module(module, target="host")


def test_undeclared_functions_are_declared():
    module = parse("""
    llvm.func @g(i32) -> i32
    llvm.func @f(%a: i32) -> i32 { %r = llvm.call @g(%a) : (i32) -> i32
      llvm.return %r : i32 }""")
    next(op for op in module.ops if isinstance(op, FuncOp)).detach()
    text = print_llvm_module(module, target="host")
    assert "declare i32 @g(i32) nounwind" in text


def test_volatile_and_invariant_accesses():
    module = parse("""
    llvm.func @f(%p: !llvm.ptr) -> i32 {
      %a = llvm.load %p {accx.volatile} : !llvm.ptr -> i32
      %b = llvm.load %p {invariant} : !llvm.ptr -> i32
      %s = llvm.add %a, %b : i32
      llvm.store volatile %s, %p : i32, !llvm.ptr
      llvm.return %s : i32
    }""")
    text = print_llvm_module(module, target="host")
    assert "load volatile i32" in text
    assert "!invariant.load !0" in text
    assert "store volatile i32" in text


def test_scalar_types_of_elements_and_members():
    body = """
    llvm.func @NAME(%p: !llvm.ptr, %i: i64) attributes {WORDS} {
      %n = llvm.getelementptr %p[%i, 0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i32, f64)>
      %a = llvm.load %n : !llvm.ptr -> i32
      %bits = llvm.load %n : !llvm.ptr -> i16
      %x = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      %b = llvm.load %x : !llvm.ptr -> f64
      llvm.store %b, %p : f64, !llvm.ptr
      %c = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %d = llvm.load %c : !llvm.ptr -> i8
      llvm.return
    }"""
    kernel = body.replace("NAME", "k").replace("WORDS", "accx.kernel, accx.typed")
    other = body.replace("NAME", "h").replace("WORDS", "accx.kernel")
    text = print_llvm_module(parse(kernel + other), target="host")
    tagged = [line.split(",")[0].split("= ")[1] for line in text.splitlines() if "!tbaa" in line]
    assert tagged == ["load i32", "load double"], (
        "of one kernel, neither bytes nor parts of members"
    )
    int_tag, double_tag = (line.split("!tbaa ")[1] for line in text.splitlines() if "!tbaa" in line)
    assert int_tag != double_tag


def test_kernels_are_convergent_and_carry_launch_bounds():
    module = parse("""
    "gpu.module"() <{sym_name = "m"}> ({
      llvm.mlir.global external @shared() {addr_space = 3 : i32} : !llvm.array<0 x i8>
      llvm.func @helper(%x: f32) -> f32 { llvm.return %x : f32 }
      llvm.func @k(%x: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 2, 1>} {
        %y = llvm.call @helper(%x) : (f32) -> f32
        nvvm.barrier0
        llvm.return
      }
    }) : () -> ()""")
    text = print_llvm_module(module, target="nvptx", flush_denormals=True)
    assert "define internal float @helper(float %x.1) convergent" in text
    assert (
        'define ptx_kernel void @k(float %x.1) convergent nounwind "nvvm.reqntid"="64,2,1"' in text
    )
    assert "call float @helper(float %x.1) convergent" in text
    assert "@shared = external addrspace(3) global [0 x i8]" in text
    assert '"nvvm-reflect-ftz", i32 1' in text
    assert text.count('"denormal-fp-math-f32"="preserve-sign,preserve-sign"') == 2
    assert "denormal" not in print_llvm_module(module, target="nvptx")
    assert print_llvm_module(module, target="host").strip() == ""


def test_printing_100_000_operations_takes_seconds():
    """About one second alone on one core; quadratic behaviour would take minutes."""
    block = Block(arg_types=[i64, llvm_dialect.LLVMPointerType()])
    value, pointer = block.args
    for _ in range(50_000):
        add = llvm_dialect.AddOp.create(operands=[value, value], result_types=[i64])
        store = llvm_dialect.StoreOp.create(operands=[add.results[0], pointer])
        block.add_ops((add, store))
        value = add.results[0]
    block.add_op(llvm_dialect.ReturnOp())
    type = llvm_dialect.LLVMFunctionType([i64, pointer.type])
    module = ModuleOp([FuncOp("f", type, body=Region(block))])
    start = time.perf_counter()
    text = print_llvm_module(module, target="host")
    elapsed = time.perf_counter() - start
    print(f"{100_000 / elapsed:.0f} operations per second")
    assert text.count("\n") > 100_000
    assert elapsed < 10
