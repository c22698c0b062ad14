"""Random loops over rows print what gcc's program prints, in each version for short rows."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from tools import commands

from .conftest import Rotation
from .rows import make_rows
from .test_nest_fuzz import compare

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

VERSIONS = "--pass-option=keep-short-rows{threads=1}"
"""Versions for many rows run for few rows, too."""


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: compare(make_rows(seed, 3), target, folder, VERSIONS))


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(100, 104))
def test_on_a_gpu(seed: int, tmp_path: Path) -> None:
    compare(make_rows(seed, 16), "nvptx", tmp_path, VERSIONS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1020))
@pytest.mark.parametrize("target", ["host", "sim"])
def test_many(seed: int, target: str, tmp_path: Path) -> None:
    compare(make_rows(seed, 8), target, tmp_path, VERSIONS)


LAUNCHES = """
static float a[2 * 8192], r[2];
static void beside(int n, int m) {
#pragma acc parallel loop copy(a, r)
  for (int i = 0; i < n; i++) { r[i] = 0; for (int j = 0; j < m; j++) a[i * m + j] = 3; }
}
static void sum(int n, int m) {
#pragma acc parallel loop copy(a, r)
  for (int i = 0; i < n; i++) {
    float s = 0;
#pragma acc loop reduction(+:s)
    for (int j = 0; j < m; j++) s += a[i * m + j];
    r[i] = s;
  }
}
static void tight(int n, int m) {
#pragma acc parallel loop copy(a)
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] += 1;
}
static void each(void (*nest)(int, int), const int *lengths) {
  for (int k = 0; lengths[k]; k++) nest(2, lengths[k]);
}
int main(void) {
  each(beside, (int[]){3, 4, 15, 16, 1023, 1024, 8192, 0});
  each(sum, (int[]){3, 31, 32, 1023, 1024, 8191, 8192, 0});
  each(tight, (int[]){3, 127, 128, 8192, 0});
  return 0;
}
"""
VERSIONS_BY_LENGTH = {"beside": "0112233", "sum": "0011223", "tight": "0011"}
"""For each nest, the number of the version that runs for each of the lengths."""


def test_each_length_runs_its_version(tmp_path: Path) -> None:
    source = tmp_path / "launches.c"
    source.write_text(LAUNCHES)
    command = ["accrun", "--target=sim", VERSIONS]
    environment = {**os.environ, "NV_ACC_NOTIFY": "1", "XDG_CACHE_HOME": str(tmp_path)}
    done = commands.run([*command, source], check=True, env=environment)
    launched = re.findall(r"launch (\w+)_kernel .*function=(\w+)", done.stderr + done.stdout)
    for nest, wanted in VERSIONS_BY_LENGTH.items():
        kernels = [kernel for kernel, function in launched if function == nest]
        order = list(dict.fromkeys(kernels))
        assert "".join(str(order.index(kernel)) for kernel in kernels) == wanted, nest
