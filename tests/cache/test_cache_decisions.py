"""What fits where, what is worth it, what an index may be, and the error of `--check-cache`."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build
from accopt.compiler.register_pressure import tiled_places
from accopt.passes.decisions.cache_plan import SHARED_LIMIT, is_worth_launching, largest_shared
from accopt.passes.ir.values.value_polynomials import keeps_value
from accopt.runtime.cache_sections import outside_error
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import IntegerType, ModuleOp, i1, i8, i32, i64

LOOP = """
void f(int n, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(a[0:n], b[0:n])
    for (int i = 0; i < n - 40; i++) {
        float t = 0;
        DIRECTIVE
        for (int j = i; j < i + 40; j++)
            t += a[j];
        b[i] = t;
    }
}
"""


@pytest.mark.parametrize("directive, places", [("acc cache(a[i:40])", {"p.c:4"}), ("", set())])
def test_kernels_with_tiles_are_not_compiled_again_for_registers(
    tmp_path: Path, directive: str, places: set[str]
) -> None:
    source = tmp_path / "p.c"
    source.write_text(LOOP.replace("DIRECTIVE", f"#pragma {directive}" if directive else ""))
    found: list[set[str]] = []

    def look(stage: str, module: ModuleOp) -> None:
        if stage == "transformed":
            found.append(tiled_places(module))

    build([source], CompileOptions(target="nvptx"), DiagnosticSink(), look)
    assert found[0] == places


@pytest.mark.parametrize(
    "sm, kib", [(60, 48), (70, 96), (75, 64), (80, 163), (86, 99), (89, 99), (90, 227), (100, 227)]
)
def test_shared_memory_of_a_block(sm: int, kib: int) -> None:
    assert largest_shared(sm) == kib * 1024 >= SHARED_LIMIT


def test_large_tiles_must_be_read_densely() -> None:
    assert is_worth_launching(16, 256, 256)
    assert not is_worth_launching(15, 256, 256)
    assert is_worth_launching(None, 1, 100000)


@pytest.mark.parametrize(
    "source, target, conversion, keeps",
    [
        (i32, i64, arith.ExtSIOp, True),
        (i32, i64, arith.ExtUIOp, True),
        (i8, i64, arith.ExtSIOp, True),
        (i8, i32, arith.ExtUIOp, False),
        (i1, i32, arith.ExtUIOp, False),
        (i64, i32, arith.TruncIOp, True),
        (i32, i8, arith.TruncIOp, False),
    ],
)
def test_conversions_of_subscripts(
    source: IntegerType,
    target: IntegerType,
    conversion: type[arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp],
    keeps: bool,
) -> None:
    """A comparison is 1 and not -1; `(unsigned char)i` is not i."""
    (value,) = test.TestOp(result_types=[source]).results
    assert keeps_value(conversion(value, target)) is keeps


def test_the_error_names_access_array_index_and_section() -> None:
    table = ctypes.create_string_buffer(b"p.c\t3\t9\tb\t1\t1\t2\nq.c\t11\t47\ta\t2\t3\t9")
    record = (ctypes.c_int64 * 5)(2, 57, 10, 41, 6)
    text = outside_error(ctypes.addressof(table), ctypes.addressof(record)).render()
    assert text.startswith(
        "q.c:11: error: in the scope of a cache directive: 'a' is accessed at index 57"
    )
    for part in ("dimension 2", "column 47", "[10:41]", "in line 9", "6 accesses in all"):
        assert part in text
