"""What Makefiles say to linkers, what build tools read in executables, and executables that move."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.seal import _TRAP, sealed_script
from accopt.compiler.drivers import accc_main
from accopt.compiler.drivers.c_options import prepared
from accopt.compiler.drivers.linked_program import PYTHON_VARIABLE
from accopt.compiler.drivers.readable_strings import readable_strings


def test_words_of_several_options_belong_together():
    words = ["-Wl,-rpath", "-Wl,/opt/a", "-Xlinker", "-soname", "-Xlinker", "x.so", "-Wl,-lz,b.a"]
    assert prepared(words, DiagnosticSink()) == ["-L/opt/a", "-lz", "b.a"]
    assert prepared(["-shared", *words], DiagnosticSink()) == [
        "-shared", "--linker-word=-rpath", "--linker-word=/opt/a", "--linker-word=-soname",
        "--linker-word=x.so", "-lz", "b.a",
    ]  # fmt: skip
    assert prepared(["-shared", "-soname", "x", "--whole-archive"], DiagnosticSink()) == [
        "-shared", "--linker-word=-soname", "--linker-word=x", "--linker-word=--whole-archive"
    ]  # fmt: skip


def test_what_tools_ask_of_a_compiler(capsys: pytest.CaptureFixture[str]):
    assert accc_main.main(["-Wl,--version"]) == 0
    assert "GNU ld" in capsys.readouterr().out
    assert accc_main.main(["-v"]) == 0
    said = capsys.readouterr().err
    assert "search starts here:\n" in said and "-L/usr/lib/" in said


def test_strings_that_cmake_reads():
    ir = (
        '@a = constant [11 x i8] c"INFO:abi[ELF]\\00", align 1\n'
        "@b = global [8 x i8] [i8 73, i8 78, i8 70, i8 79, i8 58, i8 91, i8 56, i8 93, i8 0], align 1\n"
        '@c = constant [3 x i8] c"no\\00"\n'
    )
    assert readable_strings(ir) == b"# INFO:abi[ELF]\n# INFO:[8]\n"


def test_orders_of_bytes_that_cmake_reads():
    def numbers(order: str) -> str:
        text = f"{order.upper()}_ENDIAN".ljust(14, "\0").encode()
        values = (int.from_bytes(text[i : i + 2], order) for i in range(0, 14, 2))  # pyright: ignore
        return f"@{order} = constant [7 x i16] [{', '.join(f'i16 {value}' for value in values)}]\n"

    ir = numbers("little") + numbers("big") + "@other = constant [2 x i16] [i16 -1, i16 7]\n"
    assert readable_strings(ir) == f"# {sys.byteorder.upper()}_ENDIAN\n".encode()


PROGRAM = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <pthread.h>
    int half(int); int one(void);
    static void last(void) {}
    int main(void) {
        pthread_atfork(last, last, last); at_quick_exit(last);
        printf("%d %d\\n", half(84), one()); fflush(stdout); quick_exit(0); }
    """


@pytest.mark.skipif(shutil.which("ld") is None or shutil.which("ar") is None, reason="needs ld, ar")
def test_moved_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("lib").mkdir()
    Path("bin").mkdir()
    Path("half.c").write_text("int half(int n) { return n / 2; }\n")
    Path("one.c").write_text("int one(void) { return 1; }\n")
    Path("main.c").write_text(PROGRAM)
    shared = ["-shared", "-fPIC", "half.c", "-Wl,-soname,libhalf.so.1", "-o", "lib/libhalf.so.1"]
    assert accc_main.main(["--target=host", "-O1", *shared]) == 0
    assert b"libhalf.so.1\0" in Path("lib/libhalf.so.1").read_bytes()
    assert accc_main.main(["--target=host", "-c", "one.c"]) == 0
    subprocess.run(["ar", "rcT", "libone.a", "one.o"], check=True)
    libraries = ["-Llib", "-l:libhalf.so.1", "-L.", "-l:libone.a", "-Wl,-rpath,$ORIGIN/../lib"]
    assert accc_main.main(["--target=host", "-O1", "main.c", *libraries, "-o", "bin/main"]) == 0
    Path("moved").mkdir()
    for folder in ("lib", "bin"):
        Path(folder).rename(Path("moved") / folder)
    run = subprocess.run(["moved/bin/main"], capture_output=True, text=True, check=False)
    assert run.stdout == "42 1\n", run.stderr

    program = Path("moved/bin/main")
    _, _, rest = program.read_bytes().partition(_TRAP)
    program.write_bytes(sealed_script(rest.replace(sys.executable.encode(), b"/no/python")))
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert run.returncode == 127
    assert "no Python at /no/python" in run.stderr and PYTHON_VARIABLE in run.stderr
    environment = {**os.environ, PYTHON_VARIABLE: sys.executable}
    subprocess.run([program], check=True, env=environment)
