# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""
Compiles a host module to object code, and works around faults of LLVM.

LLVM 22's loop vectoriser compares two cost models and ends the process when they disagree, which
happens for loops that keep a maximum or minimum (`fmax`) with constant trip counts that leave a long
remainder. A module with such operations is therefore compiled by a process of its own (`main`); if that
dies, the module is compiled here without vectorised loops.

The same vectoriser compiles an integer division that only some iterations run, of operands that no
iteration changes, for the first iteration of a vector alone; where its result is part of an address, the
others take that address too, even if the first one does not divide. It does so only if it can analyse the
divisor, so divisors are hidden from it unless they turn out to be constant.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

import llvmlite.binding as llvm

from ..base.diagnostics import CompileError
from ..base.host_mathematics import vector_library, with_mathematics
from ..base.machine import is_foreign, target_machine
from ..base.options import OptLevel, opt_level_of
from ..base.phases import phase
from .optimize import open_module, optimize, without_missed_loops
from .processes import command_for

_MAY_END_LLVM = re.compile(r"@(?:fmaxf?|fminf?|llvm\.(?:max|min)(?:num|imum|imumnum)\.\w+)\(")


_DIVISION = re.compile(
    r"^  %(?P<result>[\w.$-]+) = [us](?:div|rem) (?:exact )?(?P<type>i\d+) [^,\n]+, (?P<divisor>%[\w.$-]+)",
    re.MULTILINE,
)


_SLOW_GATHERS = "znver"
"""
The processors, by the beginning of LLVM's name, that make gathers and scatters of more operations than the
scalar accesses that they replace, which LLVM 22 does not know of them. On a Zen 4 a product of matrices in
structures takes 3.8 times as long with them, an update of structures of eight doubles 1.5 to 5 times.
"""


@dataclass(frozen=True)
class Processor:
    """The target of host code in LLVM's terms: triple, processor and features."""

    triple: str
    cpu: str
    features: str


def processor() -> Processor:
    """
    This computer's processor with all its features; when compiling for another machine, a generic one of
    its kind.
    """
    if is_foreign():
        return Processor(f"{target_machine()}-unknown-linux-gnu", "generic", "")
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    if cpu.startswith(_SLOW_GATHERS):
        features += ",+prefer-no-gather,+prefer-no-scatter"
    return Processor(llvm.get_process_triple(), cpu, features)


def initialize() -> None:
    """Initialises LLVM's code generation for the host."""
    if is_foreign():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()  # for inline assembly


def host_machine(opt_level: OptLevel = 3) -> llvm.TargetMachine:
    """
    LLVM's target machine for the host. Its code is position-independent, as the memory of the JIT can be
    too far from libraries for direct addresses.
    """
    initialize()
    made_for = processor()
    target = llvm.Target.from_triple(made_for.triple)
    return target.create_target_machine(
        cpu=made_for.cpu,
        features=made_for.features,
        opt=opt_level,
        reloc="pic",
        codemodel="default" if is_foreign() else "jitdefault",
    )


def object_code(ir: str, opt_level: OptLevel) -> bytes:
    """The optimised object code of `ir`. Raises `CompileError` if LLVM rejects the text."""
    if opt_level < 2 or _MAY_END_LLVM.search(ir) is None:
        return compile_here(ir, opt_level)
    found = _compile_apart(ir, opt_level)
    return found if found is not None else compile_here(ir, opt_level, vectorize=False)


def compile_here(ir: str, opt_level: OptLevel, *, vectorize: bool = True) -> bytes:
    """As `object_code`, but always in this process; `vectorize` allows vectorised loops."""
    if opt_level >= 2 and vectorize:
        ir = hide_divisors(ir)
    machine = host_machine(opt_level)
    ir = with_mathematics(ir, vector_library(processor().features))
    header = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    with open_module(header + ir, "host code") as (module, _):
        wanted = "llvm.loop.vectorize.enable" in ir
        with phase("LLVM optimises"), without_missed_loops(wanted=wanted):
            optimize(module, machine, opt_level, vectorize=vectorize)
        with phase("LLVM makes code"):
            return bytes(machine.emit_object(module))


def hide_divisors(ir: str) -> str:
    """
    LLVM IR text in which integer divisors pass through an empty assembly statement, of which LLVM
    only knows that its result depends on its operand. Divisors that inlining makes constant do not.

    Before:
      %q = urem i32 1000, %n
    After:
      %q.known = call i1 @llvm.is.constant.i32(i32 %n)
      %q.hidden = call i32 asm "", "=r,0"(i32 %n)
      %q.divisor = select i1 %q.known, i32 %n, i32 %q.hidden
      %q = urem i32 1000, %q.divisor
    """
    types: set[str] = set()

    def hide(found: re.Match[str]) -> str:
        name, type_, divisor = found["result"], found["type"], found["divisor"]
        types.add(type_)
        return (
            f"  %{name}.known = call i1 @llvm.is.constant.{type_}({type_} {divisor})\n"
            f'  %{name}.hidden = call {type_} asm "", "=r,0"({type_} {divisor})\n'
            f"  %{name}.divisor = select i1 %{name}.known, {type_} {divisor}, {type_} %{name}.hidden\n"
            + found[0].removesuffix(divisor)
            + f"%{name}.divisor"
        )

    hidden = _DIVISION.sub(hide, ir)
    known = [f"declare i1 @llvm.is.constant.{type_}({type_})" for type_ in sorted(types)]
    declarations = [line for line in known if line not in ir]
    return "\n".join([hidden, *declarations, ""]) if declarations else hidden


def _compile_apart(ir: str, opt_level: OptLevel) -> bytes | None:
    """`compile_here` in another process; None if that ended without a result."""
    command = command_for(__name__, "main", str(opt_level))
    result = subprocess.run(command, input=ir.encode(), capture_output=True, check=False)
    return result.stdout if result.returncode == 0 and result.stdout else None


def main() -> None:
    """Compiles standard input at the level given by the argument, to standard output."""
    with suppress(CompileError):  # reported when it is compiled again
        code = compile_here(sys.stdin.buffer.read().decode(), opt_level_of(sys.argv[1]))
        sys.stdout.buffer.write(code)
