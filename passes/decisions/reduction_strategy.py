"""
How the partial results of gangs in a reduction are combined.

- `FOLD`: there is one gang; its leader folds its result into the variable.
- `LAST_BLOCK`: every gang stores its partial result, takes a ticket, and the gang with the last
  ticket reduces all of them in a fixed order. Works for every operator and type, and floating-point
  results do not depend on which gang finishes when.
- `ATOMIC`: every gang's leader updates the variable with one atomic operation. No scratch memory,
  but floating-point sums differ from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Literal

StrategyOption = Literal["auto", "last-block", "atomic"]
ExchangeOption = Literal["shuffle", "shared"]
"""
How threads of a gang combine: warps by shuffles, and their results through shared memory; or all by
shared memory, a tree of halves.
"""


class Strategy(Enum):
    """How gangs combine their partial results."""

    FOLD = "fold"
    LAST_BLOCK = "last-block"
    ATOMIC = "atomic"


def choose_strategy(
    option: StrategyOption, *, single_gang: bool, atomics: Sequence[bool]
) -> Strategy:
    """
    The strategy for the reductions of one kernel, which share a ticket; `atomics` says for each
    variable whether its operator is one atomic instruction.
    """
    if single_gang:
        return Strategy.FOLD
    if option == "atomic" and all(atomics):
        return Strategy.ATOMIC
    return Strategy.LAST_BLOCK
