"""
`accc -shared`: a shared library that any program loads. Its code is the program's own, linked by the
system's `ld`; the runtime for its directives is in Python, which the first call of the runtime starts
inside the process (`libpython`), unless it is running there. A library without directives needs neither.

The library holds a table for `attach`: the runtime's data about its constructs, and a slot for the address
of every runtime routine that its code calls.
"""

from __future__ import annotations

import ctypes
import json
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..backend.binutils import run_tool, write_objects
from ..backend.host_objects import compile_object
from ..backend.library_symbols import loaded_place
from ..backend.module_parts import linked, parts
from ..backend.symbols import declared_names
from ..base.diagnostics import UNKNOWN_LOC, error
from ..base.machine import is_foreign, machine_folder, target_machine, tool
from ..base.standard_streams import use_messages
from ..compiled import Executable
from ..references import is_of_runtime
from .fat_objects import with_ends
from .library_faults import handler_code

_KEPT: list[Any] = []
"""The runtimes of libraries in this process, kept until it ends."""


class _Table(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p), ("slots", ctypes.c_void_p))


def attach(address: int) -> None:
    """
    Starts the runtime of the library whose table is at `address`, and fills its slots; where it cannot start,
    ends the process with the reason.
    """
    from ...runtime.errors import ProgramPlace
    from ...runtime.fatal import end_process

    library = _library_at(address)
    try:
        _start(address, library)
    except BaseException as error:
        end_process(error, ProgramPlace(f"the first directive of {library._name}"), "")


def _start(address: int, library: ctypes.CDLL) -> None:
    from ...runtime.device import NativeImage, PtxImage
    from ...runtime.program import Runtime
    from ..api import open_devices
    from .run_program import device_count, device_number, run_options_for

    use_messages()
    table = _Table.from_address(address)
    described = json.loads(table.text)

    def symbol(name: str) -> int:
        return ctypes.cast(library[name], ctypes.c_void_p).value or 0

    target = described["target"]
    count = device_count()
    options = run_options_for(device_number(target, count), count)
    runtime = Runtime(
        tuple(described["sites"]),
        open_devices(target, options),
        number=options.device_number,
        trace=options.trace,
        device_queues=options.device_queues,
    )
    callbacks = runtime.callbacks()
    if any(name not in callbacks for name in described["names"]):
        from ...runtime.native.gangs import gang_team

        callbacks |= gang_team().services
    if target == "host":
        runtime.start(NativeImage(symbol, lambda: symbol), symbol)
    elif described["ptx"]:
        runtime.start(PtxImage(described["ptx"]), symbol)
    slots = (ctypes.c_uint64 * len(described["names"])).from_address(table.slots)
    for index, name in enumerate(described["names"]):
        slots[index] = callbacks[name]
    _KEPT.append((runtime, library))


def _library_at(address: int) -> ctypes.CDLL:
    place = loaded_place(address)
    assert place is not None
    return ctypes.CDLL(place.file.decode())


def link_library(
    executable: Executable,
    foreign: Sequence[tuple[str, bytes]],
    libraries: Sequence[str],
    folders: Sequence[str],
    words: Sequence[str] = (),
) -> bytes:
    """
    The contents of the library. `foreign`: other compilers' objects, by name; `words` are for the linker
    (`-soname=…`). Raises `CompileError` if the system's linker is missing or reports an error.
    """
    linker = tool("ld")
    if linker is None:
        raise error(UNKNOWN_LOC, "-shared needs the system's 'ld'", "install binutils")
    if executable.options.target == "sim":
        raise error(
            UNKNOWN_LOC, "-shared is not for the simulated GPU", "use --target=host or nvptx"
        )
    routines = [name for name in declared_names(executable.host_ir) if is_of_runtime(name)]
    if routines and is_foreign():
        raise error(
            UNKNOWN_LOC,
            "a library for another kind of processor cannot have directives:"
            " their runtime is made for this one",
            "link it on a computer with that processor",
        )
    level = executable.options.opt_level
    program = with_ends(linked(parts(executable.host_ir)))
    objects = [("program.o", compile_object(program, opt_level=level)), *foreign]
    if target_machine() == "x86_64":
        handler = handler_code(traceback=executable.options.debug_info)
        objects.append(("faults.o", compile_object(handler, opt_level=1)))
    if routines:
        start = _start_code(executable, routines)
        objects.append(("start.o", compile_object(start, opt_level=1)))
    with tempfile.TemporaryDirectory() as folder:
        names = write_objects(folder, objects)
        output = Path(folder) / "library.so"
        command = [linker, "-shared", "--eh-frame-hdr", "-z", "noexecstack", "-o", str(output)]
        command += [*words, *names, *(f"-L{f}" for f in folders)]
        command += [name if "/" in name else f"-l{name}" for name in libraries]
        run_tool([*command, *_own_libraries()], "the library cannot be linked", names)
        return output.read_bytes()


def _own_libraries() -> list[str]:
    """
    The linker's options for the libraries that compiled C needs. Not every machine has the vector
    functions, or the functions for 128-bit integers and floating-point numbers.
    """
    if is_foreign():
        folder = Path("/usr") / machine_folder() / "lib"
        there = [name for name in _SOME_MACHINES if (folder / name).exists()]
        found = [f"-L{folder}"]
    else:
        found, there = list[str](), [name for name in _SOME_MACHINES if _is_there(name)]
    names = [*there, "libm.so.6", "libc.so.6"]
    return [*found, "--as-needed", *(f"-l:{name}" for name in names)]


_SOME_MACHINES = ("libmvec.so.1", "libgcc_s.so.1")


def _is_there(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _text(data: bytes) -> str:
    return "".join(f"\\{byte:02X}" for byte in data + b"\0")


def _wide(text: str) -> str:
    return ", ".join(f"i32 {ord(character)}" for character in text + "\0")


def _start_code(executable: Executable, names: Sequence[str]) -> str:
    """LLVM IR of the table, the runtime's routines as jumps through it, and the code that starts the
    runtime."""
    described = {
        "names": names,
        "sites": executable.sites,
        "target": executable.options.target,
        "ptx": executable.ptx,
    }
    text = json.dumps(described).encode()
    library = str(Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("LDLIBRARY"))
    if not library.endswith(".so") or not Path(library).exists():
        raise error(
            UNKNOWN_LOC,
            "-shared needs a Python with a shared library (libpython), for the runtime of directives",
            "use a Python that was configured with --enable-shared",
        )
    # A Python that is already in the process may not have this one's packages.
    packages = sysconfig.get_path("purelib").replace("%", "%%")
    enter = f"import site; site.addsitedir({packages!r}); from {__name__} import attach"
    code = f"{enter}; attach(%lu)".encode()
    assembly = [".text", *_ASSEMBLY.strip().splitlines()]
    for index, name in enumerate(names):
        assembly += [f".globl {name}", f".hidden {name}", f"{name}:"]
        assembly += [f"jmpq *accopt_slots+{8 * index}(%rip)"]
        assembly += [f"accopt_first_{index}:", f"leaq accopt_slots+{8 * index}(%rip), %r11"]
        assembly += ["jmp accopt_first"]
    assembly += [
        ".data",
        ".balign 8",
        ".globl accopt_slots",
        ".hidden accopt_slots",
        "accopt_slots:",
    ]
    assembly += [f".quad accopt_first_{index}" for index in range(len(names))]
    module = "".join(f'module asm "{line}"\n' for line in assembly)
    return module + _IR.format(
        text=_text(text),
        text_size=len(text) + 1,
        library=_text(library.encode()),
        library_size=len(library.encode()) + 1,
        code=_text(code),
        code_size=len(code) + 1,
        program=_wide(sys.executable),
        program_size=len(sys.executable) + 1,
        **{f"n_{n}": f'c"{_text(n.encode())}"' for n in _PYTHON},
        **{f"s_{n}": len(n) + 1 for n in _PYTHON},
    )


_ASSEMBLY = """
.hidden accopt_boot
accopt_first:
  pushq %rbp
  movq %rsp, %rbp
  subq $192, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %r11, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  call accopt_boot@PLT
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %r11
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  leave
  jmpq *(%r11)
"""

_PYTHON = (
    "Py_IsInitialized",
    "Py_SetProgramName",
    "Py_InitializeEx",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyEval_SaveThread",
    "PyRun_SimpleString",
)

_IR = (
    """
@accopt_slots = external hidden global [0 x i64]
@text = internal constant [{text_size} x i8] c"{text}"
@table = internal global {{ ptr, ptr }} {{ ptr @text, ptr @accopt_slots }}
@library = internal constant [{library_size} x i8] c"{library}"
@code = internal constant [{code_size} x i8] c"{code}"
@program = internal constant [{program_size} x i32] [{program}]
@message = internal constant [49 x i8] c"accopt: the runtime of this library cannot start\\0A"
declare ptr @dlopen(ptr, i32)
declare ptr @dlsym(ptr, ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare i64 @write(i32, ptr, i64)
declare void @_exit(i32)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
@lock = internal global [40 x i8] zeroinitializer, align 8
@started = internal global i32 0

define hidden void @accopt_boot() {{
  %locked = call i32 @pthread_mutex_lock(ptr @lock)
  %before = load i32, ptr @started
  %known = icmp ne i32 %before, 0
  br i1 %known, label %done, label %start
start:
  %python = call ptr @dlopen(ptr @library, i32 258)
  %missing = icmp eq ptr %python, null
  br i1 %missing, label %fail, label %found
found:
"""
    + "".join(f"  %f_{n} = call ptr @dlsym(ptr %python, ptr @n_{n})\n" for n in _PYTHON)
    + """
  %command = alloca [4352 x i8]
  %length = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %command, i64 4352, ptr @code, ptr @table)
  %running = call i32 %f_Py_IsInitialized()
  %fresh = icmp eq i32 %running, 0
  br i1 %fresh, label %new, label %run
new:
  call void %f_Py_SetProgramName(ptr @program)
  call void %f_Py_InitializeEx(i32 0)
  %main = call ptr %f_PyEval_SaveThread()
  br label %run
run:
  %state = call i32 %f_PyGILState_Ensure()
  %failed = call i32 %f_PyRun_SimpleString(ptr %command)
  call void %f_PyGILState_Release(i32 %state)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %fail, label %good
fail:
  %written = call i64 @write(i32 2, ptr @message, i64 49)
  call void @_exit(i32 1)
  unreachable
good:
  store i32 1, ptr @started
  br label %done
done:
  %unlocked = call i32 @pthread_mutex_unlock(ptr @lock)
  ret void
}}
"""
    + "".join(f"@n_{n} = internal constant [{{s_{n}}} x i8] {{n_{n}}}\n" for n in _PYTHON)
)
