"""What the host tests before a launch: which polynomials are enough, and whether 63 bits are."""

from __future__ import annotations

from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.ir.values.host_tests import magnitude, may_overflow, tightest

N, M = Polynomial.symbol("n"), Polynomial.symbol("m")


def test_what_follows_from_others_is_left_out() -> None:
    assert tightest([N - 3, M, N - 5, N * M - 1, N]) == [N - 5, M, N * M - 1]


def test_magnitude_is_that_of_every_part() -> None:
    bound = magnitude([N * M - N * 3, Polynomial.constant(7) - N * 5, N * M * -2])
    assert bound == N * M * 2 + N * 5 + 7


def test_symbols_of_unknown_width_are_64_bits_wide() -> None:
    assert not may_overflow(Polynomial.constant((1 << 63) - 1))
    assert may_overflow(N)


def test_symbols_come_in_the_order_of_the_terms() -> None:
    """Code that is emitted symbol by symbol is the same in each process, whatever the hashes of strings."""
    names = [f"symbol{k}" for k in range(9, 0, -1)]
    total = Polynomial.constant(1)
    for name in names:
        total = total + Polynomial.symbol(name)
    assert list(total.symbols) == names
