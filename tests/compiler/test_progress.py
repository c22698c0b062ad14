"""Long compilations say what they are at; short ones are silent."""

from __future__ import annotations

from accopt.compiler.base.phases import at_work, phase
from accopt.compiler.base.progress import FIRST, Progress, telling_progress


def test_notes_come_later_and_later() -> None:
    told: list[str] = []
    times = [1.0, FIRST - 1, FIRST + 1, FIRST + 2, 2 * FIRST, 9 * FIRST, 10 * FIRST, 16 * FIRST]
    clock = iter(times)
    progress = Progress(lambda: next(clock), told.append)
    for _ in times[:3]:
        progress.look()
    assert told == ["note: still compiling after 31 s: at the end"]
    with phase("check"), phase("parse"):
        assert at_work() == ["check", "parse"]
        for _ in times[3:]:
            progress.look()
    assert told[1:] == [
        f"note: still compiling after {seconds:.0f} s: check > parse"
        for seconds in (2 * FIRST, 9 * FIRST, 16 * FIRST)
    ]
    assert at_work() == []


def test_short_compilations_are_silent(capfd) -> None:  # type: ignore[no-untyped-def]
    with telling_progress(), phase("check"):
        pass
    assert capfd.readouterr() == ("", "")
