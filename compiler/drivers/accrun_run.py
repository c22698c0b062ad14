"""
`accrun`: compile and run a whole OpenACC C program, on a GPU or without one.

    accrun prog.c more.c -- arguments of the program
    accrun --target=host -DN=1000 prog.c

The program's standard input and output, environment and exit status are its own; a program that
does not compile exits with status 1 before anything runs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.profiling.trace import TraceOptions
from ..base.diagnostics import UNKNOWN_LOC, DiagnosticSink, error
from ..base.phase_table import add_timing, timed
from ..base.phases import LOADING, phase
from ..base.progress import telling_progress
from ..internal_error import guarded
from ..process import without_collection
from .c_options import prepared
from .customary_options import translate
from .driver_options import (
    add_compile_arguments,
    add_libraries,
    add_version,
    at_least_one,
    collected_remarks,
    compile_options,
)
from .file_kinds import IR, language_of, refuse_machine_code, refuse_other_language
from .native_ahead import native_code_ahead, native_code_is_known
from .reporting import options_or_leave, require_no_failing, take_options
from .run_program import (
    context_ahead,
    device_count,
    device_number,
    device_type,
    for_this_machine,
    in_place,
    print_diagnostics,
    run_options_for,
    run_program,
    seconds,
)

if TYPE_CHECKING:
    from ..api import RunOptions
    from ..base.options import CompileOptions


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accrun",
        usage="accrun [options] FILE.c [FILE.c …] [-- ARGUMENT …]",
        description="Compile and run an OpenACC C program.",
        epilog="Exit status: the program's; 1 if it does not compile or its device fails; "
        "2 for a mistake in the command line.",
    )
    parser.add_argument(
        "sources", nargs="+", metavar="FILE.c", help="C files of the program, or its IR (.mlir)"
    )
    add_version(parser)
    add_compile_arguments(parser, auto_target=True)
    group = parser.add_argument_group("running")
    add_libraries(group)
    group.add_argument(
        "--device",
        type=int,
        default=None,
        metavar="N",
        help="number of the device to begin with (default: ACC_DEVICE_NUM, or 0)",
    )
    group.add_argument(
        "--devices",
        type=at_least_one,
        default=None,
        metavar="N",
        help="number of devices that the program sees: N separate ones on host and sim, the first N GPUs, "
        "shared in turn if there are fewer (default: ACCOPT_DEVICES; or 1, on nvptx all GPUs)",
    )
    group.add_argument(
        "--no-device-queues",
        action="store_true",
        help="wait for every synchronous construct on a GPU (also: ACCOPT_DEVICE_QUEUES=0)",
    )
    group.add_argument(
        "--threads",
        type=int,
        default=0,
        metavar="N",
        help="CPU threads (host target; 0: ACC_NUM_CORES, OMP_NUM_THREADS, or all)",
    )
    group.add_argument(
        "--shared-memory", action="store_true", help="host target: no separate device memory"
    )
    group.add_argument(
        "--no-checks", action="store_true", help="sim target: no search for races and unset memory"
    )
    group.add_argument(
        "--report", action="store_true", help="sim target: costs of every source line, to stderr"
    )
    group.add_argument(
        "--patience",
        type=seconds,
        metavar="SECONDS",
        help="sim target: stop kernels that take longer, in seconds (default: ACCOPT_PATIENCE, or 300)",
    )
    group.add_argument(
        "--late",
        action="store_true",
        help="sim target: run the work of queues as late as waits allow, to show missing waits",
    )
    add_timing(group)
    group.add_argument(
        "--compression-report",
        action="store_true",
        help="at exit: range, errors and saturated values of every compressed array",
    )
    return parser


def _split_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    if "--" in argv:
        at = list(argv).index("--")
        return list(argv[:at]), list(argv[at + 1 :])
    return list(argv), []


def _timed_run(args: argparse.Namespace, program_arguments: list[str]) -> int:
    with ExitStack() as until_start:
        until_start.enter_context(timed(wanted=args.timing))
        return _run(args, program_arguments, until_start)


def _program_files(args: argparse.Namespace) -> list[Path]:
    """
    The C files, or the file of IR, among the inputs; shared libraries are added to those of `-l`, and other
    files are errors.
    """
    found: list[Path] = []
    for name in args.sources:
        path = Path(name)
        if ".so" in path.suffixes:
            args.libraries = [*args.libraries, str(path.resolve())]
            continue
        if path.suffix != IR:
            if language_of(path, args.languages) is None:
                refuse_other_language(path, "a C file")
            refuse_machine_code(path, "a C file")
        found.append(path)
    if len(found) > 1 and any(path.suffix == IR for path in found):
        raise error(
            UNKNOWN_LOC, "IR is a whole program, other files cannot join it", "give it alone"
        )
    return found


def _run(args: argparse.Namespace, program_arguments: list[str], until_start: ExitStack) -> int:
    devices = args.devices if args.devices is not None else device_count()
    number = args.device if args.device is not None else device_number(args.target, devices)
    context = until_start.enter_context(context_ahead(args.target, number, devices))
    if native_code_is_known(device_type() if args.target == "auto" else args.target, devices):
        context.start()  # otherwise this process is forked first
    with phase(LOADING):
        from ..c.program import load_program
        from ..executable import build, build_ir
        from ..references import check_references

    sink = DiagnosticSink()
    options = for_this_machine(compile_options(args), args.target, args.sm, number, devices)
    paths = _program_files(args)
    is_ir = [path.suffix for path in paths] == [IR]
    run_options = _run_options(args, options, number, devices)
    try:
        with native_code_ahead(options.target, run_options), telling_progress():
            if options.target == "nvptx":
                context.start()
            watch = collected_remarks(args, sink, options.target)
            if is_ir:
                executable = build_ir(paths[0], options, sink, watch)
            else:
                executable = build(paths, options, sink, watch)
        with phase("find references"):
            reading, files = options.preprocessing(), [] if is_ir else paths
            check_references(
                executable.host_ir,
                args.libraries,
                args.library_dirs,
                lambda: load_program(files, reading, DiagnosticSink(), options.target),
                opt_level=options.opt_level,
            )
        require_no_failing(sink.diagnostics)
    finally:
        print_diagnostics(sink)
    return run_program(
        executable, run_options, [args.sources[0], *program_arguments], until_start.close
    )


def _run_options(
    args: argparse.Namespace, options: CompileOptions, number: int, devices: int | None
) -> RunOptions:
    """How the program is run, by the command line and the environment."""
    trace = TraceOptions.from_environment(os.environ)
    if args.compression_report:
        trace = replace(trace, compression=True)
    return run_options_for(
        number,
        devices,
        queues=not args.no_device_queues,
        threads=args.threads,
        time_limit=args.patience,
        runs_late=args.late,
        trace=trace,
        libraries=tuple(args.libraries),
        library_folders=tuple(args.library_dirs),
        shared_memory=args.shared_memory or options.managed,
        checks=not args.no_checks,
        counters=args.report,
    )


def run(argv: Sequence[str]) -> int:
    """Runs `accrun` with these arguments. Leaves the process with the program's exit status."""
    own, program_arguments = _split_arguments(argv)
    own = options_or_leave(lambda sink: translate(prepared(take_options(own), sink), sink))
    args = _argument_parser().parse_intermixed_args(own)
    with without_collection():
        return guarded(lambda: in_place(lambda: _timed_run(args, program_arguments)))
