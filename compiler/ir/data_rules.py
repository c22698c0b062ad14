"""
Rules for the places of data operations at the acc level: entry operations are immediately before their
construct or directive, exit operations immediately after it (`dialects/data_places.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import acc
from xdsl.ir import Operation

from ...dialects.data_places import may_be_between

_REGIONS = (acc.ParallelOp, acc.SerialOp, acc.KernelsOp, acc.DataOp, acc.HostDataOp)


def _nearest(op: Operation, step: Callable[[Operation], Operation | None]) -> Operation | None:
    """The construct or directive to which data operations at `op` belong, searched in one direction."""
    found = step(op)
    while found is not None and may_be_between(found):
        found = step(found)
    return found


def entry_placed(op: Operation) -> Iterator[str]:
    """An entry operation's result is an operand of the next directive in its block."""
    following = _nearest(op, lambda each: each.next_op)
    users = {use.operation for use in op.results[0].uses}
    if following not in users:
        yield "it is not immediately before the construct or directive that names it"


def exit_placed(op: Operation) -> Iterator[str]:
    """An exit operation follows the construct or directive that uses its data."""
    before = _nearest(op, lambda each: each.prev_op)
    if isinstance(before, acc.ExitDataOp | acc.DeclareExitOp) or (
        isinstance(before, _REGIONS) and op.operands[0] in before.operands
    ):
        return
    yield "it is not immediately after the construct or directive that uses its data"
