"""
Runs a compiled program in this process, for `accrun` and for the programs that `accc` links. The
environment chooses target and device; the exit status is the program's.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ...runtime.cuda.context_ahead import ContextAhead
from ...runtime.errors import AccRuntimeError, NoDeviceError, ProgramFault
from ...runtime.profiling.trace import TraceOptions
from ..at_exit import AtExit
from ..base.capabilities import newest_known
from ..base.command import end_command
from ..base.diagnostics import UNKNOWN_LOC, CompileError, DiagnosticSink, error
from ..base.machine import VARIABLE, check_machine, is_foreign, target_machine
from ..base.phases import LOADING, phase
from ..base.processors import usable_processors
from ..base.ranks import of_rank, own_rank
from ..base.standard_streams import flush_output
from ..message_passing import check_library
from ..process import collect_from_here
from .context_early import early_context
from .program_process import allow_large_stack, default_signals
from .reporting import report

if TYPE_CHECKING:
    from ..api import Program, RunOptions
    from ..base.options import CompileOptions, TargetName
    from ..compiled import Executable


def run_options_for(
    number: int,
    devices: int | None,
    *,
    queues: bool = True,
    threads: int = 0,
    time_limit: float | None = None,
    runs_late: bool = False,
    **given: Any,
) -> RunOptions:
    """
    How a program is run on device `number` of `devices`, by the settings in the environment where the command
    line has none; `given` are the other fields of `RunOptions`.
    """
    from ..api import RunOptions

    given.setdefault("trace", TraceOptions.from_environment(os.environ))
    return RunOptions(
        device_number=number,
        devices=devices,
        device_queues=device_queues() and queues,
        threads=threads or thread_count(),
        patience=time_limit or patience(),
        late=runs_late or late(),
        profile_libraries=profile_libraries(),
        **given,
    )


def print_diagnostics(sink: DiagnosticSink) -> None:
    """Prints the diagnostics in `sink`, and empties it."""
    report(sink.diagnostics)
    sink.diagnostics.clear()


def for_this_machine(
    options: CompileOptions,
    target: Literal["auto"] | TargetName,
    sms: Sequence[int],
    device: int,
    devices: int | None,
) -> CompileOptions:
    """
    `options` with the target, chosen by the machine for `auto`, and the compute capability: the newest
    among `sms` that the GPU of device `device` of `devices` can run; if `sms` is empty, the GPU's own.
    Raises `NoDeviceError` if GPU code is wanted and there is no GPU, `CompileError` if all `sms` are newer
    than it.
    """
    from ..api import choose_target

    wanted = device_type() if target == "auto" else target
    chosen, capability = choose_target(wanted, device, devices)
    return replace(options, target=chosen, sm=best_capability(sms, capability) or options.sm)


def context_ahead(
    target: Literal["auto"] | TargetName, device: int, devices: int | None
) -> ContextAhead:
    """What makes the context of the GPU that a program may begin with; nothing where it has none."""
    wanted = device_type() if target == "auto" else target
    number = device if wanted in ("auto", "nvptx") else None
    return early_context(number, devices) or ContextAhead(number, devices)


def best_capability(sms: Sequence[int], device: int | None) -> int | None:
    """
    The newest of the compute capabilities `sms` whose code a GPU of capability `device` can run; of all that
    code is generated for, if `sms` is empty; without a GPU (None), the first of them. Raises `CompileError`
    if all are newer than the GPU.
    """
    if not sms or device is None:
        return newest_known(device) if device else next(iter(sms), None)
    fitting = [sm for sm in sms if sm <= device]
    if not fitting:
        raise error(
            UNKNOWN_LOC,
            f"the program has code for compute capability {', '.join(map(str, sms))},"
            f" but the GPU has {device}",
            f"compile with --sm={','.join(map(str, (device, *sms)))}",
        )
    return max(fitting)


def run_program(
    executable: Executable,
    options: RunOptions,
    argv: Sequence[str],
    starts: Callable[[], object] = lambda: None,
) -> int:
    """
    Runs `main` with these arguments, the program's name first, and returns its exit status. `starts` is
    called immediately before.
    """
    with phase(LOADING):
        from ..api import Program

    with phase("load the program"):
        program = Program(executable, options)
    program.host.check_main()
    if executable.options.target == "nvptx":
        warn_of_library(executable)
    program.runtime.failures.raises = False
    collect_from_here()
    end_command()
    simulated = executable.options.target == "sim"
    default_signals()
    allow_large_stack()
    report = AtExit(lambda status: _simulated(program, status)) if simulated else None
    starts()
    status = program.main(argv)
    if report is not None:
        status = report(status)
    program.close()
    return status


def warn_of_library(executable: Executable) -> None:
    """Prints warnings about the MPI library that was loaded."""
    unaware = check_library(executable.host_ir, executable.sites)
    if unaware is not None:
        report([unaware])


def _simulated(program: Program, status: int) -> int:
    """Prints the reports of the simulators, if any; returns `status`, or a failure if it is success and
    there are findings."""
    from ...runtime.sim.counters import table

    simulators = program.simulators
    for simulator in simulators:
        if simulator.lines:
            if len(simulators) > 1:
                print(f"{simulator.name}:", file=sys.stderr)
            print(table(simulator.lines), file=sys.stderr)
    return status or int(any(simulator.findings for simulator in simulators))


def device_type() -> Literal["auto", "nvptx", "host"]:
    """The target that the environment variable ACC_DEVICE_TYPE asks for (OpenACC 3.4, 4.1)."""
    text = os.environ.get("ACC_DEVICE_TYPE", "")
    match text.lower().removeprefix("acc_device_"):
        case "" | "default":
            return "auto"
        case "host" | "multicore":
            return "host"
        case "nvidia" | "not_host":
            return "nvptx"
        case _:
            raise error(
                UNKNOWN_LOC,
                f"ACC_DEVICE_TYPE is '{text}', which is not a device of this implementation",
                "set it to nvidia, host or default",
            )


def device_number(target: Literal["auto"] | TargetName, devices: int | None) -> int:
    """
    The device to begin with: that in the environment variable ACC_DEVICE_NUM (OpenACC 3.4, 4.2), or else
    one by the rank of this process among those of its MPI program on the machine. `devices`: the number of
    devices that the program sees, None for all of the target.
    """
    text = os.environ.get("ACC_DEVICE_NUM", "")
    if text:
        if not text.isdigit():
            raise error(UNKNOWN_LOC, f"ACC_DEVICE_NUM is '{text}'", "set it to a device number")
        return int(text)
    rank = own_rank()
    if rank is None or rank.local is None:
        return 0
    count = _devices_of(target, devices)
    number = rank.device(count)
    if count > 1:
        print(
            f"remark: rank {rank.number} begins with device {number} of {count}"
            f" ({rank.variable}={rank.local}; ACC_DEVICE_NUM chooses another)",
            file=sys.stderr,
        )
    return number


def _devices_of(target: Literal["auto"] | TargetName, devices: int | None) -> int:
    """The number of devices, at least 1."""
    wanted = device_type() if target == "auto" else target
    if wanted in ("host", "sim"):
        return devices or 1
    from ...runtime.cuda.device import cuda_devices

    try:
        return cuda_devices(devices).count
    except NoDeviceError:
        return devices or 1


def device_count() -> int | None:
    """The number of devices in the environment variable ACCOPT_DEVICES; None if it is not set."""
    text = os.environ.get("ACCOPT_DEVICES", "")
    if text and (not text.isdigit() or int(text) < 1):
        raise error(UNKNOWN_LOC, f"ACCOPT_DEVICES is '{text}'", "set it to a number of devices")
    return int(text) if text else None


def thread_count() -> int:
    """
    The number of CPU threads in the environment, 0 if it has none: in ACC_NUM_CORES, the variable of
    NVIDIA's compilers for multicore targets, or else in OMP_NUM_THREADS (the first number of its list),
    which launchers and batch systems set for every program. It is at most that of the processors that this
    process may use: further threads would only wait for each other's processor.
    """
    text = os.environ.get("ACC_NUM_CORES", "")
    if text and (not text.isdigit() or int(text) < 1):
        raise error(UNKNOWN_LOC, f"ACC_NUM_CORES is '{text}'", "set it to a number of CPU threads")
    outer = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(text or (outer if outer.isdigit() else 0)), usable_processors())


def device_queues() -> bool:
    """Whether the host may go on after synchronous constructs on a GPU: unless ACCOPT_DEVICE_QUEUES is 0."""
    return _switch("ACCOPT_DEVICE_QUEUES", usually=True)


def late() -> bool:
    """Whether the simulator runs the work of queues as late as possible: if ACCOPT_LATE is 1."""
    return _switch("ACCOPT_LATE", usually=False)


def _switch(name: str, *, usually: bool) -> bool:
    text = os.environ.get(name, "")
    if text not in ("", "0", "1"):
        raise error(UNKNOWN_LOC, f"{name} is '{text}'", "set it to 0 or 1")
    return text == "1" if text else usually


def patience() -> float | None:
    """The time limit in seconds for kernels in the simulator, from the environment variable
    ACCOPT_PATIENCE; None if it is not set."""
    text = os.environ.get("ACCOPT_PATIENCE", "")
    try:
        return seconds(text) if text else None
    except ValueError:
        raise error(
            UNKNOWN_LOC, f"ACCOPT_PATIENCE is '{text}'", "set it to a number of seconds"
        ) from None


def seconds(text: str) -> float:
    """A time above 0; raises `ValueError` for others."""
    value = float(text)
    if not value > 0:
        raise ValueError(f"{text} is not a positive time")
    return value


def profile_libraries() -> tuple[str, ...]:
    """The libraries that the environment variable ACC_PROFLIB names (OpenACC 3.4, 5.3)."""
    return tuple(filter(None, os.environ.get("ACC_PROFLIB", "").split(";")))


def in_place(run: Callable[[], int]) -> int:
    """
    Calls `run`, which runs a program, and ends the process with its exit status; on an error, prints it and
    returns 1.
    """
    try:
        check_machine()
        if is_foreign():
            message = f"programs for {target_machine()} cannot be run on this computer"
            raise error(UNKNOWN_LOC, message, f"leave out {VARIABLE}")
        status = run()
    except CompileError as e:
        report(e.diagnostics)
        return 1
    except AccRuntimeError as e:
        print(of_rank(e.render()), file=sys.stderr)
        return 1
    except ProgramFault as fault:
        _die_of(fault)
        return 1
    _leave(status)


def _die_of(fault: ProgramFault) -> None:
    """Ends the process by the signal of the fault, as the signal ends a C program."""
    flush_output()
    print(of_rank(str(fault)), file=sys.stderr, flush=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.signal(fault.signal, signal.SIG_DFL)
    os.kill(os.getpid(), fault.signal)


def _leave(status: int) -> NoReturn:
    """Ends the process as a C program ends: C's buffers are written and `atexit` functions run."""
    flush_output()
    ctypes.CDLL(None).exit(status)
    raise AssertionError("exit returned")
