"""Files compiled one by one: which programs are, that they mean the same, what an edit compiles."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from accopt.compiler import files_apart
from accopt.compiler.api import compile_files
from accopt.compiler.backend.cache import DiskCache
from accopt.compiler.backend.foreign_objects import ForeignObject
from accopt.compiler.backend.jit import compile_host, compile_program, exported_names
from accopt.compiler.backend.module_parts import is_joined, linked, parts
from accopt.compiler.backend.symbols import declared_names
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c import sema
from accopt.compiler.c.preprocess import PreprocessedSource
from accopt.compiler.executable import build
from accopt.runtime.errors import ProgramFault

OPTIONS = CompileOptions(target="host", opt_level=1)
COMMON = """
#include <stdlib.h>
struct pair { float x, y; };
struct big { double v[5]; int k; };
extern int turns, (*const table[2])(int);
struct pair swapped(struct pair p, int k);
struct big grown(const struct big *a, struct big b);
int even(int), odd(int), kept(int), result(void), small(int);
"""
FILES = {
    "a": """
struct own { struct { int q; } in; };
static int count = 3;
static int step(int x) { static int calls; calls++; return x + count++ + calls; }
int turns = 2, (*const table[2])(int) = { even, odd };
int small(int x) { return x * 3 + turns; }
int even(int x) { struct own o = { { x } }; return x <= 0 ? step(o.in.q) : odd(x - 1) * 3; }
struct pair swapped(struct pair p, int k) {
  struct pair r = { p.y + k, p.x };
  return k > 0 ? swapped(r, k - 1) : r;
}
""",
    "b": """
struct own { struct { double q, r; } in; };
static int count = 40;
static int step(int x) { static int calls; calls += 2; return x - count-- + calls; }
int odd(int x) { struct own o = { { x, 1 } }; return x <= 0 ? step(o.in.q + o.in.r) : even(x - 1) + 1; }
struct big grown(const struct big *a, struct big b) {
  for (int k = 0; k < 5; k++) b.v[k] += a->v[4 - k];
  return ++b.k < turns ? grown(a, b) : b;
}
""",
    "c": """
int kept(int n) {
  int *p = malloc(n * sizeof *p), s = p[0] + p[n - 1];
  p[1] = n;
  s += p[1];
  free(p);
  return s;
}
int result(void) {
  struct pair (*f)(struct pair, int) = swapped, p = f((struct pair){ 1, 2 }, 3);
  struct big a = { { 1, 2, 3, 4, 5 }, 0 }, b = grown(&a, a);
  int s = p.x * 10 + p.y + b.v[0] * 100 + kept(100) * 7;
  for (int k = 0; k < 4; k++, turns++) s = s * 5 % 10007 + table[k & 1](k + turns);
  return s;
}
int *nowhere;
int fault(int i) {
  int s = small(i);
  s += *nowhere;
  return s;
}
""",
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path]]:
    """Writes the files, with other text in place of theirs or behind it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(files_apart, "_WORTH_IT", 0)

    def write(**more: str) -> list[Path]:
        for name, text in FILES.items():
            (tmp_path / f"{name}.c").write_text(COMMON + text + more.get(name, ""))
        return [tmp_path / f"{name}.c" for name in FILES]

    return write


def host_ir(paths: list[Path], options: CompileOptions = OPTIONS) -> str:
    return build(paths, options, DiagnosticSink()).host_ir


def test_files_apart_are_the_program(
    program: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    paths = program()
    apart = host_ir(paths)
    assert len(parts(apart)) == 3
    assert not declared_names(apart).count("even") and {"even", "result"} <= {
        *exported_names(apart)
    }
    one = ForeignObject("all files", compile_program(apart, 1))
    assert {"even", "odd", "result", "swapped"} <= one.defined and "even" not in one.undefined
    results = [compile_files(paths, OPTIONS).function("result", ctypes.c_int)()]
    monkeypatch.setattr("accopt.compiler.executable.may_be_apart", lambda *_: False)
    assert not is_joined(build(paths, OPTIONS, DiagnosticSink(), cached=False).host_ir)
    (paths[0].parent / "other").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(paths[0].parent / "other"))
    results.append(compile_files(paths, OPTIONS).function("result", ctypes.c_int)())
    assert results[0] == results[1] != 0


def test_modules_that_cannot_be_linked_are_refused():
    one = "define i32 @f() {\n  ret i32 1\n}\n"
    for other, what in ((one, "multiply defined"), ("define", "expected type")):
        with pytest.raises(CompileError, match=what):
            linked([one, other])


def test_an_edit_compiles_one_file(program: Callable[..., list[Path]], tmp_path: Path):
    def entries() -> set[str]:
        return {p.name for p in (tmp_path / "cache" / "accopt" / "host").iterdir()}

    def compiled(paths: list[Path]) -> list[str]:
        text = host_ir(paths)
        compile_host(text, 1, DiskCache.default("host"))
        return parts(text)

    first = compiled(program())
    kept = entries()
    second = compiled(program(b="int more(void) { return 5; }\n"))
    assert [a == b for a, b in zip(first, second, strict=True)] == [True, False, True]
    assert len(kept) == 3 and len(entries() - kept) == 1


@pytest.mark.parametrize(
    "name, more",
    [
        ("b", "void *malloc(size_t n) { static char m[1000]; return m; }\n"),
        ("b", "int weak(void) __attribute__((weak)); int weak(void) { return 0; }\n"),
        ("b", "__attribute__((constructor)) void before(void) { turns = 7; }\n"),
        ("c", "int turns;\n"),
        ("c", "extern unsigned char late; int is_late(void) { return late; }\n"),
        ("c", "_Thread_local int own; int *mine(void) { return &own; }\n"),
        ("b", "long strtol(const char *s, char **e, int b) { return 5; }\n"),
    ],
)
def test_files_that_need_each_other_stay_together(
    program: Callable[..., list[Path]], name: str, more: str
):
    late = "char late;\n" if "late" in more else ""
    assert not is_joined(host_ir(program(**{"a": late, name: more})))


def test_passes_of_the_users_see_the_whole_program(program: Callable[..., list[Path]]):
    options = replace(OPTIONS, added_passes=("nvvm:lower-scf-to-cf",))
    assert not is_joined(host_ir(program(), options))


def test_helpers_compile_no_file_of_a_program_with_directives(program: Callable[..., list[Path]]):
    assert files_apart.seem_plain(program())
    assert not files_apart.seem_plain(program(b="#  pragma  acc routine\nvoid late(void);\n"))


def test_what_is_wrong_with_a_file_is_said_once(
    program: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    sink = DiagnosticSink()
    paths = program(c="int *lost(void) { int x = 1; return &x; }\n")
    build(paths, OPTIONS, sink)
    texts = [d.message for d in sink.diagnostics]
    assert len(texts) == 1 and re.search("x", texts[0])
    again = DiagnosticSink()
    build(paths, OPTIONS, again)
    assert again.diagnostics == sink.diagnostics


def test_a_mistake_in_a_file_needs_no_other_one(
    program: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
):
    odd = "int strange(void) { return 1 / 0; }\n"
    build(program(a=odd), OPTIONS, DiagnosticSink())
    checked: list[str] = []

    def watched(source: PreprocessedSource, *args, check=sema.check_translation_unit):
        checked.append(Path(source.file).stem)
        return check(source, *args)

    monkeypatch.setattr(sema, "check_translation_unit", watched)
    wrong = {name: f"int {name}_wrong(void) {{ return no_{name}; }}\n" for name in "bc"}
    mistakes: list[object] = []
    for at_once in (True, False):
        sink = DiagnosticSink()
        with pytest.raises(CompileError) as found:
            build(program(a=odd, **wrong), OPTIONS, sink)
        mistakes.append((found.value.diagnostics, sink.diagnostics))
        assert checked == (["b", "c"] if at_once else ["b", "c", "b", "c"])
        monkeypatch.setattr("accopt.compiler.executable.may_be_apart", lambda *_: False)
    assert mistakes[0] == mistakes[1]
    assert [d.loc.file[-3:] for d in found.value.diagnostics] == ["b.c", "c.c"] and sink.diagnostics


def test_one_file_twice_is_an_error(program: Callable[..., list[Path]]):
    paths = program()
    with pytest.raises(CompileError, match="defined in two files"):
        build([*paths, paths[0]], OPTIONS, DiagnosticSink())


def test_faults_have_their_lines(program: Callable[..., list[Path]]):
    paths = program()
    line = (COMMON + FILES["c"]).splitlines().index("  s += *nowhere;") + 1
    options = replace(OPTIONS, opt_level=2)  # one module would have 'small' inside of 'fault'
    fault = compile_files(paths, options).function("fault", ctypes.c_int, (ctypes.c_int,))
    with pytest.raises(ProgramFault, match=f"c.c:{line}:"):
        fault(3)
