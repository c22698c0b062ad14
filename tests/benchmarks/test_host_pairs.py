"""Both compilers' functions on the same memory: what is called, and what is made of the times."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import host_kernels, host_pairs
from benchmarks.host_pairs import Pair, kernels_of_host_c, rounds, summary


def test_intervals() -> None:
    steady = [[(2.0, 1.0)] * 5] * 3
    found = summary("copy", 2, steady)
    assert (found.ratio, found.low, found.high) == (2.0, 2.0, 2.0)
    assert (found.gcc_us, found.acc_us) == (2.0, 1.0)
    differing = [[(1.0, 1.0)] * 5, [(3.0, 1.0)] * 5, [(2.0, 1.0)] * 5]
    found = summary("copy", 2, differing)
    assert found.low == 1.0 and found.ratio == 2.0 and found.high == 3.0, "processes are drawn"


def test_rounds_alternate() -> None:
    calls: list[str] = []
    pair = Pair("any", lambda: calls.append("gcc"), lambda: calls.append("acc"))
    found = rounds(pair, 0.0)
    assert len(found) == 4
    groups = [name for name, before in zip(calls, [None, *calls], strict=False) if name != before]
    # to warm up, to choose the number of calls, then rounds; neighbouring groups of a side look like one
    assert groups == ["gcc", "acc"] * 3 + ["gcc", "acc", "gcc"]


def test_the_library_of_host_c_has_all_pointers() -> None:
    text = host_pairs.exported(host_pairs.SOURCE.read_text())
    assert "if (set) x = p[0]; else p[0] = x;" in text
    assert "if (set) starts = p[" in text and "return 23;" in text
    assert "static void dot" not in text and "\nvoid dot(void)" in text
    assert kernels_of_host_c()[:2] == ["dot", "triad"] and "no_data" in kernels_of_host_c()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_process_prints_its_rounds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, size in {"sum_f32": 4096, "matadd": 64}.items():
        monkeypatch.setitem(host_kernels.SIZES, name, size)
    names = ["sum_f32", "matadd"]
    args = host_pairs.options().parse_args(["--one", "--budget", "0", *names])
    host_pairs.one_process(args, 2)
    found = dict(json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert found.keys() == set(names)
    assert all(len(of) == 4 and min(map(min, of)) > 0 for of in found.values())
    with pytest.raises(SystemExit, match=r"no kernels host\.typo, launches"):
        host_pairs.one_process(host_pairs.options().parse_args(["launches", "host.typo"]), 2)
