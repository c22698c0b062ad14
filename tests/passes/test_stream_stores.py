"""Stores past the caches: which loops have them, and that they write what others do."""

from __future__ import annotations

from pathlib import Path

from accopt.passes.decisions.streams import MOST_STORES, streamed
from tools import commands

PROGRAM = Path(__file__).parent.parent / "conformance" / "host_only" / "streamed_stores.c"


def test_rows_of_arrays_that_nobody_reads_are_streamed() -> None:
    assert streamed([("b", 8, 8)], {"a"})
    assert streamed([("f", 4, 4)], ())
    assert not streamed([], {"a"})
    assert not streamed([("a", 8, 8)], {"a"}), "it is in the caches already"
    assert not streamed([("b", 16, 8)], ()), "half of each line"
    assert not streamed([("b", None, 8)], ())
    assert not streamed([("b", 2, 2)], ()), "copied in words of four bytes"
    assert not streamed([(i, 8, 8) for i in range(MOST_STORES + 1)], ())


def test_streams_write_what_other_stores_do() -> None:
    command = ["accrun", "--target=host"]
    option = ["--threads=2", "--pass-option", "stream-stores{bytes=0}"]
    done = commands.run([*command, *option, str(PROGRAM)], timeout=120)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr
