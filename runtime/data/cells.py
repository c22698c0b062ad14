"""
Cells: reduction results in pinned host memory instead of the device's.

A reduction's scalar is `copy` by the specification (OpenACC 3.4, 2.5.15), so that every launch
would allocate device memory, transfer a few bytes in, transfer them out, and free. A kernel reads
and writes such a scalar once, through one thread, so it may as well live in host memory that the
device can reach: entry stores the value, exit (after the queue was waited for) fetches it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ..device import CellPage
from .present import Entry

CELL = 16
"""Bytes of a cell; larger data goes to the device."""


@dataclass(slots=True)
class Cell:
    """One scalar's place: `size` bytes of the variable at `base`."""

    entry: Entry
    slot: int
    base: int
    size: int

    def serve(self, base: int, size: int) -> None:
        """Is the place of the variable at `base` from now on. Nobody may be using the cell."""
        self.base, self.size = base, size
        self.entry.host, self.entry.bytes = base, size

    def store(self) -> None:
        """The variable's value into the cell."""
        ctypes.memmove(self.slot, self.base, self.size)

    def fetch(self) -> None:
        """The cell's value into the variable."""
        ctypes.memmove(self.base, self.slot, self.size)

    @property
    def in_use(self) -> bool:
        """Whether another region, entered by another thread, has its value here."""
        return self.entry.structured > 0


class Cells:
    """The cells of one device, one for each scalar of each site."""

    def __init__(self, page: CellPage | None):
        self._page = page
        self._used = 0
        self._cells: dict[tuple[int, int], Cell] = {}

    def find(self, site: int, index: int, base: int, size: int) -> Cell | None:
        """
        The cell of record `index` of a site for the variable at `base`. None if it is taken, too
        large, or there is no room.
        """
        if self._page is None or size > CELL:
            return None
        cell = self._cells.get((site, index))
        if cell is None:
            if self._used + CELL > self._page.bytes:
                return None
            entry = Entry(0, 0, 0, pinned=True)
            cell = Cell(entry, self._page.host + self._used, base, size)
            entry.device = self._page.device + self._used
            self._used += CELL
            self._cells[site, index] = cell
        if cell.in_use:
            return None
        cell.serve(base, size)
        return cell

    def of(self, site: int) -> dict[int, Cell]:
        """The cells of a site so far, by the numbers of their records."""
        return {index: cell for (known, index), cell in self._cells.items() if known == site}

    def holding(self, site: int, index: int, device: int) -> Cell | None:
        """The cell of record `index` of a site, if its variable is in it now, at `device`."""
        cell = self._cells.get((site, index))
        return cell if cell is not None and cell.in_use and cell.entry.device == device else None
