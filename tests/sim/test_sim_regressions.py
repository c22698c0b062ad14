"""Programs that showed faults of the compiler in the simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.base.options import TargetName
from sim_programs import call, from_text

NESTED_REDUCTIONS = """void f(int *x, int *y, int *out)
{
  int s = 0, p = 1;
#pragma acc kernels loop copyin(x[0:1320])
  for (int i = 0; i < 40; i++) {
#pragma acc loop reduction(+:s)
    for (int j = 0; j < 33; j++) s += x[i*33+j];
  }
#pragma acc kernels loop gang vector reduction(*:p) copyin(x[0:1320])
  for (int i = 0; i < 40; i++) {
#pragma acc loop reduction(*:p)
    for (int j = 0; j < 33; j++) p *= 2 * x[i*33+j] + 1;
  }
#pragma acc kernels loop copyin(x[0:1320]) copyout(y[0:40])
  for (int i = 0; i < 40; i++) {
    int r = 0;
#pragma acc loop reduction(+:r)
    for (int j = 0; j < 33; j++) r += x[i*33+j];
    y[i] = r;
  }
  out[0] = s;
  out[1] = p;
}
"""


def test_reductions_of_inner_loops_in_kernels(tmp_path: Path) -> None:
    """`kernels` took the copy of an inner reduction for a variable of its own."""
    program = from_text(tmp_path, NESTED_REDUCTIONS)
    x = (np.arange(1320, dtype=np.int32) * 7) % 5
    y, out = np.zeros(40, np.int32), np.zeros(2, np.int32)
    call(program, "f", x, y, out)
    assert program.simulator.findings == []
    assert y.tolist() == x.reshape(40, 33).sum(axis=1).tolist()
    with np.errstate(over="ignore"):
        product = np.multiply.reduce(2 * x + 1, dtype=np.int32)
    assert out.tolist() == [x.sum(), product]


GANG_VARIABLE = """void f(int n, int *x, int *s)
{
#pragma acc parallel copyin(x[0:n]) copy(s[0:5])
  for (int t = 0; t < 5; t++) {
    int r = 0;
#pragma acc loop reduction(+:r)
    for (int i = 0; i < n; i++) r += x[i] > t;
    s[t] = r;
  }
}
"""


@pytest.mark.parametrize("target", ["sim", "host"])
def test_reduction_of_a_variable_of_the_gang(target: TargetName, tmp_path: Path) -> None:
    """The loop was shared by all gangs, and each read only its own part of the sum."""
    program = from_text(tmp_path, GANG_VARIABLE, target=target)
    x = np.arange(20000, dtype=np.int32) % 7
    out = np.zeros(5, np.int32)
    call(program, "f", len(x), x, out)
    assert out.tolist() == [int((x > t).sum()) for t in range(5)]
    if target == "sim":
        assert program.simulator.findings == []
