"""
Explains a signal that C code raised: the kind of mistake, the kind of pointer, and the C line.

The line is found by compiling the program again with line tables: LLVM generates the same instructions with
and without them, which is checked. Programs compiled with `-g` also get a traceback of their functions.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Protocol

from ..runtime.native.fault import Fault
from .backend.elf import STT_FUNC, ElfFile, ElfSection, Symbol
from .backend.jit import HostProgram, compile_program
from .backend.library_symbols import loaded_place
from .backend.line_table import LineTable, Place, read_line_table
from .backend.module_parts import parts
from .base.diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    Diagnostic,
    DiagnosticSink,
    Severity,
    SourceLoc,
)
from .compiled import Executable
from .executable import build_sources

_NULL_BYTES = 1 << 16
_NEAR_STACK = 1 << 20
_SI_KERNEL = 128
_RETURNS = (b"\xc3", b"\xc2")
"""The first bytes of the instructions that return from a function (x86-64)."""
_SEGV_ACCERR = 2


@dataclass
class ProgramCode:
    """The host code of a loaded program: its addresses, and the C lines of its instructions."""

    executable: Executable
    host: HostProgram
    _lined: LinedCode | None = field(default=None)

    def place(self, address: int) -> tuple[str, SourceLoc] | None:
        """Function and C line of an instruction; None for one outside of the program."""
        found = self._find(address)
        if found is None:
            return None
        function, offset, instructions = found
        name = function.partition(".")[0]
        place = self._with_lines().place(function, offset, instructions)
        if place is None:
            return name, UNKNOWN_LOC
        file, line, column = place
        return name, SourceLoc(self._file(file), line, max(column, 1))

    def _find(self, address: int) -> tuple[str, int, bytes] | None:
        """The function that contains an address, the offset in it, and its instructions; None if there is
        none."""
        names = {symbol: name for name, symbol in self.host.code.symbols.items()}
        for code in self.host.code.objects:
            elf = ElfFile(code, "the program's code")
            for symbol in elf.symbols:
                name = names.get(symbol.name, symbol.name)
                if name in self.host.names and symbol.type == STT_FUNC:
                    section = elf.sections[symbol.section]
                    offset = address - (self.host.address(name) - symbol.value)
                    if 0 <= offset < section.size:
                        return _function_at(elf, section, offset, names)
        return None

    def _file(self, name: str) -> str:
        """The file's name as the program's sources give it; line tables omit the folder of some."""
        known = {d.file for d in self.executable.sources}
        ends = [file for file in known if PurePath(file).name == PurePath(name).name]
        return ends[0] if len(ends) == 1 else name

    def _with_lines(self) -> LinedCode:
        if self._lined is None:
            self._lined = LinedCode(())
            executable = self.executable
            if not executable.options.debug_info and executable.sources:
                options = replace(executable.options, debug_info=True)
                try:
                    executable = build_sources(executable.sources, options, DiagnosticSink())
                except CompileError:  # it compiled before: not an error, only no lines
                    return self._lined
            level = executable.options.opt_level
            self._lined = LinedCode(compile_program(m, level) for m in parts(executable.host_ir))
        return self._lined


class LinedCode:
    """Object files with line tables; their functions have unique names."""

    def __init__(self, codes: Iterable[bytes]) -> None:
        self._functions: dict[str, tuple[LineTable, int, Symbol, bytes]] = {}
        for code in codes:
            self._read(code)

    def _read(self, code: bytes) -> None:
        elf = ElfFile(code, "the program's code")
        lines = read_line_table(code)
        sections = {section.number: index for index, section in enumerate(elf.code)}
        for symbol in elf.symbols:
            if symbol.type == STT_FUNC and symbol.section in sections:
                instructions = _instructions(elf, symbol)
                place = lines, sections[symbol.section]
                self._functions[symbol.name] = *place, symbol, instructions

    def place(self, function: str, offset: int, instructions: bytes) -> Place | None:
        """The place of the instruction at `offset` of a function; None if the function's instructions
        differ from `instructions`."""
        found = self._functions.get(function)
        if found is None or found[3] != instructions:
            return None
        lines, section, symbol, _ = found
        return lines.at(section, symbol.value + offset)


def _function_at(
    elf: ElfFile, section: ElfSection, offset: int, names: Mapping[str, str]
) -> tuple[str, int, bytes]:
    """Name, offset in it, and instructions of the function at an offset of a section."""
    for symbol in elf.symbols:
        if symbol.section == section.number and symbol.is_function_at(offset):
            name = names.get(symbol.name, symbol.name)
            return name, offset - symbol.value, _instructions(elf, symbol)
    return "?", offset, b""


def _instructions(elf: ElfFile, symbol: Symbol) -> bytes:
    return elf.contents(elf.sections[symbol.section])[symbol.value : symbol.value + symbol.size]


class PlacedCode(Protocol):
    """Loaded code whose C lines are known."""

    def place(self, address: int) -> tuple[str, SourceLoc] | None:
        """Function and C line of an instruction; None for one outside of this code."""
        ...


def place_in(codes: Sequence[PlacedCode], address: int) -> tuple[str, SourceLoc] | None:
    """Function and C line of an instruction of one of these codes; None for one outside of them."""
    return next(filter(None, (code.place(address) for code in codes)), None)


def _bytes_here(address: int) -> bytes:
    return ctypes.string_at(address, 1)


def explain(
    fault: Fault,
    codes: Sequence[PlacedCode],
    device_pointer: Callable[[int], str | None],
    *,
    library_function: Callable[[int], str] | None = None,
    bytes_at: Callable[[int], bytes] = _bytes_here,
) -> Diagnostic:
    """
    The message for a fault of a program with these codes. `device_pointer` describes a device address, or
    returns None for other addresses. If the program is another process, `library_function` gives the
    library function at an address, and `bytes_at` the first bytes of an instruction.
    """
    library_function = library_function or _library_function
    frames: list[tuple[str, SourceLoc]] = []
    library = ""
    for n, address in enumerate(fault.places):
        # A return address is after the call.
        found = place_in(codes, address - (n > 0))
        if found is not None:
            frames.append(found)
        elif not frames and not library:
            library = _plain_name(library_function(address))
    message, remedy = _kind(fault, device_pointer, bytes_at)
    if library and fault.signal != signal.SIGABRT:
        message += f", in '{library}'" + (", which is called here" if frames else "")
    if not frames:
        return Diagnostic(Severity.ERROR, UNKNOWN_LOC, message, remedy)
    function, place = frames[0]
    if place is UNKNOWN_LOC:
        message += f", in function '{function}'"
    notes = [(loc, f"called from '{name}' here") for name, loc in frames[1:] if loc.line]
    return Diagnostic(Severity.ERROR, place, message, remedy, tuple(notes))


def _kind(
    fault: Fault, device_pointer: Callable[[int], str | None], bytes_at: Callable[[int], bytes]
) -> tuple[str, str]:
    """The mistake and the remedy, as texts."""
    if fault.code <= 0 and fault.signal != signal.SIGABRT:
        name = signal.Signals(fault.signal).name
        return f"the signal {name} was sent to the program", "find the call of raise or kill"
    match fault.signal:
        case signal.SIGFPE:
            return (
                "integer division by zero, or of the smallest integer by -1",
                "test the divisor before",
            )
        case signal.SIGABRT:
            return "the program called 'abort'", "read its output before the call"
        case signal.SIGILL | signal.SIGTRAP:
            return (
                "the program reached '__builtin_trap', or code that is unreachable in a valid program",
                "check the condition before this line",
            )
        case signal.SIGBUS:
            return (
                f"access to {fault.address:#x}, which is past the end of a mapped file or not aligned",
                "check the pointer",
            )
        case _:
            return _pointer(fault, device_pointer, bytes_at)


def _pointer(
    fault: Fault, device_pointer: Callable[[int], str | None], bytes_at: Callable[[int], bytes]
) -> tuple[str, str]:
    verb = "write to" if fault.writes else "read from"
    called = fault.places[:1] == (fault.address,)
    verb = "call of" if called else verb
    if abs(fault.address - fault.stack) < _NEAR_STACK and fault.code != _SI_KERNEL:
        return (
            "stack overflow",
            "end the recursion earlier, or allocate large arrays with malloc",
        )
    if fault.code == _SI_KERNEL and fault.places and bytes_at(fault.places[0]) in _RETURNS:
        return (
            "the function's return address is not valid: its frame on the stack was overwritten",
            "check subscripts of its local arrays, and copies of strings to them",
        )
    if fault.code == _SI_KERNEL:
        return (
            "access to an address that no memory can have",
            "the pointer has no value, or is one of the simulated GPU (--target=sim), whose memory is not the"
            " host's",
        )
    if fault.address < _NULL_BYTES:
        beyond = f", {fault.address} bytes from it" if fault.address else ""
        return f"{verb} a null pointer{beyond}", "test the pointer, or give it a value"
    held = device_pointer(fault.address)
    if held is not None:
        return (
            f"{verb} a device pointer ({held}) in host code",
            "use it in compute constructs with deviceptr, or copy with acc_memcpy_from_device",
        )
    if fault.code == _SEGV_ACCERR:
        return (
            f"{verb} {fault.address:#x}, which is protected memory: a constant, or code",
            "copy a string literal to an array before it is changed",
        )
    if called:
        return (
            f"call of {fault.address:#x}, where there is no code",
            "check the function pointer, and writes past the end of local arrays",
        )
    return (
        f"{verb} {fault.address:#x}, where there is no memory",
        "check subscripts, and whether the pointer has a value and its memory was not freed",
    )


def _library_function(address: int) -> str:
    """The function of a library at an address; empty if there is none."""
    place = loaded_place(address)
    return (place.name or b"").decode() if place is not None else ""


def _plain_name(name: str) -> str:
    """The C name of a library function, without the suffix of a variant for a processor."""
    return name.lstrip("_").partition("_avx")[0].partition("_sse")[0].partition("_evex")[0]
