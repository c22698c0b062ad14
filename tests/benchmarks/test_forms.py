"""
The bench's kernels with the clauses of the field: the code of the bare nest, and right results in the
simulator, which looks for races.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.forms import BARE, FILES, FORMS, HERE, compare, kernel_texts, rewrite, wrong_results

KERNELS = [
    (file, kernel)
    for file in FILES
    for kernel in kernel_texts((HERE / "kernels" / f"{file}.c").read_text())
    if kernel
]


def _different(file: str, kernel: str, folder: Path, forms: tuple[str, ...] = ()) -> dict[str, int]:
    return {
        form: lines for form, lines in compare(file, kernel, folder, forms=forms).items() if lines
    }


def test_nests_of_four_loops_and_spaces_in_clauses() -> None:
    nest = [
        "#pragma acc parallel loop collapse (2) copyin (a[0:n]) reduction (max: s)",
        *(f"for (int {i} = 0; {i} < n; {i}++)" for i in "ij"),
        *(
            line
            for i in "kl"
            for line in ("#pragma acc loop", f"for (int {i} = 0; {i} < n; {i}++)")
        ),
        "s = fmaxf(s, a[i][j][k][l]);",
    ]
    clauses = "copyin (a[0:n]) reduction (max: s)"
    by_level = rewrite(nest, FORMS["gang worker vector"])
    assert by_level is not None
    assert [line for line in by_level if line.startswith("#")] == [
        f"#pragma acc parallel loop gang {clauses}",
        "#pragma acc loop worker",
        "#pragma acc loop vector",
        "#pragma acc loop",
    ]
    assert rewrite(nest, FORMS["tile"]) is None


@pytest.mark.parametrize(
    ("file", "kernel", "forms"),
    [
        ("streaming", "transpose", ("collapse", "gang vector 128", "old GPU", "kernels", "tile")),
        (
            "stencils",
            "laplacian",
            ("gang worker vector 8x32", "tile *", "turned", "outermost gang worker"),
        ),
        ("compute", "csr", ("gang vector 32", "gang worker vector 8x32", "sizes only")),
        ("compute", "matmul_tiled", ("gang vector 128", "tile")),
    ],
)
def test_forms_come_to_the_bare_nest(
    file: str, kernel: str, forms: tuple[str, ...], tmp_path: Path
) -> None:
    assert _different(file, kernel, tmp_path, forms) == {}


@pytest.mark.sampled(25)
@pytest.mark.parametrize(("file", "kernel"), KERNELS)
def test_all_forms_come_to_the_bare_nest(file: str, kernel: str, tmp_path: Path) -> None:
    different = _different(file, kernel, tmp_path)
    if kernel == "transpose":  # either order has as many contiguous accesses
        different = {form: n for form, n in different.items() if not FORMS[form].turned}
    assert different == {}


@pytest.mark.parametrize(
    ("file", "kernel", "form"),
    [
        ("streaming", "transpose", "tile"),
        ("stencils", "jacobi5", "gang worker vector 8x32"),
        ("compute", "csr", "gang vector 128"),
    ],
)
def test_results_in_the_simulator(file: str, kernel: str, form: str, tmp_path: Path) -> None:
    assert wrong_results(file, kernel, form, tmp_path, "sim") is None


@pytest.mark.sampled(25)
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize(("file", "kernel"), KERNELS)
def test_results_of_all_forms(file: str, kernel: str, target: str, tmp_path: Path) -> None:
    """Forms that come to one code are run once in the simulator."""
    lines = compare(file, kernel, tmp_path) if target == "sim" else dict.fromkeys(FORMS, 1)
    for form in FORMS:
        if form == BARE or lines.get(form):
            assert wrong_results(file, kernel, form, tmp_path, target) is None, form  # type: ignore[arg-type]
