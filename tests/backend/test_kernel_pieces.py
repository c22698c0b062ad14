"""Kernels compiled one by one, by several processes or from the cache: the PTX of the module as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from accopt.compiler.backend import kernel_processes, ptx
from accopt.compiler.backend.cache import DiskCache
from accopt.compiler.backend.kernel_pieces import join, split, take_apart
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage

LOOP = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) "
KERNELS = (
    "{ a[i] *= 2; }",
    "{ for (int k = 0; k < n; k++) a[i] += k & i ? 1.5 : a[k]; }",
    "{ double t[99]; for (int k = 0; k < 99; k++) t[k] = a[i] * k; a[i] = t[i % 99]; }",
    "{ if (a[i] > 0) a[i] -= 1; else if (a[i] < -5) a[i] = 7; }",
    "{ for (int k = 0; k < i % 7; k++) for (int l = 0; l < k; l++) a[i] += l; }",
)


def device_ir(folder: Path, *bodies: str, before: str = "", first_line: int = 0) -> str:
    path = folder / "program.c"
    loops = "\n".join(LOOP + body for body in bodies)
    blank = "\n" * first_line
    path.write_text(f"{before}{blank}void f(int n, double *restrict a)\n{{\n{loops}\n}}\n")
    options = CompileOptions(target="nvptx")
    module = front_end([path], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options)
    return emit_text(module, "device-llvm", options)


def whole(text: str) -> str:
    return ptx.compile_kernels(text, 90, 78, 3)


@pytest.fixture(scope="module")
def ir(tmp_path_factory) -> str:
    return device_ir(tmp_path_factory.mktemp("ir"), *KERNELS)


@pytest.fixture
def compiled(monkeypatch) -> Iterator[list[int]]:
    """How many kernels each call of LLVM in this process gets."""
    calls: list[int] = []
    real = ptx.compile_kernels

    def watched(text: str, *more) -> str:
        calls.append(text.count("define ptx_kernel"))
        return real(text, *more)

    monkeypatch.setattr(ptx, "compile_kernels", watched)
    yield calls


def test_pieces_are_joined_to_the_same_text(ir: str):
    module = split(ir)
    assert module is not None and len(module.pieces) == len(KERNELS)
    pieces = module.pieces
    text = whole(ir)
    assert "$L__BB3_" in text and "__local_depot2" in text
    apart = take_apart(text, pieces)
    assert apart is not None and not any(p.name in kernel for p in pieces for kernel in apart[1])
    assert join(apart[0], pieces, apart[1]) == text
    assert take_apart(text, pieces[:-1]) is None
    assert take_apart(text.replace("$L__BB3_", "$L__BB2_"), pieces) is None


@pytest.mark.parametrize("processes", [1, 2])
def test_the_ptx_is_that_of_the_whole_module(ir: str, processes: int, monkeypatch, compiled):
    monkeypatch.setattr(kernel_processes, "_WORTH_A_PROCESS", 1000)
    monkeypatch.setattr(kernel_processes, "usable_processors", lambda: processes)
    text = ptx.emit_ptx(ir)
    assert len(compiled) == 1 and (compiled[0] == len(KERNELS)) is (processes == 1)
    assert text == whole(ir)


PLAIN = (
    '%asm = call i32 asm sideeffect "mov.b32 $0, $1;", "=r,r"(i32 7)',
    '%asm = call i32 asm sideeffect "mov.u32 $0, %laneid;", "=r"()',
    '%asm = call i32 asm "add.s32 $0, $1, -7;", "=r,r"(i32 7)',
    'call void asm sideeffect "fence.proxy.async.shared::cta;", ""()',
)
NAMES = (
    'call void asm sideeffect "{ .reg .b32 r; mov.b32 r, 7; }", ""()',
    'call void asm sideeffect "call f_6_kernel;", ""()',
    'call void asm sideeffect "again: bra again;", ""()',
)


def with_assembly(ir: str, text: str) -> str:
    """Each kernel begins with it."""
    return re.sub(
        r"^(define [^\n]*\n\w+:\n)", lambda m: f"{m[1]}  {text}\n", ir, flags=re.MULTILINE
    )


@pytest.mark.parametrize("text", PLAIN)
def test_single_instructions_of_assembly_share_nothing(ir: str, text: str, tmp_path: Path):
    changed = with_assembly(ir, text)
    module = split(changed)
    assert module is not None and len(module.pieces) == len(KERNELS)
    assert changed.count(text) == len(KERNELS)
    cache = DiskCache(tmp_path / "ptx")
    kernel_processes.compile_pieces(module, [1, 3], ("kind",), whole, cache)
    assert ptx.emit_ptx(changed) == whole(changed)


@pytest.mark.parametrize("text", NAMES)
def test_other_assembly_stays_together(ir: str, text: str):
    changed = with_assembly(ir, text)
    assert text in changed and split(changed) is None


SUM = (
    "a[i]++;\n{\ndouble s = 0;\n#pragma acc parallel loop reduction(+:s) copyin(a[0:n])\n"
    "for (int i = 0; i < n; i++) s += a[i] * FACTOR;\na[0] = s;\n}"
)


def test_each_kernel_has_its_shared_variables(tmp_path: Path, monkeypatch, compiled):
    monkeypatch.setattr(kernel_processes, "_WORTH_A_PROCESS", 1000)
    monkeypatch.setattr(kernel_processes, "usable_processors", lambda: 2)
    sums = [SUM.replace("FACTOR", factor) for factor in ("2", "i", "a[0]")]
    ir = device_ir(tmp_path, *sums)
    module = split(ir)
    assert module is not None and sum(len(piece.variables) for piece in module.pieces) >= 3
    cache = DiskCache(tmp_path / "ptx")
    text = ptx.emit_ptx(ir, cache=cache)
    assert text == whole(ir) and text.count("has been demoted") >= 3
    compiled.clear()
    moved = device_ir(tmp_path, KERNELS[0], *reversed(sums), first_line=5)
    assert ptx.emit_ptx(moved, cache=cache) == whole(moved)
    assert compiled[0] == 1, "the kernel that is new"
    shared = ir.replace(*(sorted(module.pieces[i].variables)[0] for i in (1, 3)))
    assert split(shared) is None


@pytest.mark.parametrize("processes", [1, 2])
def test_equal_kernels_are_compiled_once(tmp_path: Path, processes: int, monkeypatch, compiled):
    monkeypatch.setattr(kernel_processes, "usable_processors", lambda: processes)
    sums = [SUM.replace("FACTOR", factor) for factor in ("2", "i")]
    ir = device_ir(tmp_path, sums[0], KERNELS[0], sums[0], sums[1], KERNELS[0], sums[0])
    text = ptx.emit_ptx(ir)
    different = len({piece.content for piece in split(ir).pieces})
    assert compiled == [different] and different < len(split(ir).pieces) - 2
    assert text == whole(ir)
    cache = DiskCache(tmp_path / "ptx")
    _, batches = kernel_processes.missing_pieces(ir, ("kind",), cache)
    assert sum(map(len, batches)) == different


def test_an_edit_compiles_one_kernel(ir: str, tmp_path: Path, compiled):
    cache = DiskCache(tmp_path / "ptx")
    ptx.emit_ptx(ir, cache=cache)
    edited = [*KERNELS[:2], KERNELS[2].replace("* k", "* k + 1"), *KERNELS[3:]]
    compiled.clear()
    text = device_ir(tmp_path, *edited, first_line=3)
    assert ptx.emit_ptx(text, cache=cache) == whole(text)
    assert compiled == [1, len(KERNELS)], "the edited kernel, and the comparison"
    compiled.clear()
    fewer = device_ir(tmp_path, KERNELS[4], KERNELS[0])
    assert ptx.emit_ptx(fewer, cache=cache) == whole(fewer) and compiled == [2]


def test_types_of_other_kernels_are_not_part_of_a_kernel(ir: str):
    more = f"%struct.anon = type {{ i8 }}\n{ir}"
    contents = [[piece.content for piece in split(text).pieces] for text in (ir, more)]
    assert contents[0] == contents[1]


def test_the_whole_module_is_kept_by_its_content(tmp_path: Path, compiled):
    shared = "double g(double x) { return x > 0 ? g(x - 1) : x; }\n"
    shared = f"struct pair {{ double x, y; }};\n#pragma acc routine seq\n{shared}"
    body = "{ struct pair p[3]; p[i % 3].y = a[i]; p[(i + 1) % 3].y = 1; a[i] = g(p[i % 2].y); }"
    text = device_ir(tmp_path, body, KERNELS[0], before=shared)
    assert split(text) is None and "%struct.pair" in text
    cache = DiskCache(tmp_path / "ptx")
    first = ptx.emit_ptx(text, cache=cache)
    renamed = text.replace("%struct.pair", "%struct.pair.1")
    renamed = renamed.replace("\n%", "\n%struct.pair = type { i8 }\n%", 1)
    compiled.clear()
    assert ptx.emit_ptx(renamed, cache=cache) == first == whole(text) and compiled == [2]


def test_processes_that_fail_are_replaced(ir: str, monkeypatch, compiled):
    monkeypatch.setattr(kernel_processes, "_WORTH_A_PROCESS", 1000)
    monkeypatch.setattr(kernel_processes, "usable_processors", lambda: 2)
    monkeypatch.setattr(ptx, "command_for", lambda *_: ["/bin/false"])
    assert ptx.emit_ptx(ir) == whole(ir)
    assert len(compiled) == 3


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("double g;\n#pragma acc declare create(g)\n", "{ a[i] += g; }"),
        (
            "#pragma acc routine seq\ndouble h(double x, int n)\n"
            "{ return n < 2 ? x : h(x * 2, n - 1) + h(x, n - 2); }\n",
            "{ a[i] = h(a[i], i); }",
        ),
        ("#include <math.h>\n", "{ a[i] = sin(a[i]); }"),
        ("#include <stdio.h>\n", '{ if (a[i] < 0) printf("%d\\n", i); }'),
    ],
    ids=["global", "routine", "library", "text"],
)
def test_kernels_that_share_something_stay_together(before: str, body: str, tmp_path: Path):
    assert split(device_ir(tmp_path, KERNELS[0], body, body, before=before)) is None
