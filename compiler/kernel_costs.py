"""The costs of a compiled program's kernels on a GPU, if ptxas is installed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from ..passes.decisions.occupancy import Occupancy, occupancy
from .backend.ptxas import KernelResources, assemble
from .compiled import Executable


@dataclass(frozen=True)
class KernelCost:
    """The resources of one kernel per thread and block, and the number of its blocks that are resident."""

    name: str
    threads: int
    resources: KernelResources
    occupancy: Occupancy


_ENTRY = re.compile(r"\.entry (\w+)\(")

_THREADS = re.compile(r"\.(?:reqntid|maxntid) (\d+)(?:, (\d+))?(?:, (\d+))?")

_LARGEST_BLOCK = 1024


def block_sizes(ptx: str) -> dict[str, int]:
    """Threads per block of each kernel in a PTX module; the maximum where the launch decides."""
    parts = _ENTRY.split(ptx)[1:]
    sizes: dict[str, int] = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        found = _THREADS.search(text)
        sizes[name] = _LARGEST_BLOCK
        if found:
            x, y, z = (int(n or 1) for n in found.groups())
            sizes[name] = x * y * z
    return sizes


def kernel_costs(ptx: str, sm: int) -> dict[str, KernelCost]:
    """The cost of every kernel in a PTX module on compute capability `sm`; empty without ptxas."""
    assembled = assemble(ptx, sm) if ptx else None
    if assembled is None:
        return {}
    sizes = block_sizes(ptx)
    return {
        name: KernelCost(
            name,
            sizes[name],
            needs,
            occupancy(sm, threads=sizes[name], registers=needs.registers, shared=needs.shared),
        )
        for name, needs in assembled.kernels.items()
    }


def costs_by_place(executable: Executable) -> dict[str, tuple[KernelCost, ...]]:
    """The costs of the kernels of a program for a GPU, by `file.c:7`; empty without ptxas."""
    costs = kernel_costs(executable.ptx, executable.options.sm)
    places: dict[str, tuple[KernelCost, ...]] = {}
    for site in executable.sites:
        kernel = costs.get(str(site.get("kernel")))
        if kernel is not None:
            place = f"{PurePath(str(site['file'])).name}:{site['line']}"
            places[place] = (*places.get(place, ()), kernel)
    return places
