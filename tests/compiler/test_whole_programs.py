"""
The examples and the benchmark kernels through the pipeline for a GPU: every level is legal and is
upstream MLIR's syntax too, and ptxas takes every kernel for GPUs old and new.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from accopt.compiler.backend.ptx import emit_ptx
from accopt.compiler.backend.ptxas import assemble
from accopt.compiler.backend.toolkit import find_libdevice, find_ptxas
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.printing import print_ir
from accopt.compiler.pipeline import run_to_stage, stage_names
from xdsl.dialects.builtin import ModuleOp

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = {
    **{path.stem: (path,) for path in sorted((ROOT / "examples").glob("*.c"))},
    **{
        folder.name: tuple(sorted(folder.glob("*.c")))
        for folder in sorted((ROOT / "examples").iterdir())
        if any(folder.glob("*.c")) and folder.name != "mpi"  # needs MPI's headers
    },
    **{
        f"benchmarks-{path.stem}": (path,)
        for path in sorted((ROOT / "benchmarks" / "kernels").glob("*.c"))
    },
}
OPTIONS = CompileOptions(target="nvptx", verify=True)
UPSTREAM_STAGES = ("acc", "gpu", "nvvm")
OWN = {("benchmarks-scans", "acc")}
"""Stages with operations of a research extension, which upstream does not know."""
MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")


@functools.cache
def levels(name: str, sm: int = OPTIONS.sm) -> dict[str, str]:
    """Stage → IR text, and `device-llvm` → LLVM IR of the kernels. Every stage is verified."""
    options = replace(OPTIONS, sm=sm)
    texts: dict[str, str] = {}

    def keep(stage: str, module: ModuleOp) -> None:
        texts[stage] = print_ir(module)

    module = front_end(PROGRAMS[name], options, DiagnosticSink())
    keep("acc", module)
    run_to_stage(make_context(), module, "nvvm", options, after_stage=keep)
    texts["device-llvm"] = emit_text(module, "device-llvm", options)
    return texts


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_level_is_legal(name: str) -> None:
    assert set(levels(name)) >= set(stage_names("nvptx"))


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")
@pytest.mark.parametrize(
    ("name", "stage"), [pair for pair in product(PROGRAMS, UPSTREAM_STAGES) if pair not in OWN]
)
def test_upstream_parses(name: str, stage: str) -> None:
    assert MLIR_OPT is not None
    done = subprocess.run(
        [MLIR_OPT, "-o", "/dev/null"],
        input=levels(name)[stage],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
@pytest.mark.skipif(find_libdevice() is None, reason="libdevice is not installed")
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("name", "sm"),
    [
        *((name, 90) for name in PROGRAMS),
        *((name, sm) for name in ("cg", "svm") for sm in (75, 80)),
    ],
)
def test_ptxas_accepts(name: str, sm: int) -> None:
    text = levels(name, sm)["device-llvm"]
    kernels = text.count("ptx_kernel")
    assert kernels > 0
    result = assemble(emit_ptx(text, sm=sm), sm)
    assert result is not None
    assert len(result.kernels) == kernels
