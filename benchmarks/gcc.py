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

from .harness import PresentSide
from .specs import Array, Kernel

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


class GccSide(PresentSide):
    """
    A library made by `build`. Arrays are made present through libgomp. A CUDA context must be current when it
    is made, which libgomp then shares.
    """

    name = "GCC"

    def __init__(self, folder: Path, file: str):
        super().__init__()
        # libgomp finds its plugin by name among the libraries already loaded
        self.gomp, _ = (ctypes.CDLL(str(folder / n), mode=ctypes.RTLD_GLOBAL) for n in RUNTIME)
        self.library = ctypes.CDLL(str(folder / f"{file}.so"))

    def call_on(self, routine: str, array: Array) -> None:
        function = self.gomp[routine]
        function.restype = None
        function(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def function(self, kernel: Kernel) -> Any:
        return self.library[kernel.name]

    def stream(self) -> int:
        get = self.gomp["acc_get_cuda_stream"]
        get.restype = ctypes.c_void_p
        return get(ctypes.c_int(self.QUEUE)) or 0


if __name__ == "__main__":
    build(Path(sys.argv[1]))
