"""Arrays through which threads of a gang exchange values are not promised to be a thread's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accopt.compiler.drivers.accopt_main import main

PROGRAM = """
void two_loops(int m, int (*restrict a)[64], const int *restrict c, int *restrict o)
{
#pragma acc parallel loop gang copy(a[0:m]) copyin(c[0:m]) copyout(o[0:m])
    for (int i = 0; i < m; i++) {
        o[i] = c[i];
#pragma acc loop vector
        for (int j = 0; j < 32; j++)
            a[i][j] = a[i][63 - j] * 2;
#pragma acc loop vector
        for (int j = 32; j < 64; j++)
            a[i][j] = a[i][63 - j] + c[i];
    }
}

void alone(int n, int *restrict a)
{
#pragma acc parallel loop copy(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = a[i] * 2;
}
"""


def test_noalias_ends_where_barriers_order_accesses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    assert main([str(source), "--target=nvptx", "--emit=device-llvm"]) == 0
    first, second = (
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("define ptx_kernel")
    )
    kept = re.findall(r"noalias[^,]*%(\w+)\.", first)
    assert "two_loops" in first and sorted(kept) == ["c", "o"], first
    assert "alone" in second and "noalias" in second
