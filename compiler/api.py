"""
The Python API: compile OpenACC C, load it, call its functions.

    with compile_files("saxpy.c", CompileOptions(target="host")) as program:
        saxpy = program.function("saxpy", None, (c_int, c_float, c_void_p, c_void_p))
        saxpy(n, 2.0, x.ctypes.data, y.ctypes.data)

`accrun` is a thin command around it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..runtime.device import DeviceProvider, ModuleImage, NativeImage, PtxImage, SimImage
from ..runtime.errors import NoDeviceError, ProgramExit, ProgramFault
from ..runtime.native.fault import Fault
from ..runtime.native.guard import FaultSignal, guard
from ..runtime.profiling.libraries import REGISTER, register_libraries
from ..runtime.profiling.trace import TraceOptions
from ..runtime.program import Runtime
from .backend.cache import DiskCache
from .backend.jit import HostProgram
from .base.abi import CONSTRUCT, DESTRUCT
from .base.diagnostics import (
    UNKNOWN_LOC,
    Diagnostic,
    DiagnosticSink,
    Severity,
    SourceLoc,
    render,
    warning,
)
from .base.options import CompileOptions, TargetName
from .base.ranks import own_rank
from .base.similar import or_did_you_mean
from .compiled import Executable
from .drivers.program_process import process_symbols
from .executable import build

if TYPE_CHECKING:
    from ..runtime.native.shared_heap import SharedHeap
    from ..runtime.sim.device import SimDevice
    from .faults import ProgramCode


def _names(place: SourceLoc, word: str) -> bool:
    """Whether a word occurs in the line of a place, or in the lines next to it."""
    if not place.line:
        return False
    try:
        lines = Path(place.file).read_text(errors="replace").splitlines()
    except OSError:
        return False
    return any(word in line for line in lines[max(place.line - 3, 0) : place.line + 2])


@dataclass(frozen=True)
class RunOptions:
    """
    How a program is run. `device_number` chooses among several devices; `devices`: the number that the
    program sees, separate ones on the targets host and sim, the first GPUs on nvptx, which share their
    hardware if they are fewer (None: one, or all GPUs); `device_queues`: the host goes on after constructs on
    a GPU wherever the program cannot observe that;
    `libraries` are names for the dynamic loader (`-l`) or paths, looked for in `library_folders`
    (`-L`) too; `threads` (host target): CPU threads per launch, 0 for all; `shared_memory`: no separate
    device memory (host target), or the program's heap in memory that host and GPU share, where the GPU has
    that (nvptx); `checks` (sim target): look for data races and uninitialised reads; `counters` (sim
    target): count transactions by source line; `patience` (sim target): seconds that a kernel may take
    (None: 300); `late` (sim target): the work of queues is run as late as waits allow; `objects`: an
    object file of other compilers' code (`backend/foreign_objects.py`); `profile_libraries`: shared
    libraries for the profiling interface (`ACC_PROFLIB`).
    """

    device_number: int = 0
    devices: int | None = None
    device_queues: bool = True
    libraries: tuple[str, ...] = ()
    library_folders: tuple[str, ...] = ()
    threads: int = 0
    shared_memory: bool = False
    checks: bool = True
    counters: bool = False
    patience: float | None = None
    late: bool = False
    profile_libraries: tuple[str, ...] = ()
    trace: TraceOptions | None = None
    objects: bytes = b""


def open_devices(target: TargetName, options: RunOptions, *, tells: bool = True) -> DeviceProvider:
    """
    The devices of a target. If some share hardware and `tells`, standard error gets a remark about it, of an
    MPI program's rank 0 only. Raises `NoDeviceError` when there is no GPU for `nvptx`.
    """
    if target == "nvptx":
        from ..runtime.cuda.device import cuda_devices

        devices = cuda_devices(options.devices)
        rank = own_rank()
        if devices.sharing and tells and (rank is None or rank.number == 0):
            text = f"{devices.sharing}; times are not those of separate GPUs"
            print(render(Diagnostic(Severity.REMARK, UNKNOWN_LOC, text)), file=sys.stderr)
        return devices
    count = options.devices or 1
    if target == "sim":
        from ..runtime.sim.device import sim_devices
        from ..runtime.sim.launching import SimOptions
        from ..runtime.sim.patience import of_seconds

        patience = of_seconds(options.patience)
        simulation = SimOptions(
            checks=options.checks, counters=options.counters, patience=patience, late=options.late
        )
        return sim_devices(simulation, count)
    from ..runtime.host.device import HostOptions, host_devices

    return host_devices(
        HostOptions(threads=options.threads, shared_memory=options.shared_memory), count
    )


def _team_services(host_ir: str) -> dict[str, int]:
    """The functions by name that a program with OpenMP, or with non-temporal stores, needs from the team of
    threads; empty for other programs."""
    if "@__accopt_team_" not in host_ir:
        return {}
    from ..runtime.native.gangs import gang_team

    return gang_team().services


def choose_target(
    requested: Literal["auto", "nvptx", "host", "sim"],
    device_number: int = 0,
    devices: int | None = None,
) -> tuple[TargetName, int | None]:
    """
    The target to compile for, and the compute capability of the GPU (90 for 9.0) of a device out of
    `devices` (as in `RunOptions`), None without a GPU.

    Raises `NoDeviceError` if `nvptx` was asked for and no GPU can be used.
    """
    if requested in ("host", "sim"):
        return requested, None
    from ..runtime.cuda.device import compute_capability

    try:
        major, minor = compute_capability(device_number, devices=devices)
    except NoDeviceError:
        if requested == "auto":
            return "host", None
        raise
    return "nvptx", major * 10 + minor


class Program:
    """A compiled program in this process: host code, runtime, device."""

    def __init__(self, executable: Executable, options: RunOptions | None = None):
        options = options or RunOptions()
        self._closed = False
        self._guarded: dict[int, int] = {}
        self._executable = executable
        self._options = options
        target = executable.options.target
        self.runtime = Runtime(
            executable.sites,
            open_devices(target, options),
            number=options.device_number,
            trace=options.trace,
            device_queues=options.device_queues,
            calls=self._calls,
        )
        self.runtime.failures.locate = self._caller
        self._heap = self._shared_heap()
        self.host = self._load(executable)
        self._copies: list[HostProgram] = []
        image = self._image(executable)
        if image is not None:
            self.runtime.start(image, self.host.address)
        own = self.host.address(REGISTER) if REGISTER in self.host.names else 0
        register_libraries(self.runtime.callbacks(), own, options.profile_libraries)
        self._constructed = False

    def _calls(self, name: str) -> bool:
        """Whether the program may call the runtime's function of this name."""
        return bool(self._options.objects) or f"@{name}" in self._executable.host_ir

    def _shared_heap(self) -> SharedHeap | None:
        """The heap of a program that relies on memory which host and GPU share (`-gpu=managed`)."""
        memory = self._common_memory() if self._options.shared_memory else None
        if memory is None:
            return None
        from ..runtime.native.shared_heap import SharedHeap

        self.runtime.share(*memory)
        return SharedHeap(*memory)

    def _common_memory(self) -> tuple[int, int] | None:
        """Address and size of memory that host and GPU share; None without a GPU that has it."""
        from ..runtime.cuda.device import CudaDevice

        device = self.runtime.current.device
        if not isinstance(device, CudaDevice):
            return None
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = device.managed_memory(pages)
        if memory is None:
            text = f"device {device.name} has no memory that the host can use while it works"
            remedy = "data clauses decide what is moved: write them where it is missing"
            print(render(warning(UNKNOWN_LOC, text, remedy)), file=sys.stderr)
        return memory

    def _load(self, executable: Executable) -> HostProgram:
        return HostProgram(
            executable.host_ir,
            symbols={
                **self.runtime.callbacks(),
                **process_symbols(),
                **_team_services(executable.host_ir),
                **(self._heap.functions if self._heap is not None else {}),
            },
            libraries=self._options.libraries,
            library_folders=self._options.library_folders,
            opt_level=executable.options.opt_level,
            cache=DiskCache.default("host"),
            objects=self._options.objects,
        )

    def _image(self, executable: Executable) -> ModuleImage | None:
        """The image that the device loads; None if the program has no code for it."""
        match executable.options.target:
            case "host":

                def again() -> Callable[[str], int]:
                    self._copies.append(self._load(executable))
                    return self._copies[-1].address

                return NativeImage(self.host.address, again)
            case "sim":
                return SimImage(executable.kernels) if executable.kernels is not None else None
            case "nvptx":
                return PtxImage(executable.ptx) if executable.ptx else None

    @property
    def simulators(self) -> list[SimDevice]:
        """The simulated GPUs that the program has used; only for the target `sim`."""
        from ..runtime.sim.device import SimDevice

        return [s.device for s in self.runtime.devices if isinstance(s.device, SimDevice)]

    @property
    def simulator(self) -> SimDevice:
        """The current simulated GPU with its findings and counters; only for the target `sim`."""
        from ..runtime.sim.device import SimDevice

        device = self.runtime.current.device
        assert isinstance(device, SimDevice)
        return device

    def function(
        self, name: str, result: Any = None, arguments: Sequence[Any] | None = None
    ) -> Any:
        """
        The C function `name` (of the program, or an `acc_*` routine) as a ctypes callable, which keeps the
        program alive. Calls raise `AccRuntimeError` for errors of the runtime, `ProgramExit` if C code
        calls `exit`, and `ProgramFault` for signals such as a null pointer's, after which the program
        cannot go on. Raises `KeyError` if there is no such function, and `ValueError` if the program is
        closed.
        """
        address = self._address(name)
        if not self._constructed and name in self.host.names:
            self._constructed = True
            self._construct(python_ends=name != "main")
        guarding = guard()
        if guarding is not None:
            if address not in self._guarded:
                self._guarded[address] = guarding.guarded(address, self)
            address = self._guarded[address]
        function = ctypes.CFUNCTYPE(result, *(arguments or ()))(address)
        if arguments is None:
            function.argtypes = None  # pyright: ignore[reportAttributeAccessIssue]
        function.program = self  # pyright: ignore[reportAttributeAccessIssue]
        if guarding is not None:
            function.errcheck = self._check
        return function

    def _construct(self, *, python_ends: bool) -> None:
        """
        Calls the functions with `constructor`, and registers those with `destructor` for the end of the
        process, or of Python (`python_ends`), which a program's `exit` does not reach.
        """
        if DESTRUCT in self.host.names:
            if python_ends:
                atexit.register(self.function(DESTRUCT))
            else:
                self.host.at_exit(DESTRUCT)
        if CONSTRUCT in self.host.names:
            self.function(CONSTRUCT)()

    def _address(self, name: str) -> int:
        if self._closed:
            raise ValueError("the program is closed: load it again, or close it later")
        routine = self.runtime.callbacks().get(name)
        if routine:
            return routine
        if name not in self.host.names:
            hint = or_did_you_mean(name, self.host.names) or " that other files see"
            raise KeyError(f"the program has no function '{name}'{hint}")
        return self.host.address(name)

    def _check(self, result: Any, function: Any, arguments: Any) -> Any:
        """Raises the exception for a call of C code that did not return; otherwise returns its result."""
        guarding = guard()
        assert guarding is not None
        outcome = guarding.outcome()
        if outcome is False:
            return result
        failure = self.runtime.failures.ended.pop(threading.get_ident(), None)
        if isinstance(failure, FaultSignal):
            outcome = failure.fault
        elif failure is not None:
            raise failure
        assert isinstance(outcome, Fault)
        raise self._explained(outcome)

    def _explained(self, fault: Fault) -> ProgramFault:
        from ..runtime.native.gangs import gang_team
        from .faults import explain

        gang_team.cache_clear()  # one of its threads may have stopped; later programs get a new team
        diagnostic = explain(fault, self._codes(), self._device_pointer)
        return ProgramFault(render(diagnostic), fault.signal)

    def _codes(self) -> list[ProgramCode]:
        from .faults import ProgramCode

        return [ProgramCode(self._executable, host) for host in (self.host, *self._copies)]

    def _caller(self, routine: str, addresses: Sequence[int]) -> tuple[str, int] | None:
        """
        File and line of the call of a routine: the place of the first of these return addresses that is in
        the program, if the line names the routine. It does not if the call was a tail call.
        """
        from .faults import place_in

        codes = self._codes()
        for address in addresses:
            found = place_in(codes, address - 1)
            if found is not None:
                _, place = found
                return (place.file, place.line) if _names(place, routine) else None
        return None

    def _device_pointer(self, address: int) -> str | None:
        """A description of a device address: the name of its variable, or the origin of its memory; None
        for other addresses."""
        for state in self.runtime.devices:
            entry = state.table.by_device_address(address)
            if entry is not None:
                return f"mapped by {entry.origin}" if entry.origin else "of mapped memory"
        return None

    def stream(self, queue: int) -> int:
        """The CUDA stream of OpenACC queue `queue`. Raises `TypeError` without a GPU."""
        self.runtime.current.expose()
        stream = getattr(self.runtime.current.queue(queue, queue), "stream", None)
        if not isinstance(stream, int):
            raise TypeError("only the queues of a GPU are CUDA streams")
        return stream

    def main(self, argv: Sequence[str]) -> int:
        """
        Runs `main` with these arguments, the program's name first, and returns its exit status, or that of
        `exit`. Raises `CompileError` if there is no `main`, and the exceptions of calls that `function`
        lists.
        """
        self.host.check_main()
        main = self.function("main", ctypes.c_int, (ctypes.c_int, ctypes.c_void_p))
        try:
            return self.host.run_main(argv, main)
        except ProgramExit as leaving:
            ctypes.CDLL(None).fflush(None)
            return leaving.status & 0xFF

    def close(self) -> None:
        """Waits for all device work and releases the device; its functions must not be called then."""
        if not self._closed:
            self._closed = True
            self.runtime.finish()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        files = ", ".join(source.file for source in self._executable.sources) or "compiled code"
        state = "closed" if self._closed else f"for {self._executable.options.target}"
        return f"<accopt program of {files}, {state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a program is code in this process and cannot be copied or pickled: send the names of its"
            " files, and compile them there (the cache has the code)"
        )


def compile_files(
    paths: str | Path | Sequence[str | Path],
    options: CompileOptions | None = None,
    run_options: RunOptions | None = None,
    sink: DiagnosticSink | None = None,
) -> Program:
    """
    Compiles the C file or files of one program, and loads it.

    Raises `CompileError` for a faulty program and `NoDeviceError` without a GPU for `nvptx`.
    """
    files = [Path(p) for p in ((paths,) if isinstance(paths, str | Path) else paths)]
    executable = build(files, options or CompileOptions(), sink or DiagnosticSink())
    return Program(executable, run_options)
