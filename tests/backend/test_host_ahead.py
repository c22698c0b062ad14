"""Host code that another process makes ahead: it is there for who loads it, and nothing is left running."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.backend import host_ahead, host_objects, jit
from accopt.compiler.backend.cache import DiskCache, source_digest
from accopt.compiler.backend.host_ahead import HostAhead
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build

IR = "define i32 @main() {\n  ret i32 0\n}\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(host_ahead, "_WORTH_A_PROCESS", 10)
    monkeypatch.setattr(host_ahead, "usable_processors", lambda: 2)
    return DiskCache.default("host")


def test_code_is_there_when_it_is_finished(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = jit.compile_program(IR, 2)
    for _ in range(2):  # the second time there is nothing to do
        ahead = HostAhead()
        ahead.start(IR, 2)
        ahead.finish(IR)
    monkeypatch.setattr(host_objects, "object_code", None)
    assert jit.compile_host(IR, 2, cache).objects == (expected,)
    assert ahead._process is None


def test_other_code_after_all(cache: DiskCache) -> None:
    ahead = HostAhead()
    ahead.start(IR, 2)
    ahead.finish("")
    assert ahead._process is not None
    assert ahead._process.returncode is not None


def test_a_program_for_gpus_has_its_host_code_when_it_is_built(
    cache: DiskCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.c"
    path.write_text(
        "void f(int n, float *x) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) x[i] = i; }\n"
    )
    options = CompileOptions(target="nvptx", opt_level=1)
    executable = build([path], options, DiagnosticSink())
    assert executable.ptx
    monkeypatch.setattr(host_objects, "object_code", None)
    assert jit.compile_host(executable.host_ir, 1, cache).objects


def test_code_of_another_compiler_is_not_taken(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = jit.compile_host(IR, 1, cache)
    assert source_digest("host_code.py") != source_digest("optimize.py")
    monkeypatch.setattr(host_objects, "source_digest", lambda *_: "another")
    monkeypatch.setattr(host_objects, "object_code", lambda *_: b"made again")
    assert jit.compile_host(IR, 1, cache).objects == (b"made again",) != made.objects
