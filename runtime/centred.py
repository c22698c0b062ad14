"""
The coefficients of a code around the middle of a range (docs/compression.md, "Codec").

A number x of [lo, hi] becomes t = (x - m) / c0 + 1.5, and is read back as t · c0 + c1, with the middle
m and c1 = m - 1.5 · c0. Both m and c1 have to be numbers of the base type, so that the middle code is
exactly m, and what is read back is rounded once. They are multiples of a *grid*: the distance of
neighbouring numbers of the base type at the size of c1.

Where m is many times larger than hi - lo, the codes may be as close to each other as the numbers of
the base type are. Then reading a code rounds away from it, perhaps to where another code is nearer. A
c0 that is a power of two avoids that: every code is a number of the base type, or every number of
the base type has a code, and nothing but the rounding to a code errs.

This file is exact arithmetic, in fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction

DIGITS = {32: 24, 64: 53}
"""Base width → significant bits of a number."""

_SPARE = 2
"""Where codes are so many grid steps apart, or more, reading rounds to less than half a code away."""


def centred_coefficients(
    base: int, bits: int, low: Fraction, high: Fraction, factor: Fraction, least: Fraction
) -> tuple[Fraction, Fraction]:
    """
    c0 and m for numbers of `base` bits from `low` to `high`, which are such numbers and differ.
    c0 is at least `factor` times half of their distance, which counts as `least` if it is smaller.
    """
    middle = (low + high) / 2
    grid = _grid(base, abs(middle) + 3 * factor * max((high - low) / 2, least) / 2)
    while True:
        c0, centre = _on_grid(grid, bits, low, high, factor, least)
        if abs(centre) + 3 * c0 / 2 <= grid * 2 ** DIGITS[base]:
            return c0, centre
        grid *= 2


def _on_grid(
    grid: Fraction, bits: int, low: Fraction, high: Fraction, factor: Fraction, least: Fraction
) -> tuple[Fraction, Fraction]:
    def needed(centre: Fraction) -> Fraction:
        return factor * max(high - centre, centre - low, least)

    centre = _nearest((low + high) / 2, grid)
    # An even multiple: so is 1.5 · c0 a multiple.
    c0 = math.ceil(needed(centre) / (2 * grid)) * 2 * grid
    if c0 >= _SPARE * grid * 2**bits:
        return c0, centre
    power = _power_of_two(needed(centre))
    while True:
        centre = _nearest((low + high) / 2, max(grid, power / 2**bits))
        if needed(centre) <= power and power >= 2 * grid:
            return power, centre
        power *= 2


def _grid(base: int, size: Fraction) -> Fraction:
    """The distance of neighbouring numbers of the base type of that size."""
    return _power_of_two(size, below=True) / 2 ** (DIGITS[base] - 1)


def _power_of_two(size: Fraction, *, below: bool = False) -> Fraction:
    """The least power of two that is no less than `size`; `below`: the greatest that is no more."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    power = Fraction(2) ** exponent
    while power > size:
        power /= 2
    while 2 * power <= size:
        power *= 2
    return power if below or power == size else 2 * power


def _nearest(number: Fraction, grid: Fraction) -> Fraction:
    return round(number / grid) * grid
