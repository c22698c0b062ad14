"""
Options of C compilers for headers, languages, the linker and questions about the compiler, converted to the
form of the drivers' parsers. An option that would change a program's meaning and is not supported is a
warning; unknown values are errors.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, CommandLineError, Diagnostic, DiagnosticSink, Severity
from ..base.machine import is_foreign, machine_folder

_SEPARATE = ("-isystem", "-idirafter", "-iquote", "-include", "-imacros")
"""Options whose argument may be attached; the parsers expect it as a word of its own."""
_SAYS_LANGUAGE = re.compile(r"-x|-x(?!openmp)[a-z].*")
_LANGUAGES = ("c", "c-header", "cpp-output", "none")
_STANDARD = re.compile(
    r"(?:c|gnu|iso9899:)(?:89|90|99|9x|11|1x|17|18|2x|23|199409|1990|1999|2011|2017|2018)"
)
_UNINSTRUMENTED = "programs are not instrumented; --target=sim checks the accesses of kernels"
_OWN_TYPES = "types and calls are the platform's"
_NOT_DONE = (
    (r"-fsanitize=.*|-Mbounds|-Mchk(?:ptr|stk|fpstk)|-finstrument-functions", _UNINSTRUMENTED),
    (r"-f(?:profile-.*|test-coverage)|--coverage|-pg|-p", _UNINSTRUMENTED),
    (r"-funsigned-(?:char|bitfields)|-fno-signed-char|-Muchar", _OWN_TYPES),
    (
        r"-fshort-(?:enums|wchar)|-fpack-struct.*|-m(?:long-double-(?:64|128)|soft-float)",
        _OWN_TYPES,
    ),
    (r"-m96bit-long-double|-mno-sse\d*|-mabi=ms", _OWN_TYPES),
    (r"-fwrapv|-ftrapv", "signed arithmetic does not overflow in a valid program"),
    (
        r"-fno-strict-aliasing",
        "loops may take data of different types, but bytes and members of unions, for different memory",
    ),
    (
        r"-f(?:rounding-math|signaling-nans|single-precision-constant)",
        "arithmetic is that of IEEE 754, rounded to nearest, without traps",
    ),
    (r"-f(?:exec|input|wide-exec)-charset=(?!utf-?8$).*", "text is UTF-8"),
    (r"-f(?:pcc|reg)-struct-return|-fleading-underscore|-malign-double|-mms-bitfields", _OWN_TYPES),
    (r"-fno-delete-null-pointer-checks", "memory is never accessed at the null pointer"),
    (r"-fplugin.*", "plugins of gcc are not loaded"),
    (r"-Ktrap=(?!none$).*", "arithmetic does not trap"),
    (r"-static", "programs use shared libraries"),
)
"""Patterns of options that would change a program's behaviour, with what applies instead."""
_VALUES = {
    "-tp": re.compile(
        r"host|native|x64|px|p7|penryn|nehalem|core2|sandybridge|haswell|skylake|cascadelake|icelake|sapphirerapids|"
        r"knl|k8|k8e|barcelona|shanghai|istanbul|bulldozer|piledriver|zen\d?|generic|neoverse-[a-z]\d|grace|"
        r"(?:px|p7|k8|core2)-(?:32|64)"
    ),
    "-Minfo": re.compile(
        r"acc(?:el)?|all|autoinline|ccff|data|dwarf|ftn|inline|intensity|ipa|loop|lre|mp|opt|par|pcast|pfo|"
        r"stat|stdpar|time|unified|unroll|vect"
    ),
}
"""Options of nvc that are ignored → the values that they may have."""
_LINKER_MEANS = re.compile(
    r"--?(?:wrap|defsym|version-script|script|dynamic-list|entry|e|T|u|undefined)(?:=.*)?"
)
_WITH_VALUE = re.compile(
    r"--?(?:soname|h|rpath-link|z|m|wrap|defsym|entry|e|T|u|undefined|y|Map|rpath|R|L|l|library-path|"
    r"version-script|script|dynamic-list|init|fini|retain-symbols-file|dynamic-linker|I|F|f|G|A)"
)
"""Options of the linker whose value may be the next word."""
_BARE_LINKER_WORDS = (
    "--whole-archive", "--no-whole-archive", "-export-dynamic", "--export-dynamic"
)  # fmt: skip
"""Options of the linker that libtool gives without `-Wl,` to compilers that it does not know, besides
`-soname` and `-rpath`."""
_LINKER_VERSION = "--linker-version"


def command_error(message: str, remedy: str) -> CommandLineError:
    """The error for a mistake in the command line."""
    return CommandLineError([Diagnostic(Severity.ERROR, UNKNOWN_LOC, message, remedy)])


def prepared(arguments: Sequence[str], sink: DiagnosticSink) -> list[str]:
    """
    `arguments` in the form of the parsers, with the contents of `@file`s, and `-x`, in front, with each word
    that it applies to if that is a file, `c=FILE`. Warnings go to `sink`; raises `CommandLineError` for
    unknown values.
    """
    found: list[str] = []
    given = list(_with_files(arguments, 0))
    words: list[str] = []
    language, named = "none", list[str]()
    rest = iter(given)
    for argument in rest:
        if argument == "-Xlinker":
            words.append(_next(rest, argument))
            continue
        if argument.startswith("-Wl,"):
            words += argument[4:].split(",")
            continue
        found += _linker(words, given, sink)
        words = []
        if argument == "--":
            return [*named, *found, argument, *rest]
        if argument in ("-o", "-D", "-U", "-I", "-L", "-l", "-MF", "-MT", "-MQ", *_SEPARATE):
            found += [argument, _next(rest, argument)]
        elif argument in ("-soname", "-rpath"):
            words = [argument, _next(rest, argument)]
        elif argument in _BARE_LINKER_WORDS:
            words = [argument]
        elif argument == "-Xpreprocessor":
            found += prepared([_next(rest, argument)], sink)
        elif argument.startswith("-Wp,"):
            found += _preprocessor(argument[4:].split(","), sink)
        elif argument == "-tp":
            _one(f"-tp={_next(rest, argument)}", sink)
        elif argument in ("--param", "-aux-info"):
            _next(rest, argument)
        elif _SAYS_LANGUAGE.fullmatch(argument):
            language = _language(argument[2:] or _next(rest, argument))
        elif argument == "-" or not argument.startswith("-"):
            named += ["-x", f"{language}={argument}"] if language != "none" else []
            found.append(argument)
        else:
            found += _one(argument, sink)
    return named + found + _linker(words, given, sink)


def with_languages(arguments: Sequence[str]) -> list[str]:
    """`arguments` with `-x` as `prepared` has it, and the others as they are. Raises `CommandLineError` for
    unknown languages."""
    named: list[str] = []
    found: list[str] = []
    language = "none"
    rest = iter(arguments)
    for argument in rest:
        if _SAYS_LANGUAGE.fullmatch(argument):
            language = _language(argument[2:] or _next(rest, argument))
            continue
        if language != "none":
            named += ["-x", f"{language}={argument}"]
        found.append(argument)
    return named + found


def _with_files(arguments: Sequence[str], depth: int) -> Iterator[str]:
    for at, argument in enumerate(arguments):
        path = Path(argument[1:])
        if argument == "--" and not depth:
            yield from arguments[at:]
            return
        if not argument.startswith("@") or not path.is_file() or depth > 20:
            yield argument
        else:
            yield from _with_files(shlex.split(path.read_text()), depth + 1)


def _next(rest: Iterator[str], option: str) -> str:
    value = next(rest, None)
    if value is None:
        raise command_error(f"'{option}' needs an argument", f"write {option} and its argument")
    return value


def _one(argument: str, sink: DiagnosticSink) -> list[str]:
    for option in _SEPARATE:
        if argument.startswith(option):
            return [option, argument.removeprefix(option).removeprefix("=")]
    if argument.startswith("-std=") and _STANDARD.fullmatch(argument[5:]) is None:
        raise command_error(
            f"'{argument}': unknown standard of C", "write -std=c11, or leave it out"
        )
    name, _, values = argument.partition("=")
    for value in values.split(",") if values and name in _VALUES else ():
        if _VALUES[name].fullmatch(value) is None:
            raise command_error(f"'{argument}': unknown value '{value}'", "leave it out")
    if argument in ("-m32", "-mx32", "-m16"):
        raise command_error(f"'{argument}': only 64-bit code is supported", "leave it out")
    for pattern, instead in _NOT_DONE:
        if re.fullmatch(pattern, argument):
            sink.warn(UNKNOWN_LOC, f"{argument} is not supported: {instead}")
            return []
    return [argument]


def _language(name: str) -> str:
    if name not in _LANGUAGES:
        raise command_error(
            f"'-x {name}': accopt compiles C", f"write -x {', or -x '.join(_LANGUAGES)}"
        )
    return name


def _linker(words: Sequence[str], given: Sequence[str], sink: DiagnosticSink) -> list[str]:
    """
    Our options for the linker options in `-Wl,` and `-Xlinker`. For shared libraries they are passed to the
    system's linker unchanged; for programs, which accopt links, the supported ones are translated.
    """
    found: list[str] = []
    shared = "-shared" in given
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        apart = [next(rest, "")] if not equals and _WITH_VALUE.fullmatch(word) else []
        if word in ("-L", "--library-path", "-l"):
            found.append(f"{word[:2] if word != '--library-path' else '-L'}{apart[0]}")
        elif re.match(r"-[lL].", word) or not word.startswith("-"):
            found.append(word)
        elif shared or word == "--whole-archive":
            found += [f"--linker-word={each}" for each in (word, *apart)]
        elif name in ("-rpath", "--rpath", "-R"):
            found.append(f"-L{value if equals else apart[0]}")
        elif word in ("--version", "-v", "-V"):
            found.append(_LINKER_VERSION)
        elif _LINKER_MEANS.fullmatch(word):
            sink.warn(UNKNOWN_LOC, f"-Wl,{word} is not supported: programs are linked by accopt")
    return found


def _preprocessor(words: Sequence[str], sink: DiagnosticSink) -> list[str]:
    """Our options for the preprocessor options in `-Wp,`; `-MD,FILE` and the like name their file."""
    if words and words[0] in ("-MD", "-MMD"):
        file = ["-MF", words[1]] if len(words) > 1 else []
        return [words[0], *file, *prepared(words[2:], sink)]
    return prepared(words, sink)


def answer(arguments: Sequence[str]) -> str | None:
    """The output of an option that only asks about the compiler, such as `-dumpmachine`; None without
    one."""
    from importlib.metadata import version

    machine = machine_folder()
    for argument in arguments:
        name, _, value = argument.partition("=")
        match name.replace("--print", "-print"):
            case "-dumpmachine" | "-print-multiarch":
                return machine
            case "-dumpversion" | "-dumpfullversion":
                return version("accopt")
            case "-print-prog-name" | "-print-file-name":
                return _library(value, machine) if "file" in name else value
            case "-print-libgcc-file-name":
                return "libgcc.a"
            case "-print-search-dirs":
                folders = ":".join(_folders(machine))
                return f"install: {Path(__file__).parents[2]}\nprograms: =\nlibraries: ={folders}"
            case "-print-sysroot" | "-print-multi-directory" | "-print-multi-os-directory":
                return "" if "sysroot" in name else "."
            case "--linker-version":
                return f"accc {version('accopt')}, with the options of GNU ld for shared libraries"
            case "-print-multi-lib":
                return ".;"
            case _:
                pass
    return None


def tell_search(args: argparse.Namespace) -> None:
    """
    Prints the output of `-v`: the folders that are searched for headers and libraries, in gcc's form, from
    which CMake and Meson read the name of the machine's folder.
    """
    from ..c.preprocess_headers import searched_folders

    machine = machine_folder()
    print(f"Target: {machine}", '#include "..." search starts here:', sep="\n", file=sys.stderr)
    headers = [f" {folder}" for folder in searched_folders(args.include_dirs)]
    print(
        "#include <...> search starts here:",
        *headers,
        "End of search list.",
        sep="\n",
        file=sys.stderr,
    )
    if not (args.compile or args.preprocess or args.check):
        folders = [f"-L{folder}" for folder in (*args.library_dirs, *_folders(machine))]
        print(" ld", *folders, *args.inputs, "-lc", file=sys.stderr)


def _folders(machine: str) -> list[str]:
    if is_foreign():
        return [f"/usr/{machine}/lib", f"/usr/lib/{machine}"]
    return [f"/lib/{machine}", f"/usr/lib/{machine}", "/lib", "/usr/lib"]


def _library(name: str, machine: str) -> str:
    """The path of a library, or its name alone if it is in none of the folders, as gcc prints it."""
    paths = (Path(folder) / name for folder in _folders(machine))
    return next((str(path) for path in paths if path.exists()), name)
