"""
Assembly files (`.s`, and `.S`, which are preprocessed): another compiler of the machine, or its assembler,
makes objects from them, which are linked like objects of other compilers.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..backend.binutils import run_tool
from ..base.diagnostics import UNKNOWN_LOC, error

SUFFIXES = (".s", ".S", ".sx")
_COMPILERS = ("gcc", "clang", "cc")


def assembled(path: Path, include_dirs: Sequence[Path], defines: Sequence[str]) -> bytes:
    """
    The object file of an assembly file; `include_dirs` and `defines` are for its preprocessor. Raises
    `CompileError` if no tool on the machine can assemble it, or if the tool reports an error.
    """
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    plain = path.suffix == ".s"
    tool = shutil.which("as") if plain else compiler
    if tool is None:
        needed = "the assembler 'as'" if plain else "gcc or clang"
        raise error(
            UNKNOWN_LOC,
            f"'{path}' is assembly, which needs {needed}",
            "install it, or leave the file out: most projects have a C version of it",
        )
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "assembly.o"
        command = [tool, "-o", str(output), str(path)]
        if not plain:
            command += ["-c", *(f"-I{d}" for d in include_dirs), *(f"-D{d}" for d in defines)]
        run_tool(command, f"'{path}' cannot be assembled")
        return output.read_bytes()
