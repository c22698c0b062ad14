"""Programs of many processes: whose device is whose, who says what, and who compiles."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest
from accopt.compiler.backend.cache import DiskCache, content_key
from accopt.compiler.base.ranks import Rank, of_rank, rank_of
from accopt.compiler.drivers.run_program import device_number


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, None),
        (
            {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "PMIX_RANK": "5"},
            (5, 1),
        ),
        ({"PMI_RANK": "7", "MPI_LOCALRANKID": "3"}, (7, 3)),
        ({"MV2_COMM_WORLD_RANK": "2", "MV2_COMM_WORLD_LOCAL_RANK": "2"}, (2, 2)),
        ({"SLURM_PROCID": "9", "SLURM_LOCALID": "0"}, (9, 0)),
        ({"PMIX_RANK": "4"}, (4, None)),
        ({"PMI_RANK": "one"}, None),
    ],
)
def test_what_launchers_say(
    environment: dict[str, str], rank: tuple[int, int | None] | None
) -> None:
    found = rank_of(environment)
    assert (None if found is None else (found.number, found.local)) == rank


def test_devices_take_turns() -> None:
    assert [Rank(n, n, "").device(4) for n in range(6)] == [0, 1, 2, 3, 0, 1]
    assert Rank(3, None, "").device(4) == 0


def test_the_device_of_a_rank_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "6")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3")
    monkeypatch.delenv("ACC_DEVICE_NUM", raising=False)
    assert device_number("host", 2) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        "remark: rank 6 begins with device 1 of 2 (OMPI_COMM_WORLD_LOCAL_RANK=3;"
    )
    assert device_number("host", None) == 0 and not capsys.readouterr().err
    monkeypatch.setenv("ACC_DEVICE_NUM", "0")
    assert device_number("host", 2) == 0 and not capsys.readouterr().err
    assert of_rank("error: x") == "rank 6: error: x"


def _ask(folder: str, made: str) -> None:
    def make() -> bytes:
        with Path(made).open("a") as log:
            log.write(f"{os.getpid()}\n")
        time.sleep(0.3)
        return b"code"

    assert DiskCache(Path(folder)).get_or_make(content_key("k"), make) == b"code"


def test_one_of_many_processes_makes_an_entry(tmp_path: Path) -> None:
    made = tmp_path / "made"
    context = multiprocessing.get_context("fork")
    arguments = (str(tmp_path / "cache"), str(made))
    processes = [context.Process(target=_ask, args=arguments) for _ in range(16)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(made.read_text().splitlines()) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [content_key("k")]


def test_who_fails_leaves_it_to_others(tmp_path: Path) -> None:
    store = DiskCache(tmp_path / "cache")

    def fail() -> bytes:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.get_or_make("k", fail)
    assert store.get_or_make("k", lambda: b"x") == b"x"


def test_without_a_folder_everybody_makes_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert DiskCache(tmp_path / "file").get_or_make("k", lambda: b"x") == b"x"
