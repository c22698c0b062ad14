# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""
The host code of a program as text: one module of LLVM IR, or one module for each group of files if these were
compiled separately (`compiler/program_apart.py`); each becomes objects of its own, and internal names are
unique across them. The PTX of such a program also has a module for each group.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.memory import require_room

_BEGIN = "; the next file's module\n"
_BEGIN_PTX = "// the next file's module\n"


def joined(modules: Sequence[str]) -> str:
    """The text of a program of these modules."""
    return "".join(_BEGIN + module for module in modules)


def is_joined(ir: str) -> bool:
    """Whether this is the text of a program whose modules are compiled one by one."""
    return ir.startswith(_BEGIN)


def parts(ir: str) -> list[str]:
    """The modules of a program."""
    return ir.split(_BEGIN)[1:] if is_joined(ir) else [ir]


def joined_ptx(modules: Sequence[str]) -> str:
    """The PTX of a program of these modules; empty if there are none."""
    return modules[0] if len(modules) == 1 else "".join(_BEGIN_PTX + module for module in modules)


def ptx_parts(ptx: str) -> list[str]:
    """The PTX modules of a program."""
    return ptx.split(_BEGIN_PTX)[1:] if ptx.startswith(_BEGIN_PTX) else [ptx]


def linked(modules: Sequence[str]) -> str:
    """One module with the definitions of all `modules`. Raises `CompileError` for text that LLVM
    rejects."""
    if len(modules) == 1:
        return modules[0]
    import llvmlite.binding as llvm  # not needed for programs that are only inspected

    require_room(sum(map(len, modules)))
    context = llvm.create_context()
    opened: list[llvm.ModuleRef] = []
    try:
        for module in modules:
            opened.append(llvm.parse_assembly(module, context))
        for other in opened[1:]:
            opened[0].link_in(other)
        return str(opened[0])
    except RuntimeError as exc:
        raise error(UNKNOWN_LOC, f"LLVM rejects the host code: {str(exc).strip()}") from exc
    finally:
        for each in opened:  # before the context; closing a linked module again is allowed
            each.close()
        context.close()
