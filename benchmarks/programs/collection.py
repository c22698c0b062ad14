"""
A description of a collection of programs, in TOML: their folders, build commands and expected output.

    [defaults] # for programs that do not set them build = "make CC='{cc}' CLASS={class}" verify =
    "(?i)verification *successful"

    [[program]]
    name = "BT"
    folder = "BT"                   # copied for each build; the checkout stays as it is
    executable = "bt.{class}.x"     # in that folder; runs where it lies

`{cc}` is the compiler with its options, `{class}` the size, `{name}` the program's name.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Program:
    """
    One program. `build` is a shell command; `folder` and `executable` are paths below the checkout and
    below the folder; `arguments` are the program's.

    It verifies if its exit status is 0, `verify` (a regular expression) is found in what it prints,
    `fails` is not, and, with `compare`, its numbers are those of the serial program within `tolerance`
    (relative, and absolute below 1); lines that match `ignore` are left out of that. `time` finds
    the seconds that the program itself measured (group 1).

    `classes` are sizes, the smallest first; without any, `{class}` is empty. `sim`: whether the smallest
    is for the simulator.
    """

    name: str
    build: str
    executable: str
    folder: str = "."
    arguments: str = ""
    verify: str = ""
    fails: str = ""
    compare: bool = False
    ignore: str = ""
    tolerance: float = 1e-6
    time: str = ""
    classes: tuple[str, ...] = ("",)
    sim: bool = True

    def fill(self, text: str, size: str, cc: str = "") -> str:
        """`text` with its placeholders replaced."""
        for name, value in (("{cc}", cc), ("{class}", size), ("{name}", self.name)):
            text = text.replace(name, value)
        return text


def read_collection(path: Path) -> list[Program]:
    """
    The programs of a description. Raises `ValueError` for an invalid description, with the reason.
    """
    text = tomllib.loads(path.read_text())
    defaults: dict[str, Any] = text.get("defaults", {})
    known = {field.name for field in fields(Program)}
    programs: list[Program] = []
    for entry in text.get("program", []):
        values = {**defaults, **entry}
        if unknown := values.keys() - known:
            raise ValueError(f"{path}: '{min(unknown)}' is not one of {', '.join(sorted(known))}")
        if missing := {"name", "build", "executable"} - values.keys():
            raise ValueError(f"{path}: a program has no '{min(missing)}'")
        values["classes"] = tuple(values.get("classes", ("",)))
        programs.append(Program(**values))
    if not programs:
        raise ValueError(f"{path}: no [[program]] in it")
    return programs
