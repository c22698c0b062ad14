"""`benchmarks.outside`: pairs in folders, and what is said of those that are not whole or fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.passes.registry import all_passes

from benchmarks.outside import PLAIN, Result, options, prepare, read_pair, rows

NEST = """
void twice(int n, const float *restrict x, float *restrict y)
{
#pragma acc parallel loop async(1) present(x[0:n], y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
"""
CASE = """
import numpy as np
from benchmarks.specs import Case

SIZE, SMALL = 1 << 20, 1000


def make(n):
    x = np.arange(n, dtype=np.float32)
    return Case({"n": n, "x": x, "y": np.zeros_like(x)}, ("y",), lambda: {"y": 2.0 * x}, 8.0 * n)
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "nest.c").write_text(NEST)
    (folder / "case.py").write_text(CASE)
    return folder


def _one(folder: Path) -> Result:
    return prepare(folder, folder.parent, fast_math=False)


def test_a_pair_is_read(pair: Path) -> None:
    kernel = read_pair(pair).kernel
    assert (kernel.name, kernel.size, kernel.small) == ("twice", 1 << 20, 1000)
    assert kernel.make(8).reference()["y"].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_resources_need_no_gpu(pair: Path) -> None:
    result = _one(pair)
    assert result.problem is None
    assert set(result.registers) >= {"accopt", "plain"}


def test_a_faulty_pair_is_reported(pair: Path) -> None:
    (pair / "nest.c").write_text(NEST.replace("2 *", "2 **"))
    assert "error" in str(_one(pair).problem)
    (pair / "case.py").unlink()
    assert "case.py is missing" in str(_one(pair).problem)


def test_the_plain_plan_leaves_out_passes_that_are_there() -> None:
    assert set(PLAIN) <= set(all_passes())
    assert options("plain", fast_math=False).skipped_passes == PLAIN


def test_the_table() -> None:
    good = Result(
        "a", {"simple": 10.0, "accopt": 5.0, "plain": 20.0}, {"accopt": 32}, {"accopt": 8}
    )
    text = "\n".join(rows([good, Result("b", problem="simple: y is off")]))
    assert "a                            10.0        –     2.00     0.50  accopt 32, 8" in text
    assert "b                      left out: simple: y is off" in text
    assert "plain: geometric mean 0.500 of 1, least 0.50" in text
