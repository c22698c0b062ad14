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


def _plugin(folder: Path, name: str, code: str) -> None:
    """Another installed package with an entry point."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[xdsl.universe]\n{name} = {name}:UNIVERSE\n")
    (folder / f"{name}.py").write_text(f"from xdsl.universe import Universe\n{code}\n")


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        (
            'raise RuntimeError("needs a library")',
            "cannot be loaded (RuntimeError: needs a library)",
        ),
        ("raise SystemExit(3)", "cannot be loaded (SystemExit: 3)"),
        ("raise type('Stop', (BaseException,), {})", "cannot be loaded (Stop)"),
        ("def", "cannot be loaded (SyntaxError: "),
        ("", "cannot be loaded (AttributeError: module 'brk' has no attribute 'UNIVERSE')"),
        ("UNIVERSE = 3", "cannot be loaded (AttributeError: "),
        ("UNIVERSE = Universe(all_passes={'a': 3})", "its all_passes must map names to functions"),
        ("UNIVERSE = Universe(all_passes={'cse': int})", "has a pass 'cse', as xDSL has"),
        (
            "UNIVERSE = Universe(all_passes={'schedule-loops': int})",
            "has a pass 'schedule-loops', as accopt has",
        ),
        ("UNIVERSE = Universe(all_dialects={'accx': int})", "has a dialect 'accx', as accopt has"),
    ],
)
def test_a_broken_plugin_is_named(installed: Path, code: str, reported: str) -> None:
    _plugin(installed, "brk", code)
    program = str(EXAMPLE / "blocks.c")
    done = accopt(installed, "--emit=data", f"--after=data:cse,{PASS}", program)
    assert done.returncode == 0, done.stderr
    assert "seq = " in done.stdout
    assert done.stderr.startswith("warning: the plug-in 'brk' of the package 'brk' ")
    assert reported in done.stderr and done.stderr.count("warning:") == 1


def test_plugins_with_a_name_of_each_other(installed: Path) -> None:
    _plugin(
        installed, "brk", f"UNIVERSE = Universe(all_passes={{{PASS!r}: int, 'own': lambda: int}})"
    )
    done = accopt(installed, "-p", "own", str(EXAMPLE / "blocks.c"))
    assert f"has a pass '{PASS}', as " in done.stderr
    assert "error: the pass 'own' cannot be loaded (int is no ModulePass)" in done.stderr


def test_no_plugin_is_loaded_without_need(installed: Path) -> None:
    _plugin(installed, "brk", "raise RuntimeError")
    done = accopt(installed, "--emit=gpu", str(EXAMPLE / "blocks.c"))
    assert (done.returncode, done.stderr) == (0, "")


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
