"""The spellings of matrix products in the bench: right results in the simulator, which looks for races."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from accopt.compiler.api import compile_files
from accopt.compiler.base.options import CompileOptions, TargetName

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.forms import wrong_run
from benchmarks.products import kernel_of, spellings, write_spellings


def _wrong(names: list[str], target: TargetName, folder: Path) -> dict[str, str]:
    path = write_spellings(names, folder)
    program = compile_files([path], CompileOptions(target=target))
    try:
        results = {name: wrong_run(program, kernel_of(name, "float", 0)) for name in names}
    finally:
        program.close()
    return {name: wrong for name, wrong in results.items() if wrong is not None}


@pytest.mark.sampled(3)
def test_spellings_in_the_simulator(tmp_path: Path) -> None:
    assert _wrong(["old_c", "from_one", "in_memory", "rows_tt"], "sim", tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("name", spellings())
def test_all_spellings(name: str, target: TargetName, tmp_path: Path) -> None:
    assert _wrong([name], target, tmp_path) == {}
