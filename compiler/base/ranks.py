"""
The rank of this process in a program of many processes (MPI), as launchers tell it in the environment, before
the program itself has asked for it.
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
"""For each launcher, the variables of a process's rank in the program and on its machine."""


@dataclass(frozen=True)
class Rank:
    """`number`: in the program; `local`: on this machine, if `variable` says it."""

    number: int
    local: int | None
    variable: str

    def device(self, count: int) -> int:
        """The device of this process where a machine has `count` of them: they take turns."""
        return (self.local or 0) % count


def rank_of(environment: Mapping[str, str]) -> Rank | None:
    """The rank that an environment tells of; None if no launcher of many processes made it."""
    for number, local in _VARIABLES:
        text, on_machine = environment.get(number, ""), environment.get(local, "")
        if text.isdigit():
            known = int(on_machine) if on_machine.isdigit() else None
            return Rank(int(text), known, local)
    return None


def own_rank() -> Rank | None:
    """The rank of this process; None outside of programs of many processes."""
    return rank_of(os.environ)


def of_rank(message: str) -> str:
    """A message for standard error, which the processes of a program share: the rank comes before it."""
    rank = own_rank()
    return message if rank is None else f"rank {rank.number}: {message}"
