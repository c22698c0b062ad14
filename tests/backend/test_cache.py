"""The cache on disk: entries of other users or keys, and what killed processes leave."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from accopt.compiler.backend.cache import DiskCache, content_key

KEY, OTHER = content_key("one"), content_key("other")


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    cache = DiskCache(tmp_path / "cache")
    cache.put(KEY, b"content")
    assert cache.get(KEY) == b"content"
    return cache


def test_an_entry_with_another_key_counts_as_absent(cache: DiskCache) -> None:
    (cache.folder / KEY).rename(cache.folder / OTHER)
    assert cache.get(OTHER) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_counts_as_absent(cache: DiskCache, mode: int) -> None:
    (cache.folder / KEY).chmod(mode)
    assert cache.get(KEY) is None
    assert cache.get_or_make(KEY, lambda: b"made") == cache.get(KEY) == b"made"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
@pytest.mark.parametrize("linked", [False, True])
def test_an_entry_of_another_user_counts_as_absent(cache: DiskCache, linked: bool) -> None:
    entry = cache.folder / KEY
    os.chown(entry, 65534, 65534)
    if linked:
        entry.rename(cache.folder / "elsewhere")
        entry.symlink_to("elsewhere")
    assert cache.get(KEY) is None


def test_an_entry_that_is_no_file_counts_as_absent(cache: DiskCache) -> None:
    os.mkfifo(cache.folder / OTHER)
    assert cache.get(OTHER) is None


def _killed_while_making(cache: DiskCache, key: str) -> None:
    """A process that is killed while it makes an entry."""
    ready, tell = os.pipe()
    child = os.fork()
    if not child:
        cache.get_or_make(key, lambda: (os.write(tell, b".") and time.sleep(60)) or b"")
        os._exit(0)
    assert os.read(ready, 1) == b"."
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(tell)


def test_a_killed_process_leaves_no_locks(cache: DiskCache) -> None:
    _killed_while_making(cache, OTHER)
    begin = time.monotonic()
    assert cache.get_or_make(OTHER, lambda: b"made") == b"made"
    assert time.monotonic() - begin < 10
    assert {path.name for path in cache.folder.iterdir()} == {KEY, OTHER}


def test_one_process_makes_an_entry(cache: DiskCache, tmp_path: Path) -> None:
    def make() -> bytes:
        with (tmp_path / "made").open("a") as file:
            file.write(".")
        time.sleep(0.3)
        return b"made"

    children: list[int] = []
    for _ in range(3):
        child = os.fork()
        if not child:
            os._exit(cache.get_or_make(OTHER, make) != b"made")
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "."


def test_unfinished_entries_of_killed_processes_are_removed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", limit_bytes=64)
    cache.put(KEY, b"content")
    left, fresh = cache.folder / ".new-left", cache.folder / ".new-fresh"
    for path in (left, fresh):
        path.touch()
    os.utime(left, (0, 0))
    cache.put(OTHER, b"content")
    assert not left.exists() and fresh.exists()
