"""Random shapes of nests give the same arrays with and without their directives, in the simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from shape_generator import COLUMNS, ROWS, program
from test_cache_shapes import call

OPTIONS = (
    "promote=always",
    "promote=always method=rbc",
    "promote=always stages=2",
    "promote=always renewal=communicating",
    "promote=always width=synchronisation rows=2 columns=2",
)


def compiled(source: Path, target: str, options: str, *defines: str) -> Executable:
    passes = (f"promote-cache-to-shared{{{options}}}",) if options else ()
    compile_options = CompileOptions(
        target=target,  # type: ignore[arg-type]
        defines=defines,
        pass_options=passes,
        verify=True,
    )
    return build([source], compile_options, DiagnosticSink())


def check(seed: int, folder: Path) -> None:
    text, rows = program(seed)
    source = folder / f"p{seed}.c"
    source.write_text(text)
    rng = np.random.default_rng(seed)
    shape = (ROWS, COLUMNS) if rows else (COLUMNS,)
    arrays = [rng.integers(-8, 9, shape).astype(np.int32) for _ in range(2)]
    between = rng.integers(0, 9, shape[0]).astype(np.int32)
    arguments = [shape[0], *arrays, between, np.zeros(1, np.int32)]
    expected = call(compiled(source, "host", "", "NO_CACHE"), "f", arguments)
    found = call(compiled(source, "sim", OPTIONS[seed % len(OPTIONS)]), "f", arguments)
    for want, have in zip(expected, found, strict=True):
        np.testing.assert_array_equal(have, want, err_msg=f"seed {seed}\n{text}")


@pytest.mark.parametrize("seed", range(20))
def test_same_output(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1500, 25))
def test_many(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 25):
        check(seed, tmp_path)
