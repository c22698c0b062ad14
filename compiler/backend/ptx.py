# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""Compiles LLVM IR of kernels to PTX, with NVIDIA's libdevice linked in where it is used."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from ..base.capabilities import PTX_VERSIONS, remedy_for
from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.options import OptLevel, opt_level_of
from ..base.phases import Phase, add, apart, phase, waiting
from .cache import DiskCache, content_key, source_digest
from .forks import ForkedCopies, copies
from .kernel_processes import compile_pieces, emit_pieces, missing_pieces
from .module_text import content
from .optimize import open_module, optimize
from .processes import command_for
from .toolkit import find_libdevice

_TRIPLE = "nvptx64-nvidia-cuda"

_LIBDEVICE_USE = re.compile(r"^declare .*@__nv_", re.MULTILINE)

_WORTH_COPIES = 100_000
"""The characters of LLVM IR from which LLVM takes longer than making copies of the process."""

_BULK_COPIES, _BULK_PTX = "cp.async.bulk", 80
"""Instructions that need a newer PTX ISA version than the oldest one with their compute capability."""


def ptx_version(sm: int) -> int:
    """
    The oldest PTX ISA version (times ten) that supports a compute capability (times ten), because drivers
    reject versions newer than their own. Raises `CompileError` for a capability that is not in the table,
    as LLVM ends the process for an unknown combination.
    """
    version = PTX_VERSIONS.get(sm)
    if version is None:
        raise error(UNKNOWN_LOC, f"sm_{sm} is not a supported compute capability", remedy_for(sm))
    return version


_SPECULATION = ("-spec-exec-max-not-hoisted=100", "-spec-exec-max-speculation-cost=10")
"""
LLVM computes cheap values of a guarded block, above all addresses, before the guard, whatever else the block
has. ptxas turns a block without 64-bit additions into predicated instructions, so that the loads of several
guarded blocks are in flight together; such additions need predicates for their carries. LLVM does this only
for targets whose threads diverge: code for CPUs does not change.
"""


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for option in _SPECULATION:
        llvm.set_option("accopt", option)


def nvptx_machine(
    sm: int, opt_level: OptLevel = 3, version: int | None = None
) -> llvm.TargetMachine:
    """
    Code generation for GPUs of compute capability `sm` (90 for 9.0), in PTX of `version` (times ten; the
    oldest if absent).
    """
    _initialize()
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


_PAIRS_OF_FLOATS = 100
"""The compute capability (times ten) from which instructions compute two f32 at once."""
_NOT_VALUES = (" inbounds i8, ptr", "getelementptr i8, ptr", " x i8]")
"""Text that names i8 without a value of that type: addresses in bytes, and arrays of bytes."""


def _may_have_vectors(llvm_ir: str, sm: int) -> bool:
    """
    Whether LLVM might find instructions to combine into vectors. NVPTX has registers of 32 bits for vectors,
    so that only narrower values fit; without any, LLVM would search in vain, for a twentieth of its time.
    """
    if sm >= _PAIRS_OF_FLOATS or any(name in llvm_ir for name in (" half", " bfloat", " i16")):
        return True
    return llvm_ir.count(" i8") > sum(map(llvm_ir.count, _NOT_VALUES))


def compile_kernels(llvm_ir: str, sm: int, version: int, opt_level: OptLevel) -> str:
    """PTX of a whole module, compiled in this process."""
    machine = nvptx_machine(sm, opt_level, version)
    with open_module(llvm_ir, "kernels") as (module, context):
        if _LIBDEVICE_USE.search(llvm_ir):
            with phase("LLVM links libdevice"):
                _link_libdevice(module, context, machine)
        with phase("LLVM optimises"):
            vectors = _may_have_vectors(llvm_ir, sm)
            optimize(module, machine, opt_level, vectorize=vectors, pack=vectors)
        with phase("LLVM writes PTX"):
            return _assembly(module, machine)


_SWITCH = re.compile(r"^  switch ", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^(attributes #\d+ = \{)", re.MULTILINE)


def _assembly(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> str:
    """
    PTX of an optimised module. A `switch` becomes comparisons: threads of a warp that take an indirect branch
    (`brx.idx`) run one after the other to the end of the function, where branches would join after the
    statement. Functions are told so after optimisation, in which the attribute would also prevent tables of
    values.
    """
    text = str(module)
    if _SWITCH.search(text) is None:
        return machine.emit_assembly(module)
    with open_module(_ATTRIBUTES.sub(r'\1 "no-jump-tables"="true"', text), "kernels") as (told, _):
        return machine.emit_assembly(told)


def emit_ptx(
    llvm_ir: str,
    *,
    sm: int = 90,
    opt_level: OptLevel = 3,
    cache: DiskCache | None = None,
) -> str:
    """
    PTX for GPUs of compute capability `sm` (90 for 9.0) and newer from the text that
    `print_llvm_module(…, target="nvptx")` gives. With `cache`, texts that differ only in the names
    of types are compiled once.

    Raises `CompileError` if LLVM rejects the text, or if it needs libdevice and that is missing.
    """
    form = _Form.of(llvm_ir, sm, opt_level)
    key = content_key("ptx", *form.kind, content(llvm_ir))
    if cache is not None and (found := cache.get(key)) is not None:
        return found.decode()
    with phase("PTX"):
        ptx = emit_pieces(
            llvm_ir,
            form.kind,
            form.compile,
            command_for(__name__, "main", *form.arguments),
            cache,
        ) or form.compile(llvm_ir)
    if cache is not None:
        cache.put(key, ptx.encode())
    return ptx


@dataclass(frozen=True)
class _Form:
    """The inputs of PTX generation besides the LLVM IR text."""

    sm: int
    version: int
    opt_level: OptLevel

    @staticmethod
    def of(llvm_ir: str, sm: int, opt_level: OptLevel) -> _Form:
        version = ptx_version(sm)
        if _BULK_COPIES in llvm_ir:
            version = max(version, _BULK_PTX)
        return _Form(sm, version, opt_level)

    @property
    def arguments(self) -> tuple[str, ...]:
        return str(self.sm), str(self.version), str(self.opt_level)

    @property
    def kind(self) -> tuple[str, ...]:
        """The part of cache keys that does not depend on the text."""
        digest = source_digest("ptx.py", "kernel_pieces.py", "module_text.py", "optimize.py")
        return digest, llvmlite.__version__, *self.arguments

    def compile(self, llvm_ir: str) -> str:
        return compile_kernels(llvm_ir, self.sm, self.version, self.opt_level)


class PtxAhead:
    """
    Compiles PTX in copies of this process while it does other work. The PTX goes into the cache, where
    `emit_ptx` finds it; `emit_ptx` itself compiles what is missing there.
    """

    def __init__(self) -> None:
        self._copies: ForkedCopies[Phase] | None = None

    def start(self, llvm_ir: str, *, sm: int, opt_level: OptLevel, cache: DiskCache) -> None:
        """Starts the copies for kernels that are not in the cache, if there are enough of them and a free
        processor."""
        number = copies()
        if number < 2 or len(llvm_ir) < _WORTH_COPIES or not cache.is_usable():
            return
        form = _Form.of(llvm_ir, sm, opt_level)
        found = missing_pieces(llvm_ir, form.kind, cache)
        if found is None or len(found[1]) < 2:
            return
        module, batches = found
        _initialize()

        def work(index: int) -> Phase:
            with apart() as phases:
                compile_pieces(module, batches[index], form.kind, form.compile, cache)
            return phases

        self._copies = ForkedCopies(work, range(len(batches)), number)

    def finish(self) -> None:
        """Waits until the copies have ended."""
        if self._copies is None:
            return
        with waiting("PTX", self._copies.seconds):
            found = self._copies.finish()
        with phase("PTX"):
            for phases in (found or {}).values():
                add(phases)

    def close(self) -> None:
        """Ends the copies, finished or not."""
        if self._copies is not None:
            self._copies.close()


def main() -> None:
    """Compiles standard input for the compute capability, PTX version and level given, to standard output."""
    text = sys.stdin.buffer.read().decode()
    ptx = compile_kernels(text, int(sys.argv[1]), int(sys.argv[2]), opt_level_of(sys.argv[3]))
    sys.stdout.buffer.write(ptx.encode())
