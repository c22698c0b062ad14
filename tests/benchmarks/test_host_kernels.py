"""The bench's kernels on CPU threads: both sides are right, and OpenMP's directives are those of OpenACC."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import host_kernels
from benchmarks.host_kernels import FILES, SIDES, SIZES, chosen, lines, openmp
from benchmarks.specs import KERNELS

HERE = Path(__file__).parents[2] / "benchmarks" / "kernels"


def test_each_kernel_has_a_size() -> None:
    assert SIZES.keys() == {kernel.name for kernel in chosen([])}
    assert {k.file for k in KERNELS} == {*FILES, "scans"}
    with pytest.raises(SystemExit, match="no kernels scan_f32, typo"):
        chosen(["csr", "typo", "scan_f32"])


def test_directives() -> None:
    text = "".join(openmp((HERE / f"{file}.c").read_text()) for file in FILES)
    directives = [line.strip() for line in text.splitlines() if "#pragma" in line]
    assert set(directives) == {
        "#pragma omp parallel for",
        "#pragma omp parallel for collapse(2)",
        "#pragma omp parallel for collapse(3)",
        "#pragma omp parallel for reduction(+:count)",
        "#pragma omp parallel for reduction(+:sum)",
        "#pragma omp parallel for reduction(max:largest)",
        "#pragma omp simd reduction(+:sum)",
        "#pragma omp atomic update",
    }
    assert sum("parallel for" in line for line in directives) == len(SIZES)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_both_sides_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = chosen(["csr", "histogram", "sum_f32"])
    for kernel in kernels:
        monkeypatch.setitem(SIZES, kernel.name, kernel.small)
    found = [
        [line.split() for line in lines(side(tmp_path, fast_math=False, threads=2), kernels, 0.0)]
        for side in SIDES.values()
    ]
    for gcc, accopt in zip(*found, strict=True):
        assert gcc[:2] == accopt[:2] and gcc[1] == "3"
        assert float(accopt[5]) == pytest.approx(float(gcc[5]), rel=1e-5)


def test_both_sides_get_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GCC's library by the environment, ours by the option of its process."""
    found: list[tuple[str, int, str]] = []

    def one_process(command: list[str], environment: dict[str, str]) -> dict[str, object]:
        monkeypatch.setattr(sys, "argv", command[2:])
        assert host_kernels.main() == 0
        side, threads = capsys.readouterr().out.split()
        found.append((side, int(threads), environment["OMP_NUM_THREADS"]))
        return {}

    def a_line(side: host_kernels.Side, *_: object) -> list[str]:
        threads = side.run_options.threads if isinstance(side, host_kernels.AccSide) else 0
        return [f"{type(side).__name__} {threads}"]

    monkeypatch.setattr(host_kernels, "lines", a_line)
    monkeypatch.setattr("benchmarks.host.run", one_process)
    arguments = host_kernels.options().parse_args(["--threads", "2,4", "--turns", "1"])
    for threads in (2, 4):
        host_kernels.measured(arguments, threads)
    assert found == [
        ("GccSide", 0, "2"),
        ("AccSide", 2, "2"),
        ("GccSide", 0, "4"),
        ("AccSide", 4, "4"),
    ]
