"""Helpers that preprocess and check files ahead: when they start, what they leave, that they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler import file_helpers
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c import sema
from accopt.compiler.c.preprocess import PreprocessOptions
from accopt.compiler.executable import build
from accopt.compiler.file_helpers import Helpers, work_ahead

OPTIONS = CompileOptions(target="host", opt_level=0)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(file_helpers, "processors", lambda: 2)
    monkeypatch.setattr(file_helpers, "_WORTH_A_PROCESS", 10)
    paths = [tmp_path / f"{name}.c" for name in "abcd"]
    for path in paths:
        path.write_text(f"int {path.stem}(int x) {{ return x + 1; }}\n")
    return paths


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Helpers]:
    """The helpers that were asked for and had to work, by the end of it."""
    found: list[Helpers] = []
    close = Helpers.close

    def watched(self: Helpers) -> None:
        close(self)
        if self._processes:
            found.append(self)

    monkeypatch.setattr(Helpers, "close", watched)
    return found


def test_a_helper_does_not_change_the_program(files: list[Path], started: list[Helpers]) -> None:
    helped = build(files, OPTIONS, DiagnosticSink(), cached=False)
    assert len(started) == 1
    (process,) = started[0]._processes
    assert process.returncode is not None, "the program that is run has no other children"
    again = build(files, OPTIONS, DiagnosticSink(), cached=False)
    assert len(started) == 1, "nothing is left to help with"
    assert again == helped


def test_an_edit_of_a_file_needs_no_help(files: list[Path], started: list[Helpers]) -> None:
    build(files, OPTIONS, DiagnosticSink())
    files[2].write_text("int c(int x) { return x + 2; }\n")
    build(files, OPTIONS, DiagnosticSink())
    assert len(started) == 1


@pytest.mark.parametrize("few", [1, 2])
def test_small_programs_need_no_help(
    files: list[Path], started: list[Helpers], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_helpers, "_WORTH_A_PROCESS", 10_000)
    build(files[:few], OPTIONS, DiagnosticSink())
    build(files, OPTIONS, DiagnosticSink())
    assert not started


def test_what_was_checked_ahead_is_not_checked_again(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files[3].write_text("#error wrong\n")
    for path in files:
        work_ahead(path, PreprocessOptions(), "host")
    monkeypatch.setattr(sema, "check_translation_unit", None)
    build(files[:3], OPTIONS, DiagnosticSink())
    with pytest.raises(CompileError, match="wrong"):
        build(files, OPTIONS, DiagnosticSink())
