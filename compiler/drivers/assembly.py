"""
Files of assembly (`.s`, and `.S` for the preprocessor): another compiler of the machine, or its assembler,
makes objects of them, which are linked like any other compiler's.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, error

SUFFIXES = (".s", ".S", ".sx")
_COMPILERS = ("gcc", "clang", "cc")


def assembled(path: Path, include_dirs: Sequence[Path], defines: Sequence[str]) -> bytes:
    """
    The object file made of one of assembly; `include_dirs` and `defines` are for its preprocessor. Raises
    `CompileError` where nothing on the machine can make it, or finds a fault.
    """
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    plain = path.suffix == ".s"
    tool = shutil.which("as") if plain else compiler
    if tool is None:
        needed = "the assembler 'as'" if plain else "gcc or clang"
        raise error(
            UNKNOWN_LOC,
            f"'{path}' is assembly, which needs {needed}",
            "install it, or leave the file out: most projects have C in its place",
        )
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "assembly.o"
        command = [tool, "-o", str(output), str(path)]
        if not plain:
            command += ["-c", *(f"-I{d}" for d in include_dirs), *(f"-D{d}" for d in defines)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            log = done.stderr.strip()
            raise error(UNKNOWN_LOC, f"'{path}' cannot be assembled:\n{log}", "see above")
        return output.read_bytes()
