"""Preprocessed files that are kept are used as long as preprocessing again would give the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.c import preprocess_kept
from accopt.compiler.c.preprocess import PreprocessedSource, PreprocessOptions, preprocess
from accopt.compiler.c.program import preprocess_program
from accopt.compiler.checked_files import CheckedFiles

SOURCE = '#include <stdio.h>\n#include "own.h"\n#include "sub/deep.h"\n#warning told\nint x = OWN + DEEP;\n'


@dataclass
class Project:
    folder: Path
    options: PreprocessOptions
    worked: list[Path]

    def source(self, **options: object) -> PreprocessedSource:
        """The file as `CheckedFiles` give it, which must be what preprocessing it gives."""
        changed = replace(self.options, **options)
        sink, fresh = DiagnosticSink(), DiagnosticSink()
        (found,) = preprocess_program([self.folder / "a.c"], changed, sink, CheckedFiles())
        assert found == preprocess(self.folder / "a.c", changed, fresh)
        assert sink.diagnostics == fresh.diagnostics
        return found

    def is_kept(self, **options: object) -> bool:
        """Whether the file was not preprocessed for this."""
        self.worked.clear()
        self.source(**options)
        return not self.worked


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    worked: list[Path] = []

    def watched(path: Path, *more: object) -> PreprocessedSource:
        worked.append(path)
        return preprocess(path, *more)

    monkeypatch.setattr(preprocess_kept, "preprocess", watched)
    for folder in ("first", "second/sub", "src"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src" / "a.c").write_text(SOURCE)
    (tmp_path / "src" / "own.h").write_text("#define OWN 1\n")
    (tmp_path / "second" / "sub" / "deep.h").write_text("#define DEEP 2\n")
    options = PreprocessOptions((tmp_path / "first", tmp_path / "second"))
    return Project(tmp_path / "src", options, worked)


def test_a_file_is_preprocessed_once_for_the_same_options(project: Project) -> None:
    assert [project.is_kept() for _ in range(3)] == [False, True, True]
    assert [project.is_kept(defines=("N=1",)) for _ in range(2)] == [False, True]
    assert project.is_kept()
    assert str(project.folder / "own.h") in project.source().read


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/a.c", SOURCE + "int y;\n"),
        ("src/own.h", "#define OWN 3\n"),
        ("second/sub/deep.h", "#define DEEP 3\n"),
        ("src/sub/deep.h", "#define DEEP 4\n"),
        ("first/sub/deep.h", "#define DEEP 5\n"),
        ("first/stdio.h", "int another;\n"),
    ],
)
def test_changed_and_new_files_count(project: Project, file: str, text: str) -> None:
    """Two of the same length within a tick of the clock, and headers that go before those found, too."""
    project.source()
    path = project.folder.parent / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert [project.is_kept() for _ in range(2)] == [False, True]


def test_a_header_that_went_is_an_error(project: Project) -> None:
    project.source()
    (project.folder / "own.h").unlink()
    with pytest.raises(CompileError, match=r"cannot find the header 'own.h'"):
        project.source()


@pytest.mark.parametrize("name", ["__TIME__", "__DATE__"])
def test_what_the_clock_says_is_not_kept(project: Project, name: str) -> None:
    (project.folder / "own.h").write_text(f"#define OWN sizeof {name}\n")
    for _ in range(2):
        project.worked.clear()
        preprocess_program(
            [project.folder / "a.c"], project.options, DiagnosticSink(), CheckedFiles()
        )
        assert project.worked
