"""Values that depend on the variables of a loop, and so differ between its iterations as a rule."""

from __future__ import annotations

from functools import cached_property

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from .accesses import root_of
from .region_values import variable_key


class VaryingValues:
    """Answers for one loop; the IR must not change."""

    def __init__(self, loop: acc.LoopOp):
        self.loop = loop

    def varies(self, value: SSAValue) -> bool:
        """
        Whether `value` depends on the loop's variables: directly, through loads from addresses that depend
        on them, or through variables and arrays to which the loop stores such values.
        """
        return value in self._varying

    @cached_property
    def _varying(self) -> set[SSAValue]:
        """All such values; each use is followed once."""
        found: set[SSAValue] = set(self.loop.region.blocks[0].args)
        work = list(found)
        loads = self._loads()
        while work:
            for use in work.pop().uses:
                for result in self._made_of(use.operation, use.index, loads):
                    if result not in found:
                        found.add(result)
                        work.append(result)
        return found

    def _made_of(
        self, op: Operation, index: int, loads: dict[object, list[SSAValue]]
    ) -> list[SSAValue]:
        """
        The values that an operand flows into: results of the operation, results of enclosing operations,
        loads of stored memory.
        """
        made: list[SSAValue] = [*op.results]
        around = op.parent_op()
        if around is not None and around is not self.loop and op.next_op is None:
            made += around.results
        if isinstance(op, llvm.StoreOp) and index == 0:
            made += loads.pop(variable_key(root_of(op.ptr)), ())
        return made

    def _loads(self) -> dict[object, list[SSAValue]]:
        """The loads of the loop, by variable or array."""
        found: dict[object, list[SSAValue]] = {}
        for op in self.loop.walk():
            if isinstance(op, llvm.LoadOp):
                found.setdefault(variable_key(root_of(op.ptr)), []).append(op.dereferenced_value)
        return found
