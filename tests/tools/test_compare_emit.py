"""The tool that compares what two versions of the compiler emit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from . import compare_emit

SOURCE = """
void f(int n, double *a)
{
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
"""


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A copy of this checkout whose code generation differs: additions became subtractions."""
    copy = tmp_path / "changed"
    for folder in ("compiler", "dialects", "passes", "runtime"):
        shutil.copytree(compare_emit.ROOT / folder, copy / folder)
    shutil.copy(compare_emit.ROOT / "pyproject.toml", copy)
    (copy / "examples").mkdir()
    (copy / "examples/add.c").write_text(SOURCE)
    printer = copy / "compiler/llvmir/operations.py"
    text = printer.read_text()
    assert '"fadd"' in text
    printer.write_text(text.replace('"fadd"', '"fsub"'))
    return copy


def compare(
    *args: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str]:
    given = [*args, "--targets", "nvptx", "--jobs", "1", "--stages", "transformed,device-llvm,ptx"]
    monkeypatch.setattr("sys.argv", ["compare_emit", *given])
    status = compare_emit.main()
    return status, capsys.readouterr().out


@pytest.mark.sampled(4)
def test_changed_code_is_found(
    changed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    status, out = compare(
        str(compare_emit.ROOT),
        str(changed),
        "--files",
        "examples/*.c",
        "--diff",
        "9",
        capsys=capsys,
        monkeypatch=monkeypatch,
    )
    assert status == 1
    assert "examples+add.c.nvptx.ptx" in out and "sub" in out
    assert "transformed" not in out, "the operations are the same, only their printing differs"


@pytest.mark.sampled(4)
def test_equal_versions(
    changed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    status, out = compare(str(changed), str(changed), capsys=capsys, monkeypatch=monkeypatch)
    assert (status, out.splitlines()) == (0, ["1 compilations by each version", "no differences"])


def test_a_version_that_is_not_there(tmp_path: Path):
    with pytest.raises(SystemExit, match="neither a folder nor a revision"):
        compare_emit.checkout("no-such-revision", tmp_path / "x")
