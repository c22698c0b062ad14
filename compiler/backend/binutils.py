"""Runs tools of the system (ld, as, objcopy) on files in a folder for one run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, error


def run_tool(command: Sequence[str], failure: str, names: Mapping[str, str] | None = None) -> None:
    """
    Runs a command. If it fails, raises `CompileError` with `failure` and the tool's messages, in which the
    files that it was given, by path, have their `names` for the user.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        log = done.stderr.strip()
        for path, name in (names or {}).items():
            log = log.replace(path, name)
        raise error(UNKNOWN_LOC, f"{failure}:\n{log}", "see above")


def write_objects(folder: str, objects: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Writes object files, given by name and contents, into a folder. Returns path → name, in their order."""
    names: dict[str, str] = {}
    for number, (name, data) in enumerate(objects):
        path = Path(folder) / f"{number}.o"
        path.write_bytes(data)
        names[str(path)] = name
    return names
