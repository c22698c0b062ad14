"""
The clause of an inferred data region for one array, from the clauses of the constructs in it (OpenACC 3.4,
2.7).

`region_clause` is the decision table; the pass `infer-data-regions` reads the uses from the IR. Inside a
region that holds the array, the data actions of the constructs only change reference counts. The program
keeps its meaning if

- the device's copy at each construct's entry equals what a copy from the host would give: nothing else
  changes the host's (the pass checks that), and no construct changes a copy that it then discards;
- the host's copy after the region is the one that the last construct would have left;
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
    `writes`: the construct may change the device's copy. `line` is the construct's.
    """

    clause: MappingClause
    certain: bool
    writes: bool
    line: int


@dataclass(frozen=True)
class LeftOut:
    """The reason why the region does not hold an array."""

    why: str


def region_clause(uses: Sequence[ArrayUse]) -> MappingClause | LeftOut:
    """
    The clause of the region for an array with these uses.

    If one construct creates an array, all must: otherwise a construct could take values left by another for
    the host's. An array that a construct changes and discards (`copyin`) is left out, because it is copied
    in anew each time. An array that all constructs copy out is not copied in: elements that no construct
    writes are as undefined as without the region.
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
            return LeftOut(f"line {use.line} changes an array that it copies in")
    if clauses == {MappingClause.COPYIN}:
        return MappingClause.COPYIN
    if not any(use.certain and use.clause.copies_out for use in uses):
        line = next(use.line for use in uses if use.clause.copies_out)
        return LeftOut(f"line {line}, which copies it out, may not run")
    return MappingClause.COPYOUT if clauses == {MappingClause.COPYOUT} else MappingClause.COPY
