"""`tests/plugin_example`, installed beside accopt: its pass is found, takes options, and is useful."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "plugin_example"
PASS = "serialise-short-loops"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder as pip would leave it: the package, and the entry point of its pyproject.toml."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    package = EXAMPLE / "accopt_short_loops"
    shutil.copytree(package, tmp_path / package.name)
    metadata = tmp_path / f"{package.name}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"]["xdsl.universe"]
    lines = [f"{name} = {target}" for name, target in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[xdsl.universe]", *lines, ""]))
    return tmp_path


def accopt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "accopt.compiler.drivers.accopt_main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )


@pytest.mark.parametrize(
    ("options", "shape", "levels"),
    [("", "vector_length(128)", 1), ("{trips=2}", "are one sequence for rows", 1)],
)
@pytest.mark.sampled(2)
def test_pass_within_the_pipeline(installed: Path, options: str, shape: str, levels: int) -> None:
    done = accopt(
        installed, "--emit=transformed", "--remarks", f"--after=data:{PASS}{options}",
        str(EXAMPLE / "blocks.c"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert shape in done.stderr
    assert done.stderr.count("loop mapped to") == levels


def test_pass_on_its_own(installed: Path) -> None:
    program = str(EXAMPLE / "blocks.c")
    before = accopt(installed, program)
    after = accopt(installed, program, "-p", PASS)
    assert after.returncode == 0, after.stderr
    assert "seq = " not in before.stdout
    assert "seq = " in after.stdout


def test_without_the_package(tmp_path: Path) -> None:
    done = accopt(tmp_path, str(EXAMPLE / "blocks.c"), "-p", PASS)
    assert done.returncode == 1
    assert PASS in done.stderr and "Traceback" not in done.stderr
