"""Command-line options that `accopt` and `accrun` share, and their conversion to `CompileOptions`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.capabilities import PTX_VERSIONS, remedy_for
from ..base.diagnostics import DiagnosticSink
from ..base.options import DEFAULT_SM, TARGETS, CompileOptions, TargetName
from .outputs import print_answer
from .reporting import expect_shared_memory

if TYPE_CHECKING:
    from ..pipeline import StageCallback


def _sm(text: str) -> tuple[int, ...]:
    """One compute capability."""
    number = text.lower().removeprefix("sm_")
    if not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a compute capability: write 90 for 9.0")
    if int(number) not in PTX_VERSIONS:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a supported compute capability: {remedy_for(int(number))}"
        )
    return (int(number),)


def _sms(text: str) -> tuple[int, ...]:
    """A list of compute capabilities, the oldest first."""
    return tuple(sorted({sm for word in text.split(",") for sm in _sm(word)}))


def at_least_one(text: str) -> int:
    """A positive number, for argparse."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


class _PrintVersion(argparse.Action):
    """`--version`, which reads the installed packages only when it is given."""

    def __init__(self, option_strings: Sequence[str], dest: str, **rest: Any):
        super().__init__(option_strings, dest, nargs=0, **rest)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            own = version("accopt")
        except PackageNotFoundError:
            own = "of a source tree"
        parts = f"(xDSL {version('xdsl')}, llvmlite {version('llvmlite')})"
        # Meson recognises compilers with GCC's options by the name of GCC's publisher.
        gcc = "Options are those of GCC, the C compiler of the Free Software Foundation."
        parser.exit(print_answer(f"{parser.prog} {own} {parts}\n{gcc}\n"))


def add_version(parser: argparse.ArgumentParser) -> None:
    """Adds `--version`."""
    parser.add_argument("--version", action=_PrintVersion, help="print the version and exit")


def add_compile_arguments(parser: argparse.ArgumentParser, *, auto_target: bool = False) -> None:
    """Adds the options; with `auto_target`, `--target=auto` is allowed and the default."""
    group = parser.add_argument_group("compilation")
    group.add_argument(
        "--target",
        choices=("auto", *TARGETS) if auto_target else TARGETS,
        default="auto" if auto_target else "nvptx",
        help="nvptx: a GPU; host: the CPU; sim: a simulated GPU, which checks every access"
        + ("; auto: a GPU if there is one" if auto_target else ""),
    )
    several = "; of a list, each GPU gets the newest that it can run" if auto_target else ""
    group.add_argument(
        "--sm",
        type=_sms if auto_target else _sm,
        metavar="SM[,SM…]" if auto_target else "SM",
        default=(),
        help=f"compute capability (default {DEFAULT_SM}){several}",
    )
    group.add_argument(
        "-O",
        dest="opt_level",
        type=int,
        choices=range(4),
        default=3,
        help="LLVM's optimisation level, of host code and kernels (default 3)",
    )
    _add_preprocessing(group)
    _add_code_generation(group)
    _add_passes(group)


def add_libraries(group: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds `-l` and `-L`."""
    group.add_argument(
        "-l",
        dest="libraries",
        metavar="NAME",
        help="shared library to link, by name or path",
        **_REPEATED,
    )
    group.add_argument(
        "-L",
        dest="library_dirs",
        metavar="DIR",
        help="folder to look for libraries in",
        **_REPEATED,
    )


_REPEATED: dict[str, Any] = {"action": "append", "default": []}


def _add_preprocessing(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the options for preprocessing: headers, macros, OpenMP."""
    group.add_argument(
        "-I",
        dest="include_dirs",
        metavar="DIR",
        type=Path,
        help="folder of #include files",
        **_REPEATED,
    )
    for flag, what in (
        ("-isystem", "searched after those of -I"),
        ("-iquote", 'searched first, for #include "FILE"'),
        ("-idirafter", "searched last"),
    ):
        group.add_argument(
            flag, dest=f"{flag[1:]}_dirs", metavar="DIR", type=Path, help=what, **_REPEATED
        )
    group.add_argument(
        "-include",
        dest="includes",
        metavar="FILE",
        help="include it before every file",
        **_REPEATED,
    )
    group.add_argument(
        "-imacros", dest="macros", metavar="FILE", help="take its macros only", **_REPEATED
    )
    group.add_argument(
        "-nostdinc", dest="no_standard_dirs", action="store_true", help="no headers of the system"
    )
    group.add_argument(
        "-x",
        dest="languages",
        metavar="LANGUAGE",
        help="language of the files after it: c, cpp-output, or none (by the name of each file)",
        **_REPEATED,
    )
    group.add_argument(
        "-D", dest="defines", metavar="NAME[=VALUE]", help="define a macro", **_REPEATED
    )
    group.add_argument("-U", dest="undefines", metavar="NAME", help="forget a macro", **_REPEATED)
    group.add_argument(
        "--system-cpp",
        action="store_true",
        help="preprocess with the C compiler on this machine ($CC -E)",
    )
    group.add_argument(
        "--openmp",
        "-fopenmp",
        "-mp",
        action="store_true",
        help="run host code with directives of OpenMP by threads (also -fopenmp, -mp)",
    )
    group.add_argument(
        "--c23",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="the keywords of C23 are keywords: bool, nullptr, constexpr, … (also -std=c23)",
    )


def _add_code_generation(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the options for code generation, checks, warnings and remarks."""
    group.add_argument("--no-fma", action="store_true", help="never fuse a multiply and an add")
    group.add_argument(
        "--host-fma",
        action="store_true",
        help="fuse them outside of compute constructs too, as gcc does with -mfma",
    )
    group.add_argument(
        "--fast-math",
        action="store_true",
        help="allow reassociation, reciprocals and approximate functions",
    )
    group.add_argument("-g", dest="debug_info", action="store_true", help="C lines in machine code")
    group.add_argument(
        "--managed",
        action="store_true",
        help="host and device share memory (-gpu=managed): on a GPU the heap, on the host all",
    )
    group.add_argument(
        "--check-cache",
        action="store_true",
        help="report accesses outside of the sections of cache directives when the program runs",
    )
    group.add_argument(
        "--verify",
        action="store_true",
        help="check the IR and its contract after every stage",
    )
    group.add_argument(
        "--verify-each",
        action="store_true",
        help="check the IR after every pass, and its contract after every stage (slow)",
    )
    group.add_argument(
        "-Wall",
        dest="wall",
        action="store_true",
        help="warn of valid code that may be a mistake: clauses that the compiler adds, unused "
        "variables, values never set, missing returns, formats (-Wno-NAME, -Werror: as other compilers)",
    )
    group.add_argument(
        "--sizes",
        choices=("advice", "as-written"),
        default="advice",
        help="honour gang, worker, vector, tile and launch sizes as written also where the compiler"
        " may choose others without changing results (default: advice)",
    )
    group.add_argument(
        "--remarks", action="store_true", help="print how every construct was mapped, and why"
    )


def _add_passes(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the options that change the pipeline."""
    group.add_argument(
        "--pass-option",
        action="append",
        default=[],
        metavar="'PASS{OPTION=VALUE}'",
        help="options of a pass of the pipeline (accopt --help-pass PASS lists them)",
    )
    group.add_argument(
        "--after",
        dest="added_passes",
        metavar="STAGE:PASS",
        help="run another pass (also a plugin's) when the pipeline has reached a stage",
        **_REPEATED,
    )
    group.add_argument(
        "--skip-pass",
        metavar="PASS",
        help="leave a pass out of the pipeline (to measure its effect)",
        **_REPEATED,
    )


def collected_remarks(
    args: argparse.Namespace, sink: DiagnosticSink, target: TargetName
) -> StageCallback | None:
    """With `--remarks`, a function to watch the stages of a compilation, which adds its remarks to `sink`."""
    if not args.remarks:
        return None
    from ..remarks import adds_remarks

    return adds_remarks(sink, target)


def compile_options(args: argparse.Namespace) -> CompileOptions:
    """The compile options in parsed arguments; the target is `nvptx` if the machine is to choose it."""
    if args.managed:
        expect_shared_memory()
    return CompileOptions(
        target="nvptx" if args.target == "auto" else args.target,
        sm=args.sm[0] if args.sm else DEFAULT_SM,
        opt_level=args.opt_level,
        fma=not args.no_fma,
        host_fma=args.host_fma,
        fast_math=args.fast_math,
        debug_info=args.debug_info,
        check_cache=args.check_cache,
        verify=args.verify,
        verify_each=args.verify_each,
        sizes=args.sizes,
        wall=args.wall,
        managed=args.managed,
        include_dirs=(*args.include_dirs, *args.isystem_dirs),
        quote_dirs=tuple(args.iquote_dirs),
        after_dirs=tuple(args.idirafter_dirs),
        standard_dirs=not args.no_standard_dirs,
        forced_includes=tuple(args.includes),
        forced_macros=tuple(args.macros),
        defines=tuple(args.defines),
        undefines=tuple(args.undefines),
        use_system_cpp=args.system_cpp,
        openmp=args.openmp,
        c23=args.c23,
        pass_options=tuple(args.pass_option),
        added_passes=tuple(args.added_passes),
        skipped_passes=tuple(args.skip_pass),
    )
