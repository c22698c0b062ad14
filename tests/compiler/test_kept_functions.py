"""Functions whose code is kept: an edit gives what compiling the whole file gives, and compiles little."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from accopt.compiler import files_apart, kept_functions
from accopt.compiler.backend.module_parts import is_joined
from accopt.compiler.base import diagnostics
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c.function_texts import file_text
from accopt.compiler.executable import build
from accopt.compiler.kept_functions import KeptFunctions

CONFORMANCE = sorted((Path(__file__).parent.parent / "conformance").glob("*.c"))
PROGRAM = """
#include <math.h>
#include <stdio.h>
#include <string.h>
typedef float real;
struct pair { int first; real second; };
typedef struct { double low, high; } range;
enum { LENGTH = 40 };
static int calls, depth = 2, limit = LENGTH;
static double table[LENGTH];
double total;
extern int elsewhere(const char *text);
double scaled(int k);
int loose();

static int counted(int k)
{
  calls += k;
  return calls * depth;
}
static real shifted(const struct pair *p, int k)
{
  const char *name = "shifted";
  struct pair copy = *p;
  copy.second += sqrtf(k) + strlen(name);
  return copy.second * copy.first;
}
static double width(range r)
{
  return r.high - r.low;
}
static int twice(int k)
{
  return k + k;
}
double scaled(int k)
{
  struct { int a; double b; } own = { k, 2.5 };
  range r = { own.b, k };
  return width(r) * twice(own.a) + table[k % LENGTH];
}
int said(int k)
{
  printf("said %d\\n", k);
  if (k = 3)
    puts("three");
  return elsewhere("said") + counted(k);
}
static void filled(int n, double *restrict out)
{
#pragma acc parallel loop copyout(out[0:n])
  for (int i = 0; i < n; i++)
    out[i] = i * 0.5 + table[i % LENGTH] + depth;
}
int remembered(void)
{
  static int count = 3;
  count += limit;
  return count;
}
static int declaring(void)
{
  int loose(float);
  return 2;
}
int calling(float x)
{
  return loose(x) + declaring();
}
static int *where(void)
{
  return &limit;
}
static double summed(int n)
{
  double s = 0;
  for (limit = 0; limit < n; limit++)
    s += table[limit] * total;
  return s;
}
int main(void)
{
  double out[LENGTH];
  struct pair p = { 3, 0.5f };
  filled(LENGTH, out);
  total = shifted(&p, counted(2)) + scaled(3) + summed(LENGTH) + out[7];
  printf("%g %d\\n", total + *where(), said(1) + remembered());
  return 0;
}
"""
NOTHING_KEPT = -1
EDITS = {
    "a constant": ("sqrtf(k)", "sqrtf(k + 1)", 4),
    "two functions": ("calls * depth;\n}", "calls - depth;\n}\n", 5),
    "lines above": ("static int counted", "/* a\n   b */\n\nstatic int counted", 5),
    "lines in a function": ("  const char *name", "\n\n\n  const char *name", 4),
    "a construct": ("i * 0.5", "i * 0.25", 5),
    "a second construct": ("  calls += k;", "#pragma acc parallel loop\n  for (int i = 0; i < k; i++)"
                           " table[i] = i;\n  calls += k;", 5),
    "no construct": ("#pragma acc parallel loop copyout(out[0:n])", "", 6),
    "a call from a construct": ("+ depth;", "+ depth + twice(i);", 4),
    "a typedef": ("typedef float real", "typedef double real", NOTHING_KEPT),
    "a member": ("int first;", "int zeroth, first;", NOTHING_KEPT),
    "a global's type": ("static int calls,", "static long calls;\nstatic int", NOTHING_KEPT),
    "a global's value": ("depth = 2", "depth = 3", NOTHING_KEPT),
    "an enumerator": ("LENGTH = 40", "LENGTH = 50", NOTHING_KEPT),
    "a prototype": ("extern int elsewhere(const", "extern long elsewhere(const", NOTHING_KEPT),
    "a parameter": ("static int counted(int k)", "static int counted(long k)", NOTHING_KEPT),
    "a new function": ("static double width", "int more(void)\n{\n  return 1;\n}\nstatic double width",
                       NOTHING_KEPT),
    "a routine": ("static double width", "#pragma acc routine seq\nstatic double width", NOTHING_KEPT),
    "no static": ("static double summed", "double summed", NOTHING_KEPT),
    "an address": ("calls += k;", "int *c = &depth;\n  calls += *c;", NOTHING_KEPT),
    "no address": ("return &limit;", "return 0;", NOTHING_KEPT),
    "a static variable": ("  calls += k;", "  static int count;\n  calls += k + count++;", 5),
    "a message": ("double s = 0;", "double s = 0;\n  if (n = 3) s++;", 4),
    "no message": ("if (k = 3)", "if (k == 3)", 5),
    "another string": ('"shifted"', '"said"', 4),
    "another library function": ("sqrtf(k)", "cosf(k)", 4),
    "a declaration in a body": ("  calls += k;", "  extern int others;\n  calls += k + others;", 5),
    "beside a declaration in a body": ("loose(x)", "loose(x + 1)", 4),
    "an undeclared function": ("  calls += k;", "  calls += undeclared(k);", 5),
    "a union": ("  calls += k;", "  union { int i; float f; } u = { k };\n  calls += u.f;", NOTHING_KEPT),
    "a mistake": ("calls * depth;", "calls * dept;", NOTHING_KEPT),
    "an unclosed brace": ("  calls += k;", "  {\n  calls += k;", NOTHING_KEPT),
}  # fmt: skip
"""What is replaced in `PROGRAM`, by what, and how many functions are not compiled again."""

Result = tuple[object, ...]


Compile = Callable[..., tuple[Result, int]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cache, `kept`, in which `PROGRAM` has been compiled for the host."""
    folder = tmp_path_factory.mktemp("program")
    with pytest.MonkeyPatch.context() as patch:
        compile_with(patch, folder, [])(PROGRAM, "kept")
    return folder


@pytest.fixture
def compiled(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """
    Compiles a text in the cache of a name: the program with its messages, and the number of functions that
    were left out. `PROGRAM` has been compiled in the cache `kept`.
    """
    shutil.copytree(folder / "kept", tmp_path / "kept")
    return compile_with(monkeypatch, folder, [], tmp_path)


def compile_with(
    patch: pytest.MonkeyPatch, folder: Path, left: list[int], caches: Path | None = None
) -> Compile:
    patch.setattr(kept_functions, "_WORTH_IT", 0)
    keep = KeptFunctions.keep

    def watched(functions: KeptFunctions, messages: Sequence[diagnostics.Diagnostic]) -> None:
        left.append(len(functions.left_out) or NOTHING_KEPT)
        keep(functions, messages)

    def compile_text(
        text: str | Path, cache: str, target: str = "host", *others: Path
    ) -> tuple[Result, int]:
        patch.setenv("XDG_CACHE_HOME", str((caches or folder) / cache))
        path = text if isinstance(text, Path) else folder / "program.c"
        if isinstance(text, str):
            path.write_text(text)
        sink = DiagnosticSink()
        options = CompileOptions(target=target, opt_level=1, wall=True)  # pyright: ignore[reportArgumentType]
        left[:] = [NOTHING_KEPT]
        try:
            made = build([path, *others], options, sink, cached=False)
        except CompileError as e:
            return (e.diagnostics, sink.diagnostics), NOTHING_KEPT
        return (made.host_ir, made.ptx, made.sites, sink.diagnostics), max(left)

    patch.setattr(KeptFunctions, "keep", watched)
    return compile_text


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.sampled(3)
def test_an_edit_gives_what_the_whole_file_gives(edit: str, compiled: Compile) -> None:
    old, new, expected = EDITS[edit]
    edited = PROGRAM.replace(old, new)
    assert edited != PROGRAM
    found, left_out = compiled(edited, "kept")
    assert found == compiled(edited, "empty")[0]
    assert left_out == expected


SHARED = """
#include <openacc.h>
#include <stdio.h>
#define N 40
struct state { double now; int steps; };
extern double field[N];
extern struct state state;
double norm(int n);
int report(const char *name);
static inline double half(double x)
{
  return x *
    0.5;
}
"""
FILES = {
    "first.c": SHARED + """
double field[N];
struct state state;
static int calls;
static int helper(int k)
{
  return k + calls;
}
static void line(int k) { printf("%d\\n", helper(k)); }
int counted(void)
{
  static int count = 3, *last = &calls;
  static const char *names[] = { "one", "two" };
  count += *last;
  return count + names[count & 1][0];
}
int numbered(void)
{
  static int count;
  static struct state old = { 1.5, 2 };
  old.steps++;
  return count++ + (int)old.now * old.steps + acc_get_num_devices(acc_device_default);
}
static void scale(double by)
{
#pragma acc parallel loop copy(field)
  for (int i = 0; i < N; i++)
    field[i] *= by + state.steps;
  line(2);
}
static double direct(int k)
{
  double *p = &field[k];
  return half(*p) + helper(k);
}
int main(void)
{
  calls = report("main");
  scale(2);
  printf("%g %d %d %g\\n", norm(N), counted(), numbered(), direct(3));
  return 0;
}
""",
    "second.c": SHARED + """
static int calls = 2;
static int helper(int k)
{
  return k * calls;
}
static int (*const kinds[])(int) = { helper };
double norm(int n)
{
  static int count;
  double s = 0;
  count++;
#pragma acc parallel loop reduction(+:s)
  for (int i = 0; i < n; i++)
    s += field[i] * field[i];
  return s + kinds[0](count);
}
int report(const char *name)
{
  static int count;
  printf("%s %d\\n", name, count++);
  return count;
}
double mean(int n)
{
  double s = state.now;
  for (int i = 0; i < n; i++)
    s += half(field[i]);
  return s / n;
}
int quiet(int k)
{
  return k < 0 ? -k
               : k;
}
""",
}  # fmt: skip
FILE_EDITS = {
    "a static variable's value": ("first.c", "old = { 1.5, 2 }", "old = { 1.5, 3 }"),
    "another static variable": ("first.c", "static int count;", "static int count, times;"),
    "a name that two files have": ("first.c", "return k + calls;", "return k - calls;"),
    "the same name in the other file": ("second.c", "return k * calls;", "return k - calls;"),
    "a callback before all functions": ("second.c", "static int count;\n  printf",
                                        "static int count, (*f)(int) = helper;\n  f(1);\n  printf"),
    "a construct's function on one line": ("first.c", "helper(k)); }", "helper(k) + quiet(k)); }"),
    "a function that a construct calls": ("first.c", "by + state.steps", "half(by) + state.steps"),
    "a pointer to a mapped array": ("second.c", "return k < 0 ? -k",
                                    "double *p = field;\n  return k < 0 ? -p[0]"),
    "a static pointer to a mapped array": ("second.c", "return k < 0 ? -k",
                                           "static double *p = field;\n  return k < 0 ? -p[k]"),
    "a quiet function": ("second.c", ": k;", ": k + 1;"),
    "a routine of the runtime": ("first.c", "acc_get_num_devices(acc_device_default)",
                                 "acc_get_device_type()"),
    "the host as a device": ("second.c", "  count++;", "  acc_set_device_type(acc_device_host);\n  count++;"),
    "copies between devices": ("second.c", "  return count;",
                               "  acc_memcpy_d2d(field, field, 8, 0, 0);\n  return count;"),
    "a type": ("first.c", "int steps", "long steps"),
    "a global variable": ("second.c", "static int calls = 2", "static int calls = 3"),
    "a new function": ("second.c", "int quiet", "int helped(int k)\n{\n  return k;\n}\nint quiet"),
    "a mistake": ("second.c", ": k;", ": m;"),
    "a message": ("second.c", "s / n;", "s / (n = 2 ? n : 1);"),
}  # fmt: skip
"""A file of `FILES`, what is replaced there, and by what; `SHARED` is replaced in both."""
FILES_COMPILED = frozenset(
    (
        "a construct's function on one line",
        "a type",
        "a global variable",
        "a new function",
        "a mistake",
    )
)
"""The edits after which everything is compiled again."""


@pytest.mark.parametrize(
    ("target", "apart", "edits"),
    [
        ("host", False, [*FILE_EDITS]),
        ("host", True, [*FILE_EDITS][::2]),
        ("nvptx", True, [*FILE_EDITS][1::4]),
    ],
)
@pytest.mark.sampled(3)
def test_files_in_one_module(
    target: str,
    apart: bool,
    edits: Sequence[str],
    compiled: Compile,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(files_apart, "_WORTH_IT", 0 if apart else 1 << 30)
    alone = "third.c", "int alone(int k) { return k; }\n"

    def build_with(edit: str | None, cache: str) -> tuple[Result, int]:
        for name, text in (*FILES.items(), alone):
            if edit is not None:
                file, old, new = FILE_EDITS[edit]
                text = text.replace(old, new) if file == name or old in SHARED else text
            (tmp_path / name).write_text(text)
        return compiled(
            tmp_path / "first.c", cache, target, *(tmp_path / n for n in ("second.c", "third.c"))
        )

    build_with(None, "kept")
    shutil.copytree(tmp_path / "kept", tmp_path / "before")
    left_out: dict[str, int] = {}
    for number, edit in enumerate(edits):
        shutil.rmtree(tmp_path / "kept")
        shutil.copytree(tmp_path / "before", tmp_path / "kept")
        found, left_out[edit] = build_with(edit, "kept")
        assert found == build_with(edit, f"empty{number}")[0], edit
    of_all = {edit for edit, number in left_out.items() if number == NOTHING_KEPT}
    assert of_all == FILES_COMPILED.union(["copies between devices"] if apart else []).intersection(
        edits
    )


RECORDS = """
struct part { long a[5]; };
struct whole { struct part parts[2]; char end; };
typedef struct { double x, y, z; } point;
struct whole elsewhere(point p, int k);
extern struct whole shared;
extern point points[];
long first(int k)
{
  return shared.parts[k].a[1] + (long)points[k].y;
}
long second(int k)
{
  point p = { k, 2, 3 };
  struct whole w = elsewhere(p, k);
  return w.parts[1].a[k];
}
"""


@pytest.mark.parametrize("edit", [("[k].y", "[k].z"), ("2, 3", "4, 5")])
def test_types_of_declarations(edit: tuple[str, str], compiled: Compile) -> None:
    for text in (RECORDS, RECORDS.replace(*edit)):
        found, left_out = compiled(text, "kept")
        assert found == compiled(text, "empty")[0]
        llvm.parse_assembly(str(found[0])).verify()
    assert left_out == 1


@pytest.mark.sampled(2)
def test_edits_one_after_another(compiled: Compile) -> None:
    rng = random.Random(5)
    of_bodies = [edit for edit, (_, _, kept) in EDITS.items() if kept != NOTHING_KEPT]
    text, total = PROGRAM, 0
    for step in range(12):
        edit = rng.choice(["a global's value", "no address"] if step % 5 == 4 else of_bodies)
        old, new, _ = EDITS[edit]
        text = text.replace(new, old) if new and new in text else text.replace(old, new)
        found, left_out = compiled(text, "kept")
        assert found == compiled(text, f"empty{step}")[0], (step, edit)
        total += max(left_out, 0)
    assert total > 12


def test_functions_are_found_by_their_heads() -> None:
    text = file_text(
        """# 1 "a.c"
int (*f(int k))(void)
{
  return 0;
}
struct s __attribute__((packed))
{
  int a;
};
int a[] =
{ 1 };
static int g(a, b) int a; char b;
{
  return '{';
}
# 40 "a.h"
int h(const char *s)
{ /* " */
  return s == "}\\"}";
# 50 "other.h"
}
# 30 "a.c"
int twice(void)
{
  return 1;
}
int k(int (*p)(int),
      int n)
{
  return p(n);
}
int twice(void)
{
  return 2;
}
""".replace('/* " */', "")
    )
    assert [*text.functions] == ["h", "k"]
    assert text.lines("a.c") == {"k": ("a.c", 33, 38)}
    for left_out in ([], ["h"], ["h", "k"]):
        rest = text.without(left_out, lambda _: ())
        assert rest.count("\n") == text.text.count("\n")
        assert file_text(rest).outline == text.outline


def test_a_gpu_program(compiled: Compile) -> None:
    edited = PROGRAM.replace("sqrtf(k)", "sqrtf(k + 1)")
    compiled(PROGRAM, "kept", "nvptx")
    found, left_out = compiled(edited, "kept", "nvptx")
    assert found == compiled(edited, "empty", "nvptx")[0]
    assert left_out == 4


@pytest.mark.parametrize("edit", [e for e, (_, _, kept) in EDITS.items() if kept > 0])
@pytest.mark.sampled(2)
def test_a_file_of_a_large_program(
    edit: str, compiled: Compile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(files_apart, "_WORTH_IT", 0)
    other = tmp_path / "other.c"
    other.write_text(
        "int others;\nint elsewhere(const char *s) { return *s; }\nint loose(float x) { return x; }\n"
        "int undeclared(int k) { return k; }\n"
    )
    old, new, expected = EDITS[edit]
    compiled(PROGRAM, "kept", "host", other)
    found, left_out = compiled(PROGRAM.replace(old, new), "kept", "host", other)
    assert is_joined(str(found[0]))
    assert found == compiled(PROGRAM.replace(old, new), "empty", "host", other)[0]
    assert left_out >= expected  # messages of the check are kept with the file


@pytest.mark.sampled(40)
@pytest.mark.parametrize("path", CONFORMANCE, ids=lambda path: path.stem)
def test_passes_read_nothing_of_functions_that_are_left_out(path: Path, compiled: Compile) -> None:
    first, _ = compiled(path, "kept")
    again, _ = compiled(path, "kept")
    assert again == first
