"""`decisions/product_guards.py` against counting which rows and columns are read."""

from itertools import product

import pytest
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.product_guards import ProductGuard, Sides, what_reads_all

_LIMITS: list[int | None] = [None, -3, -1, 0, 1, 2]


def _const(value: int) -> Polynomial:
    return Polynomial.constant(value)


def _holds(guard: ProductGuard, distance: int) -> bool:
    if guard.unequal:
        return distance != 0
    lows = all(distance >= (low.as_constant or 0) for low in guard.lows)
    return lows and all(distance <= (high.as_constant or 0) for high in guard.highs)


@pytest.mark.parametrize("alike", [False, True])
def test_promised_rows_are_read(alike: bool) -> None:
    """No guard is dropped for sizes that leave a row unread; the triangle and the band of squares are."""
    guards = [
        ProductGuard(
            () if low is None else (_const(low),),
            () if high is None else (_const(high),),
        )
        for low, high in product(_LIMITS, _LIMITS)
    ]
    dropped = 0
    for guard in (*guards, ProductGuard(unequal=True)):
        for first, rows, start, columns in product((0, 2), (1, 2, 5), (0, 2), (1, 2, 5)):
            ends = (first, first + rows), (start, start + columns)
            sides = Sides("i", "j", *((_const(a), _const(b)) for a, b in ends), alike)
            if what_reads_all(guard, sides) is None:
                continue
            dropped += 1
            pairs = [
                (i, j) for i, j in product(range(*ends[0]), range(*ends[1])) if _holds(guard, i - j)
            ]
            read_rows, read_columns = {i for i, _ in pairs}, {j for _, j in pairs}
            if alike:
                read_rows = read_columns = read_rows | read_columns
            assert read_rows >= set(range(*ends[0])), (guard, ends)
            assert read_columns >= set(range(*ends[1])), (guard, ends)
    assert dropped > 100


def test_triangles_and_bands_of_squares() -> None:
    n = Polynomial.symbol("n")
    square = Sides("i", "j", (_const(0), n), (_const(0), n))
    assert what_reads_all(ProductGuard((_const(0),)), square) == []
    assert what_reads_all(ProductGuard((_const(1),)), square) is None
    assert what_reads_all(ProductGuard((_const(0),), (_const(7),)), square) == []
    width = Polynomial.symbol("w")
    assert set(what_reads_all(ProductGuard((_const(0),), (width,)), square) or []) == {width}
    assert what_reads_all(ProductGuard(unequal=True), square) == [n - 2, n - 2]
