"""
The executable files that `accc` writes: a line for the shell that starts Python on this module, and the
preprocessed program with its options. The compiled code is in the cache, where linking put it; on a machine
with another device, or without that cache, the first run compiles.
"""

from __future__ import annotations

import base64
import json
import shlex
import sys
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..base.command import begin_command
from ..base.diagnostics import UNKNOWN_LOC, CompileError, error
from ..base.seal import REMEDY, is_whole_script, sealed_script
from .context_early import start_context
from .program_process import STACK_BYTES

if TYPE_CHECKING:
    from ..api import RunOptions
    from ..base.options import CompileOptions, TargetName
    from ..c.preprocess import PreprocessedSource

ROOM = (
    'case "$(ulimit -s)" in unlimited) ;; '
    f'*) [ "$(ulimit -s)" -ge {STACK_BYTES >> 10} ] || ulimit -S -s {STACK_BYTES >> 10} 2>/dev/null ;; esac\n'
)
"""Raises the limit on the stack (in KiB) before the process begins, so that the kernel keeps the address
space below the stack free."""
PYTHON_VARIABLE = "ACCOPT_PYTHON"
"""The environment variable that names the Python for executables whose own has moved."""
_START = """\
python=${{{variable}:-{python}}}
if [ ! -x "$python" ]; then
    trap - EXIT
    echo "$0: error: there is no Python at $python, which had accopt when this program was linked" >&2
    echo "    help: link it again, or set {variable} to the path of a Python that has accopt" >&2
    exit 127
fi
exec "$python" -P -m {module} "$0" "$@"
exit 126
"""
ORIGIN = "$ORIGIN"
"""The prefix of a library folder that is relative to the folder of the program's file."""
_KIND = b"\n#accopt program "
_END = _KIND + b"3\n"
"""The end of the text for the shell, with the number of the form of what follows."""


@dataclass(frozen=True)
class LinkedProgram:
    """
    A program as linked: `target` may be `auto`; `sms` are the compute capabilities for GPU code, empty for
    that of the GPU that it runs on; `options` holds the other options.
    """

    sources: tuple[PreprocessedSource, ...]
    target: Literal["auto"] | TargetName
    sms: tuple[int, ...]
    options: CompileOptions
    libraries: tuple[str, ...]
    library_folders: tuple[str, ...]
    objects: bytes = b""
    """The code of other compilers' objects, as one object file."""
    comments: bytes = b""
    """Shell comments with the strings that build tools search in the file (`readable_strings.py`)."""

    def to_bytes(self) -> bytes:
        """The contents of the executable file."""
        command = _START.format(
            python=shlex.quote(sys.executable), variable=PYTHON_VARIABLE, module=__name__
        )
        fields = [
            [[s.file, s.text] for s in self.sources],
            self.target,
            self.sms,
            self.options.beyond_preprocessing(),
            self.libraries,
            self.library_folders,
            base64.b64encode(self.objects).decode(),
        ]
        text = ROOM.encode() + command.encode() + self.comments
        return sealed_script(text + _END + zlib.compress(json.dumps(fields).encode()))


def with_origin(folders: Sequence[str], program: Path) -> tuple[str, ...]:
    """The folders of a program's libraries, with `$ORIGIN` replaced by the folder of the program's file."""
    return tuple(folder.replace(ORIGIN, str(program.resolve().parent)) for folder in folders)


@cache
def _fields(path: Path) -> list[Any]:
    """What is in an executable file. Raises `CompileError` if it is damaged, or has another form."""
    data = path.read_bytes()
    text, end, content = data.partition(_END)
    if not end and text.partition(_KIND)[2][:1].isdigit():
        raise _of_another_version(path)
    if not is_whole_script(data):
        raise error(UNKNOWN_LOC, f"'{path}' is damaged", REMEDY)
    return json.loads(zlib.decompress(content))


def _of_another_version(path: Path) -> CompileError:
    return error(UNKNOWN_LOC, f"'{path}' was linked by another version of accc", "link it again")


def read_program(path: Path) -> LinkedProgram:
    """The program in an executable file. Raises `CompileError` if it is damaged, or has another form."""
    from ..c.preprocess import PreprocessedSource

    try:
        sources, target, sms, fields, libraries, folders, objects = _fields(path)
        options = options_from(fields)
    except (TypeError, ValueError) as e:  # options that only the other version knows
        raise _of_another_version(path) from e
    texts = tuple(PreprocessedSource(file, text) for file, text in sources)
    return LinkedProgram(
        texts,
        target,
        tuple(sms),
        options,
        tuple(libraries),
        tuple(folders),
        base64.b64decode(objects),
    )


def options_from(fields: dict[str, Any]) -> CompileOptions:
    """The options from JSON, with lists converted back to tuples."""
    from ..base.options import CompileOptions

    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(cast("list[str]", value))
    return CompileOptions(**fields)


def _run(argv: Sequence[str]) -> int:
    from .native_ahead import native_code_ahead, native_code_is_known
    from .run_program import (
        context_ahead,
        device_count,
        device_number,
        device_type,
        for_this_machine,
        run_program,
    )

    program = read_program(Path(argv[0]))
    devices = device_count()
    number = device_number(program.target, devices)
    target = device_type() if program.target == "auto" else program.target
    with context_ahead(program.target, number, devices) as context:
        if native_code_is_known(target, devices):
            context.start()  # otherwise this process is forked first
        from ..base.diagnostics import DiagnosticSink
        from ..executable import build_sources

        options = for_this_machine(program.options, program.target, program.sms, number, devices)
        wanted = program.libraries, program.library_folders, program.objects
        run_options = options_to_run(options, number, *wanted, Path(argv[0]))
        with native_code_ahead(options.target, run_options):
            if options.target == "nvptx":
                context.start()
            executable = build_sources(program.sources, options, DiagnosticSink())
        return run_program(executable, run_options, argv, context.finish)


def options_to_run(
    options: CompileOptions,
    number: int,
    libraries: Sequence[str],
    folders: Sequence[str],
    objects: bytes,
    program: Path,
) -> RunOptions:
    """How the program in the file `program` is run on device `number`, as the environment asks for."""
    from .run_program import device_count, run_options_for

    return run_options_for(
        number,
        device_count(),
        shared_memory=options.managed,
        libraries=tuple(libraries),
        library_folders=with_origin(folders, program),
        objects=objects,
    )


def main() -> int:
    """Runs the executable file that is the first argument; leaves with the program's exit status."""
    begin_command()
    with suppress(CompileError, OSError):  # which reading it again reports
        start_context(_fields(Path(sys.argv[1]))[1])
    from ..internal_error import guarded
    from .run_program import in_place

    return guarded(lambda: in_place(lambda: _run(sys.argv[1:])))


if __name__ == "__main__":
    sys.exit(main())
