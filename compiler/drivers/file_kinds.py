"""What kind of file an input is, by its name or its first bytes, where that is not what a command takes."""

from __future__ import annotations

from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, CompileError, error

IR = ".mlir"
_TO_C = "accopt compiles C: compile the file with its own compiler, and link the object with accc"
_NO_IR = "give its C source, or the IR that accopt made of it"
_RUN_IR = "accrun runs it, accopt shows what becomes of it"
_LINK = "link it into a program: accc prog.c {} -o prog && ./prog"
_FROM_PYTHON = "compile programs from Python with accopt.compiler.api"
_LANGUAGES = {
    IR: "IR",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".C", ".c++", ".hpp"), "C++"),
    **dict.fromkeys((".f", ".for", ".f90", ".F", ".F90", ".f95", ".f03", ".f08"), "Fortran"),
    **dict.fromkeys((".cu", ".cuh"), "CUDA C++"),
    **dict.fromkeys((".py", ".pyc"), "Python"),
    ".m": "Objective-C",
    ".rs": "Rust",
    ".ll": "LLVM IR",
    ".bc": "LLVM bitcode",
    ".ptx": "PTX",
}
_REMEDIES = {
    IR: _RUN_IR,
    ".ll": _NO_IR,
    ".bc": _NO_IR,
    ".ptx": _NO_IR,
    ".py": _FROM_PYTHON,
    ".pyc": _FROM_PYTHON,
}
"""What to do with files of another language, but for `_TO_C`."""
_MACHINE_CODE = (".o", ".a", ".s", ".S", ".sx")
_ELF_AND_ARCHIVES = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_BEGINNING = 4096
"""So many bytes of a file are looked at."""


def refuse_other_language(path: Path, wanted: str) -> None:
    """
    Raises `CompileError` for a file whose name says that it is not `wanted` ("a C file"), but of another
    language.
    """
    language = _LANGUAGES.get(path.suffix)
    if language is not None:
        raise _refusal(path, wanted, language, _REMEDIES.get(path.suffix, _TO_C))


def refuse_machine_code(path: Path, wanted: str) -> None:
    """
    Raises `CompileError` for a file that is not `wanted`, but machine code by its name or first bytes, or has
    bytes that no text has. Files that cannot be read are left to who reads them.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(_BEGINNING)
    except OSError:
        begin = b""
    if path.suffix in _MACHINE_CODE or begin.startswith(_ELF_AND_ARCHIVES):
        raise _refusal(path, wanted, "machine code", _LINK.format(path))
    if b"\0" in begin:
        raise _refusal(path, wanted, "binary data", "check the name of the file")


def _refusal(path: Path, wanted: str, found: str, remedy: str) -> CompileError:
    return error(UNKNOWN_LOC, f"'{path}' is not {wanted}, but {found}", remedy)
