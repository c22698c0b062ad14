"""
Programs with and without `cache` directives give the same output, on the host and on the simulator
(which also looks for races and for reads of what nobody wrote), for every method and option.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.runtime.sim.findings import FaultKind
from parts import part

KERNELS = Path(__file__).parent / "kernels.c"
PASS = "promote-cache-to-shared"


@cache
def program(
    target: str, options: str = "", defines: tuple[str, ...] = (), file: Path = KERNELS
) -> Executable:
    pass_options = (f"{PASS}{{{options}}}",) if options else ()
    return build(
        [file],
        CompileOptions(
            target=target,  # type: ignore[arg-type]
            pass_options=pass_options,
            defines=defines,
            opt_level=0 if "NO_CACHE" in defines else 3,
            verify=True,
        ),
        DiagnosticSink(),
    )


def numbers(rng: np.random.Generator, *shape: int, type: type = np.float32) -> np.ndarray:
    return rng.integers(-8, 9, shape).astype(type)


@dataclass(frozen=True)
class Case:
    """A call: the arguments for sizes, and positions of the arrays that are results."""

    kernel: str
    make: Callable[[np.random.Generator, tuple[int, ...]], list[object]]
    sizes: tuple[tuple[int, ...], ...]
    races: bool = False
    """Blocks read copies of elements that other blocks write, and nobody uses them."""


def _gemm(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    m, n, p = size
    return [m, n, p, numbers(rng, m, p), numbers(rng, p, n), np.zeros((m, n), np.float32)]


def _nbody(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    (n,) = size
    arrays = [rng.random(n, np.float32) for _ in range(3)]
    return [n, *arrays, np.zeros(n, np.float32)]


def _nbody_struct(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    (n,) = size
    return [n, rng.random((n, 4), np.float32), np.zeros(n, np.float32)]


def _line(type: type) -> Callable[[np.random.Generator, tuple[int, ...]], list[object]]:
    def make(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
        return [*size, numbers(rng, size[0], type=type), numbers(rng, size[0], type=type)]

    return make


def _grid(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    m, n = size
    return [m, n, numbers(rng, m, n), numbers(rng, m, n)]


def _hotspot(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    (m,) = size
    arrays = [numbers(rng, m, 70, type=np.float64) for _ in range(3)]
    return [m, *arrays]


def _convolution(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    m, n = size
    return [m, n, numbers(rng, m, n), numbers(rng, 49), numbers(rng, m, n)]


def _gather(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    (n,) = size
    near = np.arange(n) + rng.integers(-6, 7, n)
    at = np.where(rng.random(n) < 0.2, rng.integers(0, n, n), near % n).astype(np.int32)
    return [n, at, numbers(rng, n), np.zeros(n, np.float32)]


def _lu(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    n, k = size
    f = np.float64
    return [n, k, numbers(rng, n, n, type=f), numbers(rng, n, type=f), numbers(rng, n, type=f)]


def _rows(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    m, n = size
    return [m, n, numbers(rng, m, 64), numbers(rng, 64, n), np.zeros((m, n), np.float32)]


def _windows(rng: np.random.Generator, size: tuple[int, ...]) -> list[object]:
    m, n = size
    return [m, n, numbers(rng, n, type=np.float64), np.zeros((m, 128))]


CASES = (
    Case("gemm", _gemm, ((16, 16, 16), (33, 20, 47), (5, 50, 16))),
    Case("gemm_flat", _gemm, ((17, 35, 29),)),
    Case("nbody", _nbody, ((128,), (77,))),
    Case("nbody_struct", _nbody_struct, ((100,),)),
    Case("stencil", _line(np.float64), ((600,), (11,), (12,), (300,))),
    Case("stencil_down", _line(np.float64), ((611,), (6,))),
    Case("reversed", _line(np.int32), ((700,), (30,))),
    Case("jacobi", _grid, ((40, 70), (3, 3), (9, 34))),
    Case("hotspot", _hotspot, ((20,), (1,))),
    Case("convolution", _convolution, ((20, 50),)),
    Case("gather", _gather, ((500,), (40,))),
    Case("window", _line(np.float32), ((400, 3), (400, 8), (300, 11))),
    Case("relax", _line(np.float32), ((300, 5), (40, 0))),
    Case("sparse", _line(np.float32), ((300, 60),)),
    Case("overlapping", _line(np.float32), ((600, 4),), races=True),
    Case("lu_step", _lu, ((40, 3), (20, 0))),
    Case("rows", _rows, ((5, 40),)),
    Case("windows", _windows, ((7, 40),)),
)


def call(
    executable: Executable, kernel: str, arguments: list[object], races: bool = False
) -> list[np.ndarray]:
    """Calls the kernel on copies of the arrays; all arrays afterwards."""
    on = Program(executable, RunOptions(checks=True))
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    values = [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)  # type: ignore[arg-type]
        for a in copies
    ]
    on.function(kernel, None, None)(*values)
    if executable.options.target == "sim":
        found = [f for f in on.simulator.findings if not (races and f.fault is FaultKind.RACE)]
        assert not found
    on.close()
    return [a for a in copies if isinstance(a, np.ndarray)]


def compare(case: Case, options: str, target: str = "sim", file: Path = KERNELS) -> None:
    plain = program("host", "", ("NO_CACHE",))
    cached = program(target, options, file=file)
    for size in case.sizes:
        arguments = case.make(np.random.default_rng(sum(size)), size)
        expected = call(plain, case.kernel, arguments)
        found = call(cached, case.kernel, arguments, case.races)
        for want, have in zip(expected, found, strict=True):
            np.testing.assert_allclose(have, want, rtol=2e-5, atol=2e-5, err_msg=f"{size}")


TARGETS = ("sim", pytest.param("nvptx", marks=pytest.mark.gpu))
OPTIONS = (
    "promote=always rows=1 columns=1",
    pytest.param("promote=always method=rbc write=mask", marks=pytest.mark.slow),
    "promote=always renewal=communicating fetch=async padding=1 write=back block_x=64",
    pytest.param("promote=always block_x=32 block_y=4 rows=2 columns=3", marks=pytest.mark.slow),
    "promote=always method=ehc sets=4 ways=2",
)
AHEAD = (
    pytest.param(
        "promote=always rows=8 columns=8 block_x=8 block_y=8 stages=2", marks=pytest.mark.slow
    ),
    "promote=always rows=4 columns=4 stages=2 fetch=async",
)
RENEWED = ("gemm", "gemm_flat", "nbody", "nbody_struct")


@pytest.fixture(scope="module")
def renewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return part(KERNELS, RENEWED, tmp_path_factory.mktemp("renewed"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.kernel)
def test_host_ignores_the_directive(case: Case) -> None:
    compare(case, "", target="host")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.kernel)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("target", TARGETS)
def test_same_output(case: Case, options: str, target: str, tmp_path: Path) -> None:
    compare(case, options, target, part(KERNELS, [case.kernel], tmp_path))


@pytest.mark.parametrize("case", [c for c in CASES if c.kernel in RENEWED], ids=lambda c: c.kernel)
@pytest.mark.parametrize("options", AHEAD)
@pytest.mark.parametrize("target", TARGETS)
def test_tiles_fetched_ahead(case: Case, options: str, target: str, renewed: Path) -> None:
    compare(case, options, target, renewed)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.kernel)
@pytest.mark.parametrize("target", TARGETS)
def test_default_decisions(case: Case, target: str) -> None:
    compare(case, "", target=target)


# The paper's table 5, row by row: who sees what an iteration writes to a cached element. Rows 1 to 3: one
# thread holds a copy, 4 to 6: several threads do.

WRITES = pytest.mark.parametrize("write", ["through", "back", "mask"])


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kernels = ("own_copy", "others_copy", "common_copy")
    return part(KERNELS, kernels, tmp_path_factory.mktemp("copies"))


def coherence(
    kernel: str, target: str, write: str, file: Path, *arrays: np.ndarray
) -> list[np.ndarray]:
    cached = program(target, f"promote=always write={write}", file=file)
    return call(cached, kernel, [len(arrays[1]), *arrays], races=True)


@WRITES
@pytest.mark.parametrize("target", TARGETS)
def test_rows_1_and_3_the_new_value(target: str, write: str, copies: Path) -> None:
    """The thread that wrote sees its value at once (1), and everybody does after the kernel (3)."""
    n = 300
    arrays = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    written, seen = coherence("own_copy", target, write, copies, *arrays)
    np.testing.assert_array_equal(seen, 10 * np.arange(n) + 2)
    np.testing.assert_array_equal(written, seen)


@WRITES
@pytest.mark.parametrize("target", TARGETS)
def test_row_2_the_old_value_or_the_new_one(target: str, write: str, copies: Path) -> None:
    """Threads of other blocks see, while the kernel runs, either."""
    n = 300
    arrays = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    written, seen = coherence("others_copy", target, write, copies, *arrays)
    new = 10 * np.arange(n) + 2
    np.testing.assert_array_equal(written, new)
    assert ((seen == -1) | np.isin(seen, [*new, *(new - 1), *(new - 2)])).all()


@WRITES
@pytest.mark.parametrize("target", TARGETS)
def test_rows_4_to_6_of_one_unspecified_thread(target: str, write: str, copies: Path) -> None:
    """The old value or that of any copy meanwhile (4, 5); that of one thread after the kernel (6)."""
    n = 300
    arrays = np.array([7, 8, 9, 10], np.int32), np.zeros(n, np.int32)
    written, seen = coherence("common_copy", target, write, copies, *arrays)
    assert 100 <= written[1] < 100 + n
    np.testing.assert_array_equal(written[[0, 2, 3]], [7, 9, 10])
    assert set(seen.tolist()) <= {8, *range(100, 100 + n)}
