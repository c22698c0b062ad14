"""
What an inferred data region does with one array, from what the constructs in it do (OpenACC 3.4, 2.7).

`region_clause` is the table; the pass `infer-data-regions` reads the uses off the IR. In a region
that holds the array, the data actions of the constructs only count. That is the same program if

- the device's copy at each construct's entry is what a copy from the host would have been: nobody
  else changes the host's (the pass sees to that), and no construct changes a copy that it then drops;
- the host's copy after the region is what the last construct would have left;
- the region maps nothing that no construct would have mapped: the array's address and section are
  those of a construct that certainly runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class MappingClause(Enum):
    """A data clause that maps its variable."""

    COPY = "copy"
    COPYIN = "copyin"
    COPYOUT = "copyout"
    CREATE = "create"

    @property
    def copies_out(self) -> bool:
        return self in (MappingClause.COPY, MappingClause.COPYOUT)


@dataclass(frozen=True)
class ArrayUse:
    """
    One clause on the array. `certain`: its construct runs whenever the region is entered.
    `writes`: the construct may change the device's copy. `line`: of the construct.
    """

    clause: MappingClause
    certain: bool
    writes: bool
    line: int


@dataclass(frozen=True)
class LeftOut:
    """Why an array has no part in the region."""

    why: str


def region_clause(uses: Sequence[ArrayUse]) -> MappingClause | LeftOut:
    """
    The clause of the region for an array with these uses.

    An array that some construct creates is created, if all do: what one leaves in it another must
    not take for the host's values. One that a construct changes and drops (`copyin`) is fetched
    anew each time, which a region would not do. Of an array that all copy out nothing is fetched:
    elements nobody writes are as undefined as they are without the region.
    """
    clauses = {use.clause for use in uses}
    if not any(use.certain for use in uses):
        return LeftOut(f"line {uses[0].line} may not run")
    if clauses == {MappingClause.CREATE}:
        return MappingClause.CREATE
    if MappingClause.CREATE in clauses:
        line = next(use.line for use in uses if use.clause is MappingClause.CREATE)
        return LeftOut(f"line {line} creates it, others copy it")
    for use in uses:
        if use.clause is MappingClause.COPYIN and use.writes:
            return LeftOut(f"line {use.line} changes what it copies in")
    if clauses == {MappingClause.COPYIN}:
        return MappingClause.COPYIN
    if not any(use.certain and use.clause.copies_out for use in uses):
        line = next(use.line for use in uses if use.clause.copies_out)
        return LeftOut(f"line {line}, which copies it out, may not run")
    return MappingClause.COPYOUT if clauses == {MappingClause.COPYOUT} else MappingClause.COPY
