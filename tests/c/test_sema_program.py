"""Whole programs through preprocessing, parsing and checking, and agreement between files."""

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, Severity
from accopt.compiler.c.preprocess import PreprocessOptions
from accopt.compiler.c.program import load_program

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.c")), ids=lambda p: p.stem)
def test_programs_check_without_warnings(path: Path) -> None:
    sink = DiagnosticSink()
    (unit,) = load_program([path], PreprocessOptions(), sink)
    assert not [d for d in sink.diagnostics if d.severity is Severity.WARNING]
    assert unit.file == str(path)


def load(tmp_path: Path, *texts: str) -> None:
    paths: list[Path] = []
    for i, text in enumerate(texts):
        path = tmp_path / f"{'abc'[i]}.c"
        path.write_text(text)
        paths.append(path)
    load_program(paths, PreprocessOptions(), DiagnosticSink())


def test_files_that_agree(tmp_path: Path) -> None:
    load(
        tmp_path,
        "extern int n; int f(int); static int s; static int h(void) { return n; }"
        " int g(void) { return f(1); }",
        "int n = 3; int f(int x) { return x; } static int s; static double h(void) { return 1; }",
        "struct p { int x; }; struct p *make(struct p); inline int i(void) { return 1; }",
    )


def test_a_header_may_define_variables_without_a_value(tmp_path: Path) -> None:
    header = "int n; double *p; struct s { int a; } one; double table[4];"
    texts = [f"{header} int f(void) {{ return n; }}", f"int n = 3; {header}", header]
    paths = [tmp_path / f"{i}.c" for i in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    units = load_program(paths, None, DiagnosticSink())
    defined = [[v.name for v in unit.variables if v.is_defined] for unit in units]
    assert defined == [["p", "one", "table"], ["n"], []]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("int f(void) { return 1; }", "int f(void) { return 2; }", "'f' is defined in two files"),
        ("int n = 1;", "int n = 2;", "'n' is defined in two files"),
        ("int f(int);", "int f;", "'f' is a function in one file and a variable in another"),
        ("int n = 1;", "extern long n;", "'n' is 'long' here and 'int' in another file"),
        ("int a[4];", "extern int *a;", "'a' is 'int *' here and 'int[4]' in another file"),
        ("int *a;", "extern int a[];", "'a' is 'int[]' here and 'int *' in another file"),
        (
            "struct s { int x; } v = {1};",
            "struct s { int x, y; }; extern struct s v;",
            "'v' is 'struct s' in two files, with different members",
        ),
    ],
)
def test_files_that_disagree(tmp_path: Path, first: str, second: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        load(tmp_path, first, second)
    (d,) = caught.value.diagnostics
    assert message in d.message and d.remedy
    assert d.loc.file.endswith("b.c") and d.notes[0][0].file.endswith("a.c")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            "double f(int x) { return x; }",
            "int f(int);",
            "'f' is 'int (int)' here and 'double (int)' in",
        ),
        ("enum e { no } f(void) { return no; }", "int f(void);", "'f' is 'int (void)' here and"),
        (
            "void f(char *p) { }",
            "void f(void *);",
            "'f' is 'void (void *)' here and 'void (char *)'",
        ),
        ("void f(void) { }", "int f();", "'f' is 'int ()' here and 'void (void)' in another file"),
        ("long n = 1;", "extern unsigned n;", "'n' is 'unsigned int' here and 'long' in another"),
        ("double a[4][4];", "extern double a[16];", "'a' is 'double[16]' here and 'double[4][4]'"),
        ("float n;", "extern int n;", "'n' is 'int' here and 'float' in another file"),
        (
            "struct s { int x; } v;",
            "struct s { int y; }; extern struct s v;",
            "with different members",
        ),
    ],
)
def test_differences_that_linkers_accept(
    tmp_path: Path, first: str, second: str, message: str
) -> None:
    sink = DiagnosticSink()
    for i, text in enumerate((first, second)):
        (tmp_path / f"{i}.c").write_text(text)
    load_program([tmp_path / "0.c", tmp_path / "1.c"], None, sink)
    (d,) = sink.diagnostics
    assert message in d.message and d.remedy
    assert d.loc.file.endswith("1.c") and d.notes[0][0].file.endswith("0.c")


def test_files_with_types_of_their_own_agree(tmp_path: Path) -> None:
    header = (
        "struct list { struct list *next; int value; }; typedef struct { int x; } anonymous;"
        " union u { int i; float f; }; struct bits { unsigned a : 3, b : 4; };"
    )
    sink = DiagnosticSink()
    texts = [
        f"{header} struct list l; anonymous a; union u u; struct bits b; int f(struct hidden *p);",
        f"{header} extern struct list l; extern anonymous a; extern union u u; extern struct bits b;"
        " struct hidden { int x; }; int f(struct hidden *p) { return p->x; }",
    ]
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.c").write_text(text)
    load_program([tmp_path / "0.c", tmp_path / "1.c"], None, sink)
    assert not sink.diagnostics


def test_every_file_reports_its_first_mistake(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        load(tmp_path, "int f(void) { return x; }", "int g(void);", "int h(void) { return y }")
    assert [Path(d.loc.file).name for d in caught.value.diagnostics] == ["a.c", "c.c"]
