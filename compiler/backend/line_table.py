"""Reads the line table of an object file from LLVM: the C line of each instruction (DWARF 4, 6.2)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import PurePath

from .elf import ElfFile

_ARGUMENTS = {1: 0, 2: 1, 3: 1, 4: 1, 5: 1, 6: 0, 7: 0, 8: 0, 9: 1, 10: 0, 11: 0, 12: 1}


Place = tuple[str, int, int]
"""File, line and column."""


@dataclass
class LineTable:
    """A line table: the instructions from `starts[i]` on (index of a code section, offset) have the place
    `places[i]`."""

    starts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    places: list[Place | None] = field(default_factory=list["Place | None"])

    def at(self, section: int, offset: int) -> Place | None:
        """The place of the instruction at an offset; if it has no line, of the last one before it in the
        function that has."""
        index = bisect_right(self.starts, (section, offset)) - 1
        while index >= 0 and self.starts[index][0] == section:
            place = self.places[index]
            if place is None or place[1]:
                return place
            index -= 1
        return None


class _LineReader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self, size: int, *, signed: bool = False) -> int:
        value = int.from_bytes(self.data[self.at : self.at + size], "little", signed=signed)
        self.at += size
        return value

    def leb(self, *, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return found


Rows = list[tuple[tuple[int, int], "Place | None"]]


def read_line_table(code: bytes) -> LineTable:
    """
    The table of an object file; empty if it has none in DWARF version 4. For a linked file, addresses are
    offsets in section 0.
    """
    elf = ElfFile(code, "the program's code")
    section = elf.section(".debug_line")
    rows: Rows = []
    if section is not None:
        reader = _LineReader(elf.contents(section))
        numbers = {code.number: n for n, code in enumerate(elf.code)}
        starts = {
            r.offset: (numbers.get(r.symbol.section, -1), r.symbol.value + r.addend)
            for r in elf.relocations()
            if r.section.number == section.number
        }
        while reader.at + 10 < len(reader.data):
            if not _unit(reader, rows, starts):
                break
    rows.sort(key=lambda row: row[0])
    return LineTable([address for address, _ in rows], [place for _, place in rows])


def _unit(r: _LineReader, rows: Rows, starts: dict[int, tuple[int, int]]) -> bool:
    length = r.number(4)
    end = r.at + length
    if r.number(2) != 4:
        return False
    header = r.number(4)
    start = r.at + header
    minimum = r.number(1)
    r.at += 2
    base, line_range, opcodes = r.number(1, signed=True), r.number(1), r.number(1)
    r.at += opcodes - 1
    folders = [""]
    while folder := r.text():
        folders.append(folder)
    files = [""]
    while name := r.text():
        folder = r.leb()
        r.leb()
        r.leb()
        files.append(str(PurePath(folders[folder]) / name))
    r.at = start
    section, address, file, line, column = 0, 0, 1, 1, 0
    while r.at < end:
        code = r.number(1)
        if code >= opcodes:
            code -= opcodes
            address += minimum * (code // line_range)
            line += base + code % line_range
            rows.append(((section, address), (files[file], line, column)))
        elif code == 0:
            size = r.leb()
            after = r.at + size
            match r.number(1):
                case 1:
                    rows.append(((section, address), None))
                    address, file, line, column = 0, 1, 1, 0
                case 2:
                    section, address = starts.get(r.at) or (0, r.number(size - 1))
                case _:
                    pass
            r.at = after
        elif code == 1:
            rows.append(((section, address), (files[file], line, column)))
        elif code == 2:
            address += minimum * r.leb()
        elif code == 3:
            line += r.leb(signed=True)
        elif code == 4:
            file = r.leb()
        elif code == 5:
            column = r.leb()
        elif code == 8:
            address += minimum * ((255 - opcodes) // line_range)
        elif code == 9:
            address += r.number(2)
        else:
            for _ in range(_ARGUMENTS.get(code, 0)):
                r.leb()
    r.at = end
    return True
