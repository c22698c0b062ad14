"""Large modules in parts: programs mean what they mean whole, and an edit changes one part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from accopt.compiler.backend import host_parts, jit
from accopt.compiler.backend.cache import DiskCache
from accopt.compiler.backend.host_parts import parted
from accopt.compiler.backend.jit import HostProgram
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build

OPTIONS = CompileOptions(target="host", opt_level=2)
PROGRAM = r"""
int printf(const char *, ...), strcmp(const char *, const char *);
struct node { struct node *next; int value; };
typedef int step(int);
static int count = 3, shared[4] = { 1, 2, 3, 4 };
int visible = 7;
static const char *const names[] = { "one@printf", "thread_local two@", "one@printf" };
static const int squares[] = { 0, 1, 4, 9, 16 };
static int small(int x) { return x * 3 + count; }
static int other_small(int x) { return small(x) - squares[x & 3]; }
static int recursive(int n) { return n < 2 ? 1 : recursive(n - 1) + shared[n & 3]; }
static step *const table[] = { small, other_small, recursive };
static int by_jumps(int x) {
  static void *const places[] = { &&a, &&b, &&c };
  goto *places[x % 3];
a: return 10;
b: return 20 + count;
c: return 30;
}
static int counter(void) { static int calls; count++; return ++calls; }
int strlen_of(const char *s) { int n = 0; while (s[n]) n++; return n; }
static struct node *push(struct node *list, struct node *to) { to->next = list; return to; }
static int total(const struct node *list) { return list ? list->value + total(list->next) : 0; }
static double real(double x) { return x > 0 ? x / 3 : visible; }
"""
CALLERS = r"""
int caller{k}(int x) {{
  static int turns = 1;
  struct node a = {{ 0, x }}, b = {{ 0, {k} }};
  shared[{k} & 3] += x;
  visible += by_jumps(x + {k});
  int s = turns++ * counter() + small(x) + other_small({k}) + table[{k} % 3](x);
  s += total(push(push(0, &a), &b));
  s += strlen_of(names[{k} % 3]) + (names[0] == names[2]) * 0 + (table[0] == small) + (int)real(x - {k});
  return s + strcmp(names[1], "text {k}") * 0 + strlen_of("text {k}");
}}
"""
COUNT = 24
MAIN = (
    "int main(void) { int s = 0;\n"
    + "".join(f"s = s * 3 + caller{k}(s % 7 + {k});\n" for k in range(COUNT))
    + 'printf("%d %d %d\\n", s, count, visible); return s & 127; }\n'
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, size in {"WORTH_IT": 0, "LEAST": 2000, "MOST": 8000, "SMALL": 400}.items():
        monkeypatch.setattr(host_parts, name, size)
    yield


def _ir(folder: Path, *, edited: str = "", with_: str = "") -> str:
    callers = "".join(CALLERS.format(k=k) for k in range(COUNT))
    text = (
        PROGRAM + with_ + callers.replace(*edited.split("→"))
        if edited
        else PROGRAM + with_ + callers
    )
    path = folder / "prog.c"
    path.write_text(text + MAIN)
    return build([path], OPTIONS, DiagnosticSink(), cached=False).host_ir


def test_a_program_in_parts_means_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ir = _ir(tmp_path)
    texts = parted(ir)
    assert len(texts) > 4
    assert any("available_externally" in text for text in texts)
    status = HostProgram(ir).run_main(["prog"])
    said = capfd.readouterr().out
    host_parts.WORTH_IT = 1 << 60
    assert HostProgram(ir).run_main(["prog"]) == status
    assert capfd.readouterr().out == said and said


@pytest.mark.parametrize(
    "expression",
    [
        'strlen_of("new")',
        "({ static int times; ++times; })",
        "(int){ 3 } + *(int[]){ 1, 2 }",
    ],
)
def test_an_edit_changes_its_part(tmp_path: Path, expression: str) -> None:
    """Also one that adds strings and variables in front of others."""
    static = '\nint late(void) { static int times; return ++times + strlen_of("late"); }\n'
    before = parted(_ir(tmp_path, with_=static))
    edit = f"(int)real(x - 9)→(int)real(x - 9) + {expression}"
    after = parted(_ir(tmp_path, edited=edit))
    # A second one where the function's length moves the end of its part.
    assert 1 <= len(set(after) - set(before)) <= 2 < len(after) / 2


def test_each_part_is_a_module_with_what_it_names(tmp_path: Path) -> None:
    texts = parted(_ir(tmp_path))
    defined: list[str] = []
    for text in texts:
        context = llvm.create_context()
        with llvm.parse_assembly(text, context) as module:
            module.verify()
        defined += re.findall(
            r"^define (?:hidden )?(?!available|internal)[^@\n]*@([\w.]+)\(", text, re.M
        )
        defined += re.findall(r"^@([\w.]+) = (?:hidden )?(?:global|constant)", text, re.M)
    assert len(defined) == len(set(defined)), "each name of the program is defined once"
    assert {"count.own", "visible", "recursive.own", "caller0"} <= set(defined)


@pytest.mark.parametrize(
    "more",
    [
        "__attribute__((weak)) int weak_one(void) { return 1; }",
        'static int hidden_name(void) { return 1; }\nvoid a(void) { asm volatile ("# hidden_name"); }',
    ],
)
def test_what_is_not_understood_stays_whole(tmp_path: Path, more: str) -> None:
    ir = _ir(tmp_path, with_=more)
    assert parted(ir) == [ir]


def test_what_parts_there_are_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program starts without being taken apart again, also after an entry of the cache has gone."""
    monkeypatch.setattr(jit, "WORTH_IT", 0)
    ir, cache, times = _ir(tmp_path), DiskCache(tmp_path / "objects"), 0

    def counted(text: str) -> list[str]:
        nonlocal times
        times += 1
        return parted(text)

    monkeypatch.setattr(jit, "parted", counted)
    first = jit.compile_host(ir, 1, cache)
    assert len(first.objects) > 4 and times == 1
    assert jit.has_host(ir, 1, cache)
    assert jit.compile_host(ir, 1, cache) == first and times == 1
    sizes = {path: path.stat().st_size for path in cache.folder.iterdir()}
    max(sizes, key=lambda path: sizes[path]).unlink()
    assert jit.compile_host(ir, 1, cache) == first and times == 2
