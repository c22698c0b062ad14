"""
Brings what README.md and the pages beside this file show up to date: `python docs/refresh.py` (tests call its
functions).

A `console` block is a list of commands (`$ …`) with their real output: each is run in the root of
the tree, with the `accopt` and `accrun` of this Python environment. The table between
`<!-- passes -->` marks comes from the docstrings of the passes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_CONSOLE = re.compile(r"(```console\n)(.*?)(```\n)", re.DOTALL)
_PASSES = re.compile(r"(<!-- passes -->\n)(.*?)(<!-- /passes -->\n)", re.DOTALL)


def pass_table() -> str:
    """The rows of the table of passes, in the order of the pipeline."""
    from accopt.compiler.drivers.pass_help import job_of
    from accopt.passes.registry import PASS_CLASSES, pass_file

    rows = ["| pass | job | file |", "|---|---|---|"]
    for name in PASS_CLASSES:
        file = pass_file(name).resolve().relative_to(ROOT)
        rows.append(f"| `{name}` | {job_of(ROOT / file)} | [`{file}`](../{file}) |")
    return "\n".join(rows) + "\n"


def _environment() -> Mapping[str, str]:
    traced = ("ACC_", "ACCOPT_", "NV_ACC_", "NVCOMPILER_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(traced)}
    return {**kept, "PATH": os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))}


def console_block(text: str) -> str:
    """The block's commands, each followed by what it prints now."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        command = line.removeprefix("$ ").replace(".venv/bin/", "")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines += [line, *done.stdout.splitlines()]
    return "\n".join(lines) + "\n"


def console_blocks(text: str) -> list[str]:
    """The bodies of all console blocks of a page."""
    return [found.group(2) for found in _CONSOLE.finditer(text)]


def refreshed(text: str) -> str:
    """The page with every output and table as they are now."""
    text = _CONSOLE.sub(lambda m: m.group(1) + console_block(m.group(2)) + m.group(3), text)
    return _PASSES.sub(lambda m: m.group(1) + pass_table() + m.group(3), text)


if __name__ == "__main__":
    if shutil.which("accrun", path=_environment()["PATH"]) is None:
        sys.exit(
            "refresh.py: the Python that runs it has no accopt installed: run it with .venv/bin/python"
        )
    for page in PAGES:
        page.write_text(refreshed(page.read_text()))
