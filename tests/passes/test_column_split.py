"""The shares of sums of columns (`passes/decisions/column_split.py`)."""

from accopt.passes.decisions.column_split import (
    COLUMNS,
    FEWEST_ELEMENTS,
    MANY_COLUMNS,
    MOST_GANGS,
    MOST_LONG_ROWS,
    THREADS,
    ColumnShares,
    column_shares,
    row_shares,
)

_LENGTHS = [
    *range(1, 140),
    255,
    256,
    257,
    300,
    1000,
    1023,
    1024,
    1025,
    4096,
    8191,
    8192,
    270000,
    1 << 24,
]


class _Whole:
    """Sizes that are numbers."""

    def multiply(self, a: int, b: int) -> int:
        return a * b

    def divide(self, a: int, b: int) -> int:
        return a // b

    def ceil_divide(self, a: int, b: int) -> int:
        return -(-a // b)

    def minimum(self, a: int, b: int) -> int:
        return min(a, b)

    def maximum(self, a: int, b: int) -> int:
        return max(a, b)


def _shares(rows: int, columns: int, groups: int) -> ColumnShares[int]:
    return column_shares(_Whole(), rows, columns, groups)


def test_every_column_has_a_thread_and_every_gang_has_room() -> None:
    for rows in _LENGTHS:
        for columns in _LENGTHS:
            if rows * columns < FEWEST_ELEMENTS:
                continue
            for groups in (1, 3, 500):
                found = _shares(rows, columns, groups)
                assert found.tiles * found.width >= columns
                assert (found.tiles - 1) * found.width < columns
                assert 1 <= found.width * found.phases <= THREADS
                assert found.gangs == groups * found.tiles * found.split
                # what the memory of a launch is made for, and the rows that are left for each thread
                if found.split > 1:
                    assert found.gangs <= MOST_GANGS
                    assert found.width <= COLUMNS
                    assert found.split * found.phases * 8 <= rows


def test_few_columns_fill_the_device() -> None:
    for columns in (1, 3, 8, 100, 1000, 4096):
        found = _shares((1 << 24) // columns, columns, 1)
        assert MOST_GANGS * 0.8 <= found.gangs <= MOST_GANGS
        assert found.width * found.phases >= 0.8 * THREADS


def test_short_columns_get_a_thread_each() -> None:
    found = _shares(8, 1 << 20, 1)
    assert (found.width, found.phases, found.split) == (THREADS, 1, 1)


def test_all_threads_of_a_gang_work_on_one_long_row() -> None:
    for rows in range(1, MOST_LONG_ROWS + 1):
        for length in (FEWEST_ELEMENTS, FEWEST_ELEMENTS + 1, 3 * FEWEST_ELEMENTS, 1 << 24):
            found = row_shares(_Whole(), length, rows)
            assert (found.width, found.phases, found.tiles) == (1, THREADS, rows)
            assert found.gangs == rows * found.split
            assert found.split == 1 or found.gangs <= MOST_GANGS
            assert found.split * FEWEST_ELEMENTS <= length
    assert row_shares(_Whole(), 1 << 20, 16).split == MOST_GANGS // 16


def test_many_columns_have_a_thread_each() -> None:
    for rows in (1, 16, 27, 4096):
        assert _shares(rows, MANY_COLUMNS, 1).phases == 1
        assert _shares(rows, MANY_COLUMNS // 64, 64).phases == 1
        assert _shares(rows, MANY_COLUMNS // 64, 64).split == 1
    assert _shares(4096, MANY_COLUMNS // 2, 1).phases == THREADS // COLUMNS
