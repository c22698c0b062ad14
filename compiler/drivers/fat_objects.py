"""
`accc -c -ffat-lto-objects`: object files for every linker, as those of gcc's option. They are ELF files
with the machine code of their file; the object that `accc` itself links is in a section that other linkers
drop.

Code with directives needs the runtime, which only `accc` links: such an object refers to an undefined
symbol whose name says so, for the message of other linkers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..backend.binutils import run_tool
from ..backend.elf import ElfFile
from ..backend.host_objects import compile_object
from ..backend.jit import exported_names
from ..backend.module_parts import linked, parts
from ..backend.symbols import declared_names
from ..base.abi import CONSTRUCT, DESTRUCT
from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.machine import tool
from ..compiled import Executable
from ..references import is_of_runtime

SECTION = ".accopt"
NEEDS_ACCC = "objects_with_directives_are_linked_by_accc"


def fat_object(executable: Executable, held: bytes) -> bytes:
    """
    The object of one file, compiled for the host as `executable`; `held` is the object that `accc` links.
    Raises `CompileError` without the system's `objcopy`.
    """
    objcopy = tool("objcopy")
    if objcopy is None:
        raise error(
            UNKNOWN_LOC, "-ffat-lto-objects needs the system's 'objcopy'", "install binutils"
        )
    ir = with_ends(linked(parts(executable.host_ir)), own=True)
    if any(is_of_runtime(name) for name in declared_names(executable.host_ir)):
        ir += f"@{NEEDS_ACCC} = external global i8\n"
        ir += f"@accopt_needs = internal global ptr @{NEEDS_ACCC}\n"
        used = "@llvm.compiler.used = appending global [1 x ptr] [ptr @accopt_needs]"
        ir += f'{used}, section "llvm.metadata"\n'
    code = compile_object(ir, opt_level=executable.options.opt_level)
    with tempfile.TemporaryDirectory() as folder:
        path, section = Path(folder) / "object.o", Path(folder) / "section"
        path.write_bytes(code)
        section.write_bytes(held)
        words = [f"--add-section={SECTION}={section}"]
        words.append(f"--set-section-flags={SECTION}=readonly,exclude")
        run_tool([objcopy, *words, str(path)], "the object cannot be written")
        return path.read_bytes()


def held_in(data: bytes, name: str) -> bytes | None:
    """The part of an ELF object that `accc` links; None for an object of another compiler. `name` is for
    messages."""
    if f"{SECTION}\0".encode() not in data:
        return None
    elf = ElfFile(data, name)
    section = elf.section(SECTION)
    return None if section is None else elf.contents(section)


def with_ends(ir: str, *, own: bool = False) -> str:
    """
    LLVM IR text whose constructors and destructors are called at the beginning and end of a program. `own`:
    their names are local to this object, as other objects may have some too.
    """
    for name, array in ((CONSTRUCT, "llvm.global_ctors"), (DESTRUCT, "llvm.global_dtors")):
        if name not in exported_names(ir):
            continue
        if own:
            ir = ir.replace(f"define void @{name}(", f"define internal void @{name}(")
        hook = f"{{ i32, ptr, ptr }} {{ i32 65535, ptr @{name}, ptr null }}"
        ir += f"@{array} = appending global [1 x {{ i32, ptr, ptr }}] [{hook}]\n"
    return ir
