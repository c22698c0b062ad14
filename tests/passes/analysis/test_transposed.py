"""Which loop of a nest gets the lanes so that stores go along memory and loads can be staged."""

from __future__ import annotations

import pytest
from accopt.passes.stage_transposed_accesses.transposed import (
    Direction,
    NestAccess,
    choose_lanes,
)

STILL, ALONG, ACROSS = Direction.STILL, Direction.ALONG, Direction.ACROSS


def load(outer: Direction, inner: Direction) -> NestAccess:
    return NestAccess(False, outer, inner)


def store(outer: Direction, inner: Direction) -> NestAccess:
    return NestAccess(True, outer, inner)


def test_a_load_across_memory_is_staged_with_the_lanes_where_the_store_goes_along():
    assert choose_lanes([load(ALONG, ACROSS), store(ACROSS, ALONG)]) is False
    assert choose_lanes([load(ACROSS, ALONG), store(ALONG, ACROSS)]) is True


@pytest.mark.parametrize(
    "accesses",
    [
        [load(ACROSS, ALONG), store(ACROSS, ALONG)],  # nothing is transposed
        [load(ALONG, ACROSS)],  # nothing is stored: a reduction
        [load(ALONG, ACROSS), store(ACROSS, ALONG), store(ALONG, ACROSS)],  # stores disagree
        [load(ALONG, ACROSS), store(STILL, STILL)],
        [load(ACROSS, ACROSS), store(ACROSS, ALONG)],  # along memory in no direction
        [load(ALONG, STILL), store(ACROSS, ALONG)],  # the same for all lanes: a broadcast
    ],
)
def test_nests_that_tiles_do_not_help(accesses: list[NestAccess]):
    assert choose_lanes(accesses) is None


def test_loads_along_memory_stay_as_they_are():
    along, across = load(ACROSS, ALONG), load(ALONG, ACROSS)
    lanes_outside = choose_lanes([along, across, store(ACROSS, ALONG)])
    assert lanes_outside is False
    assert across.is_transposed(lanes_outside) and not along.is_transposed(lanes_outside)
