"""Answers on one loop: whether its iterations are independent, and what that takes (OpenACC 3.4, 2.9.6)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..decisions.dependence import Requirement
from .pointer_rows import ApartArray
from .scalar_uses import Decision


@dataclass(frozen=True)
class Overlap:
    """
    Two arrays, by their roots, that must not overlap; or must be one array if then `same` holds (None:
    that does not help).
    """

    left: SSAValue
    right: SSAValue
    same: Requirement | None = None


@dataclass(frozen=True)
class Verdict:
    """
    The answer on one loop; `why` is a sentence for remarks. `scalars` need clauses for it to hold, and
    the arrays `privates`. With `overlaps`, `requirement` or `rows`, the loop is independent where the host
    finds that they hold: of `rows`, that none shares memory with another or with one of the arrays there.
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
