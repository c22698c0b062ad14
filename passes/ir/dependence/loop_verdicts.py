"""
The result of `judge_loop`: whether a loop's iterations are independent, and under which conditions (OpenACC
3.4, 2.9.6).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...decisions.dependence import Requirement
from ..variables.scalar_uses import Decision
from .pointer_rows import ApartArray


@dataclass(frozen=True)
class Overlap:
    """
    Two arrays, by their roots, that must not overlap. They may also be one array, if the requirement `same`
    holds then (None: not even then).
    """

    left: SSAValue
    right: SSAValue
    same: Requirement | None = None


@dataclass(frozen=True)
class Verdict:
    """
    The result for one loop; `why` is a sentence for remarks. The verdict needs clauses for `scalars`, and
    private copies of the arrays `privates`. With `overlaps`, `requirement` or `rows`, the loop is
    independent if a test on the host finds that they hold; for `rows`, that none of them shares memory with
    another, or with one of the arrays listed there.
    """

    independent: bool
    why: str
    privates: tuple[SSAValue, ...] = ()
    scalars: tuple[Decision, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    requirement: Requirement = ()
    rows: tuple[ApartArray, ...] = ()

    @property
    def conditional(self) -> bool:
        return bool(self.overlaps or self.requirement or self.rows)
