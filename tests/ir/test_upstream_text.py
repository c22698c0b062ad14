"""IR as `mlir-opt` and other tools write it: literals, aliases, locations, clauses, names."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.ir.reading import parse_ir
from tools import commands, loop_ranges


def text_of(text: str) -> str:
    return print_ir(parse_ir(make_context(), text, "t.mlir"), debug_info=True)


def refusal(text: str) -> str:
    with pytest.raises(CompileError) as caught:
        parse_ir(make_context(), text, "t.mlir")
    (found,) = caught.value.diagnostics
    assert found.loc.line > 0 and found.loc.column > 0, found
    return found.message


def value(attribute: str) -> str:
    printed = text_of(f"module attributes {{a = {attribute}}} {{}}")
    return printed.partition("{a = ")[2].partition("} {")[0]


@pytest.mark.parametrize(
    ("hexadecimal", "decimal"),
    [
        ("0x3F800000 : f32", "1.0 : f32"),
        ("0x3C00 : f16", "1.0 : f16"),
        ("0xC040 : bf16", "-3.0 : bf16"),
        ("0x3FF8000000000000 : f64", "1.5 : f64"),
        ("dense<0x3F800000> : tensor<2xf32>", "dense<1.0> : tensor<2xf32>"),
        ("dense<[0x3F800000, 2.5]> : tensor<2xf32>", "dense<[1.0, 2.5]> : tensor<2xf32>"),
        (
            "dense<[[0xBC00], [0x0001]]> : tensor<2x1xf16>",
            "dense<[[-1.0], [5.9604644775390625e-08]]> : tensor<2x1xf16>",
        ),
        ("dense<[0x4040, 0x3F80]> : vector<2xbf16>", "dense<[3.0, 1.0]> : vector<2xbf16>"),
        ("dense<0xC000000000000000> : tensor<1xf64>", "dense<-2.0> : tensor<1xf64>"),
        ('dense<"0x0000803F00000040"> : tensor<2xf32>', "dense<[1.0, 2.0]> : tensor<2xf32>"),
        ('dense<"0x0100FFFF"> : tensor<2xi16>', "dense<[1, -1]> : tensor<2xi16>"),
        ("dense<[0x7F, 0x10]> : tensor<2xi8>", "dense<[127, 16]> : tensor<2xi8>"),
        ("array<f32: 0x3F800000, 2.0>", "array<f32: 1.0, 2.0>"),
        ("array<f64: 0x4000000000000000>", "array<f64: 2.0>"),
    ],
)
def test_hexadecimal_literals_are_bit_patterns(hexadecimal: str, decimal: str) -> None:
    assert value(hexadecimal) == value(decimal)


@pytest.mark.parametrize(
    "infinite",
    [
        "0x7F800000 : f32",
        "0xFFF0000000000000 : f64",
        "dense<[0x7F800000, 0x7FC00000, 0xFF800000]> : tensor<3xf32>",
        "dense<0x7C00> : tensor<2xf16>",
        "array<f64: 0x7FF0000000000000>",
    ],
)
def test_infinities_round_trip(infinite: str) -> None:
    once = value(infinite)
    assert value(once) == once and "0x" in once.lower()


@pytest.mark.parametrize(
    "wrong",
    [
        "-0x3F800000 : f32",
        "0x13F800000 : f32",
        "1 : f32",
        "dense<-0x3F800000> : tensor<1xf32>",
        "dense<0x13C00> : tensor<1xf16>",
        "dense<[1, 2]> : tensor<2xf32>",
        "dense<true> : tensor<1xf32>",
        "dense<[1.0]> : tensor<2xf32>",
        "dense<300> : tensor<1xi8>",
        'dense<"0x00"> : tensor<2xf32>',
        'dense<"0x0g"> : tensor<1xi8>',
        "array<f32: 0x13F800000>",
        "array<f32: 1>",
        "1.0 : i32",
    ],
)
def test_literals_that_do_not_fit_their_type_are_refused(wrong: str) -> None:
    refusal(f"module attributes {{a = {wrong}}} {{}}")


def test_aliases_may_be_defined_at_the_end() -> None:
    printed = text_of(
        "llvm.func @f(%a: !t) attributes {x = #one} {\n  llvm.return loc(#here)\n}\n"
        '#here = loc(fused<"pass">[#there, callsite("g" at "x.c":9:1)])\n#there = loc("x.c":3:1 to 4:9)\n'
        "// #one = 2\n#one = 1 : i32\n!t = i64\n"
    )
    assert 'loc(fused["x.c":3:1, callsite("g" at "x.c":9:1)])' in printed
    assert "(%a: i64" in printed and "x = 1 : i32" in printed


@pytest.mark.parametrize(
    ("aliases", "said"),
    [
        ("", "undefined symbol alias '#a'"),
        ("#a = [#a]", "undefined symbol alias '#a'"),
        ("#a = [#b]\n#b = [#a]", "undefined symbol alias"),
        ("#a = 1\n#a = 2", "re-declaration of alias '#a'"),
        ("#a = ", "attribute"),
    ],
)
def test_aliases_that_are_not_defined_once(aliases: str, said: str) -> None:
    assert said in refusal(f"module attributes {{x = #a}} {{}}\n{aliases}\n")


def test_names_are_distinct_and_stay() -> None:
    names = ("a", "a_1", "a_0", "a_1_2", "a_1_1", "b_1_2", "b", "b_1", "b_2_2")
    lines = [f"  %{name} = arith.constant {i} : i32" for i, name in enumerate(names)]
    once = text_of("\n".join(("llvm.func @f() {", *lines, "  llvm.return", "}")))
    defined = [line.split()[0] for line in once.splitlines() if "constant" in line]
    assert len(set(defined)) == len(names)
    assert text_of(once) == once


def test_names_of_blocks_are_distinct() -> None:
    blocks = ("^a:", "^a_1:", "^a_1_2:", "^a_0:")
    body = "\n".join(f"{b}\n  cf.br {blocks[(i + 1) % 4][:-1]}" for i, b in enumerate(blocks))
    once = text_of(f"llvm.func @f() {{\n  cf.br ^a\n{body}\n}}")
    assert text_of(once) == once


_CLAUSES = (
    "async(%q : i32)",
    "dataOperands(%p : !llvm.ptr)",
    "if(%c)",
    "self(%c)",
    "num_gangs({%n : i32})",
)


def construct(clauses: str) -> str:
    return (
        "llvm.func @f(%x: !llvm.ptr, %c: i1, %q: i32, %n: i32) {\n"
        '  %p = acc.present varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "x"}\n'
        f"  acc.parallel {clauses} {{\n    acc.yield\n  }}\n  llvm.return\n}}"
    )


def test_clauses_are_read_in_any_order() -> None:
    orders = [construct(" ".join(order)) for order in list(permutations(_CLAUSES))[::7]]
    assert len({print_ir(parse_ir(make_context(), text, "t")) for text in orders}) == 1


@pytest.mark.parametrize("clauses", ["if(%c) if(%c)", "async async", "if(%c) gang", "if %c"])
def test_clauses_that_are_repeated_or_unknown_are_refused(clauses: str) -> None:
    refusal(construct(clauses))


def test_the_modifier_always() -> None:
    copy = (
        "llvm.func @f(%x: !llvm.ptr) {{\n  %a = acc.copyin varPtr(%x : !llvm.ptr) varType(f32) -> !llvm.ptr"
        ' {{name = "y", modifiers = #acc<data_clause_modifier {}>}}\n  llvm.return\n}}'
    )
    assert text_of(copy.format("readonly,always")) == text_of(
        copy.format("readonly,alwaysin,alwaysout")
    )
    assert "always" in refusal(copy.format("alway"))


def test_default_properties_in_the_generic_form() -> None:
    printed = text_of(
        "llvm.func @f(%x: i64, %p: !llvm.ptr) {\n"
        '  %a = "arith.trunci"(%x) <{overflowFlags = #arith.overflow<none>}> : (i64) -> i32\n'
        '  %b = "llvm.trunc"(%x) <{overflowFlags = 0 : i32}> : (i64) -> i32\n'
        '  %c = "llvm.trunc"(%x) <{overflowFlags = 3 : i32}> : (i64) -> i32\n'
        '  %d = "llvm.load"(%p) <{ordering = 0 : i64, volatile_}> : (!llvm.ptr) -> i32\n'
        "  llvm.return\n}"
    )
    assert "%a = arith.trunci %x : i64 to i32" in printed
    assert "%b = llvm.trunc %x : i64 to i32" in printed
    assert "overflow<nsw,nuw>" in printed and "accx.volatile" in printed


def test_gpu_operations_in_their_own_syntax() -> None:
    printed = text_of(
        "module attributes {gpu.container_module} {\n"
        "  llvm.func @main(%q: i64, %n: i32, %p: !llvm.ptr) {\n"
        "    gpu.launch_func <%q : i64> @k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n) : i32"
        " dynamic_shared_memory_size %n args(%p : !llvm.ptr) {accx.site = 0 : i32}\n"
        "    llvm.return\n  }\n"
        "  gpu.module @k {\n"
        "    gpu.func @f(%a: !llvm.ptr {llvm.noalias}) kernel"
        " attributes {gpu.known_block_size = array<i32: 1, 1, 1>} {\n"
        "      %x = gpu.thread_id x upper_bound 8\n      %y = gpu.grid_dim  y\n"
        "      gpu.barrier\n      gpu.return\n"
        "    }\n  }\n}"
    )
    assert text_of(printed) == printed
    assert "kernel = @k::@f" in printed and "arg_attrs = [{llvm.noalias}]" in printed
    assert "#gpu<dim x>" in printed and "gpu.kernel" in printed


@pytest.mark.parametrize(
    "form",
    [
        "gpu.module @k <#gpu.x> {\n}",
        "gpu.module @k {\n gpu.func @f() workgroup(%a : memref<1xi32>) kernel {\n gpu.return\n }\n}",
        "gpu.module @k {\n gpu.func @f() {\n %x = gpu.thread_id w\n gpu.return\n }\n}",
        "func.func @f() {\n return\n}",
        "llvm.func @f(%p: !llvm.ptr) {\n memref.store %p\n}",
    ],
)
def test_forms_that_are_not_supported_are_refused(form: str) -> None:
    refusal(form)


_USES = "llvm.func @f(%c: i1, %x: i32) -> i32 {{\n{}\n}}\n{}"


@pytest.mark.parametrize(
    "body",
    [
        "  %b = arith.addi %a, %x : i32\n  %a = arith.addi %x, %x : i32\n  llvm.return %b : i32",
        "  %a = arith.addi %a, %x : i32\n  llvm.return %a : i32",
        "  scf.if %c {\n    %a = arith.addi %x, %x : i32\n  }\n  llvm.return %a : i32",
        "cf.cond_br %c, ^l, ^r\n^l:\n%a = arith.addi %x, %x : i32\ncf.br ^r\n^r:\nllvm.return %a : i32",
        "%r = scf.if %c -> (i32) {\nscf.yield %r : i32\n} else {\nscf.yield %x : i32\n}\n"
        "llvm.return %r : i32",
    ],
)
def test_values_that_are_not_defined_on_every_path(body: str) -> None:
    assert "not defined" in refusal(_USES.format(body, ""))


@pytest.mark.parametrize(
    "body",
    [
        "%a = arith.addi %x, %x : i32\nscf.if %c {\n%b = arith.addi %a, %x : i32\n}\nllvm.return %a : i32",
        "  cf.br ^l\n^r:\n  llvm.return %a : i32\n^l:\n  %a = arith.addi %x, %x : i32\n  cf.br ^r",
        "llvm.return %x : i32\n^no:\nllvm.return %a : i32\n^nor:\n%a = arith.addi %x, %x : i32\ncf.br ^no",
    ],
)
def test_values_that_are_defined_on_every_path(body: str) -> None:
    assert text_of(_USES.format(body, ""))


def test_values_and_symbols_of_other_functions() -> None:
    body = "  llvm.return %x : i32"
    other = "llvm.func @g() {\n  %y = arith.addi %z, %z : i32\n  llvm.return\n}\n%z = arith.constant 1 : i32"
    assert "where it is not defined" in refusal(_USES.format(body, other))
    assert "'@f' is defined twice" in refusal(_USES.format(body, "llvm.func @f()"))


@pytest.mark.parametrize("target", ["host", "sim"])
def test_loops_count_as_the_dialect_says(target: str, tmp_path: Path) -> None:
    path = tmp_path / "loops.mlir"
    path.write_text(loop_ranges.program())
    done = commands.run(["accrun", f"--target={target}", str(path)])
    assert done.returncode == 0, f"{done.returncode} loops are wrong: {done.stderr}"


def test_a_step_of_zero_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "loops.mlir"
    path.write_text(
        loop_ranges.program().replace("llvm.mlir.constant(3 :", "llvm.mlir.constant(0 :", 1)
    )
    done = commands.run(["accrun", "--target=host", str(path)])
    assert done.returncode == 1 and "its step is positive, not 0" in done.stderr
