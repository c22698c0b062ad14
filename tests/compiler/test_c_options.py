"""Options of C compilers: where headers are, languages, the linker's, questions, mistakes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CommandLineError, DiagnosticSink
from accopt.compiler.drivers import accc_main
from accopt.compiler.drivers.accelerator_options import accelerator_options
from accopt.compiler.drivers.c_options import answer, prepared


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("system", "quote", "after", "plain"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.h").write_text(f"#define {name.upper()} 1\n")
        (tmp_path / name / "which.h").write_text(f'#define WHICH "{name}"\n')
    (tmp_path / "forced.h").write_text("#define FORCED(x, ...) x\nint forced;\n")
    (tmp_path / "main.c").write_text(
        '#include "quote.h"\n#include <after.h>\n#include <which.h>\nWHICH\n'
    )
    return tmp_path


def _run(*arguments: str) -> int:
    return accc_main.main(["--target=host", *arguments])


def test_folders_are_searched_in_order(folder: Path, capsys: pytest.CaptureFixture[str]):
    order = ["-idirafter", "after", "-isystemsystem", "-iquotequote", "-Iplain"]
    assert _run(*order, "-E", "main.c") == 0
    assert '"plain"' in capsys.readouterr().out
    assert _run("-idirafterafter", "-iquote", "quote", "-isystem", "system", "-E", "main.c") == 0
    assert '"system"' in capsys.readouterr().out
    assert _run("-nostdinc", "-idirafterafter", "-iquotequote", "-E", "main.c") == 0
    assert '"after"' in capsys.readouterr().out


def test_forced_headers(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"int a = FORCED(3, 4);\n")))
    assert _run("-include", "forced.h", "-x", "c", "-E", "-") == 0
    text = capsys.readouterr().out
    assert "int a = 3 " in text and "int forced;" in text
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"int a = FORCED(3, 4);\n")))
    assert _run("-imacrosforced.h", "-xc", "-E", "-") == 0
    text = capsys.readouterr().out
    assert "int a = 3 " in text and "int forced;" not in text


def test_macros_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("m.c").write_text('#include "forced.h"\n#define TWO 2\n')
    assert _run("-dM", "-E", "m.c") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "#define FORCED(x, ...) x" in lines and "#define TWO 2" in lines
    assert any(line.startswith("#define __ACCOPT__") for line in lines)


def test_dependencies_name_headers_of_macros_alone(folder: Path):
    Path("m.c").write_text('#include "plain/plain.h"\nint a = PLAIN;\n')
    assert _run("-Wp,-MD,deps", "-save-temps", "-c", "m.c") == 0
    assert Path("deps").read_text() == "m.o: m.c plain/plain.h\n"
    assert "int a = 1 " in Path("m.i").read_text()


def test_arguments_from_files_and_for_the_linker(folder: Path):
    Path("args").write_text("-DA='x y' @more\n")
    Path("more").write_text("-O2 -Wl,-rpath,/opt/lib,--as-needed,-soname,x -Xlinker -lz")
    sink = DiagnosticSink()
    assert prepared(["@args", "a.c", "--", "@args"], sink) == [
        "-DA=x y", "-O2", "-L/opt/lib", "-lz", "a.c", "--", "@args",
    ]  # fmt: skip
    assert not sink.diagnostics


@pytest.mark.parametrize(
    "option",
    [
        "-fsanitize=address",
        "-funsigned-char",
        "-static",
        "-Wl,--wrap=malloc",
        "-Mbounds",
    ],
)
def test_what_is_not_done_is_a_warning(option: str):
    sink = DiagnosticSink()
    assert prepared([option], sink) == []
    assert "is not supported" in sink.diagnostics[0].message


@pytest.mark.parametrize(
    "option", ["-std=c++17", "-xfortran", "-m32", "-include", "-tp=z80", "-Minfo=acc,x"]
)
def test_values_that_do_not_exist_are_errors(option: str):
    with pytest.raises(CommandLineError):
        prepared([option], DiagnosticSink())
    with pytest.raises(SystemExit) as left:
        accc_main.main([option])
    assert left.value.code == 2


def test_werror_is_about_the_program(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("ok.c").write_text("int f(void) { return 1; }")
    assert accc_main.main(["-Werror", "-fwrapv", "-gpu=cc10", "-c", "ok.c"]) == 0
    assert capsys.readouterr().err.count("warning: ") == 2


def test_unknown_accelerators_are_errors():
    with pytest.raises(CommandLineError, match="foo"):
        accelerator_options("-gpu=cc90,foo")


@pytest.mark.parametrize("arguments", [[], ["-r", "a.o"], ["-o", "x", "-c", "a.c", "b.c"]])
def test_mistakes_in_the_command_line_have_status_2(arguments: list[str]):
    assert accc_main.main(arguments) == 2


def test_questions():
    assert (answer(["-dumpmachine"]) or "").endswith("-linux-gnu")
    assert answer(["-print-prog-name=ld"]) == "ld"
    assert answer(["-print-file-name=no_such_library.a"]) == "no_such_library.a"
    assert answer(["-O2", "a.c"]) is None


def test_a_language_holds_for_what_follows(folder: Path):
    """An object before `-x c` is one, and so is a file behind `-x none`."""
    Path("part").write_text("int part(void) { return 0; }\n")
    Path("more.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    assert _run("-c", "more.c", "-o", "more.o") == 0
    assert _run("more.o", "-xc", "part", "-o", "program") == 0
    assert _run("-x", "c", "part", "-x", "none", "more.o", "-o", "program") == 0
