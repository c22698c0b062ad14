"""Every benchmark kernel at its small size, against its float64 reference."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from sim_programs import compile_sim  # noqa: E402

from benchmarks.specs import KERNELS, Case, Kernel  # noqa: E402

FILES = ROOT / "benchmarks" / "kernels"


@pytest.fixture(scope="module")
def programs() -> Iterator[dict[str, Program]]:
    """Compiled files by name, each compiled once."""
    found: dict[str, Program] = {}
    yield found
    for program in found.values():
        program.close()


def run(program: Program, kernel: Kernel, case: Case) -> dict[str, np.ndarray]:
    """Calls the kernel on arrays that are present; the outputs."""
    function = program.function(kernel.name, None, None)
    function.restype = None
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    copyin = program.function("acc_copyin", pointer, (pointer, size))
    copyout = program.function("acc_copyout", None, (pointer, size))
    integer = ctypes.c_long if case.long_ints else ctypes.c_int
    args: list[object] = []
    arrays = {n: v.copy() for n, v in case.args.items() if isinstance(v, np.ndarray)}
    mapped = [v for n, v in arrays.items() if n != case.host_result]
    for array in mapped:
        copyin(array.ctypes.data, array.nbytes)
    for name, value in case.args.items():
        if isinstance(value, int):
            args.append(ctypes.c_long(value) if name == "nnz" else integer(value))
        else:
            args.append(ctypes.c_void_p(arrays[name].ctypes.data))
    function(*args)
    program.function("acc_wait_all", None, ())()
    for array in mapped:
        copyout(array.ctypes.data, array.nbytes)
    return {name: arrays[name] for name in case.outputs}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_kernel(kernel: Kernel, programs: dict[str, Program]) -> None:
    program = programs.get(kernel.file)
    if program is None:
        program = programs[kernel.file] = compile_sim([FILES / f"{kernel.file}.c"])
    before = len(program.simulator.findings)
    case = kernel.make(kernel.small)
    outputs = run(program, kernel, case)
    for name, expected in case.reference().items():
        actual = outputs[name].astype(np.float64).ravel()[: expected.size]
        wanted = np.asarray(expected, np.float64).ravel()
        error = np.linalg.norm(actual - wanted) / max(float(np.linalg.norm(wanted)), 1e-300)
        assert error <= case.tolerance, f"{name} is off by {error:.2e}"
    assert program.simulator.findings[before:] == []
