"""Checked files as bytes: what is read is what was written, and bytes that are something else are refused."""

from __future__ import annotations

import os
import pickle
import zlib
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import TargetName
from accopt.compiler.c import sema
from accopt.compiler.c.ast import TranslationUnit
from accopt.compiler.c.kept import from_bytes
from accopt.compiler.c.preprocess import PreprocessedSource, PreprocessOptions, preprocess
from accopt.compiler.c.program import check_program
from accopt.compiler.checked_files import CheckedFiles
from accopt.compiler.irgen import generate_module

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    *sorted((Path(__file__).parent / "programs").glob("*.c")),
    *sorted((ROOT / "examples" / "openmp").glob("*.c")),
    ROOT / "examples" / "histogram.c",
]


class InMemory:
    """Kept files by what `CheckedFiles` makes keys of."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str, str | None], bytes] = {}

    def get_text(self, file: str, options: str) -> bytes | None:
        return None

    def put_text(self, file: str, options: str, data: bytes) -> None:
        pass

    def has(self, file: str, text: str, target: str) -> bool:
        return self.get(file, text, target) is not None

    def get(self, file: str, text: str, target: str) -> bytes | None:
        return self.entries.get((file, text, None)) or self.entries.get((file, text, target))

    def put(self, file: str, text: str, target: str | None, data: bytes) -> None:
        self.entries[file, text, target] = data


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are checked, in order."""
    names: list[str] = []
    check = sema.check_translation_unit

    def watched(source: PreprocessedSource, sink: DiagnosticSink, target: str) -> TranslationUnit:
        names.append(Path(source.file).name)
        return check(source, sink, target)

    monkeypatch.setattr(sema, "check_translation_unit", watched)
    return names


def ir_and_messages(
    source: PreprocessedSource, kept: InMemory | None, target: TargetName = "nvptx"
) -> tuple[str, list[str]]:
    sink = DiagnosticSink()
    units = check_program([source], sink, target, wall=True, kept=kept)
    return str(generate_module(units, sink)), [str(d) for d in sink.diagnostics]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.sampled(2)
def test_a_kept_file_is_the_file(path: Path, checks: list[str]) -> None:
    source = preprocess(path, PreprocessOptions(openmp=True), DiagnosticSink())
    kept = InMemory()
    found = ir_and_messages(source, None)
    assert ir_and_messages(source, kept) == found
    before = list(checks)
    assert ir_and_messages(source, kept) == found
    assert checks == before, "nothing was checked again, OpenMP's runtime neither"


def text(source: str) -> PreprocessedSource:
    return PreprocessedSource("t.c", f'# 1 "t.c"\n{source}\n')


ALIKE = text(
    "void f(int n, int *a) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) a[i] = i; }"
)
OF_TARGETS = text(
    "void f(int n, int *a) {\n#pragma acc parallel loop device_type(nvidia) vector_length(64)"
    " device_type(host) vector_length(2)\nfor (int i = 0; i < n; i++) a[i] = i; }"
)


@pytest.mark.parametrize(("source", "times"), [(ALIKE, 1), (OF_TARGETS, 2)])
def test_a_tree_is_kept_for_all_targets_where_it_is_the_same(
    source: PreprocessedSource, times: int, checks: list[str]
) -> None:
    kept = InMemory()
    for target in ("nvptx", "host", "nvptx"):
        expected = ir_and_messages(source, None, target)
        checks.clear()
        assert ir_and_messages(source, kept, target) == expected
    assert len(kept.entries) == times


def test_messages_come_each_time_and_mistakes_are_kept_nowhere(checks: list[str]) -> None:
    kept = InMemory()
    doubtful = text("int f(int *p) { double *q = p; return *q > 0; }")
    first = ir_and_messages(doubtful, kept)
    assert first[1]
    assert ir_and_messages(doubtful, kept) == first
    assert len(checks) == 1
    for _ in range(2):
        with pytest.raises(CompileError, match="unknown_name"):
            ir_and_messages(text("int f(void) { return unknown_name; }"), kept)
    assert len(checks) == 3


class Command:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 40,
        zlib.compress(b"no pickle"),
        zlib.compress(pickle.dumps(([1, 2], ()))),
        zlib.compress(pickle.dumps((TranslationUnit("a.c"), ())))[:-9],
        zlib.compress(pickle.dumps((Command(), ()))),
    ],
)
def test_other_bytes_are_refused(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert from_bytes(data) is None
    assert not list(tmp_path.iterdir()), "nothing was called"


def test_a_damaged_entry_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checks: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for _ in range(2):
        check_program([ALIKE], DiagnosticSink(), "host", kept=CheckedFiles())
    assert len(checks) == 1
    (entry,) = (tmp_path / "accopt" / "checked").iterdir()
    entry.write_bytes(entry.read_bytes()[:-5])
    (unit,) = check_program([ALIKE], DiagnosticSink(), "host", kept=CheckedFiles())
    assert [f.name for f in unit.functions] == ["f"]
    assert len(checks) == 2
