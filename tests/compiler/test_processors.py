"""How many CPU threads a program gets: the environment, affinity, control groups, ranks of MPI programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from accopt.compiler.base import processors
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.base.processors import processor_time, ranks_here, usable_processors
from accopt.compiler.drivers import run_program
from accopt.compiler.drivers.run_program import thread_count


def machine(root: Path, groups: str, **files: str) -> Path:
    """A folder with `proc` and `sys` of such control groups; `__` in names of files stands for a slash."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_max", ".max")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("groups", "files", "time"),
    [
        ("0::/\n", {"cpu_max": "250000 100000\n"}, 2.5),
        ("0::/\n", {"cpu_max": "max 100000\n"}, None),
        ("0::/a/b\n", {"a__b__cpu_max": "max 100000", "a__cpu_max": "300000 100000"}, 3),
        ("0::/a/b\n", {"a__b__cpu_max": "50000 100000", "a__cpu_max": "300000 100000"}, 0.5),
        # a container that sees its own group at the top
        ("0::/docker/0123\n", {"cpu_max": "400000 100000"}, 4),
        ("0::/\n", {"cpu_max": "words"}, None),
        ("0::/\n", {}, None),
        ("nothing of use", {}, None),
    ],
)
def test_groups_of_the_second_version(
    tmp_path: Path, groups: str, files: dict[str, str], time: float | None
) -> None:
    assert processor_time(machine(tmp_path, groups, **files)) == (time or float("inf"))


def test_groups_of_the_first_version(tmp_path: Path) -> None:
    root = machine(tmp_path, "4:memory:/x\n3:cpu,cpuacct:/jobs/7\n0::/\n")
    group = root / "sys/fs/cgroup/cpu,cpuacct/jobs"
    (group / "7").mkdir(parents=True)
    (group / "7/cpu.cfs_quota_us").write_text("-1")
    (group / "7/cpu.cfs_period_us").write_text("100000")
    assert processor_time(root) == float("inf")
    (group / "cpu.cfs_quota_us").write_text("600000")
    (group / "cpu.cfs_period_us").write_text("100000")
    assert processor_time(root) == 6


def test_a_system_without_groups(tmp_path: Path) -> None:
    assert processor_time(tmp_path) == float("inf")


@pytest.mark.parametrize(
    ("environment", "ranks"),
    [
        ({}, 1),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 4),
        ({"MPI_LOCALNRANKS": "8", "SLURM_NTASKS_PER_NODE": "3"}, 8),
        ({"SLURM_NTASKS_PER_NODE": "2(x3)"}, 1),
        ({"PALS_LOCAL_SIZE": "0"}, 1),
    ],
)
def test_ranks_on_the_machine(environment: dict[str, str], ranks: int) -> None:
    assert ranks_here(environment) == ranks


@pytest.mark.parametrize(
    ("mine", "time", "ranks", "expected"),
    [
        (32, None, None, 32),
        (5, None, None, 5),
        (32, 2.5, None, 3),
        (2, 7.0, None, 2),
        (32, 0.2, None, 1),
        (32, None, "4", 8),
        (16, None, "4", 8),  # two ranks on each of two sockets
        (4, None, "4", 4),
        (1, None, "64", 1),
        (32, None, "64", 1),
    ],
)
def test_the_least_of_all(
    monkeypatch: pytest.MonkeyPatch, mine: int, time: float | None, ranks: str | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(mine)))
    monkeypatch.setattr(os, "cpu_count", lambda: 32)
    monkeypatch.setattr(processors, "processor_time", lambda: time or float("inf"))
    for name in list(os.environ):
        if "LOCAL" in name or "SLURM" in name:
            monkeypatch.delenv(name)
    if ranks is not None:
        monkeypatch.setenv("MPI_LOCALNRANKS", ranks)
    assert usable_processors() == expected


@pytest.mark.parametrize(
    ("cores", "threads", "expected"),
    [
        (None, "16", 8),
        ("9", None, 8),
        (None, None, 0),
        ("3", None, 3),
        ("3", "5", 3),
        (None, "5,2", 5),
        (None, "many", 0),
        ("", "7", 7),
    ],
)
def test_the_environment_has_a_wish(
    monkeypatch: pytest.MonkeyPatch, cores: str | None, threads: str | None, expected: int
) -> None:
    monkeypatch.setattr(run_program, "usable_processors", lambda: 8)
    for name, text in (("ACC_NUM_CORES", cores), ("OMP_NUM_THREADS", threads)):
        if text is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, text)
    assert thread_count() == expected


@pytest.mark.parametrize("text", ["0", "-2", "two"])
def test_wrong_numbers_are_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("ACC_NUM_CORES", text)
    with pytest.raises(CompileError, match=f"ACC_NUM_CORES is '{text}'"):
        thread_count()
