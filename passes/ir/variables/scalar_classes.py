"""
The class of a scalar variable in a loop whose iterations may run concurrently, decided by what the program
can observe (OpenACC 3.4, 2.6.2, 2.9.10 and 2.9.11).

`classify` is the decision table; `scalar_uses` collects the facts, and `classify-scalars` and
`split-kernels` write the result into the IR.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .reduction_forms import Operator


class ScalarClass(Enum):
    SHARED = "shared"
    """Only read, or only updated atomically: nothing to do."""
    PRIVATE = "private"
    """Every iteration writes it before reading it, and it is dead after the loop."""
    LAST = "last value"
    """As private, but the value of the last iteration is live after the loop."""
    FLAG = "flag"
    """Never read; some iterations set it to one and the same value, which is live after the loop."""
    REDUCTION = "reduction"
    """Iterations only combine it with other values, by one operator."""
    SOME_LAST = "last value of some iteration"
    """
    Never read before it is written; the value of the last iteration that writes it is live after the loop.
    """
    CARRIED = "carried"
    """An iteration may read what another has written."""


ORDERED = (ScalarClass.SOME_LAST, ScalarClass.CARRIED)
"""Classes that only sequential iterations compute correctly."""


@dataclass(frozen=True)
class ScalarFacts:
    """
    The uses in a loop of a variable from outside it. `written`: other than atomically. `reads_first`: an
    iteration may read it before writing it; `certainly_written`: every iteration writes it; `live`: it is
    live after the loop. `one_value`: all stores store one value that is known before the loop. `operator`:
    the reduction operator of all updates, if there are no other uses.
    """

    written: bool
    reads_first: bool
    certainly_written: bool
    live: bool
    one_value: bool = False
    operator: Operator | None = None


def classify(facts: ScalarFacts) -> ScalarClass:
    """The class of a variable. A variable that is written first is never a reduction."""
    if not facts.written:
        return ScalarClass.SHARED
    if facts.reads_first:
        return ScalarClass.CARRIED if facts.operator is None else ScalarClass.REDUCTION
    if not facts.live:
        return ScalarClass.PRIVATE
    if facts.certainly_written:
        return ScalarClass.LAST
    return ScalarClass.FLAG if facts.one_value else ScalarClass.SOME_LAST
