"""
What the remark recommends never loses: for every benchmark that was measured
(docs/measurements/compression.json), the kernel is not slower with the arrays compressed unless the
remark warns.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.compiler.remarks import REMARKS_STAGE, remarks_of

from benchmarks.compression.cases import FORMATS, Format
from benchmarks.compression.variants import SOURCE, defines

MEASURED = Path(__file__).parents[2] / "docs/measurements/compression.json"
NOISE = 1.02
NOISE_US = 0.5
"""How much slower a measurement may be by chance: a factor, and microseconds of short kernels."""

HOTSPOT_WORDS = {
    "hotspot power": ("power",),
    "hotspot temperature": ("temperature",),
    "hotspot both": ("power", "temperature"),
}
FMT = {fmt.label: fmt for fmt in FORMATS}


@functools.cache
def warnings(fmt: Format, hotspot: tuple[str, ...]) -> dict[str, bool]:
    """Kernel → whether a remark says of one of its arrays that compressing it does not pay."""
    options = CompileOptions(target="nvptx", defines=defines(fmt.dtype, fmt, hotspot))
    module = front_end([SOURCE], options, DiagnosticSink())
    run_to_stage(make_context(), module, REMARKS_STAGE, options)
    text = SOURCE.read_text().splitlines()
    starts = {
        number: match[1]
        for number, line in enumerate(text, 1)
        if (match := re.match(r"void (\w+)\(", line))
    }
    found: dict[str, bool] = {}
    for remark in remarks_of(module, "nvptx"):
        if "is kept as" in remark.message:
            kernel = starts[max(number for number in starts if number <= remark.loc.line)]
            found[kernel] = found.get(kernel, False) or "does not pay" in remark.message
    return found


def warned(row: dict[str, Any]) -> bool:
    """Whether the remark warns of what `row` measures."""
    label = row["kernel"]
    found = warnings(FMT[row["format"]], HOTSPOT_WORDS.get(label, ()))
    return found[re.split(r"[ ,]", label)[0]]


def rows(part: str = "rows") -> list[dict[str, Any]]:
    found = json.loads(MEASURED.read_text())[part]
    return [row for row in found if "→" not in row["kernel"]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", rows(), ids=lambda r: f"{r['kernel']}, {r['format']}")
@pytest.mark.sampled(4)
def test_the_recommended_configuration_does_not_lose(row: dict[str, Any]):
    assert warned(row) or row["packed_us"] <= row["plain_us"] * NOISE


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", ["vecprod", "matadd", "nearest_aos", "hotspot"])
def test_it_does_not_lose_at_any_size(kernel: str):
    for row in rows("kernels"):
        if row["kernel"].startswith(kernel) and not warned(row):
            assert row["packed_us"] <= row["plain_us"] * NOISE + NOISE_US, row


def test_everything_was_measured():
    kernels = {(row["kernel"], row["format"]) for row in rows()}
    assert len(kernels) >= 3 * 17
    assert any(warned(row) for row in rows())


@pytest.mark.parametrize("kernel", ["copy", "reverse", "vecprod", "matadd"])
@pytest.mark.parametrize("fmt,least", [("float→16", 1.9), ("double→32", 1.9), ("double→16", 3.6)])
def test_streaming_kernels(kernel: str, fmt: str, least: float):
    """The numbers to reach; the median of several processes counts."""
    (row,) = (r for r in rows() if (r["kernel"], r["format"]) == (kernel, fmt))
    speedups = sorted([row["plain_us"] / row["packed_us"], *row["runs"]])
    assert speedups[len(speedups) // 2] >= least
