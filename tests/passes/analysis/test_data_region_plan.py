"""The clause an inferred data region gives an array, and why it gives none."""

from __future__ import annotations

from accopt.passes.decisions.data_region_plan import ArrayUse, LeftOut, MappingClause, region_clause


def use(
    clause: MappingClause, *, certain: bool = True, writes: bool | None = None, line: int = 7
) -> ArrayUse:
    return ArrayUse(
        clause, certain, clause is not MappingClause.COPYIN if writes is None else writes, line
    )


def why(*uses: ArrayUse) -> str:
    decided = region_clause(uses)
    assert isinstance(decided, LeftOut)
    return decided.why


def test_clauses_of_one_kind_stay() -> None:
    for clause in MappingClause:
        assert region_clause([use(clause), use(clause, certain=False)]) is clause


def test_an_array_written_by_one_and_read_by_another_is_copied_both_ways() -> None:
    assert region_clause([use(MappingClause.COPYIN), use(MappingClause.COPY)]) is MappingClause.COPY
    assert (
        region_clause([use(MappingClause.COPYOUT), use(MappingClause.COPYIN)]) is MappingClause.COPY
    )


def test_nothing_is_mapped_that_may_not_be_used() -> None:
    assert why(use(MappingClause.COPY, certain=False)) == "line 7 may not run"


def test_nothing_is_copied_back_that_may_not_be_written() -> None:
    reads, writes = use(MappingClause.COPYIN), use(MappingClause.COPY, certain=False, line=9)
    assert why(reads, writes) == "line 9, which copies it out, may not run"


def test_what_a_construct_writes_and_drops_must_be_dropped() -> None:
    assert (
        why(use(MappingClause.COPYIN, writes=True)) == "line 7 changes an array that it copies in"
    )
    assert why(use(MappingClause.COPY), use(MappingClause.COPYIN, writes=True, line=8)).startswith(
        "line 8 "
    )


def test_what_a_construct_leaves_in_a_created_copy_is_not_for_others() -> None:
    assert (
        why(use(MappingClause.COPY), use(MappingClause.CREATE, line=8))
        == "line 8 creates it, others copy it"
    )
