"""IR from files: what cannot be read is an error at its place, in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, Diagnostic, SourceLoc, error
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.ir.reading import parse_ir, read_ir_text
from accopt.dialects.accx import IR_VERSION
from tools import commands


def mistake(text: str) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        parse_ir(make_context(), text, "t.mlir")
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("count", [1, 30, 3000])
def test_strings_that_are_not_closed(count: int) -> None:
    found = mistake('// "\nmodule {}\nllvm.mlir.global @s("' + "ab \\0A" * count + ")\n\n")
    assert "does not end" in found.message
    assert (found.loc.line, found.loc.column) == (3, 21)


def test_quotes_in_strings_and_comments_are_no_ends() -> None:
    parse_ir(
        make_context(),
        '// it\'s "so\nmodule attributes {a = "x\\"y // z", b = "\\\\"} {} // "',
        "t.mlir",
    )


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.mlir"
    path.write_bytes(b"module {\n// \xff\n}\n")
    with pytest.raises(CompileError) as caught:
        read_ir_text(path)
    (found,) = caught.value.diagnostics
    assert "0xff is not UTF-8" in found.message and (found.loc.line, found.loc.column) == (2, 4)


@pytest.mark.parametrize(
    "text",
    [
        "acc.parallel { acc.yield }",
        "%p = llvm.mlir.zero : !llvm.ptr\n%q = acc.present varPtr(%p : !llvm.ptr) varType(f32) -> !llvm.ptr",
        "%p = llvm.mlir.zero : !llvm.ptr\n%x = llvm.load %p : !llvm.ptr -> f32",
    ],
)
def test_operations_outside_of_functions(text: str) -> None:
    assert "is not in a function" in mistake(text).message


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ("accx.version = 1 : i32", "saved in version 1 of its form"),
        ('accx.version = 1 : i32, accx.stage = "data"', "saved in version 1 of its form"),
        ('accx.stage = "data"', "saved in a version before versions were numbered"),
        ("accx.version = 99 : i32", f"this compiler reads version {IR_VERSION}"),
    ],
)
def test_ir_of_another_version_is_refused(attributes: str, said: str) -> None:
    with pytest.raises(CompileError, match=said):
        parse_ir(make_context(), f"module attributes {{{attributes}}} {{}}", "old.mlir")


@pytest.mark.parametrize("attributes", ["", f"attributes {{accx.version = {IR_VERSION} : i32}}"])
def test_ir_of_this_version_and_by_hand_is_read(attributes: str) -> None:
    parse_ir(make_context(), f"module {attributes} {{}}", "new.mlir")


_UNUSED_LOOKUP = """llvm.func @main(%a: !llvm.ptr) {
  %d = acc.getdeviceptr varPtr(%a : !llvm.ptr) varType(i32) -> !llvm.ptr {name = "a"}
  acc.parallel dataOperands(%d : !llvm.ptr) {
    acc.yield
  }
  llvm.return
}
"""
_CONSTRUCTOR = """acc.global_ctor @made {
  acc.terminator
}
"""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (_UNUSED_LOOKUP, 2, "acc.getdeviceptr is no operand of acc.exit_data"),
        (_CONSTRUCTOR, 1, "'acc.global_ctor' has no LLVM IR form"),
    ],
)
def test_passes_name_places_of_ir_without_locations(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    (tmp_path / "t.mlir").write_text(text)
    done = commands.run(["accopt", "t.mlir", "--target=host", "--emit=llvm"], cwd=tmp_path)
    assert done.returncode == 1
    assert f"t.mlir:{line}:" in done.stderr and said in done.stderr


def test_ir_without_locations_is_printed_without_them() -> None:
    module = parse_ir(make_context(), "llvm.func @f() {\n  llvm.return\n}\n", "t.mlir")
    assert "t.mlir" not in print_ir(module, debug_info=True)
    (function,) = module.body.ops
    assert SourceLoc.from_attr(function.location).line == 0
    assert error(SourceLoc.from_attr(function.location), "x").diagnostics[0].loc.line == 1
