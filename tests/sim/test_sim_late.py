"""Work done as late as waits allow: what is waited for is there, what is not is not, and order is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from accopt.runtime.in_process import InlineQueue
from accopt.runtime.sim.late import LateQueue
from tools import commands

PROGRAM = """
#include <stdio.h>
int main(void)
{
    int a[8] = {0}, b[8] = {0}, sum = 0, late;
#pragma acc parallel loop copy(a) async(1)
    for (int i = 0; i < 8; i++)
        a[i] = 1;
#pragma acc parallel loop copyin(a) copy(b) wait(1) async(2)
    for (int i = 0; i < 8; i++)
        b[i] = a[i] + 1;
    late = b[7];
#pragma acc wait(2)
    printf("%d %d %d\\n", late, a[7], b[7]);
#pragma acc parallel loop reduction(+:sum) copyin(b)
    for (int i = 0; i < 8; i++)
        sum += b[i];
    printf("%d\\n", sum);
#pragma acc parallel num_gangs(1)
    printf("device\\n");
    printf("host\\n");
}
"""


@pytest.mark.parametrize("environment", [False, True])
def test_a_missing_wait_shows(tmp_path: Path, environment: bool) -> None:
    source = tmp_path / "prog.c"
    source.write_text(PROGRAM)
    command = ["accrun", "--target=sim"]
    done = commands.run(
        [*command, *([] if environment else ["--late"]), str(source)],
        timeout=120,
        env={**os.environ, "ACCOPT_LATE": "1"} if environment else None,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["0 1 2", "16", "device", "host", ""]


def _noting(seen: list[str], what: str):
    return lambda: seen.append(what)


def test_work_waits_for_whom_it_comes_after() -> None:
    first, second, seen = LateQueue(), LateQueue(), list[str]()
    first.submit(_noting(seen, "a"))
    second.submit(_noting(seen, "b"))
    second.wait_for(first)
    second.submit(_noting(seen, "c"))
    first.submit(_noting(seen, "later"))
    assert seen == []
    second.wait()
    assert seen == ["b", "a", "c"]
    assert first.done() and seen[-1] == "later"


def test_queues_that_wait_for_each_other_in_turn_end() -> None:
    first, second, seen = LateQueue(), LateQueue(), list[str]()
    for turn in range(3):
        first.submit(_noting(seen, f"first {turn}"))
        second.wait_for(first)
        second.submit(_noting(seen, f"second {turn}"))
        first.wait_for(second)
    second.wait_for(second)
    first.wait()
    assert seen == [f"{queue} {turn}" for turn in range(3) for queue in ("first", "second")]
    second.wait_for(InlineQueue())
    second.wait()


def test_what_goes_wrong_is_raised_by_the_wait() -> None:
    queue, seen = LateQueue(), list[str]()

    def fail() -> None:
        raise ValueError("wrong")

    queue.submit(fail)
    queue.submit(_noting(seen, "rest"))
    with pytest.raises(ValueError, match="wrong"):
        queue.wait()
    queue.wait()
    assert seen == ["rest"]
