"""The decision whether compressing an array pays, without IR."""

from __future__ import annotations

from accopt.compiler.base.packed import Code, PackedFormat
from accopt.passes.decisions.compression import PAYS, PackedAccess, estimate, read_once, seconds

HALF_FLOAT = PackedFormat(32, Code.RANGE, 16)
HALF_DOUBLE = PackedFormat(64, Code.RANGE, 32)


def test_streaming_pays_by_the_bytes():
    copy = [PackedAccess("x", 8, HALF_DOUBLE), PackedAccess("y", 8, HALF_DOUBLE, writes=True)]
    both = seconds(copy, 0, frozenset("xy")) / seconds(copy, 0)
    assert both == 2
    found = estimate("x", copy, 0)
    assert found is not None and found.speedup == 1.5
    assert found.text.startswith("compression pays here, about 1.50 times the speed")


def test_what_stays_plain_counts():
    triad = [
        PackedAccess("x", 4, HALF_FLOAT),
        PackedAccess("y", 4),
        PackedAccess("z", 4, writes=True),
    ]
    found = estimate("x", triad, 2)
    assert found is not None and 1.15 < found.speedup < 1.25
    assert estimate("y", triad, 2) is None


def test_a_stencil_reads_each_row_once_from_memory():
    accesses = [PackedAccess("a", 4, HALF_FLOAT) for _ in range(5)] + [
        PackedAccess("b", 4, writes=True)
    ]
    assert seconds(accesses, 0, frozenset("a")) == 8 / 4.25e12


def test_reuse_from_cache_does_not_pay():
    inner = [PackedAccess(name, 4, HALF_FLOAT, repeats=64, cached=True) for name in "ab"]
    found = estimate("a", [*inner, PackedAccess("c", 4, writes=True)], 2 * 64)
    assert found is not None and found.speedup < 1
    assert "are read repeatedly from the cache" in found.text


def test_bound_by_arithmetic():
    found = estimate("a", [PackedAccess("a", 4, HALF_FLOAT)], 400)
    assert found is not None and found.speedup < PAYS
    assert "makes little difference" in found.text


def test_a_window_decodes_once():
    reads = [PackedAccess("a", 4, HALF_FLOAT) for _ in range(9)]
    stencil = [*reads, PackedAccess("b", 4, writes=True)]
    each, once = estimate("a", stencil, 40), estimate("a", read_once(stencil), 40)
    assert each is not None and once is not None
    assert once.speedup > each.speedup
    assert len(read_once(stencil)) == 2


def test_elements_that_lie_apart_take_a_sector_each():
    gather = [
        PackedAccess("a", 4, HALF_FLOAT, scattered=True),
        PackedAccess("b", 4, writes=True),
    ]
    found = estimate("a", gather, 4)
    assert found is not None and found.speedup == 1
    assert "lie apart" in found.text and "does not pay" in found.text
