"""Finds the parts of NVIDIA's toolkit: in pip wheels first, then in `CUDA_HOME`, then in `PATH`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_DEFAULT_HOME = Path("/usr/local/cuda")


def _wheel_roots() -> Iterator[Path]:
    """
    The folders that NVIDIA's wheels share: `nvidia/cu13` (CUDA 13), and `nvidia/cuda_nvcc`,
    `nvidia/nvvm` and the like in earlier versions.
    """
    spec = find_spec("nvidia")
    for location in spec.submodule_search_locations or () if spec is not None else ():
        base = Path(location)
        if base.is_dir():
            yield from sorted(base.glob("cu[0-9]*"), reverse=True)
            yield from (path for path in sorted(base.iterdir()) if path.name.startswith("cuda_"))


def _homes() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if value := os.environ.get(variable):
            yield Path(value)
    yield _DEFAULT_HOME


def find_libdevice() -> Path | None:
    """NVIDIA's bitcode library of mathematical functions, `libdevice.10.bc`."""
    for root in (*_wheel_roots(), *_homes()):
        path = root / "nvvm" / "libdevice" / "libdevice.10.bc"
        if path.is_file():
            return path
    return None


def find_ptxas() -> Path | None:
    """NVIDIA's PTX assembler."""
    name = "ptxas.exe" if sys.platform == "win32" else "ptxas"
    for root in (*_wheel_roots(), *_homes()):
        path = root / "bin" / name
        if path.is_file() and os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    return Path(found) if found else None
