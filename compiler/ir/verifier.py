"""Verifies a module after each pass of a pipeline, where most operations are as they were."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import NoTerminator, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException


@cache
def _alone(kind: type[Operation]) -> bool:
    """Whether an operation without regions is valid or not by what `_state` says of it."""
    return not any(isinstance(trait, SymbolUserOpInterface) for trait in kind.traits)


class Verifier:
    """
    Verifies a module as often as it is asked. An operation that has no regions and names no symbols is
    verified once, until something of it changes.
    """

    def __init__(self) -> None:
        self._known: dict[Operation, tuple[object, ...]] = {}

    def verify(self, module: ModuleOp) -> None:
        """Raises `VerifyException` for invalid IR, and `ValueError` for values or parents that are gone."""
        known, self._known = self._known, {}
        for op in module.walk():
            if not op.regions and _alone(type(op)):
                state = self._known[op] = tuple(_state(op))
                if known.get(op) == state:
                    continue
            op.verify(verify_nested_ops=False)
            for region in op.regions:
                for block in region.blocks:
                    if block.last_op is None and not op.has_trait(NoTerminator):
                        raise VerifyException(f"'{op.name}' contains a block without a terminator")


def _state(op: Operation) -> Iterator[object]:
    """What decides whether an operation for which `_alone` holds is valid."""
    yield op.parent_op()
    yield op.next_op is None
    for operand in op.operands:
        yield operand
        yield operand.owner
        yield operand.type
    for result in op.results:
        yield result.type
    yield from op.successors
    yield from op.properties.items()
    yield from op.attributes.items()
