"""The simulator ends a program that misuses the heap of its kernels: the line and the kind of fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.runtime.sim.findings import FaultKind
from tools import commands

PROGRAM = """#include <stdlib.h>
int main(void)
{
    int s = 0;
#pragma acc serial copy(s)
    {
        int *p = malloc(16);
        p[0] = 3;
        BODY
    }
    return s != 3;
}
"""

CASES = {
    "use after free": ("free(p); s = p[0];", FaultKind.OUT_OF_BOUNDS.value),
    "free of what was freed": ("s = p[0]; free(p); free(p);", "has been freed before"),
    "free of mapped data": ("free(&s);", "was not allocated by a kernel"),
    "access behind the block": ("s = p[4]; free(p);", "after the 16 bytes of malloc at line 7"),
    "right": ("s = p[0]; free(p); free(NULL);", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_the_heap_of_kernels(name: str, tmp_path: Path) -> None:
    body, expected = CASES[name]
    path = tmp_path / "heap.c"
    path.write_text(PROGRAM.replace("BODY", body))
    command = ["accrun", "--target=sim", str(path)]
    done = commands.run(command, timeout=100)
    assert (done.returncode == 0) == (not expected), done.stderr
    assert expected in done.stderr
    assert not expected or "heap.c:9: error" in done.stderr
