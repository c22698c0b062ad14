"""
The third column of the bench: the same OpenACC C compiled by GCC for offloading.

`python -m benchmarks.gcc FOLDER` builds `kernels/*.c` with Debian's gcc-12 and gcc-12-offload-nvptx,
and puts GCC's runtime beside the libraries, so that the folder can be carried to a machine with a GPU
that has no such compiler. `benchmarks.run --gcc FOLDER` loads it.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .harness import Side, call
from .specs import Array, Case, Kernel

HERE = Path(__file__).parent
FILES = ("streaming", "stencils", "compute", "reductions")
"""The files that GCC can compile; it does not support `scan`."""
RUNTIME = ("libgomp.so.1", "libgomp-plugin-nvptx.so.1")
COMMAND = ("gcc-12", "-O3", "-ffast-math", "-fopenacc", "-shared", "-fPIC")
OFFLOAD = (
    "-foffload=nvptx-none",
    "-foffload-options=nvptx-none=-misa=sm_80",
    "-foffload-options=nvptx-none=-lm",
)


def build(folder: Path) -> None:
    """Builds the libraries; raises `CalledProcessError` with GCC's log on standard error."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        source, library = HERE / "kernels" / f"{file}.c", folder / f"{file}.so"
        subprocess.run([*COMMAND, *OFFLOAD, str(source), "-o", str(library), "-lm"], check=True)
    for name in RUNTIME:
        found = subprocess.run(
            ["gcc-12", f"-print-file-name={name}"], check=True, capture_output=True, text=True
        )
        path = Path(found.stdout.strip())
        if not path.is_absolute():
            path = Path("/usr/lib/x86_64-linux-gnu") / name
        shutil.copy(path.resolve(), folder / name)


class GccSide(Side):
    """
    A library made by `build`. Arrays are made present through libgomp; kernels run on queue 1. A CUDA
    context must be current when it is made, which libgomp then shares.
    """

    name = "GCC"
    QUEUE = 1

    def __init__(self, folder: Path, file: str):
        super().__init__()
        # libgomp finds its plugin by name among the libraries already loaded
        self.gomp, _ = (ctypes.CDLL(str(folder / n), mode=ctypes.RTLD_GLOBAL) for n in RUNTIME)
        self.library = ctypes.CDLL(str(folder / f"{file}.so"))
        self.arrays: dict[str, Array] = {}

    def _call(self, name: str, array: Array) -> None:
        function = self.gomp[name]
        function.restype = None
        function(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def place(self, case: Case) -> None:
        for name, value in case.args.items():
            if isinstance(value, int):
                continue
            self.values[name] = value.ctypes.data
            if name != case.host_result:
                self.arrays[name] = value if name not in case.outputs else value.copy()
                self.values[name] = self.arrays[name].ctypes.data
                self._call("acc_copyin", self.arrays[name])

    def release(self) -> None:
        call("cuCtxSynchronize")
        for array in self.arrays.values():
            self._call("acc_delete", array)
        self.arrays.clear()
        self.values.clear()

    def function(self, kernel: Kernel) -> Any:
        return self.library[kernel.name]

    def fetch(self, name: str, like: Array) -> Array:
        self._call("acc_update_self", self.arrays[name])
        return np.array(self.arrays[name])

    def stream(self) -> int:
        get = self.gomp["acc_get_cuda_stream"]
        get.restype = ctypes.c_void_p
        return get(ctypes.c_int(self.QUEUE)) or 0


if __name__ == "__main__":
    build(Path(sys.argv[1]))
