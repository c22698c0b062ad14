"""
Nests of many shapes around `cache` directives give the same output with and without them, and the
remarks say what became of each: clauses on the loops, code between them, several nests and sections.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import Diagnostic, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.compiler.remarks import REMARKS_STAGE, remarks_of
from parts import part
from xdsl.dialects.builtin import ModuleOp

SHAPES = Path(__file__).parent / "shapes.c"
PASS = "promote-cache-to-shared"
Argument = int | np.ndarray


@cache
def program(
    target: str, options: str = "", defines: tuple[str, ...] = (), file: Path = SHAPES
) -> Executable:
    return build(
        [file],
        CompileOptions(
            target=target,  # type: ignore[arg-type]
            pass_options=(f"{PASS}{{{options}}}",) if options else (),
            defines=defines,
            opt_level=0 if "NO_CACHE" in defines else 3,
            verify=True,
        ),
        DiagnosticSink(),
    )


def call(executable: Executable, kernel: str, arguments: Sequence[Argument]) -> list[np.ndarray]:
    """The arrays after a call of `kernel` with copies of them."""
    on = Program(executable, RunOptions(checks=True))
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    values = [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)
        for a in copies
    ]
    on.function(kernel, None, None)(*values)
    if executable.options.target == "sim":
        assert not list(on.simulator.findings)
    on.close()
    return [a for a in copies if isinstance(a, np.ndarray)]


def array(*shape: int, type: type = np.int32) -> np.ndarray:
    rng = np.random.default_rng(len(shape) + shape[0])
    return rng.integers(-8, 9, shape).astype(type)


def f32(*shape: int) -> np.ndarray:
    return array(*shape, type=np.float32)


CASES: tuple[tuple[str, list[Argument], str], ...] = (
    ("product", [37, f32(37, 37), f32(37, 37), f32(37, 37)], "shared"),
    ("product_seq", [37, f32(37, 37), f32(37, 37), f32(37, 37)], "shared"),
    ("dot", [700, array(700), array(700), array(2)], "shared"),
    ("total", [45, array(45, 45), array(1)], "shared"),
    ("norms", [5, 300, array(5, 300), array(5)], "shared"),
    ("privates", [600, f32(600), f32(600)], "shared"),
    ("inner_privates", [600, f32(600), f32(600)], "shared"),
    ("two", [600, f32(600), f32(600), f32(600)], "shared"),
    ("unequal", [60, array(60, 60), array(60, 60), array(60)], "shared"),
    ("kernels_region", [600, f32(600), f32(600), f32(600)], "shared"),
    ("far_apart", [700, f32(700), f32(700)], "shared"),
    ("neighbours", [300, f32(300), f32(300)], "shared"),
    ("scopes", [200, f32(200), f32(200)], "shared"),
    ("written_twice", [200, f32(200)], "shared"),
    ("written_parts", [1000, array(1000), array(1000)], "shared"),
    ("written_apart", [300, 300, array(600)], "left"),
    ("behind_scopes", [300, array(300), array(300), array(300)], "shared"),
    ("before_scopes", [700, array(700), array(700)], "shared"),
    ("histogram", [700, array(700), array(19)], "shared"),
    ("row_sums", [7, 150, array(7, 150), array(7, 4)], "shared"),
    ("plane_sums", [45, array(45, 45), array(5)], "shared"),
    ("long_histogram", [300, array(300), array(500)], "left"),
    ("scaled", [20, 70, f32(20, 70), f32(20), f32(20, 70)], "shared"),
    ("between", [12, 150, f32(12, 150), f32(12), f32(12, 150)], "shared"),
    ("triangle", [90, f32(90), f32(90, 90)], "shared"),
    ("cube", [11, array(11, 11, 11), array(11, 11, 11)], "shared"),
    ("four", [5, array(5, 5, 34, 34), array(5, 5, 34, 34)], "shared"),
    ("gang_writes", [5, array(5, 64)], "shared"),
    ("gang_writes_around", [4, 50, array(200)], "shared"),
    ("routines", [4, array(4, 64), array(4, 64)], "shared"),
    ("seq_routine", [300, array(300), array(300)], "shared"),
    ("early_routine", [300, array(300), array(300)], "left"),
    ("narrow", [300, array(300), array(300).astype(np.uint8), array(300)], "shared"),
    ("large", [70, array(12770, type=np.float64), array(70, type=np.float64)], "shared"),
    ("nested_total", [90, array(90, 90), array(1)], "shared"),
    ("few_gangs", [900, array(900), array(900)], "shared"),
)


@cache
def remarks() -> dict[str, list[str]]:
    """What the remarks say of the directives in each function of the file."""
    found: list[Diagnostic] = []

    def read(stage: str, module: ModuleOp) -> None:
        if stage == REMARKS_STAGE:
            found.extend(remarks_of(module, "sim"))

    options = CompileOptions(target="sim", pass_options=(f"{PASS}{{promote=always}}",))
    build([SHAPES], options, DiagnosticSink(), read)
    starts = {
        number: re.sub(r".*[ *](\w+)\(.*", r"\1", line)
        for number, line in enumerate(SHAPES.read_text().splitlines(), 1)
        if re.match(r"(static )?(void|int) \w+\(", line)
    }
    by_function: dict[str, list[str]] = {}
    for each in found:
        if each.message.startswith("cache("):
            start = max(number for number in starts if number <= each.loc.line)
            by_function.setdefault(starts[start], []).append(each.message)
    return by_function


DIRECTIVES_OF = {"routines": "row", "seq_routine": "window", "early_routine": "early"}
"""Functions whose directives stand in a routine."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_remarks_say_what_became_of_each(case: tuple[str, list[Argument], str]) -> None:
    kernel, _, expected = case
    said = remarks()[DIRECTIVES_OF.get(kernel, kernel)]
    marks = {
        "shared": ("shared memory: ", "in the tile", "of a seq routine: "),
        "left": (" left to the hardware caches: ",),
    }
    assert said and all(any(m in text for m in marks[expected]) for text in said), said


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "options",
    [
        "promote=always",
        pytest.param("promote=always method=rbc rows=1", marks=pytest.mark.slow),
        "promote=always write=back",
        pytest.param("width=synchronisation", marks=pytest.mark.slow),
        pytest.param("", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_same_output(case: tuple[str, list[Argument], str], options: str, tmp_path: Path) -> None:
    kernel, arguments, _ = case
    cached = program("sim", options, file=part(SHAPES, [kernel], tmp_path))
    expected = call(program("host", "", ("NO_CACHE",)), kernel, arguments)
    for want, have in zip(expected, call(cached, kernel, arguments), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)
