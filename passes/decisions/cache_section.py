"""
Sections of `cache` directives: the element of an access, the movement of a section from one iteration of a
parallel loop to the next, and whether an index certainly lies inside.

All quantities are polynomials (`polynomials.Polynomial`) over values of the code; a subscript of a multi-
dimensional array is one polynomial per dimension. Dimensions are told apart by their strides in
bytes, which are constants or, for variable-length arrays, products of values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

from .polynomials import ZERO, Polynomial, divide
from .ranges import LoopRange, extremes


@dataclass(frozen=True)
class SectionDim:
    """`[lower : length]` of one dimension; `stride` is the distance of its elements in bytes."""

    lower: Polynomial
    length: int
    stride: Polynomial


@dataclass(frozen=True)
class CachedSection:
    """A section of array `name`, outermost dimension first; elements of `element_bytes`."""

    name: str
    dims: tuple[SectionDim, ...]
    element_bytes: int
    readonly: bool = False

    @property
    def elements(self) -> int:
        """The number of elements in one iteration's section."""
        return prod(dim.length for dim in self.dims)


@dataclass(frozen=True)
class Subscript:
    """One step of an address: `index` times `stride` bytes."""

    index: Polynomial
    stride: int


@dataclass(frozen=True)
class Element:
    """The element of an access: an index per dimension of the section, and the byte within the element."""

    indices: tuple[Polynomial, ...]
    inner: int = 0


HULL_GAPS = 4
"""The most elements of a tile around several sections, as a multiple of the elements in the sections."""
SMALL_HULL = 64
"""The number of elements that such a tile may always hold."""


def hull(sections: Sequence[CachedSection]) -> tuple[tuple[int, int], ...] | None:
    """
    The smallest section that contains several sections of one array: per dimension, its first element
    relative to the first section's, and its length. None if the distances are known only at run time, or if
    it would consist mostly of gaps.
    """
    first = sections[0]
    reaches = [[(0, dim.length)] for dim in first.dims]
    for other in sections[1:]:
        if len(other.dims) != len(first.dims):
            return None
        for reach, dim, base in zip(reaches, other.dims, first.dims, strict=True):
            apart = (dim.lower - base.lower).as_constant
            if apart is None or dim.stride != base.stride:
                return None
            reach.append((apart, apart + dim.length))
    found = tuple((min(r)[0], max(end for _, end in r) - min(r)[0]) for r in reaches)
    elements = prod(length for _, length in found)
    named = sum(section.elements for section in sections)
    return found if elements <= max(SMALL_HULL, HULL_GAPS * named) else None


def element_of(section: CachedSection, subscripts: Sequence[Subscript]) -> Element | None:
    """The element that a chain of subscripts selects; None if they do not match the section's dimensions."""
    indices = [ZERO] * len(section.dims)
    inner = 0
    for subscript in subscripts:
        rest = _assign(section, subscript, indices)
        if rest is None:
            return None
        inner += rest
    if not 0 <= inner < section.element_bytes:
        return None
    return Element(tuple(indices), inner)


def _assign(section: CachedSection, subscript: Subscript, indices: list[Polynomial]) -> int | None:
    """
    Adds one subscript to the index of the dimension it belongs to; returns the bytes left over, None if it
    matches no dimension.
    """
    left = subscript.index * subscript.stride
    for position, dim in enumerate(section.dims):  # rows of a length known only at run time
        if dim.stride.as_constant is not None:
            continue
        parts = divide(left, dim.stride)
        if parts is not None:
            indices[position] = indices[position] + parts[0]
            left = parts[1]
    for position, dim in enumerate(section.dims):
        if dim.stride.as_constant != subscript.stride:
            continue
        parts = divide(left, dim.stride)
        if parts is not None and not parts[1].terms:
            indices[position] = indices[position] + parts[0]
            return 0
    known = left.as_constant
    if known is not None:
        return known
    last = section.dims[-1].stride
    parts = divide(left, last)
    if parts is None or parts[1].as_constant is None:
        return None
    indices[-1] = indices[-1] + parts[0]
    return parts[1].as_constant


def offsets(section: CachedSection, element: Element) -> tuple[Polynomial, ...]:
    """The element's place relative to the section's lower bounds."""
    return tuple(i - dim.lower for i, dim in zip(element.indices, section.dims, strict=True))


def _known_bounds(offset: Polynomial, ranges: Sequence[LoopRange]) -> tuple[int | None, int | None]:
    """The least and the greatest value over the loops (innermost first); None for one that is not known."""
    bounds = extremes(offset, ranges)
    if bounds is None:
        return None, None
    lows = [low.as_constant for low in bounds.lows]
    highs = [high.as_constant for high in bounds.highs]
    return (
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def is_inside(offset: Polynomial, length: int, ranges: Sequence[LoopRange]) -> bool:
    """Whether `0 <= offset < length` for all values of the loop variables (innermost first)."""
    low, high = _known_bounds(offset, ranges)
    return low is not None and high is not None and low >= 0 and high < length


def is_outside(offset: Polynomial, length: int, ranges: Sequence[LoopRange]) -> bool:
    """Whether `offset < 0` or `offset >= length` certainly holds for all values of the loop variables."""
    low, high = _known_bounds(offset, ranges)
    return (low is not None and low >= length) or (high is not None and high < 0)


@dataclass(frozen=True)
class Rates:
    """`lower = sum(rate * variable) + rest` for one dimension; rates of other variables are 0."""

    by_variable: dict[Hashable, Polynomial]
    rest: Polynomial

    def rate(self, variable: Hashable) -> Polynomial:
        return self.by_variable.get(variable, ZERO)


def rates_of(lower: Polynomial, variables: Sequence[Hashable]) -> Rates | None:
    """The rates at which `lower` changes with the variables; None if it is not linear in them."""
    rest = lower
    found: dict[Hashable, Polynomial] = {}
    for variable in variables:
        parts = rest.split(variable)
        if parts is None:
            return None
        rest, rate = parts
        if rate.terms:
            if rate.symbols & set(variables):
                return None
            found[variable] = rate
    return Rates(found, rest)
