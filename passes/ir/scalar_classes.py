"""
What a scalar variable is to a loop whose iterations may run at once, decided from what the program
observes (OpenACC 3.4, 2.6.2, 2.9.10 and 2.9.11).

`classify` is the table; `scalar_uses` collects the facts, and `classify-scalars` and `split-kernels` write
what was decided into the IR.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .reduction_forms import Operator


class ScalarClass(Enum):
    SHARED = "shared"
    """Only read, or only updated atomically: nothing to do."""
    PRIVATE = "private"
    """Every iteration writes it before it reads it, and nobody wants it afterwards."""
    LAST = "last value"
    """As private, but the value of the last iteration is wanted."""
    FLAG = "flag"
    """Never read; some iterations set it to one and the same value, which is wanted."""
    REDUCTION = "reduction"
    """Iterations only combine it with other values, by one operator."""
    SOME_LAST = "last value of some iteration"
    """Never read before it is written; the value of the last iteration that writes it is wanted."""
    CARRIED = "carried"
    """An iteration may read what another has written."""


ORDERED = (ScalarClass.SOME_LAST, ScalarClass.CARRIED)
"""Classes that only iterations in order get right."""


@dataclass(frozen=True)
class ScalarFacts:
    """
    What a loop does with a variable from outside of it. `written`: other than atomically. `reads_first`:
    an iteration may read it before it writes it; `surely_written`: every iteration writes it;
    `wanted`: code after the loop may read it. `one_value`: all stores store one value, which is known
    before the loop. `operator`: of all updates, if it is used for nothing else.
    """

    written: bool
    reads_first: bool
    surely_written: bool
    wanted: bool
    one_value: bool = False
    operator: Operator | None = None


def classify(facts: ScalarFacts) -> ScalarClass:
    """The class of a variable. A variable that is written first is never a reduction."""
    if not facts.written:
        return ScalarClass.SHARED
    if facts.reads_first:
        return ScalarClass.CARRIED if facts.operator is None else ScalarClass.REDUCTION
    if not facts.wanted:
        return ScalarClass.PRIVATE
    if facts.surely_written:
        return ScalarClass.LAST
    return ScalarClass.FLAG if facts.one_value else ScalarClass.SOME_LAST
