"""Recognises the kind of an input file that a command does not accept, by its name or its first bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, CompileError, error

IR = ".mlir"
_TO_C = "accopt compiles C: compile the file with its own compiler, and link the object with accc"
_NO_IR = "give its C source, or the IR that accopt made of it"
_RUN_IR = "run it with accrun, or compile it with accopt"
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
"""Suffix → the remedy for a file of another language, if it is not `_TO_C`."""
_MACHINE_CODE = (".o", ".a", ".s", ".S", ".sx")
_ELF_AND_ARCHIVES = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_BEGINNING = 4096
"""The number of bytes of a file that are examined."""


def language_of(path: Path, said: Sequence[str]) -> str | None:
    """
    The language of a file: by `-x`, whose arguments `said` are "LANGUAGE=FILE", or else by its name ("c",
    "cpp-output"); None if it is not a source file.
    """
    by_name = {".c": "c", ".i": "cpp-output"}.get(path.suffix)
    pairs = [each.partition("=") for each in said]
    return next((word for word, _, file in pairs if Path(file) == path), by_name)


def refuse_other_language(path: Path, wanted: str) -> None:
    """
    Raises `CompileError` for a file that is, by its name, of another language and not `wanted` ("a C
    file").
    """
    language = _LANGUAGES.get(path.suffix)
    if language is not None:
        raise _refusal(path, wanted, language, _REMEDIES.get(path.suffix, _TO_C))


def refuse_machine_code(path: Path, wanted: str) -> None:
    """
    Raises `CompileError` for a file that is not `wanted` but machine code, by its name or first bytes, or
    that has bytes which do not occur in text. Does nothing for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(_BEGINNING)
    except OSError:
        begin = b""
    if path.suffix in _MACHINE_CODE or begin.startswith(_ELF_AND_ARCHIVES):
        raise _refusal(path, wanted, "machine code", _LINK.format(path))
    if begin.startswith(b"#!"):
        raise _refusal(path, wanted, "a script or a program of accc", "start it by its path")
    if b"\0" in begin:
        raise _refusal(path, wanted, "binary data", "check the name of the file")


def _refusal(path: Path, wanted: str, found: str, remedy: str) -> CompileError:
    return error(UNKNOWN_LOC, f"'{path}' is not {wanted}, but {found}", remedy)
