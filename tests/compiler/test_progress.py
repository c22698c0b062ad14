"""Long compilations say what they are at; short ones are silent."""

from __future__ import annotations

from accopt.compiler.base.phases import LOADING, at_work, phase, working_on
from accopt.compiler.base.progress import FIRST, Progress, telling_progress


def test_notes_come_later_and_later() -> None:
    told: list[str] = []
    times = [1.0, FIRST - 1, FIRST + 1, FIRST + 2, 2 * FIRST, 9 * FIRST, 10 * FIRST, 16 * FIRST]
    clock = iter(times)
    progress = Progress(lambda: next(clock), told.append)
    for _ in times[:3]:
        progress.look()
    assert told == ["note: still compiling after 31 s: between two phases"]
    with phase("check"), phase("parse"):
        assert at_work() == ["check", "parse"]
        for _ in times[3:]:
            progress.look()
    assert told[1:] == [
        f"note: still compiling after {seconds:.0f} s: check > parse"
        for seconds in (2 * FIRST, 9 * FIRST, 16 * FIRST)
    ]
    assert at_work() == []


def test_notes_name_files_and_say_what_loading_is() -> None:
    told: list[str] = []
    clock = iter([FIRST, 2 * FIRST, 4 * FIRST])
    progress = Progress(lambda: next(clock), told.append)
    with working_on(["a.c", "b.c", "c.c", "d.c", "e.c"]), phase("check"):
        progress.look()
        with working_on(["b.c"]), phase(LOADING):
            progress.look()
    progress.look()
    assert told == [
        "note: still compiling after 30 s: check (a.c, b.c, c.c and 2 more)",
        "note: still compiling after 60 s: check > loading the compiler's modules (b.c)",
        "note: still compiling after 120 s: between two phases",
    ]


def test_short_compilations_are_silent(capfd) -> None:  # type: ignore[no-untyped-def]
    with telling_progress(), phase("check"):
        pass
    assert capfd.readouterr() == ("", "")
