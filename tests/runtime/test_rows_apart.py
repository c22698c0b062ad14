"""Whether rows behind arrays of pointers lie apart, beside the same question asked byte by byte."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from itertools import chain

import numpy as np
from accopt.compiler.base.abi import RowSection
from accopt.runtime.rows_apart import PlacedSection, RowsApart, read_sections

WRITTEN, ROWS = RowSection.WRITTEN, RowSection.ROWS
POINTER = -8


class Memory:
    """Arrays of pointers at real addresses; rows are anywhere, as nobody reads them."""

    def __init__(self) -> None:
        self.tables: list[np.ndarray] = []

    def table(self, *pointers: int) -> int:
        self.tables.append(np.array(pointers, np.int64))
        return self.tables[-1].ctypes.data


def _bytes(section: PlacedSection) -> list[set[int]]:
    """The bytes of each row, in the plainest way."""

    def walk(base: int, dims: tuple[tuple[int, int, int], ...]) -> Iterator[set[int]]:
        if not dims:
            yield {base}
            return
        (lower, extent, stride), *rest = dims
        inner: set[int] = set()
        for i in range(lower, lower + extent):
            if stride < 0:
                pointer = ctypes.c_int64.from_address(base - i * stride).value
                yield from walk(pointer, tuple(rest))
            else:
                begin = base + i * stride
                inner |= set(range(begin, begin + stride))
        if stride > 0:
            yield inner

    return list(walk(section.base, section.dims))


def _numbers(sections: list[PlacedSection]) -> bytes:
    """As compiled code writes them."""
    words: list[int] = []
    for section in sections:
        words += [section.base, section.kind, len(section.dims), *chain(*section.dims)]
    return np.array(words, np.int64).tobytes()


def _expected(sections: list[PlacedSection]) -> bool:
    parts = [(section.kind, row) for section in sections for row in _bytes(section)]
    return not any(
        (a | b) & WRITTEN and (a | b) & ROWS and one & other
        for i, (a, one) in enumerate(parts)
        for b, other in parts[i + 1 :]
    )


def test_against_bytes() -> None:
    random.seed(5)
    answers = {True: 0, False: 0}
    memory = Memory()
    for _ in range(800):
        sections: list[PlacedSection] = []
        for _ in range(random.randint(1, 3)):
            kind = RowSection(random.choice((0, 1)))
            lower, extent = random.randint(0, 3), random.randint(0, 6)
            if random.random() < 0.3:
                base = random.randrange(1000, 1120)
                sections.append(PlacedSection(base, kind, ((lower, extent, 4),)))
                continue
            rows = [1000 + 48 * place for place in random.choices(range(9), k=5)]
            if random.random() < 0.5:
                random.shuffle(rows := [1000 + 32 * place for place in range(5)])
            table = memory.table(*rows)
            first, count = random.randint(0, 2), random.randint(0, 3)
            dims = (first, count, POINTER), (lower, extent, 4)
            if random.random() < 0.3:
                table = memory.table(table, memory.table(*reversed(rows)))
                dims = (0, random.randint(0, 2), POINTER), *dims
            sections.append(PlacedSection(table, kind | ROWS, dims))
        expected = _expected(sections)
        answers[expected] += 1
        assert RowsApart().apart(_numbers(sections)) == expected, sections
    assert min(answers.values()) > 60


def test_an_answer_holds_as_long_as_the_pointers() -> None:
    memory, asked = Memory(), RowsApart()
    table = memory.table(1000, 1100)
    section = PlacedSection(table, WRITTEN | ROWS, ((0, 2, POINTER), (0, 10, 8)))
    question = _numbers([section])
    assert asked.apart(question) and asked.apart(question)
    memory.tables[0][1] = 1040
    assert not asked.apart(question) and not asked.apart(question)
    memory.tables[0][1] = 1080
    assert asked.apart(question)


def test_tables_of_before_are_not_read() -> None:
    memory, asked = Memory(), RowsApart()
    inner = memory.table(1000, 1100)
    outer = memory.table(inner)
    dims = (0, 1, POINTER), (0, 2, POINTER), (0, 10, 8)
    question = _numbers([PlacedSection(outer, WRITTEN | ROWS, dims)])
    assert asked.apart(question)
    memory.tables[0][:] = 0  # what is freed may be anything
    memory.tables[1][0] = memory.table(1000, 1200)
    assert asked.apart(question)
    memory.tables[2][1] = 1000
    assert not asked.apart(question)


def test_what_compiled_code_writes() -> None:
    sections = [
        PlacedSection(64, WRITTEN | ROWS, ((0, 5, -8), (1, 6, 4))),
        PlacedSection(96, RowSection(0), ((0, 7, 1),)),
    ]
    numbers = (64, 3, 2, 0, 5, -8, 1, 6, 4, 96, 0, 1, 0, 7, 1)
    assert _numbers(sections) == np.array(numbers, np.int64).tobytes()
    assert read_sections(_numbers(sections)) == sections
