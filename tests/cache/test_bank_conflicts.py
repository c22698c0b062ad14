"""
The padding of tiles is chosen by analysis; the simulator counts the passes over the banks of shared
memory that the accesses really take. Types × layouts × XY and YX: with the padding chosen, as few as with
any; without padding, many more where lanes walk down columns of a power of two.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.passes.decisions.cache_banks import PADDINGS
from accopt.runtime.sim.counters import LineCount

SOURCE = Path(__file__).parent / "banks.c"
READS = {
    number
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
    if line.endswith("/* reads */")
}
TYPES = {"signed char": np.int8, "short": np.int16, "int": np.int32, "double": np.float64}
ARRAYS = {"product_xy": 3}
CHOSEN = -1


@cache
def compiled(type: str, options: str) -> Executable:
    return build(
        [SOURCE],
        CompileOptions(
            target="sim",
            defines=(f"TYPE={type}",),
            pass_options=(f"promote-cache-to-shared{{promote=always {options}}}",),
        ),
        DiagnosticSink(),
    )


@cache
def counted(function: str, type: str, options: str) -> LineCount:
    """What the simulator counts in the lines that read tiles."""
    program = Program(compiled(type, options), RunOptions(checks=False, counters=True))
    side = 34 if function.startswith("window") else 32
    arrays = [np.ones((side, side), TYPES[type]) for _ in range(ARRAYS.get(function, 2))]
    sizes = [] if function.startswith("window") else [ctypes.c_int(side)]
    program.function(function, None, None)(
        *sizes, *[ctypes.c_void_p(array.ctypes.data) for array in arrays]
    )
    counters = program.simulator.counters
    assert counters is not None
    total = LineCount(function, "", 0)
    for line in counters.lines():
        if line.line in READS:
            total.passes += line.passes
            total.ideal_passes += line.ideal_passes
    program.close()
    assert total.passes
    return total


def passes(function: str, type: str, options: str, padding: int) -> int:
    return counted(function, type, f"rows=1 columns=1 {options} padding={padding}").passes


@pytest.mark.parametrize(
    "options", ["", pytest.param("block_x=32 block_y=4", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "type",
    ["short", "double", *(pytest.param(t, marks=pytest.mark.slow) for t in ("signed char", "int"))],
)
@pytest.mark.parametrize("function", ["window_yx", "window_xy", "copy_xy", "flat_xy", "product_xy"])
def test_no_padding_takes_fewer_passes_than_the_chosen_one(
    function: str, type: str, options: str
) -> None:
    others = [passes(function, type, options, padding) for padding in PADDINGS]
    assert passes(function, type, options, CHOSEN) == min(others)


@pytest.mark.parametrize("type", TYPES)
def test_lanes_along_rows_need_no_padding(type: str) -> None:
    chosen = counted("window_yx", type, "rows=1 columns=1 padding=-1")
    assert chosen.passes == chosen.ideal_passes


@pytest.mark.parametrize(
    ("type", "ways"), [("signed char", 2.5), ("short", 4.5), ("int", 8.5), ("double", 11)]
)
def test_columns_without_padding_conflict(type: str, ways: float) -> None:
    """Half of the reads are free of conflicts: those of the other factor."""
    plain = counted("product_xy", type, "rows=1 columns=1 block_x=32 block_y=4 padding=0")
    chosen = counted("product_xy", type, "rows=1 columns=1 block_x=32 block_y=4 padding=-1")
    assert chosen.conflict_ways == 1
    assert plain.conflict_ways >= ways


def test_flat_arrays_are_as_two_dimensional_ones() -> None:
    """The paper's finding: the layout of the array makes no difference to its tile."""
    for padding in PADDINGS:
        assert passes("flat_xy", "int", "", padding) == passes("copy_xy", "int", "", padding)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [2, 4])
def test_lanes_that_compute_several_columns_far_apart(columns: int) -> None:
    """Scalar reads of lanes that are `columns` rows of the tile apart: the chosen padding is the best."""
    options = f"rows=1 columns={columns} block_x=32 block_y=4"
    found = [
        counted("product_xy", "int", f"{options} padding={padding}").passes
        for padding in (CHOSEN, *PADDINGS)
    ]
    assert found[0] == min(found[1:])
