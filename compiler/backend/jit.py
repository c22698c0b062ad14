# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (llvmlite has no complete types)
"""
Host code in memory: LLVM IR → object code (kept in the disk cache) → a library linked by LLVM's
ORC JIT, whose functions are called through ctypes.

We use ORC rather than MCJIT, because symbols that the runtime defines then belong to one program instead of
the process, and object code can be linked without LLVM IR.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from ..base.deep_stack import with_deep_stack
from ..base.diagnostics import UNKNOWN_LOC, CompileError, error
from ..base.host_mathematics import FAST_PREFIX, PREFIX
from ..base.host_mathematics import LIBRARY as VECTOR_LIBRARY
from ..base.memory import require_room
from ..base.options import OptLevel
from ..base.similar import did_you_mean
from .cache import DiskCache, content_key, source_digest
from .foreign_objects import CONSTRUCTORS, DESTRUCTORS, ForeignObject
from .heap import with_own_heap
from .host_code import initialize
from .host_objects import compile_object, kept_object, object_key
from .host_parts import WORTH_IT, names_between_parts, parted
from .host_pieces import split
from .host_processes import compile_ahead
from .library_files import load_library
from .library_symbols import library_symbols
from .module_parts import is_joined, linked, parts
from .symbols import declared_names, exported_names

_LIBRARY_NAME = "program"
_ATEXIT = "__accopt_atexit"
LINKED_IN = {"pthread_atfork": "__register_atfork", "at_quick_exit": "__cxa_at_quick_exit"}
"""Functions that glibc provides only to static linkers → the function that implements each; its last
parameter is not used here."""


@dataclass(frozen=True)
class HostCode:
    """The object code of a program's host module: objects, and the symbols of functions in them."""

    objects: tuple[bytes, ...]
    symbols: Mapping[str, str]
    """Name of a function that is a piece of its own (`host_pieces.py`) → its symbol."""


@with_deep_stack
def compile_host(
    ir: str, opt_level: OptLevel, cache: DiskCache | None, *, whole: bool = False
) -> HostCode:
    """
    The object code of a program's host modules for `HostProgram`, made by several processes if there is much
    to compile. With `whole` it is one object, in which functions have their own names, for calls from other
    compilers' objects. The list of a large module's objects is cached, so that the module is not split again
    when the program starts. Raises `CompileError` if LLVM rejects the text.
    """
    if whole:
        return HostCode((compile_object(_whole(ir), opt_level=opt_level, cache=cache),), {})
    try:
        return _compile_split(_split(ir, opt_level, cache), opt_level, cache)
    except LookupError:  # an entry has been removed
        return _compile_split(_split(ir, opt_level, None), opt_level, cache)
    except CompileError:  # LLVM accepts the whole module, or reports what is wrong with it
        return compile_host(ir, opt_level, cache, whole=True)


@dataclass(frozen=True)
class _Split:
    """
    A module of host code as several: the cache's `keys` of their object code, and their `texts`, which are
    missing where the code is known to be in the cache; the symbols of functions that have another name in
    them (`host_pieces.py`); and the internal names that became names of the program (`host_parts.py`).
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...] | None
    symbols: Mapping[str, str]
    shown: frozenset[str]


def _split(ir: str, opt_level: OptLevel, cache: DiskCache | None) -> list[_Split]:
    """The modules of a program, each split; `cache` has the lists of large ones, and gets them."""
    found: list[_Split] = []
    shown: set[str] = set()
    several = is_joined(ir)
    for module in parts(ir):
        one = _split_or_find(module, opt_level, cache, several=several)
        if not shown.isdisjoint(one.shown):  # passes gave several modules the same internal name
            one = _split_module(module, opt_level, several=True, in_parts=False)
        shown |= one.shown
        found.append(one)
    return found


def _split_or_find(
    module: str, opt_level: OptLevel, cache: DiskCache | None, *, several: bool
) -> _Split:
    if cache is None or len(module) < WORTH_IT:
        return _split_module(module, opt_level, several=several)
    made: list[_Split] = []

    def make() -> bytes:
        made.append(one := _split_module(module, opt_level, several=several))
        return json.dumps([one.keys, dict(one.symbols), sorted(one.shown)]).encode()

    data = cache.get_or_make(_key_of_pieces(module, opt_level, several=several), make)
    if made:
        return made[0]
    keys, symbols, shown = json.loads(data)
    return _Split(tuple(keys), None, symbols, frozenset(shown))


def _split_module(
    module: str, opt_level: OptLevel, *, several: bool, in_parts: bool = True
) -> _Split:
    """The pieces of a module, which may be one of `several`, and the rest `in_parts` if it is large."""
    found = split(_as_program(module), kernels_only=several)
    rest = parted(found.rest) if in_parts else [found.rest]
    texts = (*rest, *dict.fromkeys(piece.text for piece in found.pieces))
    return _Split(
        tuple(object_key(text, opt_level) for text in texts),
        texts,
        {piece.name: piece.symbol for piece in found.pieces},
        frozenset(names_between_parts(rest)),
    )


def _key_of_pieces(module: str, opt_level: OptLevel, *, several: bool) -> str:
    """The cache key of the list of a large module's objects."""
    maker = source_digest("host_parts.py", "host_pieces.py", "module_text.py")
    kind = "pieces, one of several" if several else "pieces"
    return content_key(kind, maker, object_key(module, opt_level))


def _compile_split(
    modules: Sequence[_Split], opt_level: OptLevel, cache: DiskCache | None
) -> HostCode:
    """The object code of a program's modules. Raises `LookupError` if it is not in the cache as expected."""
    texts = {
        key: text
        for module in modules
        for key, text in zip(module.keys, module.texts or (None,) * len(module.keys), strict=True)
    }
    missing = [text for key, text in texts.items() if text and cache and not cache.has(key)]
    if cache is not None and len(missing) > 1:
        compile_ahead(missing, cache, opt_level)
    objects = tuple(kept_object(key, text, opt_level, cache) for key, text in texts.items())
    return HostCode(objects, {n: symbol for each in modules for n, symbol in each.symbols.items()})


def _whole(ir: str) -> str:
    """A program's host code as one module. Raises `CompileError` if LLVM rejects the text."""
    return linked([_as_program(part) for part in parts(ir)])


def has_host(ir: str, opt_level: OptLevel, cache: DiskCache) -> bool:
    """Whether `cache` has the result of `compile_host`."""
    return all(
        cache.has(_key_of_pieces(module, opt_level, several=is_joined(ir)))
        if len(module) >= WORTH_IT
        else all(map(cache.has, _split_module(module, opt_level, several=is_joined(ir)).keys))
        for module in parts(ir)
    )


def compile_program(ir: str, opt_level: OptLevel) -> bytes:
    """The object code of a program as one object, without a cache."""
    return compile_object(_whole(ir), opt_level=opt_level)


def _as_program(ir: str) -> str:
    """The text of a program, changed to run in a Python process."""
    return with_own_heap(re.sub(r"@atexit\b", f"@{_ATEXIT}", ir))


def without_main(names: Collection[str]) -> CompileError:
    """The error for a program without `main` that defines these names."""
    remedy = did_you_mean("main", names, 0.7) or "define int main(void)"
    return error(UNKNOWN_LOC, "the program has no function 'main'", remedy)


def _load_c_library() -> None:
    """
    Makes the symbols of libc and libm visible to programs. The Python process has the libraries loaded, but
    its symbols are not always visible (static interpreters).
    """
    for name in ("libc.so.6", "libm.so.6"):
        try:
            llvm.load_library_permanently(name)
        except RuntimeError as exc:
            raise error(UNKNOWN_LOC, f"cannot load {name}: {exc}") from exc
    # Not every C library has vector functions; libgcc has the division of 128-bit integers.
    for name in (VECTOR_LIBRARY, "libgcc_s.so.1"):
        with suppress(RuntimeError):
            llvm.load_library_permanently(name)


def _loaded(file: str) -> ctypes.CDLL:
    """A library that symbols of the process may be in from now on. Raises `RuntimeError` if it cannot be."""
    llvm.load_library_permanently(file)
    return ctypes.CDLL(file)


def _link_error(exc: RuntimeError, ir: str, symbols: Mapping[str, int]) -> Exception:
    """The error for undefined symbols, which ORC does not name: they are those that no library in the
    process defines."""
    missing = [
        name
        for name in declared_names(ir)
        if not name.startswith((PREFIX, FAST_PREFIX))
        and name not in symbols
        and not llvm.address_of_symbol(name)
    ]
    if not missing:
        return error(UNKNOWN_LOC, f"cannot link the program: {exc}")
    names = ", ".join(f"'{name}'" for name in missing)
    return error(
        UNKNOWN_LOC,
        f"undefined reference to {names}",
        "define it in one of the source files, or name its library with -l",
    )


def _linked_in(defined: Collection[str], ir: str) -> dict[str, int]:
    """The addresses of `LINKED_IN` that a program uses and does not define."""
    found: dict[str, int] = {}
    for name, target in LINKED_IN.items():
        if name not in defined and f"@{name}" in ir:
            found[name] = ctypes.cast(ctypes.CDLL(None)[target], ctypes.c_void_p).value or 0
    return found


class HostProgram:
    """
    A host module in memory, ready to be called. Must live as long as its code is used.

    `symbols` (name → address) precede those of libraries, and the program's own precede both; the caller
    must keep their callbacks alive. `libraries` are names as after `-l`, or paths, and precede all other
    symbols of the process; `library_folders` as after `-L`; `objects` is an object file of other compilers'
    code (`foreign_objects.merged`). Raises `CompileError` for undefined symbols and libraries that cannot be
    loaded.
    """

    def __init__(
        self,
        llvm_ir: str,
        *,
        symbols: Mapping[str, int] | None = None,
        libraries: Sequence[str] = (),
        library_folders: Sequence[str] = (),
        opt_level: OptLevel = 3,
        cache: DiskCache | None = None,
        objects: bytes = b"",
    ):
        initialize()
        _load_c_library()
        loaded = [load_library(name, library_folders, _loaded, RuntimeError) for name in libraries]
        self.code = compile_host(llvm_ir, opt_level, cache, whole=bool(objects))
        self.names = frozenset(
            _ATEXIT if name == "atexit" else name for name in exported_names(llvm_ir)
        )
        builder = llvm.JITLibraryBuilder().add_current_process()
        for code in self.code.objects:
            builder.add_object_img(code)
        undefined: Collection[str] = declared_names(llvm_ir) if libraries else ()
        if objects:
            builder.add_object_img(objects)
            foreign = ForeignObject("objects", objects)
            self.names |= foreign.exported
            undefined = foreign.undefined.union(undefined)
        given = {_ATEXIT: self._atexit_address(), **_linked_in(self.names, llvm_ir)}
        symbols = {**library_symbols(loaded, undefined), **given, **(symbols or {})}
        for name, address in symbols.items():
            if name not in self.names:
                builder.import_symbol(name, address)
        for name in self.names:
            builder.export_symbol(self.code.symbols.get(name, name))
        require_room()
        self._jit = llvm.create_lljit_compiler(None, use_jit_link=True, suppress_errors=True)
        try:
            self._library = builder.link(self._jit, _LIBRARY_NAME)
        except RuntimeError as exc:
            raise _link_error(exc, llvm_ir, symbols) from exc
        if objects:
            self._construct()

    def _construct(self) -> None:
        """
        Runs the constructors of other compilers' objects, with the arguments that glibc passes, and
        registers their destructors for the end of the process; the program then stays in memory until that.
        """
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        for address in self._array(CONSTRUCTORS):
            prototype(address)(0, None, None)
        for address in self._array(DESTRUCTORS):
            self._register(address)

    def at_exit(self, name: str) -> None:
        """Registers the function `name` for the end of the process; the program then stays in memory until
        that."""
        self._register(self.address(name))

    def _register(self, handler: int) -> int:
        """As `at_exit`, by address; returns C's status."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        register = ctypes.CDLL(None)["__cxa_atexit"]  # mangled as an attribute
        return register(ctypes.c_void_p(handler), None, None)

    def _array(self, names: tuple[str, str]) -> list[int]:
        """The function pointers between two symbols."""
        first, last = map(self.address, names)
        return list((ctypes.c_uint64 * ((last - first) // 8)).from_address(first))

    def _atexit_address(self) -> int:
        """
        `atexit` for the program: ORC has its own, whose handlers would never run here, and glibc's
        is for static linking only. Handlers run when the process ends, so a program that registers
        one stays in memory until then.
        """
        program = weakref.ref(self)

        def atexit(handler: int) -> int:
            found = program()
            assert found is not None  # its code is running
            return found._register(handler)

        self._atexit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(atexit)
        address = ctypes.cast(self._atexit, ctypes.c_void_p).value
        assert address is not None
        return address

    def address(self, name: str) -> int:
        """
        The address of the function or variable `name` of external linkage. Raises `KeyError` if
        there is none.
        """
        if name not in self.names:
            raise KeyError(name)
        return self._library[self.code.symbols.get(name, name)]

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function `name` as a ctypes callable with these ctypes types (`None` for void)."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))

    def check_main(self) -> None:
        """Raises `CompileError` if the program has no `main`."""
        if "main" not in self.names:
            raise without_main(self.names)

    def run_main(self, arguments: Sequence[str], main: Any = None) -> int:
        """
        Calls `main` with these arguments (the program's name first), flushes C's streams and
        returns the exit status; `main` is the callable to use. Raises `CompileError` if the program
        has no `main`.
        """
        self.check_main()
        count = len(arguments)
        argv = (ctypes.c_char_p * (count + 1))(*map(os.fsencode, arguments), None)
        if main is None:
            main = self.function("main", ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        status: int = main(count, ctypes.addressof(argv))
        ctypes.CDLL(None).fflush(None)
        return status & 0xFF
