"""Running C programs and kernels in the simulator, for the tests of this folder."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.executable import build
from numpy.typing import NDArray

Array = NDArray[Any]


def compile_sim(
    paths: Sequence[Path],
    *,
    checks: bool = True,
    counters: bool = False,
    defines: tuple[str, ...] = (),
    pass_options: tuple[str, ...] = (),
    target: TargetName = "sim",
) -> Program:
    """A program for the simulator (or another target), in this process."""
    options = CompileOptions(target=target, defines=defines, pass_options=pass_options)
    executable = build(paths, options, DiagnosticSink())
    return Program(executable, RunOptions(checks=checks, counters=counters))


def from_text(folder: Path, text: str, **options: Any) -> Program:
    """The same for the text of one C file."""
    path = folder / "prog.c"
    path.write_text(text)
    return compile_sim([path], **options)


def call(program: Program, name: str, *args: Array | int | float) -> None:
    """Calls a C function: arrays by address, ints as `int`, floats as `float`."""
    function = program.function(name, None, None)
    function.restype = None
    values: list[Any] = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            values.append(ctypes.c_void_p(arg.ctypes.data))
        elif isinstance(arg, int):
            values.append(ctypes.c_int(arg))
        else:
            values.append(ctypes.c_float(arg))
    function(*values)
