"""
Object files of other compilers (gcc, g++, gfortran) in a program, which LLVM's JIT linker loads with the
program's own code. Features that it does not support are refused with a message: thread-local variables,
functions that are selected at load time (ifunc), and objects without machine code (link-time optimisation).

The system's `ld -r` first merges them into one object, with the constructors of all of them in one array.
The array gets a name, because LLVM links such arrays but does not run them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, CompileError, error
from ..base.machine import target_machine
from .binutils import run_tool, write_objects
from .elf import ET_REL, SHF_TLS, SHN_UNDEF, STB_GLOBAL, STB_LOCAL, STB_WEAK, ElfFile

CONSTRUCTORS = ("__accopt_init_begin", "__accopt_init_end")
DESTRUCTORS = ("__accopt_fini_begin", "__accopt_fini_end")
_SCRIPT = f"""SECTIONS {{
  .accopt_init 0 : {{ {CONSTRUCTORS[0]} = .; KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))
                      KEEP(*(.init_array)) {CONSTRUCTORS[1]} = .; QUAD(0) }}
  .accopt_fini 0 : {{ {DESTRUCTORS[0]} = .; KEEP(*(SORT_BY_INIT_PRIORITY(.fini_array.*)))
                      KEEP(*(.fini_array)) {DESTRUCTORS[1]} = .; QUAD(0) }}
}}
"""
_STT_IFUNC = 10
_MACHINES = {"x86_64": 62, "aarch64": 183}
_LINKERS_OWN = frozenset(("_GLOBAL_OFFSET_TABLE_", "__dso_handle"))


@dataclass(frozen=True)
class ForeignObject:
    """An ELF object file; `name` is for messages."""

    name: str
    data: bytes

    @property
    def is_member(self) -> bool:
        """Whether it comes from an archive."""
        return self.name.endswith(")")

    @cached_property
    def elf(self) -> ElfFile:
        """The parsed file. Raises `CompileError` if it is not an object file for this kind of machine."""
        return ElfFile(self.data, self.name)

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that it defines for others."""
        found = (s for s in self.elf.symbols if s.binding != STB_LOCAL and s.section != SHN_UNDEF)
        return frozenset(s.name for s in found)

    @property
    def exported(self) -> frozenset[str]:
        """The names that only it may define in the program, so not the weak copies of C++ templates."""
        found = (s for s in self.elf.symbols if s.binding == STB_GLOBAL and not s.hidden)
        return frozenset(s.name for s in found if s.section != SHN_UNDEF)

    @cached_property
    def undefined(self) -> frozenset[str]:
        """The names that it uses and others must define."""
        strong = (s for s in self.elf.symbols if s.binding not in (STB_LOCAL, STB_WEAK))
        names = frozenset(s.name for s in strong if s.section == SHN_UNDEF)
        return names - self.defined - _LINKERS_OWN

    def check(self) -> None:
        """Raises `CompileError` if the object uses a feature that cannot be linked."""
        elf = self.elf
        if elf.type != ET_REL:
            raise self._refusal(
                "is not an object file, but a program or library", "link it with -l"
            )
        if elf.machine != _MACHINES[target_machine()]:
            raise self._refusal("has code for another processor", "compile it for this one")
        if any(s.name.startswith(".gnu.lto_") for s in elf.sections) and not elf.code:
            raise self._refusal("has no machine code, as -flto leaves it", "compile without -flto")
        for section in elf.sections:
            if section.flags & SHF_TLS and section.size:
                names = [s.name for s in elf.symbols if s.section == section.number and s.name]
                raise self._refusal(
                    f"has the thread-local variable '{(names or [section.name])[0]}'",
                    "put it into a shared library, and link that with -l",
                )
            if section.name.startswith((".ctors", ".dtors")):
                raise self._refusal("has constructors of an old form", "compile with a newer gcc")
        for symbol in elf.symbols:
            if symbol.type == _STT_IFUNC:
                raise self._refusal(
                    f"has the function '{symbol.name}', whose variant is selected when it is loaded (ifunc)",
                    "put it into a shared library, and link that with -l",
                )

    def _refusal(self, what: str, remedy: str) -> CompileError:
        return error(UNKNOWN_LOC, f"'{self.name}' {what}", remedy)


def merged(objects: Sequence[ForeignObject]) -> bytes:
    """Merges the objects into one. Raises `CompileError` if they cannot be linked, or if there is no
    `ld`."""
    for each in objects:
        each.check()
    linker = shutil.which("ld")
    if linker is None:
        raise error(
            UNKNOWN_LOC,
            f"linking '{objects[0].name}', which another compiler made, needs the system's 'ld'",
            "install binutils, or compile the C source with accc",
        )
    with tempfile.TemporaryDirectory() as folder:
        script, output = Path(folder) / "script", Path(folder) / "all.o"
        script.write_text(_SCRIPT)
        names = write_objects(folder, ((each.name, each.data) for each in objects))
        command = [linker, "-r", "-T", str(script), "-o", str(output), *names]
        run_tool(command, "the objects cannot be linked", names)
        return output.read_bytes()
