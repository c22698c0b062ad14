"""
The bench's kernels in the forms that existing programs use: with levels, sizes and tiles.

    python -m benchmarks.forms [KERNEL ...] [--emit FOLDER] [--time]

Every form of a kernel is generated from its text in `kernels/*.c` (`FORMS`). Without a GPU, this prints
which forms compile to the same PTX and the same launch as the bare one (`=`), so that they take the same
time, and for others how many lines differ. `--emit` writes the C files. `--time` checks and times on the
GPU the bare form and those whose code differs from it (`forms_time.py`).
"""

from __future__ import annotations

import argparse
import ctypes
import difflib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accopt.compiler.api import Program, compile_files
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions, TargetName
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage

if TYPE_CHECKING:
    from .specs import Kernel

HERE = Path(__file__).parent
FILES = ("streaming", "stencils", "compute", "reductions", "scans")
BARE = "bare"

# The forms ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nest:
    """A nest of `depth` parallel loops; `tight`: tightly nested."""

    depth: int
    tight: bool


Levels = Sequence[str | None]
"""The words of each loop's directive, outermost first; None: the loop has no directive of its own."""


@dataclass(frozen=True)
class Form:
    """
    A form of nests: `construct` is the directive's name; `levels` returns the words for each loop, None
    if a nest has no such form. `turned`: the nest's loops in reverse order.
    """

    levels: Callable[[Nest], Levels | None]
    construct: str = "parallel"
    sizes: str = ""
    turned: bool = False


def bare(nest: Nest) -> Levels:
    return [""] * nest.depth


def collapsed(words: str = "") -> Callable[[Nest], Levels | None]:
    def levels(nest: Nest) -> Levels | None:
        if not nest.tight or nest.depth == 1:
            return None
        return [f"{words} collapse({nest.depth})", *[None] * (nest.depth - 1)]

    return levels


def gang_vector(nest: Nest) -> Levels:
    if nest.depth == 1:
        return ["gang vector"]
    if nest.depth == 2 or not nest.tight:
        return ["gang", "vector", *[""] * (nest.depth - 2)]
    return [f"gang collapse({nest.depth - 1})", *[None] * (nest.depth - 2), "vector"]


def gang_worker_vector(nest: Nest) -> Levels:
    if nest.depth == 1:
        return ["gang worker vector"]
    if nest.depth == 2:
        return ["gang worker", "vector"]
    return ["gang", "worker", "vector", *[""] * (nest.depth - 3)]


def all_levels(nest: Nest) -> Levels:
    return collapsed("gang worker vector")(nest) or gang_worker_vector(nest)


def gang_then_both(nest: Nest) -> Levels | None:
    return None if nest.depth != 2 else ["gang", "worker vector"]


def _outermost(words: str) -> Callable[[Nest], Levels | None]:
    def levels(nest: Nest) -> Levels | None:
        return None if nest.depth == 1 else [words, *[None] * (nest.depth - 1)]

    return levels


def _turned(nest: Nest) -> Levels | None:
    return bare(nest) if nest.tight and nest.depth > 1 else None


def _independent(nest: Nest) -> Levels:
    return ["independent"] * nest.depth


def tiles(sizes: Mapping[int, str]) -> Callable[[Nest], Levels | None]:
    def levels(nest: Nest) -> Levels | None:
        if not nest.tight or nest.depth not in sizes:
            return None
        return [f"tile({sizes[nest.depth]})", *[None] * (nest.depth - 1)]

    return levels


FORMS: dict[str, Form] = {
    BARE: Form(bare),
    "collapse": Form(collapsed()),
    "gang vector": Form(gang_vector),
    "gang vector 32": Form(gang_vector, sizes="vector_length(32)"),
    "gang vector 128": Form(gang_vector, sizes="vector_length(128)"),
    "gang worker vector": Form(gang_worker_vector),
    "gang worker vector 8x32": Form(gang_worker_vector, sizes="num_workers(8) vector_length(32)"),
    "gang, worker vector 8x32": Form(gang_then_both, sizes="num_workers(8) vector_length(32)"),
    "old GPU": Form(all_levels, sizes="num_gangs(1056) num_workers(8) vector_length(32)"),
    "sizes only": Form(bare, sizes="num_gangs(512) vector_length(64)"),
    "outermost": Form(_outermost("")),
    "outermost gang worker": Form(
        _outermost("gang worker"), sizes="num_workers(4) vector_length(128)"
    ),
    "outermost gang vector": Form(_outermost("gang vector")),
    "kernels": Form(_independent, construct="kernels"),
    "kernels gang vector": Form(gang_vector, construct="kernels"),
    "turned": Form(_turned, turned=True),
    "turned collapse": Form(collapsed(), turned=True),
    "turned gang vector 128": Form(gang_vector, sizes="vector_length(128)", turned=True),
    "tile": Form(tiles({1: "256", 2: "32,32", 3: "4,4,32"})),
    "tile *": Form(tiles({1: "*", 2: "*,*", 3: "*,*,*"})),
}
"""The forms by name. `kernels gang vector` relies on `gang` and `vector` being honoured where loops are
independent."""

# Generating -----------------------------------------------------------------------------------------

_DIRECTIVE = re.compile(r"#pragma acc (parallel loop|loop)\b(.*)")
_HEADER = re.compile(r"for \(.*?;.*?;[^)]*\)")
_CLAUSE = re.compile(r"\w+(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*\))?")
_MAPPING = ("gang", "worker", "vector", "collapse", "num_gangs", "num_workers", "vector_length")


def _split_clauses(text: str) -> tuple[str, int]:
    """The clauses that do not affect the mapping, and the collapse count."""
    kept: list[str] = []
    collapse = 1
    for clause in _CLAUSE.findall(text):
        name = clause.partition("(")[0].rstrip()
        if name == "collapse":
            collapse = int(clause.partition("(")[2].rstrip(")"))
        elif name not in _MAPPING:
            kept.append(clause)
    return " ".join(kept), collapse


@dataclass(frozen=True)
class _Loop:
    """A parallel loop of a kernel: the line of its `for`, its own clauses, and of its directive or None."""

    line: int
    clauses: str
    directive: int | None


def _loops(lines: Sequence[str]) -> list[_Loop]:
    found: list[_Loop] = []
    for number, line in enumerate(lines):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            continue
        clauses, collapse = _split_clauses(directive[2])
        found.append(_Loop(number + 1, clauses, number))
        found += [_Loop(number + 1 + k, "", None) for k in range(1, collapse)]
    return found


def kernel_texts(text: str) -> dict[str, list[str]]:
    """The lines of each function of a file of kernels by name; the lines before the functions have the key
    ""."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        begin = re.match(r"void (\w+)\(", line)
        if begin:
            name = begin[1]
            found[name] = []
        found[name].append(line)
        if line == "}":
            name = ""
    return found


def all_kernels() -> list[tuple[str, str]]:
    """File and name of every kernel of the bench."""
    texts = {file: kernel_texts((HERE / "kernels" / f"{file}.c").read_text()) for file in FILES}
    return [(file, name) for file, names in texts.items() for name in names if name]


def _turn(lines: Sequence[str], loops: Sequence[_Loop]) -> list[str]:
    """The lines of a kernel with the headers of its loops in reverse order."""
    headers = [_HEADER.search(lines[loop.line]) for loop in loops]
    found = [header[0] for header in headers if header is not None]
    assert len(found) == len(loops)
    turned = list(lines)
    for loop, old, new in zip(loops, found, reversed(found), strict=True):
        turned[loop.line] = turned[loop.line].replace(old, new)
    return turned


def rewrite(lines: Sequence[str], form: Form) -> list[str] | None:
    """A kernel in a form; None if the form does not suit its nest."""
    loops = _loops(lines)
    nest = Nest(len(loops), all(loop.directive is None for loop in loops[1:]))
    levels = form.levels(nest)
    tiled = levels is not None and "tile" in (levels[0] or "")
    if levels is None or (tiled and any("scan(" in loop.clauses for loop in loops)):
        return None
    before: dict[int, str] = {}
    for loop, words in zip(loops, levels, strict=True):
        if words is None:
            if loop.clauses:
                return None
            continue
        head = "loop"
        if loop is loops[0]:
            head, words = f"{form.construct} loop", f"{words} {form.sizes}"
        before[loop.line] = " ".join(f"#pragma acc {head} {words} {loop.clauses}".split())
    if form.turned:
        if not nest.tight or nest.depth == 1:
            return None
        lines = _turn(lines, loops)
    dropped = {loop.directive for loop in loops}
    out: list[str] = []
    for number, line in enumerate(lines):
        out += [before[number]] if number in before else []
        out += [] if number in dropped else [line]
    return out


# Comparing ------------------------------------------------------------------------------------------


def code_of(path: Path, kernel: str, fast_math: bool) -> str:
    """The code of a file of one kernel: its PTX, and the host code that launches it."""
    options = CompileOptions(target="nvptx", fast_math=fast_math)
    module = front_end([path], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options)
    device = emit_text(module, "ptx", options)
    host = emit_text(module, "llvm", options)
    begin = re.search(rf"^define [^@\n]*@\"?{kernel}\"?\(", host, re.MULTILINE)
    assert begin is not None
    launch = host[begin.start() : host.index("\n}", begin.start())]
    # Where the host computes a bound does not matter, but that it does.
    launch = "\n".join(sorted(re.sub(r"%[\w.]+", "%", launch).splitlines()))
    # The names of kernels have the line of their construct in them.
    return re.sub(rf"\b{kernel}_\d+", kernel, f"{device}\n{launch}\n")


def differing_lines(left: str, right: str) -> int:
    """The number of lines of one text that are not in the other."""
    lines = difflib.unified_diff(left.splitlines(), right.splitlines(), n=0, lineterm="")
    return sum(line[0] in "+-" and line[:3] not in ("+++", "---") for line in lines)


def write_form(file: str, kernel: str, form: str, folder: Path) -> Path | None:
    """The C file of one kernel in one form, made in `folder`; None if it has no such form."""
    lines = kernel_texts((HERE / "kernels" / f"{file}.c").read_text())
    new = rewrite(lines[kernel], FORMS[form])
    if new is None:
        return None
    path = folder / f"{kernel}-{form.replace(' ', '-').replace('*', 'any')}.c"
    path.write_text("\n".join([*lines[""], *new, ""]))
    return path


def compare(
    file: str, kernel: str, folder: Path, *, fast_math: bool = False, forms: Sequence[str] = ()
) -> dict[str, int]:
    """Form → how many lines of a kernel's code differ from those of the bare form."""
    found: dict[str, int] = {}
    code_of_bare = ""
    for form in (BARE, *(forms or list(FORMS)[1:])):
        path = write_form(file, kernel, form, folder)
        if path is not None:
            code = code_of(path, kernel, fast_math)
            code_of_bare = code_of_bare or code
            found[form] = differing_lines(code_of_bare, code)
    return found


# Checking -------------------------------------------------------------------------------------------


def wrong_results(file: str, name: str, form: str, folder: Path, target: TargetName) -> str | None:
    """
    Runs a form of a kernel at its small size on the CPU or the simulator; returns how its results differ
    from the reference, None if they do not, or if there is no such form.
    """
    path = write_form(file, name, form, folder)
    if path is None:
        return None
    from .specs import KERNELS

    kernel = next(k for k in KERNELS if k.name == name)
    program = compile_files([path], CompileOptions(target=target))
    try:
        return wrong_run(program, kernel)
    finally:
        program.close()


def wrong_run(program: Program, kernel: Kernel) -> str | None:
    """Runs a kernel of a program at its small size; returns how its results differ from the reference, None
    if they do not."""
    case = kernel.make(kernel.small)
    arrays = {n: v.copy() for n, v in case.args.items() if not isinstance(v, int)}
    mapped = {n: a for n, a in arrays.items() if n != case.host_result}
    section = (ctypes.c_void_p, ctypes.c_size_t)
    copyin = program.function("acc_copyin", ctypes.c_void_p, section)
    for array in mapped.values():
        copyin(array.ctypes.data, array.nbytes)
    args = case.arguments({n: a.ctypes.data for n, a in arrays.items()})
    program.function(kernel.name, None, None)(*args)
    copyout = program.function("acc_copyout", None, section)
    for array in mapped.values():
        copyout(array.ctypes.data, array.nbytes)
    return case.wrong(arrays)


# Reporting ------------------------------------------------------------------------------------------


def compared(file: str, name: str, folder: Path, fast_math: bool) -> Iterator[str]:
    """A line for every form of a kernel: whether its code is that of the bare form."""
    for form, lines in compare(file, name, folder, fast_math=fast_math).items():
        yield f"{name:14s} {form:26s} {f'{lines} lines differ' if lines else '='}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.forms", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("kernels", nargs="*", help="names of kernels (default: all)")
    parser.add_argument("--emit", type=Path, help="folder for the C files")
    parser.add_argument("--fast-math", action="store_true")
    parser.add_argument("--time", action="store_true", help="on the GPU")
    args = parser.parse_args()
    chosen = [(f, name) for f, name in all_kernels() if not args.kernels or name in args.kernels]
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.emit or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if args.time:
            from .forms_time import time_forms

            lines = time_forms(chosen, folder, args.fast_math)
        else:
            lines = (
                line
                for file, name in chosen
                for line in compared(file, name, folder, args.fast_math)
            )
        for line in lines:
            print(line, flush=True)
            good = good and "FAILED" not in line and "differ" not in line
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
