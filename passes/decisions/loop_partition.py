"""
The threads that share the iterations of a scheduled loop, and those that run its body.

A `vector` loop that is not inside a worker loop is shared by all threads of the gang: the other
workers would be idle otherwise, and the order of its iterations is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .block_shape import BlockShape


class Mode(Enum):
    """The threads that execute a piece of code with the same values."""

    GANG = "gang"
    """All threads of the gang, redundantly."""
    WORKER = "worker"
    """All lanes of a worker, redundantly; each worker has its own values."""
    THREAD = "thread"
    """Every thread separately, with its own values."""


class Sharers(Enum):
    """The threads over which a loop's iterations are distributed within a gang."""

    NONE = "none"
    WORKERS = "workers"
    LANES = "lanes"
    THREADS = "threads"


@dataclass(frozen=True, slots=True)
class Partition:
    """
    How a loop is shared: `gang_dim` is 1 to 3 if gangs share it, else None; `inside` is the mode of its
    body.
    """

    gang_dim: int | None
    unit: Sharers
    inside: Mode

    @property
    def sequential(self) -> bool:
        return self.gang_dim is None and self.unit is Sharers.NONE


def _unit_in_gang(worker: bool, vector: bool, shape: BlockShape) -> tuple[Sharers, Mode]:
    if vector:
        return Sharers.THREADS, Mode.THREAD
    if worker and shape.workers != 1:
        return Sharers.WORKERS, Mode.THREAD if shape.lanes == 1 else Mode.WORKER
    return Sharers.NONE, Mode.GANG


def partition_loop(
    *, gang_dim: int | None, worker: bool, vector: bool, mode: Mode, shape: BlockShape
) -> Partition:
    """The partition of a loop with these levels in code that runs in `mode`."""
    if mode is Mode.GANG:
        unit, inside = _unit_in_gang(worker, vector, shape)
    elif mode is Mode.WORKER and vector:
        unit, inside = Sharers.LANES, Mode.THREAD
    else:
        unit, inside = Sharers.NONE, mode
    return Partition(gang_dim, unit, inside)
