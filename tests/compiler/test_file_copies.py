"""Copies of the process that work on files ahead: when they start, what they leave, and change."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from accopt.compiler import file_copies, files_apart
from accopt.compiler.backend import forks
from accopt.compiler.backend.module_parts import is_joined
from accopt.compiler.base import phases
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c import sema
from accopt.compiler.c.preprocess import PreprocessOptions
from accopt.compiler.executable import build, front_end
from accopt.compiler.file_copies import work_ahead

OPTIONS = CompileOptions(target="host", opt_level=0)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(file_copies, "copies", lambda: 2)
    monkeypatch.setattr(file_copies, "_WORTH_COPIES", 10)
    paths = [tmp_path / f"{name}.c" for name in "abcde"]
    for path in paths:
        path.write_text(f'#include "all.h"\nint {path.stem}(int x) {{ return x + ONE; }}\n')
    (tmp_path / "all.h").write_text("#define ONE 1\n")
    return paths


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each group of copies was given."""
    found: list[int] = []

    class Watched(forks.ForkedCopies[object]):
        def __init__(self, work, order, number) -> None:
            found.append(len(order))
            super().__init__(work, order, number)

    monkeypatch.setattr(file_copies, "ForkedCopies", Watched)
    return found


@pytest.mark.parametrize("apart", [False, True])
def test_copies_do_not_change_the_program(
    files: list[Path],
    started: list[int],
    apart: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if apart:
        monkeypatch.setattr(files_apart, "_WORTH_IT", 10)
    with phases.recording() as record:
        helped = build(files, OPTIONS, DiagnosticSink())
    assert started == [5]
    assert is_joined(helped.host_ir) == apart == ("generate IR" in record.inside and apart)
    assert build(files, OPTIONS, DiagnosticSink(), cached=False) == helped
    assert started == [5], "nothing is left to do"
    monkeypatch.setattr(file_copies, "copies", lambda: 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert build(files, OPTIONS, DiagnosticSink()) == helped


def test_an_edit_of_a_file_needs_no_copies(files: list[Path], started: list[int]) -> None:
    build(files, OPTIONS, DiagnosticSink())
    files[2].write_text("int c(int x) { return x + 2; }\n")
    build(files, OPTIONS, DiagnosticSink())
    assert started == [5]


def test_an_edit_of_a_header_does(files: list[Path], started: list[int]) -> None:
    front_end(files, OPTIONS, DiagnosticSink())
    (files[0].parent / "all.h").write_text("#define ONE 2\n")
    front_end(files, OPTIONS, DiagnosticSink())
    assert started == [5, 5]


def test_standard_input_is_read_once(
    files: list[Path], started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(b"int more(void) { return 1; }\n"))
    )
    found = build([*files, Path("-")], OPTIONS, DiagnosticSink())
    assert started == [5] and "@more(" in found.host_ir


def test_small_programs_need_none(
    files: list[Path], started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_copies, "_WORTH_COPIES", 10_000)
    build(files, OPTIONS, DiagnosticSink())
    assert not started


def test_what_was_checked_ahead_is_not_checked_again(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files[3].write_text("#error wrong\n")
    for path in files[:3]:
        work_ahead(path, PreprocessOptions(), "host")
    with pytest.raises(CompileError, match="wrong"):
        work_ahead(files[3], PreprocessOptions(), "host")
    monkeypatch.setattr(sema, "check_translation_unit", None)
    build(files[:3], OPTIONS, DiagnosticSink())
    with pytest.raises(CompileError, match="wrong"):
        build(files, OPTIONS, DiagnosticSink())
