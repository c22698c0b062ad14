"""
The rank of this process in an MPI program, read from the variables that launchers set, so that it is known
before the program calls MPI_Init.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"),  # Open MPI
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK"),  # MVAPICH
    ("PMI_RANK", "MPI_LOCALRANKID"),  # MPICH and Intel MPI (Hydra)
    ("PALS_RANKID", "PALS_LOCAL_RANKID"),  # Cray PALS
    ("FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID"),  # Flux
    ("SLURM_PROCID", "SLURM_LOCALID"),  # srun
    ("PMIX_RANK", "PMIX_LOCAL_RANK"),
)
"""For each launcher, the variables with a process's rank in the program and on its machine."""


@dataclass(frozen=True)
class Rank:
    """The rank of a process: `number` in the program, `local` on this machine, if the launcher sets
    `variable`."""

    number: int
    local: int | None
    variable: str

    def device(self, count: int) -> int:
        """The device of this process on a machine with `count` devices: ranks are dealt out in turn."""
        return (self.local or 0) % count


def rank_of(environment: Mapping[str, str]) -> Rank | None:
    """The rank in an environment; None if no launcher of MPI programs made it."""
    for number, local in _VARIABLES:
        text, on_machine = environment.get(number, ""), environment.get(local, "")
        if text.isdigit():
            known = int(on_machine) if on_machine.isdigit() else None
            return Rank(int(text), known, local)
    return None


def own_rank() -> Rank | None:
    """The rank of this process; None outside of MPI programs."""
    return rank_of(os.environ)


def of_rank(message: str) -> str:
    """A message for standard error, which the processes of a program share, with the rank put before it."""
    rank = own_rank()
    return message if rank is None else f"rank {rank.number}: {message}"
