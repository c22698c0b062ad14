"""
Finds the headers of #include.

Our own headers (`include/`) declare the C library in plain C99. They are a tenth of glibc's, so programs
for which they suffice never read the system's. A file that includes a header that we do not have
(`<wchar.h>`, `<zlib.h>`), that uses a name which is in the system's version of one of our headers but not
in ours (`include/lacking.txt`), or that refuses compilers other than gcc by `#error` (CUDA's headers do),
is preprocessed with the system's headers throughout: the two cannot be mixed, as both define the same
types. Of ours, such a file uses only the headers that a C compiler itself provides (`<stddef.h>`,
`<float.h>`), and those whose system version needs another compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from ..base.diagnostics import CompileError, SourceLoc, error
from ..base.library_headers import INCLUDE_DIR
from ..base.machine import is_foreign, machine_folder
from ..base.similar import did_you_mean

OPENACC_INCLUDE_DIR = INCLUDE_DIR / "acc"
"""`openacc.h` and `acc_prof.h`, which describe our runtime and so serve `use_system_cpp` too."""

WINNERS = frozenset(
    ("complex.h", "tgmath.h", "stdatomic.h", "omp.h", "accelmath.h", "openacc.h", "acc_prof.h")
)
"""Our headers that are used even with the system's: their contents depend on the compiler."""


def system_folders() -> list[Path]:
    """The folders in which C compilers of the machine look for headers."""
    folders = [
        Path("/usr/local/include"),
        Path("/usr/include") / machine_folder(),
        Path("/usr/include"),
    ]
    if is_foreign():
        folders = [Path("/usr") / machine_folder() / "include", *folders[1:]]
    return [folder for folder in folders if folder.is_dir()]


def searched_folders(include_dirs: Sequence[Path]) -> list[Path]:
    """The folders in which headers are looked for, in order, as `-v` prints them."""
    return [*include_dirs, INCLUDE_DIR, OPENACC_INCLUDE_DIR, *system_folders()]


class NeedsSystemHeaders(Exception):
    """The file includes a header, or uses a name, that only the system's headers have."""


@dataclass(frozen=True)
class Found:
    """A header, and the number of the searched folder that contains it (-1: beside the including file)."""

    path: Path
    folder: int


class Inputs:
    """
    The inputs of preprocessing a file, besides its options: `read`, path → text; `absent`, the files that
    were looked for and not found; and `clock`, the date and time, if used.
    """

    def __init__(self) -> None:
        self.read: dict[str, str] = {}
        self.absent: set[str] = set()
        self.clock: set[str] = set()

    def has(self, path: Path) -> bool:
        """Whether the file exists; records the answer if it does not."""
        found = path.is_file()
        if not found:
            self.absent.add(str(path))
        return found


class HeaderSearch:
    """
    The folders of one preprocessing, in order: `include_dirs` (-I), the system's if `system`, ours, `after`;
    before them `quote` for names in quotes; only `include_dirs` and `after` if not `standard`. Without
    `system`, a header that only the system has raises `NeedsSystemHeaders`.
    """

    def __init__(
        self,
        include_dirs: Sequence[Path],
        inputs: Inputs,
        *,
        system: bool,
        quote: Sequence[Path] = (),
        after: Sequence[Path] = (),
        standard: bool = True,
    ) -> None:
        self.inputs = inputs
        self.system = system or not standard
        self._quote = quote
        self._own_first = len(include_dirs)
        ours = [INCLUDE_DIR, OPENACC_INCLUDE_DIR]
        if not standard:
            self._own_first = 1 << 30
            self._folders = [*include_dirs, *after]
            return
        self._folders = [*include_dirs, *ours, *(system_folders() if system else ())]
        if system:
            self._folders += ours
        self._folders += after

    def find(self, target: str, beside: Path | None, after: int = -1) -> Found | None:
        """
        The header `target`, first in the folder `beside` if given, then in the searched folders with
        numbers above `after`. None if it is in none of them.
        """
        if beside is not None and self.inputs.has(beside / target):
            return Found(beside / target, -1)
        for folder in self._quote if beside is not None else ():
            if self.inputs.has(folder / target):
                return Found(folder / target, -1)
        for number in range(after + 1, len(self._folders)):
            if self._passed_over(number, target):
                continue
            candidate = self._folders[number] / target
            if self.inputs.has(candidate):
                return Found(candidate, number)
        if not self.system and any(self.inputs.has(f / target) for f in system_folders()):
            raise NeedsSystemHeaders
        return None

    def _passed_over(self, number: int, target: str) -> bool:
        """Whether folder `number`, if it is one of ours, is skipped for `target` because the system's
        headers are used."""
        ours_first = self._own_first <= number < self._own_first + 2
        return self.system and ours_first and target not in WINNERS

    def missing(self, loc: SourceLoc, target: str) -> CompileError:
        """The error for a header that was not found."""
        known = {path.name for folder in self._folders for path in folder.glob("*.h")}
        if target in _OF_OTHERS:
            remedy = _OF_OTHERS[target]
        elif _INTRINSICS.match(target):
            remedy = "functions of one processor are not supported: build the portable code"
        elif "." not in target:
            remedy = (
                "headers without a suffix are C++: compile this file with g++, and link the object"
            )
        else:
            meant = did_you_mean(target, known, 0.82)
            remedy = meant or "add the directory that holds it with -I <directory>"
        return error(loc, f"cannot find the header '{target}'", remedy)


_OF_OTHERS = {
    "mpi.h": "compile with OMPI_CC=accc mpicc, or give MPI's folder with -I",
    "omp_lib.h": "omp_lib.h is a header of Fortran: write omp.h",
    "cuda_runtime.h": "give the folder of CUDA's headers with -I, for example -I/usr/local/cuda/include",
    "cuda.h": "give the folder of CUDA's headers with -I, for example -I/usr/local/cuda/include",
}
"""Remedies for headers of libraries that are found in a special way."""
_INTRINSICS = re.compile(r"(?:[a-z]*mmintrin|x86\w*intrin|cpuid|arm_\w+)\.h$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NOT_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


class ReadFiles:
    """The files that one preprocessing has read, and whether the program's own files use names that our
    headers lack."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._ours: dict[str, str] = {}
        self._others: dict[Path | int, str] = {}
        self.names: list[str] = []
        """The files that are not ours, in order."""

    def add(self, path: Path | None, text: str) -> None:
        """Records that a file was read; `path` is None if it is only in memory."""
        if path is not None and path.name != "<command line>":
            self._inputs.read[str(path)] = text
        if path is not None and path.is_relative_to(INCLUDE_DIR):
            self._ours[str(path.relative_to(INCLUDE_DIR))] = text
        else:
            self._others[path or len(self._others)] = text
            if path is not None and path.name != "<command line>":
                self.names.append(str(path))

    def lacking(self) -> frozenset[str]:
        """The names that the program uses, that one of our included headers lacks, and that no other of our
        headers has."""
        table = lacking_names()
        lacked = frozenset[str]().union(*(table[h] for h in self._ours if h in table))
        if not any(not lacked.isdisjoint(_identifiers(text)) for text in self._others.values()):
            return frozenset()
        code = (_NOT_CODE.sub(" ", text) for text in self._others.values())
        used = lacked.intersection(*[{name for text in code for name in _IDENTIFIER.findall(text)}])
        return used.difference(*map(_identifiers, self._ours.values()))


@lru_cache(256)
def _identifiers(text: str) -> frozenset[str]:
    """What looks like a name in a file, of which several files of a program include the most."""
    return frozenset(_IDENTIFIER.findall(text))


@cache
def lacking_names() -> dict[str, frozenset[str]]:
    """Header → the names that the system's version has and ours lacks; empty where the system has no
    headers."""
    path = INCLUDE_DIR / "lacking.txt"
    has_headers = any((folder / "stdio.h").is_file() for folder in system_folders())
    return dict(_lacking(path.read_text())) if has_headers and path.is_file() else {}


def _lacking(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for line in text.splitlines():
        header, _, names = line.partition(":")
        if not line.startswith("#"):
            yield header, frozenset(names.split())
