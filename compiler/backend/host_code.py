# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""
Object code of a host module, and what to do when LLVM itself fails on it.

LLVM 22's loop vectoriser compares two cost models and ends the process when they disagree, which
happens for loops that keep a maximum or minimum (`fmax`) with constant trip counts that leave a long
remainder. A module with such operations is therefore compiled by a process of its own (`main`); if that
dies, the module is compiled here without vectorised loops.
"""

from __future__ import annotations

import re
import subprocess
import sys

import llvmlite.binding as llvm

from ..diagnostics import CompileError
from ..options import OptLevel
from .host_mathematics import vector_library, with_mathematics
from .optimize import open_module, optimize, without_missed_loops

_MAY_END_LLVM = re.compile(r"@(?:fmaxf?|fminf?|llvm\.(?:max|min)(?:num|imum|imumnum)\.\w+)\(")


def initialize() -> None:
    """Makes LLVM ready to generate code for this computer."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def host_machine(opt_level: OptLevel = 3) -> llvm.TargetMachine:
    """
    Code generation for this computer's processor with all its features. Position-independent, as
    the memory of the JIT can be too far from libraries for direct addresses.
    """
    initialize()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=opt_level,
        reloc="pic",
        codemodel="jitdefault",
    )


def object_code(ir: str, opt_level: OptLevel) -> bytes:
    """The optimised object code of `ir`. Raises `CompileError` if LLVM rejects the text."""
    if opt_level < 2 or _MAY_END_LLVM.search(ir) is None:
        return compile_here(ir, opt_level)
    found = _compile_apart(ir, opt_level)
    return found if found is not None else compile_here(ir, opt_level, vectorize=False)


def compile_here(ir: str, opt_level: OptLevel, *, vectorize: bool = True) -> bytes:
    """As `object_code`, in this process whatever happens; `vectorize` allows vectorised loops."""
    machine = host_machine(opt_level)
    ir = with_mathematics(ir, vector_library(llvm.get_host_cpu_features().flatten()))
    header = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    with open_module(header + ir, "host code") as (module, _):
        with without_missed_loops(wanted="llvm.loop.vectorize.enable" in ir):
            optimize(module, machine, opt_level, vectorize=vectorize)
        return bytes(machine.emit_object(module))


def _compile_apart(ir: str, opt_level: OptLevel) -> bytes | None:
    """`compile_here` by another process; None if that ended without a result."""
    # Our own places for modules and no others, whatever folder or environment this process is in.
    places = [place for place in sys.path if place]
    run = f"import sys; sys.path[:] = {places!r}; from {__name__} import main; sys.exit(main())"
    command = [sys.executable, "-I", "-c", run, str(opt_level)]
    result = subprocess.run(command, input=ir.encode(), capture_output=True, check=False)
    return result.stdout if result.returncode == 0 and result.stdout else None


def main() -> int:
    """Compiles standard input at the level given by the argument, to standard output."""
    levels: dict[str, OptLevel] = {"2": 2, "3": 3}
    try:
        code = compile_here(sys.stdin.buffer.read().decode(), levels[sys.argv[1]])
    except CompileError:
        return 1  # reported by whoever compiles it again
    sys.stdout.buffer.write(code)
    return 0
