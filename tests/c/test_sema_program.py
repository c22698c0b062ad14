"""Whole programs through preprocessing, parsing and checking, and agreement between files."""

from pathlib import Path

import pytest
from accopt.compiler.c.preprocess import PreprocessOptions
from accopt.compiler.c.program import load_program
from accopt.compiler.diagnostics import CompileError, DiagnosticSink, Severity

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
        (
            "int f(int);",
            "double f(int x) { return x; }",
            "'f' is 'double (int)' here and 'int (int)' in",
        ),
        ("int f(int);", "int f;", "'f' is a function in one file and a variable in another"),
    ],
)
def test_files_that_disagree(tmp_path: Path, first: str, second: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        load(tmp_path, first, second)
    (d,) = caught.value.diagnostics
    assert message in d.message and d.remedy
    assert d.loc.file.endswith("b.c") and d.notes[0][0].file.endswith("a.c")


def test_every_file_reports_its_first_mistake(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        load(tmp_path, "int f(void) { return x; }", "int g(void);", "int h(void) { return y }")
    assert [Path(d.loc.file).name for d in caught.value.diagnostics] == ["a.c", "c.c"]
