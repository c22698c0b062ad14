"""
Tiles filled by bulk copies: the same output as on the host without directives, for rows that are aligned to
16 bytes and rows that are not; the simulator follows the barriers' phases.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accopt.compiler.api import Program, RunOptions
from accopt.compiler.backend.ptxas import assemble
from accopt.compiler.backend.toolkit import find_ptxas
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.compiled import Executable
from accopt.compiler.executable import build
from accopt.runtime.sim.bulk import BulkBarriers

SOURCE = Path(__file__).parent / "bulk.c"
OPTIONS = (
    "promote=always rows=1 columns=1",
    "promote=always rows=2 columns=4 block_x=8 block_y=8",
    "promote=always renewal=communicating block_x=32 block_y=4 rows=1 columns=2",
    "promote=always method=rbc padding=4 rows=1 columns=1",
    "promote=always padding=1 rows=1 columns=1",
)
TARGETS = ("sim", pytest.param("nvptx", marks=pytest.mark.gpu))


@cache
def program(target: str, options: str, sm: int = 90) -> Executable:
    given = CompileOptions(
        target=target,  # type: ignore[arg-type]
        sm=sm,
        pass_options=(f"promote-cache-to-shared{{fetch=bulk {options}}}",),
        defines=("NO_CACHE",) if target == "host" else (),
        verify=True,
    )
    return build([SOURCE], given, DiagnosticSink())


def call(executable: Executable, kernel: str, arguments: list[Any]) -> list[np.ndarray]:
    """Calls the kernel on copies of the arrays; all arrays afterwards."""
    on = Program(executable, RunOptions(checks=True))
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    values = [
        ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)
        for a in copies
    ]
    on.function(kernel, None, None)(*values)
    if executable.options.target == "sim":
        assert not on.simulator.findings
    on.close()
    return [a for a in copies if isinstance(a, np.ndarray)]


def numbers(size: int, type: type = np.float32) -> np.ndarray:
    return np.random.default_rng(size).integers(0, 9, size).astype(type)


def product(n: int, pa: int, pb: int, skip: int) -> list[Any]:
    arrays = [numbers(n * pa + skip), numbers(n * pb), np.zeros(n * n, np.float32)]
    return [n, pa, pb, skip, *arrays]


def matrices(n: int) -> list[Any]:
    return [n, numbers(n * n), numbers(n * n), np.zeros(n * n, np.float32)]


def doubles(n: int) -> list[Any]:
    return [n, numbers(n * 72, np.float64), numbers(n * 72, np.float64)]


def line(n: int, skip: int) -> list[Any]:
    return [n, skip, numbers(n), numbers(n)]


def groups(n: int, m: int) -> list[Any]:
    return [n, m, numbers(n + 16), numbers(m), np.zeros(n, np.float32)]


def bytes_(n: int) -> list[Any]:
    return [n, numbers(n + 16, np.uint8), np.zeros(n, np.int32)]


CASES: dict[str, tuple[str, list[Any]]] = {
    "product aligned": ("product", product(48, 48, 64, 0)),
    "product, rows begin at odd places": ("product", product(48, 48, 64, 1)),
    "product, one matrix with odd rows": ("product", product(48, 49, 52, 4)),
    "product, blocks at the edge": ("product", product(52, 52, 52, 0)),
    "product, smaller than a block": ("product", product(5, 8, 8, 0)),
    "matrices": ("matrices", matrices(64)),
    "matrices, odd": ("matrices", matrices(49)),
    "doubles": ("doubles", doubles(37)),
    "line": ("line", line(1500, 0)),
    "line, odd": ("line", line(1501, 3)),
    "line, short": ("line", line(20, 0)),
    "groups": ("groups", groups(256, 100)),
    "groups, even": ("groups", groups(640, 96)),
    "bytes": ("bytes", bytes_(333)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("target", TARGETS)
def test_same_output(name: str, options: str, target: str) -> None:
    kernel, arguments = CASES[name]
    expected = call(program("host", ""), kernel, arguments)
    found = call(program(target, options), kernel, arguments)
    for want, have in zip(expected, found, strict=True):
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize(
    ("kernel", "arguments", "bulk"),
    [
        ("product", product(64, 64, 64, 0), True),
        ("product", product(64, 64, 68, 4), True),
        ("product", product(64, 64, 68, 1), False),
        ("product", product(64, 65, 64, 0), False),
        ("product", product(64, 64, 66, 0), False),
        ("matrices", matrices(64), True),
        ("matrices", matrices(63), False),
        ("doubles", doubles(37), True),
        ("line", line(1500, 0), True),
        ("line", line(1500, 1), False),
        ("groups", groups(640, 96), True),
    ],
)
def test_rows_are_copied_in_bulk_where_they_are_aligned(
    kernel: str, arguments: list[Any], bulk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[int] = []
    copied = BulkBarriers.copied

    def count(self: BulkBarriers, *given: Any) -> None:
        copies.append(1)
        copied(self, *given)

    monkeypatch.setattr(BulkBarriers, "copied", count)
    call(program("sim", OPTIONS[0]), kernel, arguments)
    assert bool(copies) == bulk


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
@pytest.mark.parametrize("options", OPTIONS[:2])
def test_ptxas_takes_the_copies(options: str) -> None:
    ptx = program("nvptx", options).ptx
    for instruction in (
        "mbarrier.init",
        "mbarrier.arrive.expect_tx",
        "mbarrier.try_wait.parity",
        "mbarrier.inval",
        "cp.async.bulk",
        "fence.mbarrier_init",
        "fence.proxy.async",
    ):
        assert instruction in ptx
    assert assemble(ptx, 90) is not None


def test_older_gpus_fill_tiles_in_the_usual_way() -> None:
    ptx = program("nvptx", OPTIONS[0], 80).ptx
    assert "cp.async.bulk" not in ptx and "mbarrier" not in ptx


def test_strict_refuses_what_cannot_be_done() -> None:
    with pytest.raises(CompileError, match="fetch=bulk: sm_80 has no bulk copies"):
        program("nvptx", "strict=true", 80)
