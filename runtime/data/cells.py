"""
Cells: places for reduction results in pinned host memory instead of device memory.

A reduction's scalar is `copy` by the specification (OpenACC 3.4, 2.5.15), so that every launch would
allocate device memory, transfer a few bytes in, transfer them out, and free. A kernel reads and writes such
a scalar once, in one thread, so it can be in host memory that the device can access: entry stores the
value, exit (after the queue was waited for) fetches it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ..device import CellPage
from .present import Entry

CELL = 16
"""Bytes of a cell; larger data gets device memory."""

LATE_CELLS = 64
"""Cells at the beginning of the page, behind a first one, that asynchronous constructs use
(`native/late_cells.py`)."""


@dataclass(slots=True)
class Cell:
    """The place of one scalar: `size` bytes, for the variable at `base`."""

    entry: Entry
    slot: int
    base: int
    size: int

    def serve(self, base: int, size: int) -> None:
        """Assigns the cell to the variable at `base`. The cell must not be in use."""
        self.base, self.size = base, size
        self.entry.host, self.entry.bytes = base, size

    def store(self) -> None:
        """Copies the variable's value into the cell."""
        ctypes.memmove(self.slot, self.base, self.size)

    def fetch(self) -> None:
        """Copies the cell's value into the variable."""
        ctypes.memmove(self.base, self.slot, self.size)

    @property
    def in_use(self) -> bool:
        """Whether a region that was entered, by any thread, has its value in the cell."""
        return self.entry.structured > 0


class Cells:
    """The cells of one device, one for each scalar of each site."""

    def __init__(self, page: CellPage | None):
        self.page = page
        late = (1 + LATE_CELLS) * CELL
        self.has_late = page is not None and page.bytes >= 2 * late
        """Whether the beginning of the page is for asynchronous constructs."""
        self._used = late if self.has_late else 0
        self._cells: dict[tuple[int, int], Cell] = {}

    def find(self, site: int, index: int, base: int, size: int) -> Cell | None:
        """
        The cell of record `index` of a site, assigned to the variable at `base`. None if the cell is in
        use, the variable is too large, or there is no cell left.
        """
        if self.page is None or size > CELL:
            return None
        cell = self._cells.get((site, index))
        if cell is None:
            if self._used + CELL > self.page.bytes:
                return None
            entry = Entry(0, 0, 0, pinned=True)
            cell = Cell(entry, self.page.host + self._used, base, size)
            entry.device = self.page.device + self._used
            self._used += CELL
            self._cells[site, index] = cell
        if cell.in_use:
            return None
        cell.serve(base, size)
        return cell

    def of(self, site: int) -> dict[int, Cell]:
        """The cells that a site has so far, by the numbers of their records."""
        return {index: cell for (known, index), cell in self._cells.items() if known == site}

    def holding(self, site: int, index: int, device: int) -> Cell | None:
        """The cell of record `index` of a site, if it is in use and its device address is `device`."""
        cell = self._cells.get((site, index))
        return cell if cell is not None and cell.in_use and cell.entry.device == device else None
