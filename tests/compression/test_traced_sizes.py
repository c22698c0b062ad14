"""Traces of compressed arrays: memory and transfers have the sizes of the packed numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tools import commands

SOURCE = """
int main(void) {
  static float a[4096];
  static double plain[64];
#pragma acc enter data ccopyin(a[0:4096:0:10]) copyin(plain)
#pragma acc exit data delete(a, plain)
  return 0;
}
"""


@pytest.mark.parametrize("target", ["host", "sim"])
def test_sizes_in_traces(target: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(SOURCE)
    environment = {**os.environ, "ACCOPT_TRACE": "all"}
    done = commands.run(["accrun", f"--target={target}", str(source)], env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "bytes=" in line]
    for name, size in (("a", 8192), ("plain", 512)):
        mine = [line for line in lines if f" {name} file=" in line]
        assert {line.split()[0] for line in mine} >= {"allocate", "copy"}
        assert all(f" bytes={size} " in line for line in mine), mine
