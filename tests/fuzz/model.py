"""The parts of a random program: arrays, loops in scope, and a construct under construction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SMALL = (60, 9, 14, 6)
LARGE = (1500, 40, 130, 5)
"""Extents of one-dimensional arrays, of two-dimensional ones, and the third: loops stay inside."""


@dataclass(frozen=True)
class Array:
    name: str
    type: str
    shape: tuple[int, ...]
    heap: bool = False

    @property
    def floating(self) -> bool:
        return self.type in ("float", "double")

    @property
    def section(self) -> str:
        return f"{self.name}[0:n]" if self.heap else self.name


def make_arrays(extents: tuple[int, int, int, int]) -> tuple[Array, ...]:
    """The arrays of a program; `p` and `q` are parameters that point to heap memory."""
    n, r, c, k = extents
    return (
        Array("A", "int", (n,)),
        Array("B", "int", (n,)),
        Array("L", "long", (n,)),
        Array("U", "unsigned", (n,)),
        Array("S", "short", (n,)),
        Array("Q", "unsigned char", (n,)),
        Array("D", "double", (n,)),
        Array("E", "double", (n,)),
        Array("F", "float", (n,)),
        Array("M", "int", (r, c)),
        Array("P", "int", (r, c)),
        Array("X", "double", (r, c)),
        Array("T", "int", (k, r, c)),
        Array("Y", "double", (k, r, c)),
        Array("p", "int", (n,), heap=True),
        Array("q", "double", (n,), heap=True),
    )


HISTOGRAM = Array("H", "int", (16,))
SCALARS = {"s0": "int", "s1": "long", "s2": "unsigned", "s3": "double"}


@dataclass
class Loop:
    """A loop in scope: its variable, the values it takes, and whether iterations run in parallel."""

    name: str
    low: int
    high: int
    parallel: bool


@dataclass
class Construct:
    """One function under construction."""

    lines: list[str] = field(default_factory=list[str])
    indent: int = 1
    loops: list[Loop] = field(default_factory=list[Loop])
    owned: dict[str, tuple[tuple[str, ...], list[str]]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], list[str]]]
    )
    """Array → the parallel variables around its accesses, and its subscripts."""
    read: set[str] = field(default_factory=set[str])
    temporaries: list[str] = field(default_factory=list[str])
    declared: list[str] = field(default_factory=list[str])
    reduction: str | None = None
    atomic: bool = False
    free: bool = False
    """Whether any access is allowed, as the compiler has to find the parallel loops."""
    serial: bool = False
    in_data: bool = False
    """Whether it is in a data construct, where execution on the host would have another meaning."""
    count: int = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line if not line.startswith("#") else line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(head + " {" if head else "{")
        self.indent += 1
        yield
        self.indent -= 1
        self.add("}")
