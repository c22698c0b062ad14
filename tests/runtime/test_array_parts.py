"""Arrays of which a part is on the device: what a construct accesses and is absent remains an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.commands import run

PROGRAM = """
#define N 32
static double a[N], b[N][N];
int main(void) {{
  int lo = 4, hi = 20;
#pragma acc enter data copyin(a[lo:hi - lo], b[lo:hi - lo])
#pragma acc {}
  for (int i = {}; i++) {} = 1;
  return 0;
}}
"""


@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize(
    ("directive", "loop", "element", "name", "size"),
    [
        ("parallel loop", "lo; i <= hi", "a[i]", "a", 136),
        ("kernels default(present)", "lo - 1; i < hi", "a[i]", "a", 136),
        ("serial loop present(a)", "0; i < N", "a[i]", "a", 256),
        ("parallel loop present(b)", "lo; i < hi", "b[i + 1][2]", "b", 4096),
        ("kernels loop", "lo; i < hi", "a[i * i % N]", "a", 256),
        ("parallel loop present(a[0:N])", "lo; i < hi", "a[i]", "a", 256),
        ("parallel loop copy(a)", "lo; i < hi", "a[i]", "a", 256),
    ],
)
def test_absent_elements(
    target: str, directive: str, loop: str, element: str, name: str, size: int, tmp_path: Path
):
    file = tmp_path / "part.c"
    file.write_text(PROGRAM.format(directive, loop, element))
    done = run(["accrun", f"--target={target}", file])
    assert done.returncode != 0
    assert f"part.c:7: error: in compute construct: '{name}' is only partly present" in done.stderr
    assert f"({size} bytes)" in done.stderr


def test_elements_that_are_all_absent(tmp_path: Path):
    file = tmp_path / "part.c"
    file.write_text(PROGRAM.format("parallel loop default(present)", "0; i < 3", "a[i]"))
    done = run(["accrun", "--target=host", file])
    assert done.returncode != 0 and "'a' is used in the construct, is not present" in done.stderr
    assert "(24 bytes)" in done.stderr
