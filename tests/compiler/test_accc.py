"""`accc`: separate compilation, archives and linking, as Makefiles do them, and what it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.drivers import accc_main, accrun_main
from accopt.compiler.drivers.customary_options import translate
from accopt.compiler.drivers.linked_program import read_program
from accopt.runtime.errors import NoDeviceError
from tools import commands

MAIN = """
#include <stdio.h>
#include "twice.h"
int main(int argc, char **argv)
{
    int a[10];
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 10; i++)
        a[i] = twice(i) + OFFSET;
    printf("%d %d %s %s\\n", a[9], argc, argv[1], NAME);
    return a[0];
}
"""
TWICE = """
#include "twice.h"
int twice(int x) { return FACTOR * x; }
"""
HEADER = "#pragma acc routine seq\nint twice(int x);\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two C files and a header, which becomes the current one."""
    (tmp_path / "include").mkdir()
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "twice.c").write_text(TWICE)
    (tmp_path / "include" / "twice.h").write_text(HEADER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def accc(*arguments: str) -> None:
    """Runs the command, which must succeed."""
    assert accc_main.main(arguments) == 0


def outcome(program: Path, *arguments: str) -> tuple[str, int]:
    """Output and exit status of an executable file."""
    command = [str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr, done.returncode


def archive(name: Path, *members: Path) -> None:
    """What `ar rcs` writes: an index, and members padded to even sizes."""
    data = b"!<arch>\n"
    for path in (None, *members):
        content = path.read_bytes() if path else b"\0\0\0\0\0"
        header = (
            f"{path.name + '/' if path else '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}"
        )
        data += header.encode() + b"`\n" + content + b"\n" * (len(content) % 2)
    name.write_bytes(data)


COMMON = ("-O2", "-Wall", "-std=c99", "-acc", "-Iinclude", "--target=host")


def compile_objects() -> None:
    accc("-c", *COMMON, "-DFACTOR=2", "twice.c")
    accc(*COMMON, "-DOFFSET=3", '-DNAME="n"', "-c", "main.c", "-o", "start.o", "-MMD", "-MP")


def test_linking_does_not_parse_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Object files have what the link needs, whatever the cache has."""
    compile_objects()
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "another"))

    def parse(*_: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr("accopt.compiler.c.sema.check_translation_unit", parse)
    accc(*COMMON, "twice.o", "start.o", "-o", "program")
    assert outcome(project / "program", "x") == ("21 2 x n\n", 3)


def test_objects_of_other_versions_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "old.o").write_bytes(b"accopt object 1\n...")
    assert accc_main.main(["old.o"]) == 1
    assert "made by another version of accc" in capsys.readouterr().err


def test_separate_compilation(project: Path) -> None:
    compile_objects()
    accc("-o", "prog", "start.o", "twice.o", "-lm")
    assert outcome(project / "prog", "-c") == ("21 2 -c n\n", 3)
    linked = read_program(project / "prog")
    assert (linked.target, linked.options.opt_level) == ("host", 2)


def test_for_a_gpu_without_having_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_device(*_: object) -> None:
        raise NoDeviceError("no GPU here")

    monkeypatch.setattr("accopt.compiler.api.choose_target", no_device)
    macros = ("-DFACTOR=2", "-DOFFSET=3", '-DNAME="n"')
    accc("-Iinclude", "-acc=gpu", *macros, "main.c", "twice.c", "-o", "prog")
    assert read_program(project / "prog").target == "nvptx"


@pytest.mark.parametrize("name", ["libtwice.a", "-ltwice"])
def test_archives(project: Path, name: str) -> None:
    compile_objects()
    archive(project / "libtwice.a", project / "twice.o")
    accc("start.o", "-L.", name, "-lm")
    assert outcome(project / "a.out", "x") == ("21 2 x n\n", 3)


def test_without_objects_in_a_foreign_folder(project: Path, tmp_path: Path) -> None:
    accc(*COMMON, "main.c", "-DFACTOR=1", "-DOFFSET=0", '-DNAME=""', "twice.c", "-o", "prog")
    (tmp_path / "numpy.py").write_text("raise SystemExit('not the module you mean')")
    assert outcome(project / "prog", "y") == ("9 2 y \n", 0)


def test_dependencies(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_objects()
    rule = (project / "start.d").read_text()
    assert rule == "start.o: main.c include/twice.h\ninclude/twice.h:\n"
    accc("-MM", "-Iinclude", "-DFACTOR=2", "-MT", "obj/twice.o", "twice.c")
    assert capsys.readouterr().out == "obj/twice.o: twice.c include/twice.h\n"


def test_preprocessed_text_is_an_input(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accc("-E", *COMMON, "-DFACTOR=2", "twice.c", "-o", "twice.i")
    accc("-c", *COMMON, "twice.i")
    accc("-E", "-Iinclude", "-DFACTOR=77", "twice.c")
    assert "return 77 * x" in " ".join(capsys.readouterr().out.split())
    assert (project / "twice.o").exists()


def test_mistakes_show_when_a_file_is_compiled(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.c").write_text("void f(int *a) {\n#pragma acc parallel lop\n  a[0] = 1; }\n")
    assert accc_main.main(["-c", "bad.c"]) == 1
    assert "bad.c:2:22: error:" in capsys.readouterr().err
    assert not (project / "bad.o").exists()


def test_a_warning_is_given_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "old.c").write_text(
        "int main(void) { int a[3];\n#pragma acc data pcopyout(a)\n a[0] = 0; return 0; }\n"
    )
    accc("-c", "old.c", "--target=host")
    assert capsys.readouterr().err.count("deprecated") == 1
    accc("old.o")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.o"], "cannot read 'none.o'"),
        (["foreign.o"], "'foreign.o' is not an object file"),
        (["twice.c", "-Iinclude", "-DFACTOR=2", "--target=host"], "no function 'main'"),
        (["-c", "twice.c", "-Iinclude", "-DFACTOR=2", "-o", "no/where.o"], "cannot write"),
    ],
)
def test_refused(
    project: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "foreign.o").write_bytes(b"\x7fELF")
    assert accc_main.main(arguments) == 1
    message = capsys.readouterr().err
    assert words in message and "help:" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no input files"),
        (["-S", "twice.c"], "no option -S"),
        (["-c", "twice.c", "main.c", "-o", "x.o"], "-o with several files"),
    ],
)
def test_mistakes_in_the_command_line(
    project: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert accc_main.main(arguments) == 2
    message = capsys.readouterr().err
    assert words in message and "help:" in message


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (
            "-Wall -pedantic -pipe -march=native -fopenacc -acc -Mpreprocess",
            "-Wall",
        ),
        ("-Ofast", "-O3 --fast-math"),
        ("-O -g3", "-O1 -g"),
        ("-gpu=cc80", "--sm=80"),
        ("-ta=tesla:cc75", "--sm=75"),
        ("-ta=multicore", "--target=host --managed"),
        ("-target=multicore", "--target=host --managed"),
        ("-acc=gpu -gpu=cc80,cc75,cc35,cc101", "--target=nvptx --sm=75,80"),
        ("-acc=gpu,multicore -ta=nvidia,host -ta=tesla", ""),
        ("-ta=nvidia,cc35,cc80 -ta=tesla:cc60,cc90", "--sm=80 --sm=90"),
        ("-gpu=fastmath,nofma,lineinfo,maxregcount:64,keep", "--fast-math --no-fma -g"),
        ("-gpu=turing+ -arch=sm_86 -arch=compute_75 -gpu=cc9.0", "--sm=75 --sm=86 --sm=75 --sm=90"),
        ("-ta=tesla:cuda9.2,time,nordc,pinned -Mcuda=cc80 -tp=zen", "--sm=80"),
        ("-Minfo=accel -ffp-contract=off", "--remarks --no-fma"),
        ("-ffp-contract=fast", "--host-fma"),
        ("-mfma", "--host-fma"),
        ("-fastsse -Mcache_align -Mlarge_arrays -KPIC", "-O3 --fast-math"),
        ("-fast -Kieee -target=gpu", "-O3 --target=nvptx"),
        ("-acc -cudalibs -acclibs -cudalib=cublas,cufft -c++libs -traceback -Bstatic_nvidia", ""),
        ("-c -MMD -MF x.d -fsyntax-only", "-c -MMD -MF x.d -fsyntax-only"),
    ],
)
def test_customary_options(given: str, meant: str) -> None:
    assert translate(given.split()) == meant.split()


@pytest.mark.parametrize(
    ("given", "meant", "warnings"),
    [
        ("-ta=nvidia,cc35", "--sm=75", ["compute capability 35 is not supported: 75"]),
        ("-ta=nvidia:cc2x", "--sm=75", ["compute capability 20 is not supported: 75"]),
        ("-ta=tesla:kepler+ -ta=tesla:kepler+", "--sm=75 --sm=75", ["compute capability 30"]),
        ("-gpu=cc101", "--sm=100", ["compute capability 101 is not supported: 100"]),
        ("-arch=sm_60", "--sm=75", ["compute capability 60 is not supported"]),
        ("-gpu=cc35,cc60", "--sm=75", ["compute capability 60 is not supported"]),
        ("-gpu=managed -ta=tesla:managed", "--managed --managed", []),
        ("-gpu=mem:unified", "--managed", []),
        ("-fPIC -fno-PIE -Mvect=simd -mavx512vl -msse4.2 -fno-plt -flto=auto -Mnoidiom", "", []),
        ("-funrol-loops -frobust", "", ["did you mean '-funroll'", "'-frobust' is ignored"]),
        ("-Munrol", "", ["unknown option '-Munrol' is ignored: did you mean '-Munroll'"]),
        ("-gpu=autocompare", "", ["not compared with those of the host"]),
        ("-ta=radeon:tahiti", "", ["AMD's GPUs are not supported"]),
    ],
)
def test_options_that_are_not_honoured(given: str, meant: str, warnings: list[str]) -> None:
    sink = DiagnosticSink()
    assert translate(given.split(), sink) == meant.split()
    assert len(sink.diagnostics) == len(warnings)
    for diagnostic, words in zip(sink.diagnostics, warnings, strict=True):
        assert words in diagnostic.message


def test_accrun_takes_them_too() -> None:
    example = Path(__file__).parents[2] / "examples" / "saxpy.c"
    command = ["accrun", "--target=host", "-Wall"]
    done = commands.run([*command, "-O2", str(example), "-acc", "-lm"])
    assert done.returncode == 0, done.stderr
    assert callable(accrun_main.main)
