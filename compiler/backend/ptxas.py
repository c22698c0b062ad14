"""NVIDIA's assembler ptxas: PTX → machine code (cubin), and the registers and memory of each kernel."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, error
from .toolkit import find_ptxas

_TIMEOUT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class KernelResources:
    """The resources of one kernel: registers per thread, and memory in bytes."""

    registers: int
    shared: int
    local: int
    spill_stores: int
    spill_loads: int
    constant: int
    barriers: int


@dataclass(frozen=True, slots=True)
class PtxasResult:
    """The machine code of a module and the resources of each of its kernels."""

    cubin: bytes
    kernels: dict[str, KernelResources]
    log: str


_UNKNOWN_MACHINE = re.compile(r"Value 'sm_\d+' is not defined for option 'gpu-name'")
"""Matches the message of a ptxas that does not support, or no longer supports, a compute capability."""
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def parse_resources(log: str) -> dict[str, KernelResources]:
    """The resources of each kernel in the output of `ptxas -v`."""
    parts = _ENTRY.split(log)[1:]
    return {
        name: KernelResources(
            registers=_number(r"Used (\d+) registers", text),
            shared=_number(r"(\d+) bytes smem", text),
            local=_number(r"(\d+) bytes stack frame", text),
            spill_stores=_number(r"(\d+) bytes spill stores", text),
            spill_loads=_number(r"(\d+) bytes spill loads", text),
            constant=_number(r"(\d+) bytes cmem\[0\]", text),
            barriers=_number(r"used (\d+) barriers", text),
        )
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def assemble(ptx: str, sm: int, *, opt_level: int = 3) -> PtxasResult | None:
    """
    Assembles PTX for exactly the compute capability `sm` (90 for 9.0); `None` if no `ptxas` that knows it is
    installed: the driver can assemble instead. Raises `CompileError` with ptxas's log and the
    command to repeat if it fails.
    """
    tool = find_ptxas()
    if tool is None:
        return None
    with tempfile.TemporaryDirectory(prefix="accopt-") as folder:
        source, target = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_text(ptx)
        arguments = ["-v", f"-arch=sm_{sm}", f"-O{opt_level}", str(source), "-o", str(target)]
        command = [str(tool), *arguments]
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS
        )
        log = run.stdout + run.stderr
        if _UNKNOWN_MACHINE.search(log):
            return None
        if run.returncode != 0:
            raise error(
                UNKNOWN_LOC,
                f"ptxas failed: {log.strip()}",
                f"write the PTX to a file (`--emit ptx`) and run: {shlex.join(command)}",
            )
        return PtxasResult(target.read_bytes(), parse_resources(log), log)
