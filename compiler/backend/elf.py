"""Reading ELF object files of 64-bit little-endian machines: sections, symbols, relocations (gabi 4.1)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..base.diagnostics import UNKNOWN_LOC, error

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_DYNSYM = 2, 4, 8, 11
SHF_EXECINSTR, SHF_TLS = 4, 0x400
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_FUNC = 2
SHN_UNDEF = 0
ET_REL = 1


@dataclass(frozen=True)
class ElfSection:
    """A section: its number, name, type and flags, its address, and the position of its contents in the
    file."""

    number: int
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int


@dataclass(frozen=True)
class Symbol:
    """A symbol: its value is an offset in the section with its section number."""

    name: str
    value: int
    size: int
    binding: int
    type: int
    section: int
    hidden: bool = False

    def is_function_at(self, offset: int) -> bool:
        """Whether it is a function that contains the instruction at `offset` of its section."""
        return self.type == STT_FUNC and self.value <= offset < self.value + self.size


@dataclass(frozen=True)
class Relocation:
    """A relocation: the place at `offset` in `section` gets a value that is computed, by the kind of
    relocation, from the symbol and the addend."""

    section: ElfSection
    offset: int
    kind: int
    symbol: Symbol
    addend: int


class ElfFile:
    """An object file or shared library. Raises `CompileError` for anything else; `name` is for messages."""

    def __init__(self, data: bytes, name: str):
        if data[:4] != b"\x7fELF" or len(data) < 64:
            raise error(
                UNKNOWN_LOC, f"'{name}' is not an object file", "name an object file or archive"
            )
        if data[4:6] != b"\x02\x01":
            raise error(
                UNKNOWN_LOC,
                f"'{name}' is an object file for another machine",
                "compile it again here",
            )
        self.data = data
        try:
            self._read()
        except (struct.error, IndexError, ValueError):
            raise error(UNKNOWN_LOC, f"'{name}' is damaged", "make it again") from None

    def _read(self) -> None:
        data = self.data
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
        text = raw[names] if raw else None
        self.sections = [
            ElfSection(
                i,
                self._text(text[4] + h[0]) if text else "",
                h[1],
                h[2],
                h[3],
                h[4],
                h[5],
                h[6],
                h[7],
            )
            for i, h in enumerate(raw)
        ]
        self.symbols = list(self._symbols(SHT_SYMTAB))

    def _text(self, start: int) -> str:
        """The text at a position of the file, which a zero byte ends."""
        return self.data[start : self.data.index(b"\0", start)].decode(errors="replace")

    def _symbols(self, kind: int) -> Iterator[Symbol]:
        for section in self.sections:
            if section.type != kind:
                continue
            names = self.sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, 24):
                name, info, other, index, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                yield Symbol(
                    self._text(names + name),
                    value,
                    size,
                    info >> 4,
                    info & 15,
                    index,
                    other & 3 != 0,
                )

    @property
    def dynamic_symbols(self) -> list[Symbol]:
        """The dynamic symbols of a library, exported and imported."""
        return list(self._symbols(SHT_DYNSYM))

    def contents(self, section: ElfSection) -> bytes:
        """The bytes of a section."""
        if section.type == SHT_NOBITS:
            return bytes(section.size)
        return self.data[section.offset : section.offset + section.size]

    def section(self, name: str) -> ElfSection | None:
        """The first section of that name."""
        return next((s for s in self.sections if s.name == name), None)

    @property
    def code(self) -> list[ElfSection]:
        """The sections of instructions."""
        return [s for s in self.sections if s.flags & SHF_EXECINSTR and s.size]

    def relocations(self) -> Iterator[Relocation]:
        """Every relocation of the file."""
        for section in self.sections:
            if section.type == SHT_RELA and section.info < len(self.sections):
                target = self.sections[section.info]
                for at in range(section.offset, section.offset + section.size, 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    symbol = self.symbols[info >> 32]
                    yield Relocation(target, offset, info & 0xFFFFFFFF, symbol, addend)
