"""
How many processors this process may use: those of its affinity mask (`taskset`, batch systems), limited by
the quota of its control groups (containers: `docker run --cpus`) and, for one of several processes of an
MPI program, by its share of the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from math import ceil
from pathlib import Path

_RANKS_HERE = (
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MV2_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "PALS_LOCAL_SIZE",
    "SLURM_NTASKS_PER_NODE",
)
"""Variables in which launchers say how many processes of a program are on this machine."""


def usable_processors() -> int:
    """The processors that threads of this process may keep busy, at least 1."""
    mine, all_ = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    return max(1, ceil(min(mine, processor_time(), all_ // ranks_here(os.environ))))


def ranks_here(environment: Mapping[str, str]) -> int:
    """The processes of this one's MPI program on this machine, as its launcher says; 1 if none does."""
    texts = (environment.get(name, "") for name in _RANKS_HERE)
    return next((int(text) for text in texts if text.isdigit() and int(text) > 0), 1)


def processor_time(root: Path = Path("/")) -> float:
    """
    The processor seconds that the control groups of this process (cgroups(7), of either version) allow in
    each second; infinite if none limits it. `root` is the folder that contains `proc` and `sys`.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return float("inf")
    return min((quota for line in groups for quota in _quotas(root, line)), default=float("inf"))


def _quotas(root: Path, line: str) -> Iterator[float]:
    """The limits of one hierarchy: of the group in a line `number:controllers:path`, and of the groups
    around it."""
    _, controllers, path = (*line.split(":", 2), "", "")[:3]
    if controllers and "cpu" not in controllers.split(","):
        return
    top = root / "sys/fs/cgroup" / controllers
    group = top / path.lstrip("/")
    for folder in (group, *group.parents):
        if (quota := _quota(folder)) is not None:
            yield quota
        if folder == top:
            return


def _quota(group: Path) -> float | None:
    """Processor time per period of one group; None if the group has no limit or does not tell it."""
    try:
        if (group / "cpu.max").exists():
            time, period = (group / "cpu.max").read_text().split()[:2]
        else:
            time = (group / "cpu.cfs_quota_us").read_text()
            period = (group / "cpu.cfs_period_us").read_text()
        return int(time) / int(period) if int(time) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
