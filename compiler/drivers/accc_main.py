"""
`accc`: a C compiler's command line around accopt, for Makefiles.

    accc -O3 -c solver.c                   an object file, solver.o
    accc main.o solver.o -o solver -lm     an executable file
    make CC=accc                           the same, as a project has it

An object file holds preprocessed C and its checked tree; linking compiles the whole program. Options of
other compilers that have no effect here are ignored (`customary_options.py`).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Container, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..backend.foreign_objects import ForeignObject
from ..base.deep_stack import with_deep_stack
from ..base.diagnostics import (
    UNKNOWN_LOC,
    CommandLineError,
    CompileError,
    DiagnosticSink,
    SourceLoc,
    render,
    warning,
)
from ..base.machine import check_machine, is_foreign, target_machine
from ..base.phase_table import add_timing, timed
from ..base.phases import LOADING, phase, working_on
from ..base.progress import telling_progress
from ..c.preprocess import PreprocessedSource, macros, read_source, without_openmp
from ..internal_error import guarded
from ..process import run_command, without_collection
from .assembly import SUFFIXES, assembled
from .c_options import answer, command_error, prepared, tell_search
from .customary_options import translate
from .dependencies import add_dependency_arguments, write_dependencies
from .driver_options import (
    add_compile_arguments,
    add_libraries,
    add_version,
    collected_remarks,
    compile_options,
)
from .file_kinds import language_of, refuse_machine_code, refuse_other_language
from .object_file import ObjectFile, needed, read_objects
from .outputs import STANDARD_OUTPUT, write_output, write_text
from .reporting import options_or_leave, report, require_no_failing, take_options

if TYPE_CHECKING:
    from ..base.options import CompileOptions
    from ..c.preprocess_sources import Headers
    from ..checked_files import CheckedFiles
    from ..compiled import Executable

_REFUSED = {
    "-S": "single files are not compiled to assembly: 'accopt --emit=ptx' prints the kernels of a program",
    "-r": "give all object files to the last link, or put them into an archive with ar",
}


def _argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accc",
        usage="accc [options] FILE…",
        description="Compile and link OpenACC C programs as C compilers do.",
        epilog="Exit status: 0; 1 for a mistake in the input; 2 for a mistake in the command line. "
        "Other options of C compilers (-Wall, -std=c99, -acc, …) are ignored.",
    )
    parser.add_argument(
        "inputs", nargs="*", metavar="FILE", help="C files (.c, .i), object files, archives (.a)"
    )
    parser.add_argument("-c", dest="compile", action="store_true", help="make object files only")
    parser.add_argument("-E", dest="preprocess", action="store_true", help="preprocess only")
    parser.add_argument(
        "-P", dest="without_lines", action="store_true", help="with -E: no line numbers"
    )
    parser.add_argument(
        "-shared", action="store_true", help="link a shared library (needs the system's ld)"
    )
    parser.add_argument(
        "--fat-objects",
        dest="fat",
        action="store_true",
        help="-ffat-lto-objects: objects that other linkers can also link (needs the system's objcopy)",
    )
    parser.add_argument(
        "-dM", dest="macros_only", action="store_true", help="with -E: print all macros"
    )
    parser.add_argument(
        "-save-temps", "--save-temps", action="store_true", help="keep the preprocessed files"
    )
    parser.add_argument("-fsyntax-only", dest="check", action="store_true", help="check only")
    parser.add_argument(
        "--verbose", action="store_true", help="-v: print the folders that are searched"
    )
    parser.add_argument(
        "--standalone",
        action="store_true",
        help="an executable that contains its code and the runtime, for machines without accopt",
    )
    parser.add_argument("-o", dest="output", metavar="FILE", type=Path, help="file to write")
    add_libraries(parser)
    parser.add_argument(
        "--linker-word", dest="linker_words", action="append", default=[], help=argparse.SUPPRESS
    )  # options in -Wl, for the linker of a shared library
    add_version(parser)
    add_timing(parser)
    add_dependency_arguments(parser)
    add_compile_arguments(parser, auto_target=True)
    return parser


def _kept_arguments(args: argparse.Namespace) -> tuple[str, ...]:
    """The options among `args` that apply when linking compiles the program."""
    flags = ("no_fma", "host_fma", "fast_math", "check_cache", "managed", "verify", "verify_each")
    flags += ("remarks",)
    kept = [f"--{flag.replace('_', '-')}" for flag in flags if getattr(args, flag)]
    kept += [f"--pass-option={text}" for text in args.pass_option]
    kept += [f"--after={text}" for text in args.added_passes]
    if args.sizes != "advice":
        kept.append(f"--sizes={args.sizes}")
    if args.target != "auto":
        kept.append(f"--target={args.target}")
    if args.sm:
        kept.append(f"--sm={','.join(map(str, args.sm))}")
    return (*kept, f"-O{args.opt_level}", *(["-g"] if args.debug_info else []))


@dataclass
class _Command:
    """One run of `accc`: its options, and the messages printed so far for its files."""

    args: argparse.Namespace
    arguments: Sequence[str]
    headers: Headers | None = None
    """The headers that its files have read."""

    def run(self) -> int:
        args = self.args
        if args.verbose:
            tell_search(args)
            if not args.inputs:
                return 0
        if not args.inputs:
            raise command_error("there are no input files", "name C or object files")
        if args.output is not None and len(args.inputs) > 1 and (args.compile or args.preprocess):
            raise command_error(
                "-o with several files is possible only for linking", "leave out -o, or -c"
            )
        if args.preprocess or args.depend_only:
            self._preprocess()
        elif args.output == STANDARD_OUTPUT:
            raise command_error(
                "objects and programs are not written to standard output", "name a file with -o"
            )
        else:
            with telling_progress(), self._shared():
                self._compile() if args.compile or args.check else self._link()
        return 0

    def _shared(self) -> AbstractContextManager[None]:
        """The time in which several C files share the declarations of their headers."""
        if sum(self._language(Path(name)) is not None for name in self.args.inputs) < 2:
            return nullcontext()
        from ..c.shared_declarations import shared_declarations

        return shared_declarations()

    @with_deep_stack
    def _preprocess(self) -> None:
        from ..c.program import preprocess_program

        paths = [Path(name) for name in self.args.inputs]
        options = compile_options(self.args).preprocessing()
        if self.args.macros_only:
            write_text(self.args.output, "".join(macros(path, options) for path in paths))
            return
        sink = DiagnosticSink()
        texts: list[str] = []
        for source in preprocess_program(paths, options, sink):
            if self.args.depend_only:
                write_dependencies(source, self.args, Path(source.file).with_suffix(".o").name)
            else:
                texts.append(source.text)
        _print(sink)
        if self.args.depend_only:
            return
        text = "".join(texts)
        if self.args.without_lines:
            text = re.sub(r"^(?:#[ \t]*(?:line[ \t]+)?\d.*)?\n", "", text, flags=re.MULTILINE)
        write_text(self.args.output, text)

    def _compile(self) -> None:
        for name in self.args.inputs:
            output = self.args.output or Path(Path(name).name).with_suffix(".o")
            if Path(name).suffix in SUFFIXES and self._language(Path(name)) is None:
                write_output(output, self._assembled(Path(name)))
                continue
            if self._language(Path(name)) is None:
                refuse_other_language(Path(name), "a C file")
            compiled = self._compiled(Path(name), str(output))
            if not self.args.check:
                content = compiled.to_bytes()
                write_output(output, self._fat(compiled, content) if self.args.fat else content)

    def _fat(self, compiled: ObjectFile, content: bytes) -> bytes:
        """The object file `content` with machine code added, for other linkers (`fat_objects.py`)."""
        from ..checked_files import CheckedFiles
        from ..executable import build_sources
        from .fat_objects import fat_object

        kept = CheckedFiles(dict([compiled.checked]) if compiled.checked is not None else {})
        options = replace(compile_options(self.args), target="host")
        sink = DiagnosticSink()  # not printed: checking the file has printed the messages
        return fat_object(build_sources((compiled.source,), options, sink, kept=kept), content)

    def _preprocessed(
        self,
        path: Path,
        output: str,
        options: CompileOptions,
        sink: DiagnosticSink,
        kept: CheckedFiles,
    ) -> PreprocessedSource:
        """The preprocessed text of a C file; also writes the other outputs that options ask for
        (dependencies, kept files)."""
        from ..c.preprocess_kept import preprocess_or_find
        from ..c.preprocess_sources import Headers

        refuse_machine_code(path, "a C file")
        if self._language(path) == "cpp-output":
            text = read_source(path, SourceLoc(str(path), 0))
            return PreprocessedSource(str(path), text if options.openmp else without_openmp(text))
        self.headers = self.headers or Headers()
        source = preprocess_or_find(path, options.preprocessing(), sink, self.headers, kept)
        if self.args.save_temps:
            name = (
                Path(output).with_suffix(".i") if self.args.compile else path.with_suffix(".i").name
            )
            write_output(Path(name), source.text.encode(errors="surrogateescape"))
        if self.args.depend:
            write_dependencies(source, self.args, output)
        return source

    @with_deep_stack
    def _compiled(self, path: Path, output: str) -> ObjectFile:
        """Checks a C file, prints its warnings, and returns its object."""
        with phase(LOADING):
            from ..c.program import check_program
            from ..checked_files import CheckedFiles
            from ..references import names_of
            from ..translate import module_of

        options, sink, kept = compile_options(self.args), DiagnosticSink(), CheckedFiles()
        try:
            with working_on([str(path)]):
                source = self._preprocessed(path, output, options, sink, kept)
                units = check_program([source], sink, options.target, wall=options.wall, kept=kept)
                module_of(units, options, sink)
            require_no_failing(sink.diagnostics)
        finally:
            messages = _print(sink)
        tree = kept.entry(source.file, source.text)
        unit = next(unit for unit in units if unit.file == source.file)
        return ObjectFile(source, _kept_arguments(self.args), messages, *names_of(unit), tree)

    def _assembled(self, path: Path) -> bytes:
        return assembled(
            path, [*self.args.include_dirs, *self.args.isystem_dirs], self.args.defines
        )

    def _language(self, path: Path) -> str | None:
        return language_of(path, self.args.languages)

    def _link(self) -> None:
        with phase(LOADING):
            from ...runtime.errors import NoDeviceError
            from ..checked_files import CheckedFiles
            from ..executable import build_sources
            from .program_file import program_file, require_standalone
            from .run_program import device_count, device_number, for_this_machine

        if is_foreign() and not self.args.shared:
            raise command_error(
                f"programs for {target_machine()} cannot be linked on this computer",
                "make a library (-shared), or link there",
            )
        inputs = self._needed(self._objects())
        objects = [each for each in inputs if isinstance(each, ObjectFile)]
        args = self._with_options_of(objects)
        require_standalone(args)
        options, sink = compile_options(args), DiagnosticSink()
        sources = tuple(compiled.source for compiled in objects)
        kept = CheckedFiles(dict(each.checked for each in objects if each.checked is not None))
        try:
            number = device_number(args.target, 1)
            here = for_this_machine(options, args.target, args.sm, number, device_count())
        except NoDeviceError:  # the program may run on another machine
            here = replace(options, target="nvptx")
        here = replace(here, host_lines=args.shared)
        try:
            watch = collected_remarks(args, sink, here.target)
            executable = build_sources(sources, here, sink, watch, kept=kept)
            require_no_failing(sink.diagnostics)
        finally:
            _print(sink, {message for compiled in objects for message in compiled.messages})
        foreign = self._foreign(executable, inputs)
        self._check_names(executable, sources, foreign)
        output = args.output or Path("a.out")
        if args.shared:
            write_output(output, self._library(args, executable, foreign))
            return
        with phase("write the executable"):
            write_output(output, program_file(executable, args, options, sources, foreign, kept))
        output.chmod(output.stat().st_mode | 0o111)

    def _library(
        self, args: argparse.Namespace, executable: Executable, foreign: Sequence[ForeignObject]
    ) -> bytes:
        """The contents of a shared library."""
        from .shared_library import link_library

        if executable.options.managed and executable.options.target == "nvptx":
            message = "a library's heap is not shared with GPUs: data clauses decide what is moved"
            _print(DiagnosticSink([warning(UNKNOWN_LOC, message)]))
        others = [(each.name, each.data) for each in foreign]
        return link_library(
            executable, others, args.libraries, args.library_dirs, args.linker_words
        )

    def _foreign(
        self, executable: Executable, inputs: Sequence[ObjectFile | ForeignObject]
    ) -> list[ForeignObject]:
        """The objects of other compilers that belong to the program; those in archives only if needed."""
        from ..backend.jit import exported_names
        from ..backend.symbols import declared_names

        foreign = [each for each in inputs if isinstance(each, ForeignObject)]
        wanted = {"main", *declared_names(executable.host_ir)}
        return needed(foreign, wanted, set(exported_names(executable.host_ir)))

    def _check_names(
        self,
        executable: Executable,
        sources: Sequence[PreprocessedSource],
        foreign: Sequence[ForeignObject],
    ) -> None:
        """Raises `CompileError` for a program without `main`, and for undefined references."""
        from ..backend.jit import exported_names, without_main
        from ..c.program import check_program
        from ..references import check_references
        from .linked_program import with_origin

        defined = set[str](exported_names(executable.host_ir)).union(*(f.defined for f in foreign))
        if "main" not in defined and not self.args.shared:
            raise without_main(defined)
        if is_foreign():  # libraries for another machine cannot be loaded here
            return
        target = executable.options.target
        with phase("find references"):
            check_references(
                executable.host_ir,
                self.args.libraries,
                with_origin(self.args.library_dirs, self.args.output or Path("a.out")),
                lambda: check_program(sources, DiagnosticSink(), target),
                foreign,
                opt_level=executable.options.opt_level,
            )

    def _objects(self) -> list[ObjectFile | ForeignObject]:
        """The inputs as objects; C files among them are compiled."""
        found: list[ObjectFile | ForeignObject] = []
        for name in self.args.inputs:
            path = Path(name)
            if self._language(path) is not None:
                found.append(self._compiled(path, str(self.args.output or "a.out")))
            elif path.suffix in SUFFIXES:
                found.append(ForeignObject(name, self._assembled(path)))
            elif ".so" in path.suffixes:
                self.args.libraries = [*self.args.libraries, str(path.resolve())]
            else:
                refuse_other_language(path, "C or an object")
                found += read_objects(path)
        for name in list(self.args.libraries):
            archive = self._archive(name)
            if archive is not None:
                self.args.libraries.remove(name)
                found += read_objects(archive)
        return found

    def _needed(
        self, inputs: Sequence[ObjectFile | ForeignObject]
    ) -> list[ObjectFile | ForeignObject]:
        """
        The inputs without unneeded members of archives (with `--whole-archive`, all of them). Other
        compilers' objects stay, as only the compiled code shows which of them are needed (`_foreign`).
        """

        if "--whole-archive" in self.args.linker_words:
            return list(inputs)
        kept = {id(each) for each in needed(inputs, {"main"}, set())}
        return [each for each in inputs if id(each) in kept or isinstance(each, ForeignObject)]

    def _archive(self, name: str) -> Path | None:
        """The archive that `-lNAME` means, if a folder of `-L` has one and no shared library of that
        name."""
        exact = name.startswith(":")
        if exact and not name.endswith(".a"):
            return None
        for folder in map(Path, self.args.library_dirs):
            if not exact and (folder / f"lib{name}.so").exists():
                return None
            archive = folder / (name[1:] if exact else f"lib{name}.a")
            if archive.exists():
                return archive
        return None

    def _with_options_of(self, objects: Sequence[ObjectFile]) -> argparse.Namespace:
        """The command's options; those that it does not set are taken from the objects if all agree."""
        first, *others = [compiled.arguments for compiled in objects] or [()]
        shared = [text for text in first if all(text in other for other in others)]
        args = _argument_parser().parse_intermixed_args([*shared, *self.arguments])
        args.libraries = self.args.libraries
        return args


def _print(sink: DiagnosticSink, known: Container[str] = ()) -> tuple[str, ...]:
    """Prints the messages in `sink` that are not in `known`, empties it, and returns all of them."""
    texts = tuple(render(diagnostic) for diagnostic in sink.diagnostics)
    report([d for d, text in zip(sink.diagnostics, texts, strict=True) if text not in known])
    sink.diagnostics.clear()
    return texts


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `accc` command, which ends the process; with arguments, its exit status."""
    if argv is None:
        run_command(lambda: main(sys.argv[1:]))
    given = options_or_leave(lambda sink: prepared(take_options(argv), sink))
    if (text := answer(given)) is not None:
        print(text)
        return 0
    arguments = options_or_leave(lambda sink: translate(given, sink))
    if "-v" in given:
        arguments.insert(0, "--verbose")
    if "-ffat-lto-objects" in given:
        arguments.insert(0, "--fat-objects")
    return guarded(lambda: _main(arguments))


def _main(arguments: list[str]) -> int:
    try:
        check_machine()
        for option in _REFUSED.keys() & set(arguments):
            raise command_error(f"accc has no option {option}", _REFUSED[option])
        args = _argument_parser().parse_intermixed_args(arguments)
        with timed(wanted=args.timing), without_collection():
            return _Command(args, arguments).run()
    except CommandLineError as e:
        report(e.diagnostics)
        return 2
    except CompileError as e:
        report(e.diagnostics)
        return 1


if __name__ == "__main__":
    sys.exit(main())
