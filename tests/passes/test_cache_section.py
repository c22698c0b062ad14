"""Sections as polynomials: which element an access means, and whether it lies inside."""

from __future__ import annotations

import random

from accopt.passes.decisions.cache_section import (
    CachedSection,
    SectionDim,
    Subscript,
    element_of,
    is_inside,
    is_outside,
    offsets,
    rates_of,
)
from accopt.passes.decisions.polynomials import Polynomial, divide
from accopt.passes.decisions.ranges import LoopRange

I, J, K, N, Q = (Polynomial.symbol(name) for name in "ijknq")
number = Polynomial.constant


def matrix(
    rows: Polynomial, columns: Polynomial, stride: Polynomial, lengths: tuple[int, int]
) -> CachedSection:
    """`[rows : lengths[0]][columns : lengths[1]]` of a matrix of floats."""
    return CachedSection(
        "a",
        (SectionDim(rows, lengths[0], stride), SectionDim(columns, lengths[1], number(4))),
        4,
    )


def test_rows_of_a_variable_length_array_are_told_from_columns() -> None:
    # float (*a)[n]: byte offset i*n*4, then an index of floats.
    section = matrix(I, K, N * 4, (1, 16))
    element = element_of(section, [Subscript(I * N * 4, 1), Subscript(Q, 4)])
    assert element is not None
    assert element.indices == (I, Q)
    assert offsets(section, element) == (number(0), Q - K)


def test_rows_of_bytes_are_told_from_columns() -> None:
    # signed char (*a)[n]: both subscripts count bytes.
    section = CachedSection("a", (SectionDim(I - 1, 3, N), SectionDim(J, 2, number(1))), 1)
    element = element_of(section, [Subscript(I * N, 1), Subscript(J + 1, 1)])
    assert element is not None
    assert element.indices == (I, J + 1)


def test_rows_of_constant_length_are_told_by_their_stride() -> None:
    section = matrix(I - 1, J - 1, number(256), (3, 3))
    element = element_of(section, [Subscript(I + 1, 256), Subscript(J, 4)])
    assert element is not None
    assert offsets(section, element) == (number(2), number(1))


def test_members_are_bytes_into_the_element() -> None:
    section = CachedSection("p", (SectionDim(K, 64, number(16)),), 16)
    element = element_of(section, [Subscript(Q, 16), Subscript(number(12), 1)])
    assert element is not None
    assert (element.indices, element.inner) == ((Q,), 12)


def test_a_pointer_into_the_middle_of_a_row_has_no_element() -> None:
    section = matrix(I, K, N * 4, (1, 16))
    assert element_of(section, [Subscript(I * N * 4 + J * 2, 1)]) is None
    assert element_of(section, [Subscript(number(-4), 1)]) is None


def test_division_keeps_what_does_not_divide() -> None:
    quotient, rest = divide(I * N * 8 + J * 4 + 12, N * 4) or (None, None)
    assert (quotient, rest) == (I * 2, J * 4 + 12)
    assert divide(I * 8, I * 0) is None


def test_division_by_rows_with_a_rest() -> None:
    """Rows of `n * k + 1` elements: the term of most factors decides."""
    row = N * K * 4 + 4
    quotient, rest = divide(I * row + J * N * 4 + 12, row) or (None, None)
    assert (quotient, rest) == (I, J * N * 4 + 12)
    assert divide(J * 4, row) == (I * 0, J * 4)


def test_proofs() -> None:
    tile = LoopRange("q", K, K + 15)
    assert is_inside(Q - K, 16, [tile])
    assert not is_inside(Q - K + 1, 16, [tile])
    assert not is_inside(Q - K - 1, 16, [tile])
    # A range that does not follow the section proves nothing.
    assert not is_inside(Q - K, 16, [LoopRange("q", number(0), number(15))])
    assert is_inside(Q, 16, [LoopRange("q", number(0), number(15))])


def test_proofs_agree_with_enumeration() -> None:
    rng = random.Random(3)
    for _ in range(300):
        factor, shift = rng.randint(-3, 3), rng.randint(-4, 4)
        low, count, length = rng.randint(-3, 3), rng.randint(1, 6), rng.randint(1, 20)
        offset = Q * factor + shift
        proved = is_inside(offset, length, [LoopRange("q", number(low), number(low + count - 1))])
        values = [factor * q + shift for q in range(low, low + count)]
        assert proved == all(0 <= value < length for value in values)
        away = is_outside(offset, length, [LoopRange("q", number(low), number(low + count - 1))])
        if away:
            assert not any(0 <= value < length for value in values)


def test_rates() -> None:
    rates = rates_of(I * 2 + J * N + K - 1, ["i", "j"])
    assert rates is not None
    assert rates.rate("i") == number(2)
    assert rates.rate("j") == N
    assert rates.rest == K - 1
    assert rates_of(I * J, ["i", "j"]) is None
    assert rates_of(I * I, ["i"]) is None
