"""
Conditions under which a product computes only some of its sums, and what they leave unread.

A block of iterations that shares tiles reads whole rows of its factors, so that sums under a condition are
computed for all iterations of a block in which it holds for one. That reads nothing that the program does
not read if every row and every column has an iteration for which the condition holds.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .polynomials import Polynomial


@dataclass(frozen=True)
class Sides:
    """
    The variables of the two parallel loops of a product and their bounds, the upper one exclusive; `alike`:
    row x of the one factor is row x of the other.
    """

    row: Hashable
    column: Hashable
    rows: tuple[Polynomial, Polynomial]
    columns: tuple[Polynomial, Polynomial]
    alike: bool = False


@dataclass(frozen=True)
class ProductGuard:
    """
    The values of row − column for which a condition holds: at least each of `lows`, at most each of
    `highs`; with `unequal`, all but one value.
    """

    lows: tuple[Polynomial, ...] = ()
    highs: tuple[Polynomial, ...] = ()
    unequal: bool = False

    def and_also(self, other: ProductGuard) -> ProductGuard | None:
        """Where both hold; None for more than one condition if one of them is `unequal`."""
        if self == ProductGuard() or other == ProductGuard() or not (self.unequal or other.unequal):
            lows, highs = self.lows + other.lows, self.highs + other.highs
            return ProductGuard(lows, highs, self.unequal or other.unequal)
        return None


def guard_of(nonnegative: Sequence[Polynomial], sides: Sides) -> ProductGuard | None:
    """Where polynomials are all at least 0; None if they are not differences of row and column."""
    lows: list[Polynomial] = []
    highs: list[Polynomial] = []
    for poly in nonnegative:
        slopes = poly.slope(sides.row), poly.slope(sides.column)
        rest = poly - Polynomial.symbol(sides.row) * (slopes[0] or 0)
        rest -= Polynomial.symbol(sides.column) * (slopes[1] or 0)
        if {sides.row, sides.column} & rest.symbols:
            return None
        if slopes == (1, -1):
            lows.append(-rest)
        elif slopes == (-1, 1):
            highs.append(rest)
        else:
            return None
    return ProductGuard(tuple(lows), tuple(highs))


def what_reads_all(guard: ProductGuard, sides: Sides) -> list[Polynomial] | None:
    """
    Polynomials that are at least 0 only if every row and every column of the factors is read by an
    iteration for which the guard holds; None if that is not so for any sizes.
    """
    (row, row_end), (column, column_end) = sides.rows, sides.columns
    if guard.unequal:
        return _open([row_end - row - 2, column_end - column - 2])
    tests = [high - low for low in guard.lows for high in guard.highs]
    for low in guard.lows:
        tests += [row - low - column, row_end - column_end - low]
    for high in guard.highs:
        tests += [column_end + high - row_end, column + high - row]
    found = _open(tests)
    if found is None and sides.alike and sides.rows == sides.columns:
        return _tests_of_one_array(guard, row_end - row)
    return found


def _tests_of_one_array(guard: ProductGuard, rows: Polynomial) -> list[Polynomial] | None:
    """The same where both factors are the same `rows`: each may be read as either of the two."""
    distances = [poly.as_constant for poly in (*guard.lows, *guard.highs)]
    known = [distance for distance in distances if distance is not None]
    if len(known) < len(distances) or len(guard.lows) > 1 or len(guard.highs) > 1:
        return None
    tests = [rows - 2 * abs(known[0])]
    if len(known) == 2:
        tests.append(Polynomial.constant(known[1] - known[0]))
    return _open(tests)


def _open(tests: Sequence[Polynomial]) -> list[Polynomial] | None:
    """Those of `tests` whose sign is not known; None if one is negative."""
    known = [poly.as_constant for poly in tests]
    if any(value is not None and value < 0 for value in known):
        return None
    return [poly for poly, value in zip(tests, known, strict=True) if value is None]
