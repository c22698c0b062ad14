"""Objects and archives of gcc and g++ in programs of accc."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.backend.foreign_objects import ForeignObject
from accopt.compiler.drivers import accc_main
from accopt.compiler.drivers.object_file import needed

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("ld") is None, reason="needs gcc and binutils"
)

FILES = {
    "ours.c": """
        #include <stdio.h>
        typedef struct { float x, y, z; } V;
        int counter = 10;
        int twice(int x) { return 2 * x; }
        float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
        int total(int n) {
            int s = 0;
        #pragma acc parallel loop reduction(+:s)
            for (int i = 0; i < n; i++) s += i;
            return s; }
        """,
    "theirs.c": """
        #include <stdio.h>
        typedef struct { float x, y, z; } V;
        extern int counter; int twice(int); float dot(V, V); int total(int); int sum(int);
        static int made; int common[4];
        __attribute__((constructor)) static void make(void) { made = 42; }
        __attribute__((destructor)) static void end(void) { fprintf(stdout, "end %d\\n", common[1]); }
        int main(int argc, char **argv) {
            V v = {1, 2, 3};
            common[1] = counter++;
            printf("%d %d %g %d %d %s\\n", made, twice(4), dot(v, v), total(10), counter, argv[1]);
            if (sum) printf("%d\\n", sum(5));
            return 3; }
        """,
    "more.cc": """
        #include <stdexcept>
        #include <vector>
        struct First { int n; First() : n(1000) {} } first;
        extern "C" int twice(int);
        extern "C" int sum(int n) {
            std::vector<int> all;
            for (int i = 0; i < n; i++) all.push_back(twice(i));
            int s = 0;
            for (int x : all) s += x;
            try { if (n > 3) throw std::runtime_error("n"); } catch (std::exception &) { s += first.n; }
            return s; }
        """,
    "local.c": "__thread int where = 5;\nint *get(void) { return &where; }\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    subprocess.run(["gcc", "-O1", "-c", "theirs.c", "local.c"], check=True)
    return tmp_path


def _accc(*arguments: str) -> int:
    return accc_main.main(["--target=host", "-O1", *arguments])


def test_program_of_three_compilers(folder: Path):
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    subprocess.run(["g++", "-O1", "-c", "more.cc"], check=True)
    assert _accc("-c", "ours.c") == 0
    subprocess.run(["ar", "rc", "libmixed.a", "ours.o", "more.o", "local.o"], check=True)
    assert _accc("theirs.o", "-L.", "-lmixed", "-lstdc++", "-o", "prog") == 0
    run = subprocess.run(["./prog", "hello"], capture_output=True, text=True, check=False)
    assert run.stdout == "42 8 14 45 11 hello\n1020\nend 10\n"
    assert run.returncode == 3


def test_what_cannot_be_linked_is_named(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert _accc("ours.c", "theirs.o", "local.o") == 1
    assert "undefined reference to 'sum' in 'theirs.o'" in capsys.readouterr().err
    Path("sum.c").write_text("int sum(int n) { return n; }\n")
    assert _accc("ours.c", "sum.c", "theirs.o", "local.o") == 1
    assert "'local.o' has the thread-local variable 'where'" in capsys.readouterr().err
    Path("short.o").write_bytes(b"\x7fELF")
    assert _accc("ours.c", "sum.c", "theirs.o", "short.o") == 1
    assert "'short.o' is not an object file" in capsys.readouterr().err


def test_archives_give_what_is_needed():
    class Member(ForeignObject):
        def __init__(self, name: str, defined: set[str], undefined: set[str]):
            super().__init__(f"lib.a({name})", b"")
            self.__dict__ |= {"defined": frozenset(defined), "undefined": frozenset(undefined)}

    members = [Member("c", {"c"}, set()), Member("a", {"a"}, {"b"}), Member("b", {"b"}, {"x"})]
    chosen = needed(members, {"a", "x"}, {"x"})
    assert [each.name for each in chosen] == ["lib.a(a)", "lib.a(b)"]


def test_assembly_is_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    text = "#define NAME answer\n.globl NAME\nNAME: .long VALUE\n"
    Path("part.S").write_text(text + '.section .note.GNU-stack,"",%progbits\n')
    Path("main.c").write_text("extern int answer; int main(void) { return answer - 42; }")
    assert accc_main.main(["-DVALUE=42", "-c", "part.S", "-o", "part.o"]) == 0
    assert Path("part.o").read_bytes().startswith(b"\x7fELF")
    assert accc_main.main(["--target=host", "main.c", "part.o", "-o", "program"]) == 0
    assert accc_main.main(["--target=host", "-DVALUE=42", "main.c", "part.S", "-o", "two"]) == 0
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert accc_main.main(["-c", "part.S"]) == 1
    assert "'part.S' is assembly, which needs gcc or clang" in capfd.readouterr().err
