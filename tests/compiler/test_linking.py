"""
Programs of several files that do not declare their functions alike, as C linkers take them: what works
there works here, what cannot work is an error that names both places.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c.program import load_program
from accopt.compiler.drivers import accc_main, accrun_main
from accopt.compiler.irgen import generate_module
from tools import commands

DEFINITIONS = """
typedef enum { no, yes } answer;
struct pair { int a, b; };
int an_enum(answer x) { return x == yes; }
answer gives_enum(int x) { return x ? yes : no; }
int old(a, b) long b; char a; { return a + (int)b; }
double untyped_result(double *x) { return x[0]; }
long counts(long x) { return x * 2; }
int first(int *p) { return *p; }
void sets(int *p) { *p = 7; }
int sum(struct pair p) { return p.a * 10 + p.b; }
int few(int a, int b) { return a; }
char narrow(unsigned char c) { return c; }
#pragma acc routine seq
int on_device(unsigned x) { return x + 1; }
"""
CALLS = """
#include <stdio.h>
struct couple { int first, second; };
int an_enum(int);
int gives_enum();
int old();
double untyped_result();
int counts(int);
int first(void *);
int sets(int *);
int sum(struct couple);
int few();
int narrow(int);
#pragma acc routine seq
int on_device(int);
int main(void)
{
    int seven = 0, a[4];
    double x = 2.5;
    struct couple c = {4, 2};
    printf("%d %d ", an_enum(1), gives_enum(3));
    printf("%d ", old('a', 2L));
    printf("%g ", untyped_result(&x));
    printf("%d %d ", counts(-21), first(&c));
    sets(&seven);
    implicit(&seven);
    printf("%d %d %d %d ", seven, sum(c), few(5), few(6, 7, 8));
    printf("%d", narrow(300));
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 4; i++)
        a[i] = on_device(i);
    printf(" %d\\n", a[3]);
    return 0;
}
"""
IMPLICIT = "void implicit(int *p) { *p += 1; }\n"
EXPECTED = "1 1 99 2.5 -42 4 8 42 5 6 44 4\n"


def write(folder: Path, *texts: str) -> list[Path]:
    paths = [folder / f"{name}.c" for name in "abc"[: len(texts)]]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


@pytest.mark.parametrize("target", ["host", "sim"])
def test_calls_through_other_declarations(tmp_path: Path, target: str) -> None:
    paths = write(tmp_path, CALLS, DEFINITIONS, IMPLICIT)
    command = ["accrun", f"--target={target}", *paths]
    done = commands.run(command, timeout=120)
    assert done.stdout == EXPECTED
    for name in ("an_enum", "gives_enum", "counts", "first", "sets", "sum", "narrow", "on_device"):
        assert f"warning: '{name}' is" in done.stderr
    assert "too few arguments to 'few': it takes 2, 1 given" in done.stderr
    assert "too many arguments to 'few': it takes 2, 3 given" in done.stderr
    assert "b.c" in done.stderr


@pytest.mark.parametrize(
    ("call", "definition", "message"),
    [
        (
            "void f(int); int main(void) { f(1); return 0; }",
            "void f(double x) { }",
            "argument 1 of 'f' is 'int' here and 'double' in its definition",
        ),
        (
            "void f(); int main(void) { f(1.0f); return 0; }",
            "void f(float x) { }",
            "argument 1 of 'f' is 'double' here and 'float' in its definition",
        ),
        (
            "void f(); int main(void) { int x; f(&x); return 0; }",
            "void f(int x) { }",
            "argument 1 of 'f' is 'int *' here and 'int' in its definition",
        ),
        (
            "struct s { int x; }; void f(struct s); int main(void) { struct s v = {1}; f(v); return 0; }",
            "struct s { int x[8]; }; void f(struct s v) { }",
            "argument 1 of 'f' is 'struct s' here and 'struct s' in its definition",
        ),
        (
            "int f(void); int main(void) { return f(); }",
            "void f(void) { }",
            "'f' returns 'void', and 'int' is expected here",
        ),
        (
            "int main(void) { return f() != 0; }",
            "char *f(void) { return 0; }",
            "'f' returns 'char *', and 'int' is expected here",
        ),
        (
            "double f(void); int main(void) { double x = f(); return x > 0; }",
            "float f(void) { return 1; }",
            "'f' returns 'float', and 'double' is expected here",
        ),
    ],
)
def test_calls_that_cannot_work(tmp_path: Path, call: str, definition: str, message: str) -> None:
    sink = DiagnosticSink()
    units = load_program(write(tmp_path, call, definition), None, sink)
    with pytest.raises(CompileError) as caught:
        generate_module(units, sink)
    (d,) = caught.value.diagnostics
    assert d.message == message and d.remedy
    assert d.loc.file.endswith("a.c") and d.notes[0][0].file.endswith("b.c")


def test_unused_results_may_be_anything(tmp_path: Path) -> None:
    call = "int f(int); char *g(int); int main(void) { f(1); (void)g(1); return 0; }"
    paths = write(tmp_path, call, "double f(int x) { return x; } void g(int x) { }")
    sink = DiagnosticSink()
    generate_module(load_program(paths, None, sink), sink)
    assert [d.message.split()[0] for d in sink.diagnostics] == ["'f'", "'g'"]


UNDEFINED = """
extern int nowhere;
double sqrt(double);
static int unused(void) { return never_called(); }
static int used(void) { return missing(1); }
int acc_get_num_devices(int);
int main(int argc, char **argv)
{
    int *p = argc > 3 ? &nowhere : 0;
    if (0)
        dead_code();
    return p != 0 || (argc > 5 && used()) || sqrt(argc) + acc_get_num_devices(2) < 0;
}
"""


def test_undefined_references(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """All that is used and that nobody defines, with its place; what Python has loaded is no definition."""
    (path,) = write(tmp_path, UNDEFINED.replace("sqrt", "PyErr_Print"))
    program = tmp_path / "program"
    assert accc_main.main(["--target=host", str(path), "-o", str(program)]) == 1
    errors = [line for line in capfd.readouterr().err.splitlines() if "error:" in line]
    assert [line.partition("a.c:")[2] for line in errors] == [
        "5:32: error: undefined reference to 'missing'",
        "9:26: error: undefined reference to 'nowhere'",
        "12:46: error: undefined reference to 'PyErr_Print'",
    ]
    assert not program.exists()
    assert accrun_main.main(["--target=host", str(path)]) == 1
    assert "5:32: error: undefined reference to 'missing'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("hidden", "remedy"),
    [
        (
            "static int f(void) { return 1; } int g(void) { return f(); }",
            "b.c defines it as 'static'",
        ),
        ("inline int f(void) { return 1; }", "b.c defines it as 'inline', for itself"),
    ],
)
def test_definitions_that_others_cannot_use(
    hidden: str, remedy: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, "int f(void); int main(void) { return f(); }", hidden)
    assert accc_main.main(["--target=host", *map(str, files), "-o", str(tmp_path / "p")]) == 1
    said = capfd.readouterr().err
    assert "a.c:1:38: error: undefined reference to 'f'" in said and remedy in said


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("-lm", "-lc", "-lgcc", "-lpthread", "-ldl"), 0, ""),
        (("-lno_such_library",), 1, "cannot find the library 'no_such_library'"),
        (("./libno_such.so",), 1, "cannot find the library"),
    ],
)
def test_libraries_at_link_time(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    (path,) = write(tmp_path, "int main(void) { return 0; }")
    command = ["--target=host", str(path), "-o", str(tmp_path / "program"), *arguments]
    assert accc_main.main(command) == status
    assert message in capfd.readouterr().err


def test_a_misspelled_function_is_warned_about_and_not_linked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (path,) = write(tmp_path, '#include <stdio.h>\nint main(void) { prinft("x"); return 0; }\n')
    assert accrun_main.main(["--target=host", str(path)]) == 1
    text = capfd.readouterr().err
    assert text.count("did you mean 'printf'?") == 2
    assert "warning: function 'prinft' is not declared" in text
    assert "error: undefined reference to 'prinft'" in text


def test_what_is_never_called_needs_no_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As other linkers see it: configurations by `if (HAS(x) && …)` name functions that do not exist."""
    source, program = tmp_path / "has.c", tmp_path / "has"
    source.write_text(
        "int nowhere(int);\n"
        'int main(int n, char **v) { int e = 1; if (e && sizeof "x" == 1) e = nowhere(n);\n'
        "    return n > WANTED ? nowhere(2) : e + 5; }\n"
    )
    command = ["--target=host", "-O1", str(source), "-o", str(program)]
    assert accc_main.main(["-DWANTED=n", *command]) == 0
    assert subprocess.run([str(program)], check=False).returncode == 6
    assert accc_main.main(["-DWANTED=1", *command]) == 1
    assert "has.c:2:70: error: undefined reference to 'nowhere'" in capsys.readouterr().err


def test_archives_give_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A member that nothing wants may define what another one does, and want what nobody has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.c").write_text("int a(void); int main(void) { return a(); }")
    write(
        tmp_path,
        "int b(void); int tab[3] = {1, 2, 3}; int a(void) { return b(); }",
        "extern int tab[]; int b(void) { return tab[0] - 1; } int twice(void) { return 1; }",
        "int nowhere(void); int twice(void) { return nowhere(); }",
    )
    for name in "mabc":
        assert accc_main.main(["--target=host", "-c", f"{name}.c"]) == 0
    for archive, members in (("libx.a", "cba"), ("all.a", "bam")):
        subprocess.run(["ar", "rcs", archive, *(f"{m}.o" for m in members)], check=True)
    for inputs in (["m.o", "libx.a"], ["m.o", "-L.", "-lx"], ["m.o", "a.o", "libx.a"], ["all.a"]):
        assert accc_main.main(["--target=host", *inputs, "-o", "program"]) == 0
    assert accc_main.main(["--target=host", "m.o", "-Wl,--whole-archive", "libx.a"]) == 1
    assert "'twice' is defined in two files" in capfd.readouterr().err


def test_library_names_in_other_files(tmp_path: Path) -> None:
    """A function that another file defines is the program's, whatever the library calls so."""
    definitions, calls = tmp_path / "definitions.c", tmp_path / "calls.c"
    definitions.write_text(
        "double round(double x) { return x + 0.25; }\n"
        "int abs(int a, int b) { return a * b; }\n"
        "unsigned long strlen(const char *s) { return s[0] + 10ul; }\n"
        "static int labs(int x) { return x; }\n"
        "int other(void) { return labs(-3); }\n"
    )
    calls.write_text(
        "int printf(const char *, ...);\n"
        "double round(double); int abs(int, int); unsigned long strlen(const char *); int other(void);\n"
        "long labs(long);\n"
        "int main(void) {\n"
        "  double r[2]; volatile long n = -8;\n"
        "#pragma acc parallel copyout(r)\n"
        "  { r[0] = round(2.6); r[1] = abs(-2, 3); }\n"
        '  printf("%g %g %g %d %lu ", r[0], r[1], round(1.5), abs(4, 5), strlen("a"));\n'
        '  printf("%ld %d\\n", labs(n), other());\n'
        "}\n"
    )
    for target in ("host", "sim"):
        done = commands.run(["accrun", f"--target={target}", str(definitions), str(calls)])
        assert done.stdout == "2.85 -6 1.75 20 107 8 -3\n", done.stderr


OTHER_TYPES = """
int sin(int);
float *memcpy(int);
int main(void) {
  int n = 1;
#pragma acc parallel copy(n)
  n = sin(n) + !memcpy(n);
}
"""


def test_library_names_of_other_types(tmp_path: Path) -> None:
    """Device code has no function that is only declared, with another type than the library's."""
    source = tmp_path / "p.c"
    source.write_text(OTHER_TYPES)
    done = commands.run(["accrun", "--target=sim", str(source)])
    for name in ("sin", "memcpy"):
        said = (
            f"function '{name}' is called in device code, but it is declared with another type than"
        )
        assert done.stderr.count(said) == 1
