"""
Stencils with 16-byte accesses: every size, offset and type gives gcc's output (serially) on the simulated
GPU, which also checks every access, and on the host with the pass forced on.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tools import commands

PROGRAMS = Path(__file__).parent / "programs"
SOURCE = str(PROGRAMS / "stencils.c")
EXPECTED = (PROGRAMS / "stencils.out").read_text()


def _run(command: str, *arguments: str, source: str = SOURCE) -> subprocess.CompletedProcess[str]:
    return commands.run([command, *arguments, source], timeout=120)


@pytest.mark.parametrize(
    "option",
    [
        "threads=0",
        "threads=0 workers=3 lanes=64 row_lanes=32",
        "threads=40 most_words=30",
        "most_words=0",
    ],
)
@pytest.mark.sampled(2)
def test_on_the_simulator(option: str) -> None:
    done = _run("accrun", "--target", "sim", "--pass-option", f"widen-rows{{{option}}}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED


def test_on_the_host() -> None:
    option = "widen-rows{target=nvptx threads=0}"
    done = _run("accrun", "--target", "host", "--pass-option", option)
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED


def test_rows_are_accessed_sixteen_bytes_at_a_time() -> None:
    done = _run("accopt", "--emit", "ptx")
    assert done.returncode == 0, done.stderr
    kernels = {part.split("(")[0]: part for part in done.stdout.split(".visible .entry ")[1:]}
    wide = next(kernels[name] for name in kernels if re.fullmatch(r"five_\d+_kernel", name))
    other = next(kernels[name] for name in kernels if re.fullmatch(r"five_\d+_2_kernel", name))
    # Rows of a full tile, and of rows that come one by one.
    assert len(re.findall(r"ld\.global(\.nc)?\.v4\.b32", wide)) >= 6
    assert len(re.findall(r"st\.global\.v4\.b32", wide)) >= 4
    assert ".v4" not in other
    assert "bar.sync" not in wide and ".reqntid 128, 1, 1" in wide


def test_arrays_that_end_within_16_bytes_and_are_partly_written(tmp_path: Path) -> None:
    """What a group reads beside its columns is no fault of the program's; what is beyond is."""
    source = tmp_path / "odd.c"
    source.write_text("""
#include <stdio.h>
#include <stdlib.h>
static void step(int n, int m, const float *restrict a, float *restrict b) {
#pragma acc parallel loop collapse(2) present(a, b)
  for (int i = 1; i < n - 1; i++)
    for (int j = 2; j < m - 2; j++)
      b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1] + a[(i + 1) * m + j];
}
int main(void) {
  int n = 9, m = 64, size = n * m - 2;
  float *restrict a = malloc(size * sizeof *a), *restrict b = malloc(size * sizeof *b);
#pragma acc data create(a[0:size]) copyout(b[0:size])
  {
#pragma acc parallel loop collapse(2) present(a)
    for (int i = 0; i < n; i++)
      for (int j = 1; j < m - 1; j++)
        if (i * m + j < size) a[i * m + j] = i + j % 7;
#pragma acc parallel loop present(b)
    for (int i = 0; i < size; i++) b[i] = 0;
    step(n, m, a, b);
  }
  double sum = 0;
  for (int i = 0; i < size; i++) sum += b[i] * (i % 5);
  printf("%g\\n", sum);
}
""")
    wide = ["--pass-option", "widen-rows{threads=0}"]
    on_host = _run("accrun", "--target=host", source=str(source))
    found = _run("accrun", "--target=sim", *wide, source=str(source))
    assert (found.stderr, found.stdout) == ("", on_host.stdout)
    source.write_text(source.read_text().replace("size = n * m - 2", "size = n * m - 18"))
    beyond = _run("accrun", "--target=sim", *wide, source=str(source))
    assert beyond.returncode == 1 and "out-of-bounds access" in beyond.stderr
