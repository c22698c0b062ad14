"""
Executables of `accc --standalone`, for machines without accopt that have Python, llvmlite and, for GPUs,
cuda-bindings: a zip archive that Python runs, after a line for the shell.

| in the archive | |
|---|---|
| `__main__.py` | reports what is missing on the machine, or calls `main` |
| `accopt/…` | the modules of the runtime and the JIT, as source and compiled |
| `program.json` | for each target and compute capability LLVM IR of the host code, PTX and the site table |
| `objects.o` | other compilers' objects |
| `code/…` | the host code for the processor that linked the program, by its key in the cache |

On another processor, or with another llvmlite, the host code is compiled from LLVM IR when the program
starts, and kept in the user's cache.
"""

from __future__ import annotations

import io
import json
import py_compile
import shlex
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..backend.cache import provide
from ..base.options import CompileOptions, TargetName
from ..base.seal import CHECK, sealed_script
from ..base.standard_streams import open_standard_streams
from ..compiled import Executable
from ..internal_error import guarded
from .linked_program import PYTHON_VARIABLE, ROOM, LinkedProgram, options_from, options_to_run
from .run_program import (
    context_ahead,
    device_count,
    device_number,
    for_this_machine,
    in_place,
    run_program,
)

_FOLDERS = ("compiler/base", "compiler/backend", "runtime")
_WITHOUT = "runtime/sim"
_DRIVERS = (
    "__init__", "context_early", "linked_program", "program_process", "reporting", "run_program",
    "standalone",
)  # fmt: skip
_MAIN = """\
import sys

def missing():
    if sys.version_info < (3, 11):
        return "is Python %d.%d, and the program needs 3.11" % sys.version_info[:2]
    try:
        import llvmlite
    except ImportError:
        wanted = "'llvmlite{llvmlite}' (and cuda-bindings for GPUs)"
        return "has no llvmlite, which the program needs: pip install " + wanted

if missing():
    sys.stderr.write("%s: error: %s %s\\n" % (sys.argv[0], sys.executable, missing()))
    sys.stderr.write("    help: or set {variable} to the path of another Python\\n")
    sys.exit(127)
from accopt.compiler.drivers.standalone import main
sys.exit(main())
"""
_START = """\
python=${{{variable}:-{python}}}
[ -x "$python" ] || python=python3
trap - EXIT; exec "$python" -P -c '{check}' "$0" "$@"
exit 126
"""


def bundle(
    program: LinkedProgram, executables: Sequence[Executable], code: Mapping[str, bytes]
) -> bytes:
    """
    The contents of the executable file: `executables` are the program for each target and compute capability,
    `code` is host code by its key in the cache.
    """
    contents = io.BytesIO()
    with zipfile.ZipFile(contents, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _MAIN.format(llvmlite=_wanted(), variable=PYTHON_VARIABLE))
        for name, data in _modules():
            archive.writestr(f"accopt/{name}", data)
        archive.writestr("program.json", json.dumps(_fields(program, executables)))
        if program.objects:
            archive.writestr("objects.o", program.objects)
        for key, data in code.items():
            archive.writestr(f"code/{key}", data)
    python = shlex.quote(sys.executable)
    start = _START.format(variable=PYTHON_VARIABLE, python=python, check=CHECK)
    return sealed_script(ROOM.encode() + start.encode() + program.comments + contents.getvalue())


def _wanted() -> str:
    import llvmlite

    major, minor, *_ = llvmlite.__version__.split(".")
    return f"=={major}.{minor}.*"


def _fields(program: LinkedProgram, executables: Sequence[Executable]) -> dict[str, Any]:
    return {
        "target": program.target,
        "sms": sorted({e.options.sm for e in executables if e.options.target == "nvptx"}),
        "options": program.options.beyond_preprocessing(),
        "libraries": program.libraries,
        "folders": program.library_folders,
        "programs": [
            {
                "target": e.options.target,
                "sm": e.options.sm,
                "host_ir": e.host_ir,
                "ptx": e.ptx,
                "sites": e.sites,
            }
            for e in executables
        ],
    }


def _modules() -> Iterator[tuple[str, bytes]]:
    """Name and contents of every file of accopt in the archive: the source and the compiled form of each
    module."""
    package = sys.modules[__name__.partition(".")[0]]
    assert package.__file__ is not None
    compiler = Path(__file__).parent.parent
    runtime = sys.modules["accopt.runtime"].__path__[0]
    places = {"compiler": compiler, "runtime": Path(runtime)}
    files = {"__init__.py": Path(package.__file__)}
    files |= {f"compiler/{file.name}": file for file in sorted(compiler.glob("*.py"))}
    files |= {f"compiler/drivers/{name}.py": compiler / f"drivers/{name}.py" for name in _DRIVERS}
    for folder in _FOLDERS:
        top, _, inner = folder.partition("/")
        for file in sorted((places[top] / inner).rglob("*.py")):
            files[f"{top}/{file.relative_to(places[top])}"] = file
    for name, file in files.items():
        if not name.startswith(_WITHOUT):
            yield name, file.read_bytes()
            yield f"{name}c", _compiled(name, file)


def _compiled(name: str, file: Path) -> bytes:
    """The compiled form of a module, which this version of Python loads without checking the source; other
    versions use the source."""
    with tempfile.TemporaryDirectory() as folder:
        made = py_compile.compile(
            str(file),
            cfile=f"{folder}/module.pyc",
            dfile=f"accopt/{name}",
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        assert made is not None
        return Path(made).read_bytes()


def _run(argv: Sequence[str]) -> int:
    with zipfile.ZipFile(argv[0]) as archive:
        fields = json.loads(archive.read("program.json"))
        names = archive.namelist()
        provide({n.removeprefix("code/"): archive.read(n) for n in names if n.startswith("code/")})
        objects = archive.read("objects.o") if "objects.o" in names else b""
    devices = device_count()
    number = device_number(fields["target"], devices)
    with context_ahead(fields["target"], number, devices) as context:
        context.start()
        options = options_from(fields["options"])
        options = for_this_machine(options, fields["target"], fields["sms"], number, devices)
        executable = _chosen(fields["programs"], options)
        wanted = fields["libraries"], fields["folders"], objects
        run_options = options_to_run(options, number, *wanted, Path(argv[0]))
        return run_program(executable, run_options, argv, context.finish)


def _chosen(programs: Sequence[dict[str, Any]], options: CompileOptions) -> Executable:
    """The program for the target and the compute capability of `options`."""
    for each in programs:
        target: TargetName = each["target"]
        if target == options.target and (target != "nvptx" or each["sm"] == options.sm):
            chosen = replace(options, target=target, sm=each["sm"])
            return Executable(each["host_ir"], each["ptx"], tuple(each["sites"]), chosen)
    raise AssertionError("use a target for which the program was linked")


def main() -> int:
    """Runs the program in the archive that started this process, and ends with its exit status."""
    open_standard_streams()
    return guarded(lambda: in_place(lambda: _run(sys.argv)))
