"""
The costs of kernels by source line: instructions, divergence, memory transactions.

A warp's access to global memory moves whole sectors of 32 bytes; its access to shared memory takes as many
passes as different words are accessed in the busiest of the 32 banks (4 bytes wide). (CUDA C++ Programming
Guide, "Device Memory Accesses", "Shared Memory".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .memory import GLOBAL, SHARED
from .values import WARP, Array, Threads, Value, spread, starts_of_runs

if TYPE_CHECKING:
    from .access import Access

SECTOR = 32
BANKS = 32
BANK_BYTES = 4

SECTOR_COST = 4.0
PASS_COST = 1.0
"""The weights of a sector and of a pass relative to one instruction of a warp, for sorting the table."""


@dataclass(slots=True)
class LineCount:
    """
    Totals of one source line of one kernel.

    `instructions`: executed by threads; `warp_instructions`: executed by warps, so full warps make
    the quotient 32. `requests`: accesses to global memory by warps; `sectors` they moved;
    `ideal_sectors`: the number that the requested bytes would fill. `shared_requests`, and `passes` they
    took of which `ideal_passes` are unavoidable.
    """

    kernel: str
    file: str
    line: int
    instructions: int = 0
    warp_instructions: int = 0
    requests: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    shared_requests: int = 0
    passes: int = 0
    ideal_passes: int = 0

    @property
    def active_lanes(self) -> float:
        """Active lanes per warp and instruction, 0 to 1."""
        lanes = self.warp_instructions * WARP
        return self.instructions / lanes if lanes else 0.0

    @property
    def efficiency(self) -> float:
        """Ideal sectors over sectors moved, 0 to 1; 1 without global accesses."""
        return self.ideal_sectors / self.sectors if self.sectors else 1.0

    @property
    def conflict_ways(self) -> float:
        """Passes over unavoidable passes; 1 is free of bank conflicts."""
        return self.passes / self.ideal_passes if self.ideal_passes else 1.0

    @property
    def cost(self) -> float:
        """The weighted cost by which lines are sorted."""
        return self.warp_instructions + SECTOR_COST * self.sectors + PASS_COST * self.passes


_COUNTS = [
    field.name for field in fields(LineCount) if field.type == "int" and field.name != "line"
]


@dataclass(frozen=True, slots=True)
class Segment:
    """Operations that always run together: (file, line, operations) for each line."""

    lines: tuple[tuple[str, int, int], ...]


class Counters:
    """Collects counts of all launches."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, int], LineCount] = {}
        self.launches: dict[str, int] = {}
        self._kernel = ""

    def _line(self, file: str, line: int) -> LineCount:
        key = (self._kernel, file, line)
        found = self._lines.get(key)
        if found is None:
            found = self._lines[key] = LineCount(*key)
        return found

    def launch(self, kernel: str) -> None:
        """Attributes the following counts to a launch of this kernel."""
        self._kernel = kernel
        self.launches[kernel] = self.launches.get(kernel, 0) + 1

    def segment(self, segment: Segment, threads: Threads) -> None:
        """Counts the operations of a segment for the active threads."""
        warps = threads.warps
        for file, line, operations in segment.lines:
            count = self._line(file, line)
            count.instructions += operations * threads.n
            count.warp_instructions += operations * warps

    def access(self, threads: Threads, address: Value, access: Access, space: int) -> None:
        """Counts a load, store or update of the active threads."""
        if space not in (GLOBAL, SHARED):
            return
        place = access.place
        count = self._line(place.file, place.line)
        addresses = spread(threads.n, address)
        warps = threads.warps_of
        requests = threads.warps
        if space == GLOBAL:
            count.requests += requests
            moved, ideal = sectors_of(warps, addresses, access.size)
            count.sectors += moved
            count.ideal_sectors += ideal
        else:
            count.shared_requests += requests
            passes, ideal = passes_of(warps, addresses, access.size)
            count.passes += passes
            count.ideal_passes += ideal

    def lines(self) -> list[LineCount]:
        """All lines, the costliest first."""
        return sorted(self._lines.values(), key=lambda c: (-c.cost, c.kernel, c.file, c.line))

    def total(self, kernel: str | None = None) -> LineCount:
        """The sum over all lines of one kernel, or of all."""
        out = LineCount(kernel or "all kernels", "", 0)
        for line in self._lines.values():
            if kernel in (None, line.kernel):
                for name in _COUNTS:
                    setattr(out, name, getattr(out, name) + getattr(line, name))
        return out


def sectors_of(warps: Array, addresses: Array, size: int) -> tuple[int, int]:
    """
    The number of sectors that warps access, and the number that would hold the same bytes if they were
    contiguous (at most the first: lanes may access the same bytes). Accesses are aligned; `warps` is
    ascending.
    """
    keys = warps * (1 << 43) + (addresses // SECTOR & ((1 << 43) - 1))
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    first = np.concatenate(([True], keys[1:] != keys[:-1]))
    starts = starts_of_runs(warps)
    touched = np.add.reduceat(first.astype(np.int64), starts)
    lanes = np.diff(np.append(starts, len(warps)))
    ideal = np.minimum(touched, -(-lanes * size // SECTOR))
    return int(touched.sum()), int(ideal.sum())


def passes_of(warps: Array, addresses: Array, size: int) -> tuple[int, int]:
    """
    The passes of warps over the banks, and the least number for as many bytes. A word that several lanes
    access counts once.
    """
    words = addresses // BANK_BYTES
    if size > BANK_BYTES:
        parts = size // BANK_BYTES
        words = (words[:, None] + np.arange(parts)).reshape(-1)
        warps = np.repeat(warps, parts)
    keys = np.unique(warps * (1 << 43) + (words & ((1 << 43) - 1)))
    first = int(warps[0])
    rows = (keys >> 43) - first
    load = np.bincount(rows * BANKS + (keys & (BANKS - 1)))
    load = np.append(load, np.zeros(-len(load) % BANKS, load.dtype)).reshape(-1, BANKS)
    passes = load.max(axis=1)
    return int(passes.sum()), int((-(-load.sum(axis=1) // BANKS)).sum())


def table(lines: Sequence[LineCount], limit: int = 40) -> str:
    """The report: one row for each line, with its text."""
    header = (
        f"{'kernel':28} {'line':>5} {'instr':>12} {'lanes':>6} {'sectors':>11} {'ideal':>11}"
        f" {'eff':>5} {'passes':>10} {'ways':>5}  source"
    )
    rows = [header, "-" * len(header)]
    texts: dict[str, list[str]] = {}
    for c in lines[:limit]:
        rows.append(
            f"{c.kernel[:28]:28} {c.line:5} {c.instructions:12,} {c.active_lanes:6.0%}"
            f" {c.sectors:11,} {c.ideal_sectors:11,} {c.efficiency:5.0%} {c.passes:10,}"
            f" {c.conflict_ways:5.1f}  {_source(texts, c.file, c.line)}"
        )
    if len(lines) > limit:
        rows.append(f"… {len(lines) - limit} more lines")
    return "\n".join(rows)


def _source(texts: dict[str, list[str]], file: str, line: int) -> str:
    if file not in texts:
        path = Path(file)
        texts[file] = path.read_text(errors="replace").splitlines() if path.is_file() else []
    lines = texts[file]
    return lines[line - 1].strip() if 0 < line <= len(lines) else f"{file}:{line}"
