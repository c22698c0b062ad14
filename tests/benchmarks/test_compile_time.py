"""The benchmark of compile time: its programs have the size asked for and compile, its tables add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.compile_time.generated import FAMILIES, MAIN
from benchmarks.compile_time.measure import Program, compile_once
from benchmarks.compile_time.report import phase_table, summary


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_programs_have_their_size(family: str):
    for size in (1000, 10_000):
        assert FAMILIES[family](size).count("\n") == pytest.approx(size, rel=0.06)


def test_all_families_compile(tmp_path: Path):
    path = tmp_path / "all.c"
    # One small piece of each, under names of their own, of long bodies every fortieth statement.
    texts = {name: FAMILIES[name](20) for name in FAMILIES}
    texts["long_functions"] = "".join(
        line
        for number, line in enumerate(texts["long_functions"].splitlines(keepends=True))
        if not line.startswith("  b[i] =") or number % 40 == 0
    )
    parts = [re.sub(r"\bf(\d*)\(", rf"{name}_\1(", text) for name, text in texts.items()]
    path.write_text("\n".join(parts) + MAIN)
    result = compile_once(Program("all", [path]), "nvptx")
    assert not result.error
    inside = {name: seconds for name, seconds, *_ in result.phases[5]}
    assert {"(loading)", "preprocess", "check", "generate IR", "PTX"} <= inside.keys()
    assert result.phases[1] == pytest.approx(sum(inside.values()) + result.phases[2], abs=0.01)
    peaks = {name: rest[-1] for name, *rest in result.phases[5]}
    assert 10 < peaks["preprocess"] < peaks["PTX"] <= result.peak
    assert "classify-scalars" in phase_table(result)
    assert summary([result]).splitlines()[-1].startswith("| all | nvptx | ")


def test_memory_is_that_of_the_compilation(tmp_path: Path):
    ours = bytearray(700 << 20)  # all zero pages; written so that the system provides them
    ours[::4096] = b"x" * (len(ours) // 4096)
    path = tmp_path / "empty.c"
    path.write_text("int main(void) { return 0; }\n")
    assert 10 < compile_once(Program("empty", [path]), "host").peak < 500


def test_what_does_not_compile_says_why(tmp_path: Path):
    path = tmp_path / "bad.c"
    path.write_text("int main(void) { return x; }\n")
    result = compile_once(Program("bad", [path]), "host")
    assert "'x'" in result.error and "refused" in summary([result])
