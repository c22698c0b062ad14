"""
Products whose iterations share what they read without any `cache` directive: the same code as with it, right
results in the simulator, which looks for races, and loops that are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.emit import emit_text
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.passes.decisions.cache_matrix import INSTRUCTIONS, choose_fragment_padding
from accopt.passes.decisions.cache_plan import Axis, Sharing
from accopt.passes.decisions.cache_section import CachedSection, SectionDim
from accopt.passes.decisions.cache_shapes import matrix_shapes
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.shared_sections import ProductShape, place_of, why_not
from tools import commands

PROGRAM = Path(__file__).with_name("found_products.c")

HEAD = """
void product(int n, float (*restrict a)[n], float (*restrict b)[n], float (*restrict c)[n])
{
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n], c[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
"""
PLAIN = "for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];"
CACHED = """for (int k = 0; k < n; k += 16) {
#pragma acc cache(a[i:1][k:16], b[k:16][j:1])
                for (int q = k; q < k + 16; q++)
                    sum += a[i][q] * b[q][j];
            }
"""
TAIL = "c[i][j] = sum; } }\n"


def kernels(text: str, folder: Path) -> list[str]:
    """The PTX of the kernels of a program, without their numbers."""
    path = folder / "product.c"
    path.write_text(text)
    options = CompileOptions(target="nvptx")
    module = front_end([path], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options)
    device = emit_text(module, "ptx", options)
    found = [device[m.start() : device.index("\n}", m.start())] for m in ENTRY.finditer(device)]
    return [re.sub(r"\bproduct_\d+(_\d+)?_kernel", "kernel", text) for text in found]


ENTRY = re.compile(r"^\.visible \.entry", re.MULTILINE)


@pytest.mark.sampled(3)
def test_the_code_is_that_of_the_cache_directive(tmp_path: Path) -> None:
    found = kernels(HEAD + PLAIN + TAIL, tmp_path)
    cached = kernels(HEAD + CACHED + TAIL, tmp_path)
    assert len(cached) == 4
    assert found[:4] == cached


def run(*options: str, program: Path = PROGRAM) -> None:
    command = ["accrun", "--target=sim"]
    done = commands.run([*command, *options, str(program)], timeout=600)
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stdout + done.stderr


@pytest.mark.sampled(3)
def test_two_spellings_in_the_simulator() -> None:
    run()


@pytest.mark.sampled(3)
def test_triangles_in_the_simulator() -> None:
    run(program=PROGRAM.with_name("found_triangles.c"))


@pytest.mark.sampled(3)
def test_products_beside_statements_in_the_simulator() -> None:
    run(program=PROGRAM.with_name("separate_products.c"))


MATRICES = PROGRAM.with_name("matrix_products.c")


@pytest.mark.sampled(3)
def test_matrix_instructions_in_the_simulator() -> None:
    run(program=MATRICES)


@pytest.mark.sampled(3)
def test_loops_in_other_words_in_the_simulator() -> None:
    run("-DREAL=double", program=PROGRAM.with_name("spelled_products.c"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        "multiprocessors=1",
        "matrix=m8n8k4 block_x=4 block_y=16 rows=4 columns=16 stages=1",
        "matrix=m16n8k8 block_x=4 block_y=32 rows=2 columns=4 fetch=registers stages=2",
        "matrix=m16n8k16 block_x=4 block_y=8 rows=2 columns=2",
    ],
)
def test_all_matrices_in_the_simulator(options: str) -> None:
    run("-DALL", "--pass-option", f"promote-cache-to-shared{{{options}}}", program=MATRICES)


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (64, 32), (32, 32)])
def test_fragments_are_loaded_without_conflicts(rows: int, columns: int) -> None:
    """Rows of both factors of a product are padded by 4 doubles: 8 rows of 4 neighbours, or 4 rows of 8."""
    axes = [Axis("i", "i"), Axis("j", "j")]
    piece, n = Polynomial.symbol("k"), Polynomial.symbol("n")
    i, j = Polynomial.symbol("i"), Polynomial.symbol("j")
    row, element = n * 8, Polynomial.constant(8)
    left = CachedSection("a", (SectionDim(i, 1, row), SectionDim(piece, 16, element)), 8)
    right = CachedSection("b", (SectionDim(piece, 16, row), SectionDim(j, 1, element)), 8)
    for section in (left, right):
        padding = choose_fragment_padding(section, axes, Sharing((0, 1)), (rows, columns))
        assert padding == 4


def test_blocks_that_suit_matrix_instructions() -> None:
    two_rows = INSTRUCTIONS["m16n8k4"]
    assert two_rows.suits((16, 4), (4, 16))
    assert not two_rows.suits((16, 4), (3, 16))
    assert not two_rows.suits((16, 8), (4, 16))
    assert not two_rows.suits((12, 4), (4, 16))
    assert all(
        shape.instruction is not None and shape.instruction.suits(shape.threads, shape.outputs)
        for sm in (80, 90)
        for shape in matrix_shapes(sm)
    )
    assert matrix_shapes(75) == ()


@pytest.mark.slow
def test_all_spellings_in_the_simulator() -> None:
    run("-DALL")


def _linear(**factors: int | Polynomial) -> Polynomial:
    total = Polynomial.constant(0)
    for symbol, factor in factors.items():
        total = total + Polynomial.symbol(symbol) * factor
    return total


N = Polynomial.symbol("n")


def test_places() -> None:
    row = place_of(_linear(i=N * 4, k=4) + N * 8 + 12, 4, "i", "j", "k")
    assert row is not None and row.terms_along and row.stride == N * 4
    assert (row.row, row.column) == (_linear(i=1) + 2, _linear(k=1) + 3)
    column = place_of(_linear(k=N * 4, j=4), 4, "j", "i", "k")
    assert column is not None and not column.terms_along
    assert place_of(_linear(i=N * 4, j=4, k=4), 4, "i", "j", "k") is None
    assert place_of(_linear(i=N * 4, k=8), 4, "i", "j", "k") is None
    assert place_of(_linear(i=24, k=4), 4, "i", "j", "k") is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"terms": 31}, "its sums have too few terms"),
        ({"inner": 8}, "its loops have too few iterations"),
        ({"inner_loads": 0}, "its iterations share too few loads"),
        ({"both_loads": 1}, "its iterations share too few loads"),
    ],
)
def test_what_pays(changed: dict[str, int], reason: str | None) -> None:
    product: dict[str, int | None] = {"outer": None, "inner": 64, "terms": None}
    counts = {"outer_loads": 1, "inner_loads": 1, "both_loads": 0}
    assert why_not(ProductShape(**{**counts, **product, **changed})) == reason  # type: ignore[arg-type]
