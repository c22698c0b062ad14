"""Which shape of a block is the fastest for how many blocks."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.cache_shapes import (
    Integers,
    Shape,
    fastest,
    product_shapes,
    time_of,
    window_shape,
)
from accopt.passes.decisions.device import MULTIPROCESSORS

FLOATS = product_shapes((8, 8), (16, 16), 4)
DOUBLES = product_shapes((8, 4), (16, 16), 8)


def time(shape: Shape, blocks: int) -> int:
    rows = shape.size[0]
    return time_of(shape, (rows * blocks, shape.size[1]), 1, Integers(), MULTIPROCESSORS)


def test_only_what_was_measured_is_chosen_from() -> None:
    assert len(FLOATS) == 4 and len(DOUBLES) == 3
    assert product_shapes((8, 8), (16, 16), 2) == FLOATS
    assert product_shapes((4, 4), (16, 16), 4) == ()
    assert product_shapes((8, 8), (8, 32), 4) == ()
    assert product_shapes((8,), (256,), 4) == ()


@pytest.mark.parametrize(
    "n, rows",
    [(128, 16), (256, 16), (512, 32), (768, 64), (1024, 64), (1280, 128), (1536, 64), (2048, 128)],
)
def test_square_products_of_floats(n: int, rows: int) -> None:
    """The fastest of those that were measured, at each size that was."""
    assert fastest(FLOATS, (n, n), 1, MULTIPROCESSORS).size == (rows, rows)


@pytest.mark.parametrize("n, rows", [(128, 16), (256, 16), (512, 32), (768, 64), (4096, 64)])
def test_square_products_of_doubles(n: int, rows: int) -> None:
    assert fastest(DOUBLES, (n, n), 1, MULTIPROCESSORS).size == (rows, rows)


def test_a_batch_and_a_small_device_have_enough_blocks() -> None:
    assert fastest(FLOATS, (128, 128), 1, MULTIPROCESSORS).size == (16, 16)
    assert fastest(FLOATS, (128, 128), 10000, MULTIPROCESSORS).size == (128, 128)
    assert fastest(FLOATS, (512, 512), 1, 1).size == (128, 128)


def test_narrow_products_get_small_blocks() -> None:
    assert fastest(FLOATS, (16, 4096), 1, MULTIPROCESSORS).size == (16, 16)


def test_large_windows_share_rows_and_columns() -> None:
    assert window_shape((8, 32), (4, 1)) == ((4, 32), (4, 2))
    assert window_shape((8, 32), (1, 1)) == ((8, 32), (1, 1))
    assert window_shape((16, 16), (4, 1)) == ((16, 16), (4, 1))


@pytest.mark.parametrize("shape", [*FLOATS, *DOUBLES], ids=str)
def test_more_blocks_never_take_less_time(shape: Shape) -> None:
    times = [time(shape, blocks) for blocks in range(1, 10 * MULTIPROCESSORS)]
    assert times == sorted(times)
    assert times[0] == time(shape, MULTIPROCESSORS) == shape.alone
    full = shape.resident * MULTIPROCESSORS
    assert time(shape, 100 * full) == 100 * shape.round
