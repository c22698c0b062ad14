"""Sections as strips of bytes, against a plain enumeration."""

from accopt.runtime.data.sections import split_around, strips_of
from accopt.runtime.device import Strips
from hypothesis import given
from hypothesis import strategies as st


def covered(strips):
    result = []
    for s in strips:
        for row in range(s.rows):
            start = s.offset + row * s.pitch
            result += range(start, start + s.width)
    return result


@st.composite
def shapes(draw):
    """Sections of a row-major array of up to four dimensions."""
    element = draw(st.sampled_from([1, 4, 8]))
    extents = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    stride, triples = element, []
    for full in reversed(extents):
        lower = draw(st.integers(0, full - 1))
        triples.insert(0, (lower, draw(st.integers(0, full - lower)), stride))
        stride *= full
    return tuple(triples)


def enumerate_bytes(shape):
    starts = [0]
    for lower, extent, stride in shape:
        starts = [s + (lower + i) * stride for s in starts for i in range(extent)]
    element = shape[-1][2]
    return [s + b for s in starts for b in range(element)]


@given(shapes())
def test_strips_are_exactly_the_section(shape):
    offset = sum(lower * stride for lower, _, stride in shape)
    got = covered(strips_of(shape, offset, 0))
    assert [offset + b for b in got] == enumerate_bytes(shape)


def test_contiguous_dimensions_are_one_transfer():
    assert list(strips_of(((0, 3, 64), (0, 8, 8)), 0, 0)) == [Strips(0, 192)]
    assert list(strips_of((), 16, 40)) == [Strips(0, 40)]


def test_a_column_is_rows_of_one_transfer():
    assert list(strips_of(((0, 100, 800), (7, 1, 8)), 56, 0)) == [Strips(0, 8, 100, 800)]


@given(shapes(), st.lists(st.integers(-8, 500), unique=True))
def test_splitting_leaves_out_the_words_and_nothing_else(shape, words):
    words = sorted(w // 8 * 8 for w in set(words))
    whole = covered(strips_of(shape, 0, 0))
    excluded = {w + i for w in words for i in range(8)}
    got = covered(split_around(strips_of(shape, 0, 0), sorted(set(words)), 8))
    assert got == [b for b in whole if b not in excluded]
