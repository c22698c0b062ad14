# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""LLVM IR of kernels → PTX, with NVIDIA's libdevice linked in where it is used."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.phases import phase
from .cache import DiskCache, content_key, source_digest
from .kernel_processes import command_for, emit_pieces
from .optimize import OptLevel, open_module, optimize
from .toolkit import find_libdevice

_TRIPLE = "nvptx64-nvidia-cuda"

_LIBDEVICE_USE = re.compile(r"^declare .*@__nv_", re.MULTILINE)

_OLDEST_PTX = 75
_PTX_VERSIONS = {
    **dict.fromkeys((50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87), _OLDEST_PTX),
    **dict.fromkeys((89, 90), 78),
    **dict.fromkeys((100, 101), 86),
    120: 87,
    **dict.fromkeys((103, 121), 88),
}
"""Compute capability → the PTX ISA version to write, both times ten (PTX ISA, Release Notes)."""

_BULK_COPIES, _BULK_PTX = "cp.async.bulk", 80
"""Instructions that a PTX ISA version newer than that of their compute capability has brought."""


def ptx_version(sm: int) -> int:
    """
    The oldest PTX ISA version (times ten) that knows a compute capability (times ten): drivers
    reject versions newer than they are. LLVM ends the process for a combination it does not know,
    hence a `CompileError` for capabilities not in the table.
    """
    version = _PTX_VERSIONS.get(sm)
    if version is None:
        known = ", ".join(f"sm_{number}" for number in sorted(_PTX_VERSIONS))
        raise error(
            UNKNOWN_LOC,
            f"sm_{sm} is not a compute capability that PTX can be written for",
            f"choose one of {known}; PTX also runs on newer GPUs",
        )
    return version


def newest_known(sm: int) -> int:
    """The greatest compute capability that PTX can be written for and that `sm` can run."""
    return max((number for number in _PTX_VERSIONS if number <= sm), default=sm)


def nvptx_machine(
    sm: int, opt_level: OptLevel = 3, version: int | None = None
) -> llvm.TargetMachine:
    """
    Code generation for GPUs of compute capability `sm` (90 for 9.0), in PTX of `version` (times ten; the
    oldest if absent).
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu=f"sm_{sm}", features=f"+ptx{version or ptx_version(sm)}", opt=opt_level
    )


def _libdevice_bitcode() -> bytes:
    path = find_libdevice()
    if path is None:
        raise error(
            UNKNOWN_LOC,
            "kernels use mathematical functions, but NVIDIA's libdevice is not installed",
            "pip install nvidia-nvvm, or set CUDA_HOME to a CUDA toolkit",
        )
    return Path(path).read_bytes()


def _link_libdevice(
    module: llvm.ModuleRef, context: llvm.ContextRef, machine: llvm.TargetMachine
) -> None:
    """
    Links libdevice and makes its functions internal, so that the unused ones (nearly all) go away
    before optimisation and the used ones can be inlined.
    """
    own = {function.name for function in module.functions if not function.is_declaration}
    library = llvm.parse_bitcode(_libdevice_bitcode(), context)
    library.data_layout = module.data_layout
    library.triple = module.triple
    module.link_in(library)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    passes.close()
    builder.close()


def compile_kernels(llvm_ir: str, sm: int, version: int, opt_level: OptLevel) -> str:
    """PTX of a module as a whole, by this process."""
    machine = nvptx_machine(sm, opt_level, version)
    with open_module(llvm_ir, "kernels") as (module, context):
        if _LIBDEVICE_USE.search(llvm_ir):
            with phase("LLVM links libdevice"):
                _link_libdevice(module, context, machine)
        with phase("LLVM optimises"):
            optimize(module, machine, opt_level)
        with phase("LLVM writes PTX"):
            return machine.emit_assembly(module)


def emit_ptx(
    llvm_ir: str,
    *,
    sm: int = 90,
    opt_level: OptLevel = 3,
    cache: DiskCache | None = None,
) -> str:
    """
    PTX for GPUs of compute capability `sm` (90 for 9.0) and newer from the text that
    `print_llvm_module(…, target="nvptx")` gives. With `cache`, equal texts are compiled once.

    Raises `CompileError` if LLVM rejects the text, or if it needs libdevice and that is missing.
    """
    version = ptx_version(sm)
    if _BULK_COPIES in llvm_ir:
        version = max(version, _BULK_PTX)
    maker = source_digest("ptx.py", "kernel_pieces.py", "optimize.py"), llvmlite.__version__
    key = content_key("ptx", *maker, str(sm), str(version), str(opt_level), llvm_ir)
    if cache is not None and (found := cache.get(key)) is not None:
        return found.decode()
    with phase("PTX"):
        wanted = [str(number) for number in (sm, version, opt_level)]
        ptx = emit_pieces(
            llvm_ir,
            (*maker, *wanted),
            lambda text: compile_kernels(text, sm, version, opt_level),
            command_for(__name__, "main", *wanted),
            cache,
        ) or compile_kernels(llvm_ir, sm, version, opt_level)
    if cache is not None:
        cache.put(key, ptx.encode())
    return ptx


def main() -> None:
    """Compiles standard input for the compute capability, PTX version and level given, to standard output."""
    levels: dict[str, OptLevel] = {"0": 0, "1": 1, "2": 2, "3": 3}
    text = sys.stdin.buffer.read().decode()
    ptx = compile_kernels(text, int(sys.argv[1]), int(sys.argv[2]), levels[sys.argv[3]])
    sys.stdout.buffer.write(ptx.encode())
