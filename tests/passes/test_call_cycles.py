"""Cycles of calls, against reachability computed the plain way, on random graphs."""

from __future__ import annotations

import random

from accopt.passes.convert_gpu_to_nvvm.warp_convergence import reaching_cycles
from accopt.passes.ir.ops.inlining import in_cycles


def _reached(start: str, calls: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    work = [start]
    while work:
        for name in calls[work.pop()]:
            if name not in found:
                found.add(name)
                work.append(name)
    return found


def test_functions_in_cycles_and_those_that_lead_there():
    rng = random.Random(1)
    cyclic = 0
    for _ in range(300):
        names = [f"f{i}" for i in range(rng.randint(1, 9))]
        calls = {name: [n for n in names if rng.random() < 0.18] for name in names}
        reached = {name: _reached(name, calls) for name in names}
        recursive = {name for name in names if name in reached[name]}
        cyclic += bool(recursive)
        assert in_cycles(calls) == recursive
        leading = {name for name in names if reached[name] & recursive}
        assert set(reaching_cycles({name: set(c) for name, c in calls.items()})) == leading
    assert 50 < cyclic < 290
