"""The last-level caches that the system describes, and what is assumed where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from accopt.runtime.native.caches import UNKNOWN, Caches, last_level_caches, stencils_stream


def _describe(system: Path, processor: int, levels: Sequence[tuple[int, str, str]]) -> None:
    for index, (level, size, shared) in enumerate(levels):
        folder = system / f"cpu{processor}" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", level), ("size", size), ("shared_cpu_list", shared)):
            (folder / name).write_text(f"{text}\n")


def _levels(last: str, shared: str) -> list[tuple[int, str, str]]:
    return [(1, "32K", "0"), (1, "32K", "0"), (3, last, shared), (2, "1024K", "0")]


def test_caches_of_the_processors_in_use_are_counted_once(tmp_path: Path) -> None:
    for processor in range(8):
        _describe(tmp_path, processor, _levels("32768K", "0-3" if processor < 4 else "4-7"))
    assert last_level_caches(tmp_path, range(8)) == Caches(2, 32 << 20)
    assert last_level_caches(tmp_path, [1, 2]) == Caches(1, 32 << 20)


def test_the_smaller_of_different_caches_counts(tmp_path: Path) -> None:
    _describe(tmp_path, 0, _levels("96M", "0"))
    _describe(tmp_path, 1, [(1, "32K", "1"), (2, "512K", "1")])
    assert last_level_caches(tmp_path, [0, 1]) == Caches(2, 512 << 10)


@pytest.mark.parametrize("size", ["", "0K", "large"])
def test_what_the_system_does_not_tell_is_unlimited(tmp_path: Path, size: str) -> None:
    _describe(tmp_path, 0, _levels(size, "0"))
    assert last_level_caches(tmp_path, [0]) == UNKNOWN
    assert last_level_caches(tmp_path, [1]) == UNKNOWN
    assert last_level_caches(tmp_path, []) == UNKNOWN


def test_stencils_stream_where_it_pays(tmp_path: Path) -> None:
    description = tmp_path / "cpuinfo"
    assert stencils_stream(description)
    description.write_text("processor : 0\nvendor_id : GenuineIntel\n")
    assert stencils_stream(description)
    description.write_text("processor : 0\nvendor_id : AuthenticAMD\n")
    assert not stencils_stream(description)
