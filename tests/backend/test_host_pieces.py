"""Host code in pieces: what is one, that its instructions are those of the whole module, how it is kept."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
from accopt.compiler.backend import host_objects, host_pieces, host_processes, jit
from accopt.compiler.backend.cache import DiskCache
from accopt.compiler.backend.elf import STT_FUNC, ElfFile
from accopt.compiler.backend.host_code import object_code
from accopt.compiler.backend.host_pieces import split
from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.backend.module_text import with_own_types
from accopt.compiler.base.diagnostics import CompileError

KERNEL = """define void @{name}(i64 %begin, i64 %end, ptr %args) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %pairs = getelementptr %pair, ptr %args, i64 0
  %a = getelementptr double, ptr %pairs, i64 %i
  %x = load double, ptr %a, !tbaa !{tbaa}
  %y = call double @cos(double %x)
  %z = fadd double %y, {constant}
  store double %z, ptr %a, !tbaa !{tbaa}
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done, !llvm.loop !{loop}
done:
  ret void
}}
"""
REST = """%pair = type { double, double }
@counter = global i32 1, align 4
@elsewhere = external global i32
declare double @cos(double)
declare i32 @puts(ptr)
define internal i32 @helper(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
define i32 @caller(i32 %x) {
  %y = call i32 @helper(i32 %x)
  ret i32 %y
}
define i32 @counts() {
  %y = load i32, ptr @counter
  ret i32 %y
}
define i32 @leaf(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
define ptr @of_leaf() {
  ret ptr @leaf
}
"""
METADATA = """!{0} = !{{!"double", !{1}, i64 0}}
!{1} = !{{!"C"}}
!{2} = !{{!{0}, !{0}, i64 0}}
!{3} = distinct !{{!{3}, !{4}}}
!{4} = !{{!"llvm.loop.mustprogress"}}
"""


def module(*constants: str, line: int = 7, first: int = 0) -> str:
    """A program with a kernel for each constant, from a line on, and metadata from a number on."""
    kernels = [
        KERNEL.format(name=f"f_{line + n}_host", tbaa=first + 2, loop=first + 3, constant=constant)
        for n, constant in enumerate(constants)
    ]
    return REST + "".join(kernels) + METADATA.format(*range(first, first + 5))


@pytest.fixture(autouse=True)
def _small_modules_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_pieces, "_WORTH_IT", 0)


def test_kernels_are_pieces_and_what_is_shared_is_not() -> None:
    found = split(module("1.0", "2.0"))
    assert [piece.name for piece in found.pieces] == ["f_7_host", "f_8_host"]
    assert all(f"@{name}(" in found.rest for name in ("caller", "counts", "leaf", "of_leaf"))
    assert "_host" not in found.rest
    assert "@puts" not in found.pieces[0].text and "@counter" not in found.pieces[0].text


def functions(code: bytes) -> dict[str, bytes]:
    elf = ElfFile(code, "t.o")
    return {
        s.name: elf.contents(elf.sections[s.section])[s.value : s.value + s.size]
        for s in elf.symbols
        if s.type == STT_FUNC
    }


def test_the_instructions_are_those_of_the_whole_module() -> None:
    whole = functions(object_code(module("1.0", "2.0"), 3))
    found = split(module("1.0", "2.0"))
    for piece in found.pieces:
        assert functions(object_code(piece.text, 3)) == {piece.symbol: whole.pop(piece.name)}
    assert functions(object_code(found.rest, 3)) == whole


def test_a_piece_is_the_same_wherever_it_stands() -> None:
    (first, _), (_, moved) = (
        split(text).pieces
        for text in (module("1.0", "2.0"), module("3.0", "1.0", line=90, first=8))
    )
    assert (first.symbol, first.text) == (moved.symbol, moved.text)
    assert first.name != moved.name


def test_a_piece_is_the_same_among_other_types() -> None:
    """Types of one name are numbered by the files before, as are unnamed structures."""
    moved = re.sub(r"%pair\b", "%pair.1", module("1.0"))
    others = "%pair = type { i8 }\n%around = type { %pair.1, %pair }\n"
    (first,), (other,) = (
        split(module("1.0")).pieces,
        split(others + moved).pieces,
    )
    assert (first.symbol, first.text) == (other.symbol, other.text)
    larger = moved.replace("type { double, double }", "type { double, float }")
    assert split(others + larger).pieces[0].symbol != first.symbol


def test_types_are_named_in_the_order_of_use() -> None:
    types = {"b": "{ %a, i8 }", "a": "{ i32 }", '"a b"': "opaque", "unused": "{ %b }"}
    text, lines = with_own_types('@x = constant c"%a %b"\n%v = %"a b" %b %a.c', types)
    assert text == '@x = constant c"%a %b"\n%v = %type.0 %type.1 %a.c'
    assert lines == [
        "%type.0 = type opaque",
        "%type.1 = type { %type.2, i8 }",
        "%type.2 = type { i32 }",
    ]
    assert with_own_types("%type.0 %a", {"a": "i8"}) == ("%type.0 %a", ["%a = type i8"])


@pytest.mark.parametrize("line", ['module asm "nop"', "$c = comdat any"])
def test_unknown_lines_leave_a_module_whole(line: str) -> None:
    assert split(f"{line}\n" + module("1.0")).pieces == ()


def test_an_edit_of_a_kernel_compiles_that_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path)
    jit.compile_host(module("1.0", "2.0", "2.0"), 1, cache)
    compiled: list[str] = []

    def watched(text: str, level: object) -> bytes:
        compiled.append(text)
        return object_code(text, 1)

    monkeypatch.setattr(host_objects, "object_code", watched)
    code = jit.compile_host(module("1.0", "5.0", "2.0", line=20), 1, cache)
    assert len(compiled) == 1 and "5.0" in compiled[0]
    assert len(code.objects) == 4 and jit.has_host(module("1.0", "5.0", "2.0"), 1, cache)


@pytest.mark.parametrize("whole", [False, True])
def test_functions_are_found_by_their_names(tmp_path: Path, whole: bool) -> None:
    text = module("1.0", "2.0", "2.0")
    program = HostProgram(text, opt_level=1, cache=None if whole else DiskCache(tmp_path))
    for name, added in (("f_7_host", 1.0), ("f_8_host", 2.0), ("f_9_host", 2.0)):
        values = (ctypes.c_double * 3)(0.0, 0.0, 0.0)
        types = ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
        program.function(name, None, *types)(1, 3, ctypes.addressof(values))
        assert list(values) == [0.0, 1.0 + added, 1.0 + added]
    assert program.function("caller", ctypes.c_int, ctypes.c_int)(4) == 5


def test_other_processes_compile_a_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_processes, "_WORTH_A_PROCESS", 10)
    monkeypatch.setattr(host_processes, "usable_processors", lambda: 2)
    compiled: list[str] = []

    def watched(text: str, level: object) -> bytes:
        compiled.append(text)
        return object_code(text, 1)

    monkeypatch.setattr(host_objects, "object_code", watched)
    text = module("1.0", "2.0", "3.0")
    found = jit.compile_host(text, 1, DiskCache(tmp_path))
    assert len(found.objects) == 4 and 0 < len(compiled) < 4
    monkeypatch.setattr(host_processes, "usable_processors", lambda: 1)
    assert jit.compile_host(text, 1, DiskCache(tmp_path / "alone")) == found


def test_a_piece_that_llvm_refuses_leaves_the_module_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(text: str, level: object) -> bytes:
        if "@helper" not in text:
            raise CompileError(())
        return object_code(text, 1)

    monkeypatch.setattr(host_objects, "object_code", refusing)
    code = jit.compile_host(module("1.0", "2.0"), 1, DiskCache(tmp_path))
    assert len(code.objects) == 1 and not code.symbols
    assert {"f_7_host", "f_8_host", "caller"} <= functions(code.objects[0]).keys()
