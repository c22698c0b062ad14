"""The wheel has everything: `pyproject.toml` lists every package and every file that is not Python."""

from __future__ import annotations

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
