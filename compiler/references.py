"""
Finds undefined references when a program is linked, as linkers do: names that neither its files, nor the
runtime, nor the C library, nor the libraries of `-l` define. Configuration scripts depend on this, as they
link small programs to find out which functions exist. The JIT, which binds names only when the program
starts, would also accept names in libraries that Python has loaded.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .backend.foreign_objects import ForeignObject
from .backend.jit import LINKED_IN, compile_program, exported_names
from .backend.library_files import load_library
from .backend.symbols import DECLARATION, declared_names
from .base.diagnostics import UNKNOWN_LOC, CompileError, Diagnostic, Severity, SourceLoc
from .base.options import OptLevel
from .base.similar import did_you_mean

if TYPE_CHECKING:
    from .c.ast import TranslationUnit

_C_LIBRARY = ("libc.so.6", "libm.so.6")
_WITHOUT_FILE = frozenset(("c", "m", "gcc"))
"""Libraries that need not be linked: their functions are in the C library, or come with LLVM's code."""
_FROM_US = frozenset(("exit", "fork", "atexit", *LINKED_IN))
"""Functions of the C library that a program gets from the runtime (`backend/jit.py`)."""
_FUNCTION = re.compile(
    r'^define (internal |private )?[^@\n]*@("[^"]*"|[\w.$-]+)\(.*?^}', re.MULTILINE | re.DOTALL
)
_NAME = re.compile(r'@("[^"]*"|[\w.$-]+)')


def check_references(
    host_ir: str,
    libraries: Sequence[str],
    folders: Sequence[str],
    units: Callable[[], Sequence[TranslationUnit]],
    objects: Sequence[ForeignObject] = (),
    *,
    opt_level: OptLevel = 3,
) -> None:
    """
    Raise `CompileError` for every function and variable that the program's LLVM IR `host_ir` uses but that
    is not defined anywhere, at its first use in the typed trees that `units` returns, and for libraries
    (names as after `-l`, or paths) that are in none of the `folders` (as after `-L`) nor where the system
    has its own. `objects` of other compilers define and use names, too. Names in code that LLVM proves
    unreachable at `opt_level` need no definition.
    """
    opened = [
        load_library(name, folders, ctypes.CDLL, OSError)
        for name in libraries
        if name not in _WITHOUT_FILE
    ]
    missing = [name for name in declared_names(host_ir) if not _is_ours(name)]
    handles = [ctypes.CDLL(name) for name in _C_LIBRARY] + opened
    missing = [name for name in missing if not any(_has(handle, name) for handle in handles)]
    if missing:
        missing = [name for name in missing if name in _reached(host_ir)]
    provided = frozenset[str]().union(*(each.defined for each in objects))
    missing = [name for name in missing if name not in provided]
    if missing:
        code = ForeignObject("the program", compile_program(host_ir, opt_level))
        missing = missing if code.undefined.intersection(missing) else []
    provided |= set(exported_names(host_ir))
    lost = [
        Diagnostic(
            Severity.ERROR,
            UNKNOWN_LOC,
            f"undefined reference to '{name}' in '{each.name}'",
            "define it, or name its library with -l (-lstdc++ for C++, -lgfortran for Fortran)",
        )
        for each in objects
        for name in sorted(each.undefined - provided)
        if not _is_ours(name) and not any(_has(handle, name) for handle in handles)
    ]
    if missing or lost:
        messages = _messages(missing, units(), objects) if missing else ()
        raise CompileError([*messages, *lost])


def is_of_runtime(name: str) -> bool:
    """Whether a name is a routine that the runtime provides to programs."""
    return _is_ours(name) and name not in _FROM_US


def _is_ours(name: str) -> bool:
    from ..runtime.api import COMPRESSION_ROUTINES, ROUTINES

    known = name in ROUTINES or name in COMPRESSION_ROUTINES or name in _FROM_US
    return known or name.startswith("__accopt_")


def _has(library: ctypes.CDLL, name: str) -> bool:
    try:
        library[name]
    except AttributeError:
        return False
    return True


def _reached(host_ir: str) -> set[str]:
    """The names used by external functions and variables, and by internal functions that these use."""
    internal: dict[str, str] = {}

    def keep(m: re.Match[str]) -> str:
        if m.group(1):
            internal[m.group(2).strip('"')] = m.group()
            return ""
        return m.group()

    pending = [DECLARATION.sub("", _FUNCTION.sub(keep, host_ir))]
    reached: set[str] = set()
    while pending:
        names = {name.strip('"') for name in _NAME.findall(pending.pop())} - reached
        reached |= names
        pending += [internal[name] for name in names if name in internal]
    return reached


def _messages(
    names: Sequence[str], units: Sequence[TranslationUnit], objects: Sequence[ForeignObject]
) -> list[Diagnostic]:
    uses: dict[str, SourceLoc] = {}
    for name, loc in _uses(units):
        uses[name] = min(loc, uses.get(name, loc), key=_order)
    known = {function.name for unit in units for function in unit.functions}
    known = known.union(*(unit.idle for unit in units)) - set(names)
    out: list[Diagnostic] = []
    for name in sorted(names, key=lambda n: _order(uses.get(n, UNKNOWN_LOC))):
        remedy = _hidden(name, units) or _mangled(name, objects)
        if remedy is None:
            remedy = "define it in one of the source files, or name its library with -l"
            if name.startswith(("MPI_", "ompi_")):
                remedy = "link with the compiler wrapper of MPI: OMPI_CC=accc mpicc"
            else:
                remedy = did_you_mean(name, known, 0.8) or remedy
        place = uses.get(name, UNKNOWN_LOC)
        out.append(Diagnostic(Severity.ERROR, place, f"undefined reference to '{name}'", remedy))
    return out


def _hidden(name: str, units: Sequence[TranslationUnit]) -> str | None:
    """The remedy if a file has an internal definition of that name; None if none has."""
    from .c.ast import Storage

    for unit in units:
        for function in unit.functions:
            if function.name == name and function.body is not None:
                if function.is_inline:
                    return f"{unit.file} defines it as 'inline', for itself: write 'extern inline' there"
                return f"{unit.file} defines it as 'static': remove that word there"
        for variable in unit.variables:
            if variable.name == name and variable.storage is Storage.STATIC_GLOBAL:
                return f"{unit.file} defines it as 'static': remove that word there"
    return None


def _mangled(name: str, objects: Sequence[ForeignObject]) -> str | None:
    """The remedy if an object defines a C++ function of that name (Itanium C++ ABI, 5.1); None if none
    does."""
    mangled = f"_Z{len(name)}{name}"
    found = next((o for o in objects for n in o.defined if n.startswith(mangled)), None)
    return found and f'{found.name} defines it as a C++ function: declare it there as extern "C"'


def _order(loc: SourceLoc) -> tuple[str, int, int]:
    return loc.file, loc.line, loc.column


def names_of(unit: TranslationUnit) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a file defines for others, and those that it uses from them."""
    from .c.ast import Storage
    from .directives.records import BindClause

    functions = (f for f in unit.functions if (f.body or f.alias) and not f.is_static)
    variables = (v for v in unit.variables if v.is_defined and v.storage is Storage.GLOBAL)
    defined = frozenset(d.symbol or d.name for each in (functions, variables) for d in each)
    bound = (d.find("bind", BindClause) for f in unit.functions for d in f.directives)
    used = {name for name, _ in _uses([unit])} | {bind.target for bind in bound if bind}
    own = {f.name for f in unit.functions if f.is_static}
    return defined, frozenset(used) - defined - own


def _uses(units: Sequence[TranslationUnit]) -> Iterator[tuple[str, SourceLoc]]:
    """Functions and external variables that the program's functions and variables use, with the places of
    the uses."""
    from .c import ast as c
    from .c.tree import Node, walk

    roots: list[Node] = []
    for unit in units:
        roots += [expr for v in unit.variables if v.init is not None for _, expr in v.init.items]
        roots += [f.body for f in unit.functions if f.body is not None]
    for root in roots:
        for node in walk(root):
            if isinstance(node, c.FunctionRef) or (
                isinstance(node, c.VarRef) and node.decl.storage is c.Storage.GLOBAL
            ):
                yield node.decl.symbol or node.decl.name, node.loc
