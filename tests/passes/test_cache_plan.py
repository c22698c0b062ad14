"""Decisions about tiles: sharing, sizes, padding, methods and write policies."""

from __future__ import annotations

import random

import pytest
from accopt.passes.decisions.cache_banks import choose_padding, shared_passes, warp_addresses
from accopt.passes.decisions.cache_plan import (
    Axis,
    CacheTuning,
    Sharing,
    TilePlan,
    Uses,
    choose_method,
    choose_write_policy,
    column_axis,
    extract_sharing,
    is_product,
    plan_tile,
    row_axis,
    tiles_are_disjoint,
    why_no_tiles,
)
from accopt.passes.decisions.cache_section import CachedSection, SectionDim
from accopt.passes.decisions.cache_shapes import (
    block_threads,
    buffers,
    is_crowded,
    outputs_per_thread,
    resident_blocks,
)
from accopt.passes.decisions.polynomials import Polynomial

I, J, K, N = (Polynomial.symbol(name) for name in "ijkn")
number = Polynomial.constant
ROW, COLUMN = Axis("i", "i"), Axis("j", "j")
BOTH = Sharing((0, 1))


def line(lower: Polynomial, length: int) -> CachedSection:
    return CachedSection("a", (SectionDim(lower, length, number(4)),), 4)


def box(
    rows: Polynomial, columns: Polynomial, height: int, width: int, name: str = "a"
) -> CachedSection:
    return CachedSection(
        name, (SectionDim(rows, height, N * 4), SectionDim(columns, width, number(4))), 4
    )


LEFT, RIGHT = box(I, K, 1, 16, "left"), box(K, J, 16, 1, "right")


def tile(
    section: CachedSection, axes: list[Axis], sharing: Sharing, widths: tuple[int, ...]
) -> TilePlan:
    plan = plan_tile(section, axes, sharing, widths, 0)
    assert isinstance(plan, TilePlan), plan
    return plan


def test_both_loops_of_a_matrix_product_share() -> None:
    assert extract_sharing([LEFT, RIGHT], [ROW, COLUMN]).axes == (0, 1)


def test_products_are_told_from_windows() -> None:
    axes = [ROW, COLUMN]
    assert is_product([LEFT, RIGHT], axes, BOTH)
    assert not is_product([LEFT], axes, BOTH)
    assert not is_product([LEFT, RIGHT], axes, Sharing((1,)))
    assert not is_product([box(I - 1, J - 1, 3, 3), RIGHT], axes, BOTH)
    assert why_no_tiles([Uses(16, False), Uses(16, False)], product=True) is None
    assert why_no_tiles([Uses(16, False), Uses(16, False)]) is not None
    assert why_no_tiles([Uses(1, False), Uses(1, False)], product=True) is not None


def test_rows_that_share_nothing_are_not_mapped_to_threads() -> None:
    rows_only = box(I, J - 1, 1, 3)
    assert extract_sharing([rows_only], [ROW, COLUMN]).axes == (1,)


def test_a_gang_clause_is_respected_and_reported() -> None:
    gang = Axis("i", "i", gang_only=True)
    sharing = extract_sharing([LEFT, RIGHT], [gang, COLUMN])
    assert sharing.axes == (1,)
    assert "right" in sharing.notes[0] and "gang" in sharing.notes[0]
    assert extract_sharing([LEFT], [ROW, Axis("j", "j", gang_only=True)]).axes == ()


@pytest.mark.parametrize(
    ("lower", "length", "expected"),
    [(I, 3, 5), (I * 2 + 1, 3, 7), (I * 3 + 4, 5, 11)],
)
def test_sizes_of_the_papers_table_1(lower: Polynomial, length: int, expected: int) -> None:
    plan = tile(line(lower, length), [ROW], Sharing((0,)), (3,))
    assert plan.elements == expected


def test_a_tile_holds_what_every_iteration_names() -> None:
    rng = random.Random(1)
    for _ in range(200):
        rate, step, length = rng.randint(-4, 4), rng.randint(1, 3), rng.randint(1, 6)
        width = rng.randint(1, 8)
        axis = Axis("i", "i", step)
        plan = tile(line(I * rate, length), [axis], Sharing((0,)), (width,))
        named = {rate * step * t + e for t in range(width) for e in range(length)}
        assert plan.elements >= len(named)
        assert plan.elements <= width * length or rate == 0
        if abs(rate * step) <= length:
            assert plan.elements == max(named) - min(named) + 1


def test_rows_in_one_dimension_get_a_dimension_of_their_own() -> None:
    plan = tile(line(I * N + K, 16), [ROW, COLUMN], BOTH, (8, 32))
    assert [d.size for d in plan.dims] == [8, 16]
    assert plan.dims[0].stride == N * 4
    assert [(m.axis, m.dim, m.rate) for m in plan.moves] == [(0, 0, 1)]


def test_a_lower_bound_that_is_not_linear_is_refused() -> None:
    assert "not linear" in str(plan_tile(line(I * I, 3), [ROW], Sharing((0,)), (8,), 0))


def test_the_depth_of_a_product_is_the_side_of_the_block() -> None:
    assert block_threads([LEFT, RIGHT], [ROW, COLUMN], BOTH, CacheTuning()) == (16, 16)
    given = block_threads([LEFT, RIGHT], [ROW, COLUMN], BOTH, CacheTuning(), (4, 64))
    assert given == (4, 64)
    tuned = block_threads([LEFT, RIGHT], [ROW, COLUMN], BOTH, CacheTuning(block_x=32, block_y=2))
    assert tuned == (2, 32)
    assert block_threads([line(I, 3)], [Axis("i", "i", 1, 70)], Sharing((0,)), CacheTuning()) == (
        128,
    )


def test_how_the_factors_of_a_product_are_stored() -> None:
    left = plan_tile(LEFT, [ROW, COLUMN], BOTH, (128, 128), 0)
    right = plan_tile(RIGHT, [ROW, COLUMN], BOTH, (128, 128), 0)
    assert not isinstance(left, str) and not isinstance(right, str)
    assert column_axis(left) == 0 and row_axis(left) is None
    assert column_axis(right) is None and row_axis(right) == 1
    other = plan_tile(LEFT, [ROW, COLUMN], BOTH, (128, 128), 4, transposed=True)
    assert not isinstance(other, str)
    assert [dim.pitch for dim in other.dims] == [4, 4 * 132]
    assert other.bytes == 16 * 4 * 132
    assert row_axis(other) == 0


def test_bank_conflicts() -> None:
    def conflict_degree(coefficients: list[int], threads: tuple[int, int], bytes: int) -> int:
        passes, least = shared_passes(warp_addresses(coefficients, threads), bytes)
        return passes // least

    assert conflict_degree([0, 4], (16, 16), 4) == 1
    assert conflict_degree([0, 128], (8, 32), 4) == 32
    assert conflict_degree([0, 132], (8, 32), 4) == 1
    assert conflict_degree([0, 0], (8, 32), 4) == 1
    assert conflict_degree([0, 8], (8, 32), 8) == 1
    # Both halves of a warp read one word of 8 bytes each, from the same banks.
    assert conflict_degree([128, 0], (16, 16), 8) == 2


def test_padding_spreads_columns_over_banks() -> None:
    # Lanes walk down a column of 32: without padding all fall into one bank.
    section = box(J, K, 1, 32)
    threads = (8, 32)
    moves = [[0, 1, 0, 0]]
    padding = choose_padding(section, [ROW, COLUMN], BOTH, threads, threads, moves)
    assert padding == 1
    # Lanes four elements apart meet in every fourth bank at best.
    padding = choose_padding(section, [ROW, COLUMN], BOTH, threads, threads, moves, (1, 4))
    assert padding == 1
    rows = choose_padding(RIGHT, [ROW, COLUMN], BOTH, (16, 16), (16, 16), [[0, 0, 0, 1]])
    assert rows == 0


def test_outputs_per_thread() -> None:
    axes, threads = [ROW, COLUMN], (16, 16)

    def outputs(
        renewed: bool, bytes: int = 4, tuning: CacheTuning | None = None
    ) -> tuple[int, ...]:
        return outputs_per_thread(
            axes, BOTH, threads, tuning or CacheTuning(), renewed=renewed, element_bytes=bytes
        )

    assert outputs(True) == (8, 8)
    assert outputs(True, 8) == (8, 4)
    assert outputs(False) == (4, 1)
    assert outputs(True, tuning=CacheTuning(rows=1, columns=1)) == (1, 1)
    axes = [Axis("i", "i", 1, 300), COLUMN]
    assert outputs(True) == (4, 8)
    axes = [Axis("i", "i", 1, 64), COLUMN]
    assert outputs(True) == (1, 8)
    assert outputs(True, tuning=CacheTuning(block_x=32)) == (1, 8)
    threads = (32, 32)
    assert outputs(True, tuning=CacheTuning(block_x=32)) == (1, 4)
    assert is_crowded((32, 32), (4, 4), CacheTuning())
    assert not is_crowded((32, 32), (4, 4), CacheTuning(block_x=32))
    assert is_crowded((8, 8), (8, 8), CacheTuning())
    assert not is_crowded((8, 8), (4, 4), CacheTuning())
    assert resident_blocks((16, 16), (8, 8), ahead=False) == 2
    assert resident_blocks((16, 16), (8, 8), ahead=True) == 0
    assert resident_blocks((16, 16), (4, 4), ahead=False) == 0
    assert (buffers((8, 8), 0), buffers((4, 4), 0), buffers((8, 8), 1)) == (2, 1, 1)


def test_methods() -> None:
    assert choose_method(True, False, True)[0] == "rbi"
    assert choose_method(False, True, True)[0] == "rbi"
    assert choose_method(False, False, True)[0] == "rbc"
    assert choose_method(True, False, False)[0] == "ehc"


def test_small_windows_are_left_to_the_l1_cache() -> None:
    window = Uses(9, renewed=False)
    assert "9 reads" in (why_no_tiles([window]) or "")
    assert why_no_tiles([Uses(61, False)]) is None
    assert why_no_tiles([Uses(3, False, read_in_loop=True)], axes=1) is None
    assert why_no_tiles([Uses(3, False, read_in_loop=True)], axes=2) is not None
    assert why_no_tiles([Uses(9, renewed=True)]) is None
    assert why_no_tiles([Uses(None, False)]) is None
    assert why_no_tiles([window, Uses(1, False, 1, stores_in_loop=True)]) is None


def test_write_policies() -> None:
    once = Uses(1, False, stores=1)
    often = Uses(1, False, stores=1, stores_in_loop=True)
    seldom = Uses(1, False, 1, stores_in_loop=True, conditional_stores=True)
    assert choose_write_policy(once, True)[0] == "through"
    assert choose_write_policy(often, True)[0] == "back"
    assert choose_write_policy(often, False)[0] == "mask"
    assert choose_write_policy(seldom, True)[0] == "through"


def test_blocks_that_hold_common_elements_are_found() -> None:
    own = tile(line(I, 1), [ROW], Sharing((0,)), (32,))
    halo = tile(line(I - 1, 3), [ROW], Sharing((0,)), (32,))
    whole = tile(line(number(0), 64), [ROW], Sharing((0,)), (32,))
    assert tiles_are_disjoint(own, [ROW])
    assert not tiles_are_disjoint(halo, [ROW])
    assert not tiles_are_disjoint(whole, [ROW])
    # Rows of 41 or 43 elements in one dimension, of which 21 iterations take two each.
    short = [ROW, Axis("j", "j", 1, 21)]
    for pitch, apart in ((number(41), False), (number(43), True), (N, False)):
        plan = tile(line(I * pitch + J * 2, 2), short, BOTH, (8, 32))
        assert tiles_are_disjoint(plan, short) == apart
