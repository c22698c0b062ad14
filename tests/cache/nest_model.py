"""The parts of a generated nest (see `generator.py`): linear subscripts, loops, arrays, data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

HEAD = """\
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef NO_CACHE
#define CACHE(...)
#else
#define CACHE(...) PRAGMA(acc cache(__VA_ARGS__))
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
struct pair { float x; float y; };
"""
TYPES = {
    "float": np.float32,
    "double": np.float64,
    "int": np.int32,
    "long": np.int64,
    "short": np.int16,
    "signed char": np.int8,
    "struct pair": np.float32,
}
MEMBERS = {"struct pair": 2}
MOST = 300_000
"""Elements of an array."""

Range = tuple[int, int]
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Linear:
    """`sum(coefficient * variable) + constant`; variables are names in C."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def plus(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        terms = dict(self.terms)
        for name, coefficient in other.terms:
            terms[name] = terms.get(name, 0) + coefficient
        return Linear(tuple(terms.items()), self.constant + other.constant)

    def reach(self, ranges: Mapping[str, Range]) -> Range:
        """The least and the greatest value."""
        low = high = self.constant
        for name, coefficient in self.terms:
            ends = [coefficient * end for end in ranges[name]]
            low, high = low + min(ends), high + max(ends)
        return low, high

    @property
    def text(self) -> str:
        parts: list[str] = []
        for name, coefficient in self.terms:
            if coefficient:
                parts.append(name if coefficient == 1 else f"{coefficient} * {name}")
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def variable(name: str, coefficient: int = 1) -> Linear:
    return Linear(((name, coefficient),))


@dataclass(frozen=True)
class Loop:
    """A parallel loop: `count` iterations (None: parameter `trips`), from `first` in steps."""

    name: str
    trips: str
    first: int
    step: int
    down: bool
    count: int | None

    def trip_count(self, sizes: Sizes) -> int:
        return sizes[self.trips] if self.count is None else self.count

    def values(self, sizes: Sizes) -> Range:
        return self.first, self.first + self.step * max(0, self.trip_count(sizes) - 1)

    @property
    def head(self) -> str:
        count = self.trips if self.count is None else str(self.count)
        end = f"{self.first} + {self.step} * {count}"
        if self.down:
            start = f"{self.first} + {self.step} * ({count} - 1)"
            return f"for (int {self.name} = {start}; {self.name} >= {self.first}; {self.name} -= {self.step})"
        return (
            f"for (int {self.name} = {self.first}; {self.name} < {end}; {self.name} += {self.step})"
        )


@dataclass
class Array:
    """
    A parameter. `lowers`, `lengths`: its section; `flat`: two dimensions in one, with the length of a
    row as a parameter; `fixed`: the inner extents are constants.
    """

    name: str
    type: str
    lowers: list[Linear]
    lengths: list[int]
    written: bool = False
    flat: bool = False
    fixed: bool = False
    readonly: bool = False
    indices: list[list[Linear]] = field(default_factory=list[list[Linear]])
    bases: list[int] = field(default_factory=list[int])

    def access(self, index: list[Linear]) -> str:
        """The element at `index`, which is recorded for the extents."""
        self.indices.append(index)
        return f"{self.name}{self.subscripts([i.text for i in index])}" + (
            ".y" if self.type in MEMBERS else ""
        )

    def subscripts(self, texts: list[str]) -> str:
        if self.flat:
            return f"[({texts[0]}) * {self.name}_1 + {texts[1]} + {self.name}_o]"
        return "".join(f"[{text} + {self.name}_o{d}]" for d, text in enumerate(texts))

    def section(self) -> str:
        """The section as the directive names it."""
        lowers, lengths = [lower.text for lower in self.lowers], self.lengths
        if self.flat:
            return f"{self.name}[({lowers[0]}) * {self.name}_1 + {lowers[1]} + {self.name}_o:{lengths[1]}]"
        return self.name + "".join(
            f"[{lower} + {self.name}_o{d}:{length}]"
            for d, (lower, length) in enumerate(zip(lowers, lengths, strict=True))
        )

    def extents(self, ranges: Mapping[str, Range]) -> tuple[list[int], list[int]]:
        """Elements in each dimension that the accesses need, and what to add to the indices."""
        offsets: list[int] = []
        sizes: list[int] = []
        for d in range(len(self.lowers)):
            reaches = [index[d].reach(ranges) for index in self.indices]
            low, high = min(r[0] for r in reaches), max(r[1] for r in reaches)
            offsets.append(-low)
            sizes.append(high - low + 1)
        return sizes, offsets


@dataclass
class Nest:
    """A program of one function `f`, and how to call it."""

    loops: list[Loop]
    arrays: list[Array]
    out: Array
    sizes: list[dict[str, int]]
    inner: dict[str, Range]
    """Values of the variables that are no loops of the nest."""
    strict_indices: bool
    """Whether all accesses lie in their sections."""
    overlapping: bool
    """Whether sections of written arrays overlap or leave a row, so that blocks copy elements that others
    write."""
    text: str = ""

    def keep_small(self) -> None:
        """Takes smaller sizes until no array has more than `MOST` elements."""
        while any(self._elements(array) > MOST for array in [*self.arrays, self.out]):
            largest = max(
                value for sizes in self.sizes for name, value in sizes.items() if name != "p"
            )
            if largest <= 4:
                return
            for sizes in self.sizes:
                for name in sizes:
                    if name != "p":
                        sizes[name] = min(sizes[name], largest * 3 // 4)

    def _elements(self, array: Array) -> int:
        return max(
            int(np.prod(array.extents(self._ranges(sizes, array))[0])) for sizes in self.sizes
        )

    def constants(self) -> list[str]:
        """Definitions of the extents that are constants."""
        found: list[str] = []
        for array in self.arrays:
            if array.fixed:
                extents, _ = array.extents(self._ranges(self.sizes[0], array))
                for d, extent in enumerate(extents[1:], 1):
                    found.append(f"#define {array.name.upper()}_{d} {extent}")
        return found

    def arguments(self, sizes: Sizes, seed: int) -> list[object]:
        """The arguments for one choice of sizes, integers and arrays."""
        rng = np.random.default_rng(seed)
        found: list[object] = list(sizes.values())
        data: list[object] = []
        for array in [*self.arrays, self.out]:
            extents, offsets = array.extents(self._ranges(sizes, array))
            if array.flat:
                found += [extents[0] * extents[1], extents[1], offsets[0] * extents[1] + offsets[1]]
            else:
                found += [*extents, *offsets]
            shape = (*extents, MEMBERS[array.type]) if array.type in MEMBERS else tuple(extents)
            data.append(rng.integers(-4, 5, shape).astype(TYPES[array.type]))
        return [*found, rng.integers(0, 1000, 64).astype(np.int32), *data]

    def _ranges(self, sizes: Sizes, array: Array) -> dict[str, Range]:
        largest = {
            name: max(choice[name] for choice in self.sizes) if array.fixed else size
            for name, size in sizes.items()
        }
        ranges = {loop.name: loop.values(largest) for loop in self.loops}
        for loop in self.loops:
            ranges[f"({loop.name}_last - {loop.name})"] = (0, ranges[loop.name][1] - loop.first)
        if "p" in largest:
            ranges["k"] = ranges["q"] = (0, max(0, largest["p"] - 1))
        return {**ranges, **self.inner}
