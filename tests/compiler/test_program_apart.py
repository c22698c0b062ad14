"""Programs with directives, compiled in groups of files: which files need each other, what stays the same."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from accopt.compiler import executable, files_apart, irgen
from accopt.compiler.api import compile_files
from accopt.compiler.backend.jit import compile_host
from accopt.compiler.backend.module_parts import is_joined, parts, ptx_parts
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c.file_groups import FileUse, groups, use_of
from accopt.compiler.c.program import load_program
from accopt.compiler.executable import build
from accopt.compiler.program_apart import with_sites_from
from accopt.runtime.errors import AccRuntimeError

OPTIONS = CompileOptions(target="host", opt_level=1)
LOOP = "#pragma acc parallel loop\nfor (int i = 0; i < 9; i++) "

PAIRS = {
    "a construct calls it": (
        f"float f(float); void k(float *x) {{ {LOOP} x[i] = f(x[i]); }}",
        "float f(float x) { return x; }",
        True,
    ),
    "a function beside the constructs calls it": (
        f"float f(float); float h(void) {{ return f(1); }} void k(float *x) {{ {LOOP} x[i] = 1; }}",
        "float f(float x) { return x; }",
        False,
    ),
    "a function with a construct calls it": (
        f"void f(float *); void k(float *x) {{ f(x); {LOOP} x[i] = 1; }}",
        "void f(float *x) { *x = 2; }",
        True,
    ),
    "a function that is called beside a construct calls it": (
        f"void f(float *); void g(float *x) {{ f(x); }} void k(float *x) {{ g(x); {LOOP} x[i] = 1; }}",
        "void f(float *x) { *x = 2; }",
        True,
    ),
    "what a function with a construct calls has constructs": (
        f"void f(float *); void k(float *x) {{ f(x); {LOOP} x[i] = 1; }}",
        f"void f(float *x) {{ {LOOP} x[i] = 2; }}",
        False,
    ),
    "its address is passed beside a construct": (
        f"void f(void); void g(void *); void k(float *x) {{ g(f); {LOOP} x[i] = 1; }}",
        "void f(void) { }",
        True,
    ),
    "a construct names its variable": (
        f"extern float v[9]; void k(void) {{ {LOOP} v[i] = 1; }}",
        "float v[9];",
        True,
    ),
    "it names a construct's variable": (
        f"float v[9]; void k(void) {{ {LOOP} v[i] = 1; }}",
        "extern float v[9]; float *f(void) { return v; }",
        True,
    ),
    "it begins a variable with a construct's variable": (
        f"float v[9]; void k(void) {{ {LOOP} v[i] = 1; }}",
        "extern float v[9]; float *p = v;",
        True,
    ),
    "only a clause names its variable": (
        "extern float v[9]; void k(void) {\n#pragma acc update device(v)\n}",
        "float v[9];",
        True,
    ),
    "a function beside the constructs names its variable": (
        f"extern float v[9]; float h(void) {{ return v[1]; }} void k(float *x) {{ {LOOP} x[i] = 1; }}",
        "float v[9];",
        False,
    ),
    "a directive declares its variable": (
        "extern float v[9];\n#pragma acc declare create(v)\n",
        "float v[9];",
        True,
    ),
    "only here is it a routine": (
        "#pragma acc routine seq\nfloat f(float);\n",
        "float f(float x) { return x; }",
        True,
    ),
    "only there is it a routine": (
        "float f(float); float h(void) { return f(1); }",
        "#pragma acc routine seq nohost\nfloat f(float x) { return x; }",
        True,
    ),
    "a header makes it a routine": (
        '#include "r.h"\nfloat h(void) { return f(1); }',
        '#include "r.h"\nfloat f(float x) { return x; }',
        False,
    ),
    "its static function has the same name": (
        f"static float f(float x) {{ return x; }} void k(float *x) {{ {LOOP} x[i] = f(1); }}",
        "static float f(float x) { return 2 * x; } float h(void) { return f(1); }",
        False,
    ),
    "a device function is bound to it": (
        "#pragma acc routine seq bind(f)\nfloat g(float x);\nfloat g(float x) { return x; }",
        "float f(float x) { return 2 * x; }",
        True,
    ),
    "both call the C library": (
        f"#include <stdio.h>\nvoid k(float *x) {{ {LOOP} x[i] = 1; puts(\"\"); }}",
        '#include <stdio.h>\nvoid f(void) { puts(""); }',
        False,
    ),
}  # fmt: skip


def uses(folder: Path, *texts: str) -> list[FileUse]:
    (folder / "r.h").write_text("#pragma acc routine seq\nfloat f(float x);\n")
    paths = [folder / f"{index}.c" for index in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text + "\n")
    return [use_of(unit) for unit in load_program(paths, None, DiagnosticSink())]


@pytest.mark.parametrize("case", PAIRS)
def test_files_that_passes_read_together(case: str, tmp_path: Path) -> None:
    one, other, together = PAIRS[case]
    for texts in ((one, other), (other, one)):
        found = uses(tmp_path, *texts)
        assert [FileUse.from_plain(use.to_plain()) for use in found] == found
        assert groups(found) == ([[0, 1]] if together else [[0], [1]])


def test_groups_follow_calls_through_files(tmp_path: Path) -> None:
    chain = [f"void f{i + 1}(void); void f{i}(void) {{ f{i + 1}(); }}" for i in range(4)]
    texts = ["int alone;", *chain, f"void k(float *x) {{ f1(); {LOOP} x[i] = 1; }} void f1(void);"]
    assert groups(uses(tmp_path, *texts)) == [[0], [1], [2, 3, 4, 5]]


COMMON = """
extern void fill(double *x, int n, double v);
double total(const double *x, int n), scaled(double *x, int n, double by), result(void);
int absent(double *x);
"""
FILES = {
    "fill": """
static void set(double *x, int n, double v) {
  #pragma acc parallel loop present(x[0:n]) async(1)
  for (int i = 0; i < n; i++) x[i] = v + i;
}
void fill(double *x, int n, double v) {
  #pragma acc data copyout(x[0:n])
  { set(x, n, v);
  #pragma acc wait(1)
  }
}
""",
    "sums": """

static void set(double *x, int n, double v) {
  #pragma acc parallel loop present(x[0:n]) num_gangs(7)
  for (int i = 0; i < n; i++) x[i] *= v;
}
double total(const double *x, int n) {
  double s = 0, t = 0;
  #pragma acc parallel loop copyin(x[0:n]) reduction(+:s) num_gangs(5)
  for (int i = 0; i < n; i++) s += x[i];
  #pragma acc parallel loop copyin(x[0:n]) reduction(max:t)
  for (int i = 0; i < n; i++) t = x[i] > t ? x[i] : t;
  return s + t;
}
double scaled(double *x, int n, double by) {
  #pragma acc enter data copyin(x[0:n])
  set(x, n, by);
  #pragma acc update self(x[1:n-1])
  #pragma acc exit data delete(x[0:n])
  return x[0] + x[n - 1];
}
int absent(double *x) {
  int k = 0;
  #pragma acc parallel loop present(x[0:9]) copy(k)
  for (int i = 0; i < 9; i++) x[i] = 0;
  return k;
}
""",
    "main": """
int turns;
double result(void) {
  double x[500], s = 0;
  for (int k = 0; k < 3; k++) {
    fill(x, 500, turns++);
    s = s * 3 + total(x, 500);
    s = s * 5 + scaled(x, 500, 1.5);
  }
  return s + turns;
}
""",
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path]]:
    """Writes the files, with other text behind theirs; they are worth being compiled one by one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(files_apart, "_WORTH_IT", 0)

    def write(**more: str) -> list[Path]:
        for name, text in FILES.items():
            (tmp_path / f"{name}.c").write_text(COMMON + text + more.get(name, ""))
        return [tmp_path / f"{name}.c" for name in FILES]

    return write


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(executable, "may_be_apart", lambda *_: False)


def test_groups_are_the_program(
    program: Callable[..., list[Path]], whole: Callable[[], None], monkeypatch: pytest.MonkeyPatch
):
    def result() -> float:
        with compile_files(paths, OPTIONS) as loaded:
            return loaded.function("result", ctypes.c_double)()

    paths = program()
    assert len(parts(build(paths, OPTIONS, DiagnosticSink()).host_ir)) == 3
    apart = result()
    monkeypatch.setenv("XDG_CACHE_HOME", str(paths[0].parent / "other"))
    whole()
    assert not is_joined(build(paths, OPTIONS, DiagnosticSink()).host_ir)
    assert apart == result() > 1e6


@pytest.mark.parametrize("order", [("fill", "sums", "main"), ("sums", "main", "fill")])
def test_errors_name_the_place_in_any_group(
    order: tuple[str, ...], program: Callable[..., list[Path]]
):
    folder = program()[0].parent
    with compile_files([folder / f"{name}.c" for name in order], OPTIONS) as loaded:
        function = loaded.function("absent", ctypes.c_int, (ctypes.c_void_p,))
        with pytest.raises(AccRuntimeError) as found:
            function((ctypes.c_double * 9)())
    line = (COMMON + FILES["sums"]).splitlines().index("int absent(double *x) {") + 3
    assert re.search(rf"sums.c:{line}\b.*'x'", found.value.render())


def entries(ptx: str) -> dict[str, str]:
    """The kernels of PTX modules, without the numbers of labels and the mark of their file."""
    found: dict[str, str] = {}
    for module in ptx_parts(ptx):
        for text in re.split(r"^(?=\.visible \.entry )", module, flags=re.MULTILINE)[1:]:
            text = re.sub(r"(?s)\n}\n.*", "\n}\n", text)
            text = re.sub(r"(?<=\bset)(_f[0-9a-f]{12}|_1)(?=_\d+_kernel)", "", text)
            name = re.sub(r"\W.*", "", text.removeprefix(".visible .entry "))
            found[name] = re.sub(r"(?<=__BB)\d+|(?<=__local_depot)\d+", "", text)
    return found


def test_kernels_are_those_of_the_whole_program(
    program: Callable[..., list[Path]], whole: Callable[[], None]
):
    options = replace(OPTIONS, target="nvptx")
    paths = program()
    apart = build(paths, options, DiagnosticSink(), cached=False)
    whole()
    together = build(paths, options, DiagnosticSink(), cached=False)
    assert len(ptx_parts(apart.ptx)) == 2 and len(ptx_parts(together.ptx)) == 1
    assert entries(apart.ptx) == entries(together.ptx) and len(entries(apart.ptx)) == 5
    assert len(apart.sites) == len(together.sites)


def test_copies_between_devices_concern_all_constructs(program: Callable[..., list[Path]]):
    routine = "#include <openacc.h>\nvoid pass(double *x) { acc_memcpy_d2d(x, x + 8, 64, 0, 1); }\n"
    directive = """void pass(double *x) {
#pragma acc update peer to(x[0:8]) to_device(1) from(x[0:8]) from_device(0)
}
"""
    header = (
        "#include <openacc.h>\nint devices(void) { return acc_get_num_devices(acc_device_host); }\n"
    )
    for text, apart in ((routine, False), (directive, False), (header, True)):
        found = build(program(main=text), OPTIONS, DiagnosticSink())
        assert is_joined(found.host_ir) is apart


def test_an_edit_compiles_its_group(
    program: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    generated: list[list[str]] = []

    def watched(units, *args, generate=irgen.generate_module, **more):
        generated.append([Path(unit.file).stem for unit in units])
        return generate(units, *args, **more)

    monkeypatch.setattr(irgen, "generate_module", watched)
    build(program(), OPTIONS, DiagnosticSink())
    assert generated == [["fill"], ["sums"], ["main"]]
    edited = build(program(main="int more(void) { return 5; }\n"), OPTIONS, DiagnosticSink())
    assert generated[3:] == [["main"]] and "@more(" in parts(edited.host_ir)[2]
    build(program(main="extern double grid[9]; double *all = grid;\n"), OPTIONS, DiagnosticSink())
    grid = "double grid[9];\nvoid clear(void) {\n#pragma acc update device(grid)\n}\n"
    kept = len(generated)
    build(
        program(fill=grid, main="extern double grid[9]; double *all = grid;\n"),
        OPTIONS,
        DiagnosticSink(),
    )
    assert generated[kept:] == [["fill", "main"]]


def test_any_file_may_choose_the_host(program: Callable[..., list[Path]]):
    chooses = "void choose(void) {\n#pragma acc set device_type(host)\n}\n"
    options = replace(OPTIONS, target="nvptx")
    plain = build(program(), options, DiagnosticSink())
    free = build(program(main=chooses), options, DiagnosticSink())
    assert "__accopt_on_host" not in plain.host_ir
    assert [("__accopt_on_host" in part) for part in parts(free.host_ir)] == [True, True, False]


def test_mistakes_are_those_of_the_whole_program(program: Callable[..., list[Path]]):
    bad = f"void worse(double *x) {{ {LOOP} x[i] = total(x, 9); }}\n"
    with pytest.raises(CompileError, match="'total'"):
        build(program(main=bad), OPTIONS, DiagnosticSink())


def test_openmp_and_its_runtime(program: Callable[..., list[Path]]):
    text = """
#include <omp.h>
int threads(void) {
  int n = 0;
  #pragma omp parallel num_threads(2) reduction(+:n)
  n += omp_get_num_threads();
  return n;
}
"""
    options = replace(OPTIONS, openmp=True)
    paths = program(main=text)
    assert len(parts(build(paths, options, DiagnosticSink()).host_ir)) == 4
    with compile_files(paths, options) as loaded:
        assert loaded.function("threads", ctypes.c_int)() == 4


def test_pieces_of_one_module_are_not_named_by_others(
    program: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("accopt.compiler.backend.host_pieces._WORTH_IT", 0)
    ir = build(program(), OPTIONS, DiagnosticSink()).host_ir
    symbols = compile_host(ir, 1, None).symbols
    assert len(symbols) == 3 and all(name.endswith("_host") for name in symbols)


def test_sites_are_numbered_on():
    call = "  call void @__accopt_launch(i32 {}, ptr %l)\n  %s = call ptr @__accopt_scratch(i32 {}, i64 8)\n"
    assert with_sites_from(call.format(0, 7), 5) == call.format(5, 12)
    assert with_sites_from(call.format(-1, 7), 5) == call.format(-1, 12)
    assert with_sites_from(call.format(0, "%n"), 0) == call.format(0, "%n")
    assert with_sites_from(call.format(0, "%n"), 5) is None
