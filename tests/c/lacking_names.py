"""
Writes `compiler/c/include/lacking.txt`: what the system's versions of our headers have and ours lack.

    python tests/c/lacking_names.py > compiler/c/include/lacking.txt
"""

from __future__ import annotations

import functools
import platform
import re
import textwrap
from pathlib import Path

from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.library_headers import INCLUDE_DIR
from accopt.compiler.c.parse import parse_text
from accopt.compiler.c.preprocess_headers import (
    WINNERS,
    HeaderSearch,
    Inputs,
    NeedsSystemHeaders,
    system_folders,
)
from accopt.compiler.c.preprocess_macros import MacroPreprocessor
from accopt.compiler.c.preprocess_output import OutputWriter
from accopt.compiler.c.preprocess_predefined import PREDEFINED
from accopt.compiler.c.sema.checker import new_unit


def both() -> list[str]:
    """Our headers that the system has too."""
    ours = [*INCLUDE_DIR.glob("*.h"), *INCLUDE_DIR.glob("sys/*.h")]
    names = sorted(str(path.relative_to(INCLUDE_DIR)) for path in ours)
    return [
        n for n in names if n not in WINNERS and any((f / n).is_file() for f in system_folders())
    ]


@functools.cache
def names_of(header: str, *, system: bool) -> set[str]:
    """The macros, ordinary identifiers and tags that a header defines, without reserved ones."""
    output, sink = OutputWriter("t.c"), DiagnosticSink()
    cpp = MacroPreprocessor(output, HeaderSearch((), Inputs(), system=system), sink)
    asked_for = [(name, "1") for name in ("_GNU_SOURCE", "_LARGEFILE64_SOURCE")]  # may be defined
    for name, body in (*PREDEFINED, *(asked_for if system else ())):
        cpp.predefine(name, body)
    cpp.process(f"#include <{header}>\n", "t.c", Path("t.c"))
    unit = new_unit("t.c", sink)
    for node in parse_text(output.text(), "t.c").ext:
        unit.declarations.external(node)
    names = {*cpp.table, *unit.file_scope.names, *unit.file_scope.tags}
    return {name for name in names if re.match(r"[A-Za-z]|_[a-z]", name)}


def lacking(header: str) -> list[str]:
    """
    What the system's version of `header` has and ours lacks, without <stddef.h>, which is in all, and without
    the kernel's constants of `statx`, which change with the kernel.
    """
    accidental = names_of("stddef.h", system=False)
    found = names_of(header, system=True) - names_of(header, system=False) - accidental
    return sorted(name for name in found if not name.startswith("STATX_"))


def table() -> dict[str, list[str]]:
    """Header → what it lacks; without headers that cannot be read."""
    found: dict[str, list[str]] = {}
    for header in both():
        try:
            found[header] = lacking(header)
        except (CompileError, NeedsSystemHeaders):
            continue
    return found


def main() -> None:
    print(
        f"# {' '.join(platform.libc_ver())}: names of its headers that ours lack (lacking_names.py)"
    )
    for header, names in table().items():
        if names:
            print(textwrap.fill(" ".join([f"{header}:", *names]), 10**9))


if __name__ == "__main__":
    main()
