"""Files checked by a copy of the process while this one loads modules: the same module and messages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from accopt.compiler import check_ahead
from accopt.compiler.backend import forks
from accopt.compiler.base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c import sema
from accopt.compiler.executable import FrontEnd

OPTIONS = CompileOptions(target="host")
TEXT = "int *f(unsigned *x) { return x; }\n"
"""With pointers that do not fit, which is a warning."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(check_ahead, "can_copy_now", lambda: True)
    return tmp_path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch, here: Path) -> Path:
    """A file with the number of the process for each file that is checked."""
    record = here / "processes"
    record.touch()
    real = sema.check_translation_unit

    def recorded(*arguments):
        with record.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return real(*arguments)

    monkeypatch.setattr(sema, "check_translation_unit", recorded)
    return record


def front_end(*paths: Path) -> tuple[str, list[Diagnostic]]:
    sink = DiagnosticSink()
    module = FrontEnd(paths, OPTIONS, sink).module()
    return str(module), sink.diagnostics


def test_a_copy_checks_new_files_only(here: Path, checks: Path, monkeypatch) -> None:
    one, two = here / "one.c", here / "two.c"
    one.write_text(TEXT)
    two.write_text(TEXT.replace("f(", "g("))
    text, messages = front_end(one, two)
    assert len(messages) == 2
    own = str(os.getpid())
    processes = checks.read_text().split()
    assert len(processes) == 2 and own not in processes
    assert front_end(one, two) == (text, messages)
    assert checks.read_text().split() == processes
    two.write_text(TEXT.replace("f(", "h("))
    front_end(one, two)
    assert len(checks.read_text().split()) == 3
    # The same from this process alone.
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "empty"))
    monkeypatch.setattr(check_ahead, "can_copy_now", lambda: False)
    two.write_text(TEXT.replace("f(", "g("))
    assert front_end(one, two) == (text, messages)
    assert checks.read_text().split()[3:] == [own, own]


def test_mistakes_are_told_once_by_this_process(here: Path, checks: Path) -> None:
    path = here / "wrong.c"
    path.write_text("int f(void) { return y; }\n")
    with pytest.raises(CompileError, match="y") as found:
        front_end(path)
    assert len(found.value.diagnostics) == 1
    assert checks.read_text().split()[1:] == [str(os.getpid())]


def test_no_copy_while_a_thread_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "copies", lambda: 2)
    monkeypatch.setattr(forks, "_before", [])
    assert forks.can_copy_now()
    forks.before_copies(lambda: None)
    assert not forks.can_copy_now()
