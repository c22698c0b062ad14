"""A program that ends by calling `exit` gets its report, and findings turn success into failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static void last(void) { printf("handler\\n"); }
int main(int argc, char **argv)
{
    int a[8] = {0}, b[8];
    atexit(last);
#pragma acc parallel loop copyout(a)
    for (int i = 0; i < 8; i++)
        a[i] = i;
    if (argc > 2) {
#pragma acc parallel loop copy(a) create(b)
        for (int i = 0; i < 8; i++)
            a[i] = b[i];
    }
    printf("done\\n");
    END(atoi(argv[1]));
}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("end", ["exit", "return"])
@pytest.mark.parametrize(
    ("arguments", "status"), [(["0"], 0), (["3"], 3), (["0", "fault"], 1), (["3", "fault"], 3)]
)
def test_exit_status_and_report(tmp_path: Path, end: str, arguments: list[str], status: int):
    source = tmp_path / "prog.c"
    source.write_text(PROGRAM)
    command = ["accrun", "--target=sim", "--report"]
    done = commands.run([*command, f"-DEND={end}", str(source), "--", *arguments], timeout=120)
    assert done.returncode == status, done.stderr
    assert done.stdout == "done\nhandler\n"
    assert done.stderr.count("  sectors  ") == 1, "one report"
    assert ("uninitialised" in done.stderr) == ("fault" in arguments)
