"""The wheel has everything: `pyproject.toml` lists every package and every file that is not Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
FOLDERS: dict[str, str] = SETUPTOOLS["package-dir"]


def package_of(folder: Path) -> str:
    """The installed name of a folder of the tree."""
    top, *inner = folder.relative_to(ROOT).parts
    names = {path: package for package, path in FOLDERS.items()}
    return ".".join([names[top], *inner])


def test_every_package_is_listed() -> None:
    found = {
        package_of(file.parent)
        for top in FOLDERS.values()
        for file in (ROOT / top).rglob("*.py")
        if "__pycache__" not in file.parts
    }
    assert found == set(SETUPTOOLS["packages"])


def test_every_data_file_is_listed() -> None:
    listed = {
        file
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for file in folder_of(package).glob(pattern)
    }
    found = {
        file
        for top in FOLDERS.values()
        for file in (ROOT / top).rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    assert found == listed


def folder_of(package: str) -> Path:
    """The folder of the tree that holds an installed package."""
    top = ".".join(package.split(".")[:2])
    return ROOT.joinpath(FOLDERS[top], *package.split(".")[2:])


def test_every_folder_is_a_package() -> None:
    assert all((folder_of(package) / "__init__.py").is_file() for package in SETUPTOOLS["packages"])


@pytest.mark.parametrize(
    ("group", "names"),
    [("console_scripts", {"accopt", "accrun", "accc"}), ("xdsl.universe", {"accopt"})],
)
def test_entry_points_load(group: str, names: set[str]) -> None:
    ours = [point for point in entry_points(group=group) if point.value.startswith("accopt.")]
    assert {point.name for point in ours} == names
    for point in ours:
        point.load()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, with a space in its name, into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("not a checkout of git")
    for name in filter(None, tracked.stdout.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    built = subprocess.run(
        [*pip, "wheel", "-q", "--no-deps", "-w", folder, source], capture_output=True, text=True
    )
    if "Could not find a version" in built.stderr:
        pytest.skip("setuptools cannot be downloaded here")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    target = folder / "a place" / "site"
    subprocess.run(
        [*pip, "install", "-q", "--no-deps", "--no-compile", "--target", target, wheel], check=True
    )
    return target


@pytest.mark.parametrize(
    ("module", "arguments", "expected"),
    [
        ("accopt", ["saxpy.c", "--emit=ptx"], ".visible .entry saxpy_7_kernel"),
        ("accopt.compiler.drivers.accrun_main", ["--target=host", "saxpy.c"], "21.0, 0 wrong"),
        ("accopt.compiler.drivers.accrun_main", ["--target=sim", "saxpy.c"], "21.0, 0 wrong"),
    ],
)
def test_wheel_works(installed: Path, module: str, arguments: list[str], expected: str) -> None:
    """From another folder, without a place for a cache."""
    folder = installed.parent
    shutil.copy(ROOT / "examples" / "saxpy.c", folder)
    environment = {
        **{name: text for name, text in os.environ.items() if name != "XDG_CACHE_HOME"},
        "HOME": "/proc/self",
        "PYTHONPATH": str(installed),
        "PYTHONSAFEPATH": "1",
    }
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, expected in done.stdout) == (0, True), done.stdout + done.stderr
