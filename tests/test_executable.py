"""Building executables: the cache gives back what was built, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build

SOURCE = """
void scale(int n, float *x)
{
#pragma acc parallel loop pcopy(x[0:n])
    for (int i = 0; i < n; i++)
        x[i] *= FACTOR;
}
int main(void) { return 0; }
"""
UNUSED = "static int unused(void) { int never; return 1; }\n"
OPTIONS = CompileOptions(target="host", defines=("FACTOR=2.0f",))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "scale.c"
    path.write_text(SOURCE)
    return path


def compile_once(path: Path, options: CompileOptions = OPTIONS) -> tuple[Executable, list[str]]:
    sink = DiagnosticSink()
    executable = build([path], options, sink)
    return executable, [d.message for d in sink.diagnostics]


def entries(path: Path) -> int:
    return len(list((path.parent / "cache" / "accopt" / "program").iterdir()))


def test_second_build_comes_from_the_cache(source: Path) -> None:
    first = compile_once(source)
    assert entries(source) == 1
    assert compile_once(source) == first
    assert entries(source) == 1
    assert any("pcopy" in message for message in first[1]), "the warning is given both times"


def test_source_options_and_macros_are_part_of_the_key(source: Path) -> None:
    first, _ = compile_once(source)
    other, _ = compile_once(source, replace(OPTIONS, defines=("FACTOR=3.0f",)))
    assert other.host_ir != first.host_ir
    compile_once(source, replace(OPTIONS, fma=False))
    source.write_text(SOURCE + "\nint unrelated;\n")
    compile_once(source)
    assert entries(source) == 4


def test_warnings_keep_their_option(source: Path) -> None:
    """`-Wno-NAME` and `-Werror=NAME` mean the same when the program comes from the cache."""
    source.write_text("int main(void) { double d = 1; int i = d; return i; int j; }\n" + UNUSED)
    wall = replace(OPTIONS, wall=True)
    found: list[list[str | None]] = []
    for _ in range(2):
        sink = DiagnosticSink()
        build([source], wall, sink)
        found.append([d.option for d in sink.diagnostics])
    assert any(found[0])
    assert found[0] == found[1]


def test_a_damaged_entry_is_built_again(source: Path) -> None:
    first, _ = compile_once(source)
    (entry,) = (source.parent / "cache" / "accopt" / "program").iterdir()
    entry.write_bytes(entry.read_bytes()[:-20])
    assert compile_once(source)[0] == first
