"""Which operations of a body depend on some values: on the sums that it carries, for example."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator


def depending_on(body: Block, values: Iterable[SSAValue]) -> list[Operation]:
    """
    The operations of `body`, without its end, that use one of `values`, also in their regions, or the result
    of another such operation; in order. What a value in memory passes on by a store is not followed.
    """
    varying, found = set(values), list[Operation]()
    for op in body.ops:
        if op.has_trait(IsTerminator):
            continue
        if any(operand in varying for inner in op.walk() for operand in inner.operands):
            found.append(op)
            varying.update(op.results)
    return found
