"""The requests that a section through arrays of pointers stands for."""

from __future__ import annotations

import pytest
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.data.clauses import Request
from accopt.runtime.data.pointer_rows import parts

POINTERS = {1008: 5000, 1016: 0, 1024: 7000, 5000: 9000, 5008: 9500}


def rows(kind: DataKind, *shape: tuple[int, int, int], flags: int = 0) -> Request:
    return Request(1000, 8, 16, kind, DataFlag(flags) | DataFlag.ROWS, shape=shape)


def brief(requests: list[Request]) -> list[tuple[str, int, int, int, int]]:
    return [(r.kind.name, r.base, r.offset, r.bytes, r.pointer) for r in requests]


def test_a_plain_request_is_itself() -> None:
    request = Request(1000, 0, 8, DataKind.COPY)
    assert parts(request, POINTERS.__getitem__) == [request]


def test_rows_are_attached_to_their_pointers() -> None:
    found = parts(rows(DataKind.COPYIN, (1, 3, -8), (2, 4, 4)), POINTERS.__getitem__)
    assert brief(found) == [
        ("COPYIN", 1000, 8, 24, 0),  # one of its pointers is null, and stays so
        ("COPYIN", 5000, 8, 16, 1008),
        ("COPYIN", 0, 8, 16, 1016),
        ("COPYIN", 7000, 8, 16, 1024),
    ]
    assert not any(r.flags & DataFlag.ROWS for r in found)


@pytest.mark.parametrize(
    ("kind", "whole", "some"),
    [
        (DataKind.CREATE, "CREATE", "COPYIN"),
        (DataKind.COPYOUT, "CREATE", "COPYIN"),
        (DataKind.COPY, "CREATE", "COPYIN"),
        (DataKind.PRESENT, "PRESENT", "PRESENT"),
        (DataKind.NO_CREATE, "NO_CREATE", "NO_CREATE"),
    ],
)
def test_pointers_come_by_attaching_unless_some_are_null(
    kind: DataKind, whole: str, some: str
) -> None:
    for first, count, block in ((1, 1, whole), (1, 2, some), (2, 1, some)):
        found = parts(rows(kind, (first, count, -8), (0, 4, 4)), POINTERS.__getitem__)
        assert [r.kind.name for r in found] == [block, *[kind.name] * count]


def test_pointers_to_pointers() -> None:
    found = parts(rows(DataKind.PRESENT, (1, 1, -8), (0, 2, -8), (0, 3, 8)), POINTERS.__getitem__)
    assert brief(found) == [
        ("PRESENT", 1000, 8, 8, 0),
        ("PRESENT", 5000, 0, 16, 1008),
        ("PRESENT", 9000, 0, 24, 5000),
        ("PRESENT", 9500, 0, 24, 5008),
    ]


@pytest.mark.parametrize(
    ("kind", "flags", "block"),
    [
        (DataKind.COPYOUT, DataFlag.DYNAMIC, "DELETE"),
        (DataKind.COPYOUT, 0, "CREATE"),
        (DataKind.DELETE, DataFlag.DYNAMIC, "DELETE"),
        (DataKind.COPY, 0, "CREATE"),
    ],
)
def test_what_becomes_of_the_pointers_at_exit(kind: DataKind, flags: int, block: str) -> None:
    found = parts(
        rows(kind, (1, 1, -8), (0, 2, 8), flags=flags), POINTERS.__getitem__, leaving=True
    )
    assert [r.kind.name for r in found] == [block, kind.name]


def test_an_update_moves_rows_only() -> None:
    found = parts(
        rows(DataKind.UPDATE_SELF, (1, 1, -8), (1, 2, 32), (3, 2, 4)), POINTERS.__getitem__
    )
    (row,) = found
    assert (row.base, row.offset, row.bytes) == (5000, 44, 40)
    assert row.shape == ((1, 2, 32), (3, 2, 4))


def test_empty_sections_have_no_rows() -> None:
    found = parts(rows(DataKind.COPY, (0, 0, -8), (0, 4, 8)), POINTERS.__getitem__)
    assert brief(found) == [("CREATE", 1000, 0, 0, 0)]
