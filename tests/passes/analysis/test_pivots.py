"""Parts of a loop before and after its pivot: the decision, without IR."""

from __future__ import annotations

import pytest
from accopt.passes.decisions.pivots import parts
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.decisions.ranges import LoopRange

N, M, K, ZERO = (*map(Polynomial.symbol, "nmk"), Polynomial.constant(0))


@pytest.mark.parametrize(
    ("first", "last", "pivot", "fits"),
    [
        (ZERO, N - 1, K, True),
        (ZERO, N - 1, K + 1, False),
        (ZERO, N - 2, K, False),
        (ZERO - 1, N, K - 1, True),
        (ZERO + 1, N - 1, K, False),
        (ZERO, M - 1, K, False),
        (K, N - 1, K, True),
    ],
)
def test_pivot_is_an_iteration(
    first: Polynomial, last: Polynomial, pivot: Polynomial, fits: bool
) -> None:
    found = parts(LoopRange("i", first, last), pivot, [LoopRange("k", ZERO, N - 1)])
    wanted = LoopRange("i", first, pivot - 1), LoopRange("i", pivot + 1, last)
    assert found == (wanted if fits else None)
