"""
The origins of values in a loop's body, followed through scalar variables.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from ..ops.acc_ops import branch_values, is_defined_inside
from .accesses import is_scalar_variable
from .region_values import variable_key


class ValueOrigins:
    """Answers for one loop, whatever the order of its iterations. The IR must not change."""

    def __init__(self, loop: acc.LoopOp):
        self.loop = loop
        self._stored: dict[Hashable, list[SSAValue]] = {}
        for op in loop.walk():
            if isinstance(op, llvm.StoreOp) and is_scalar_variable(op.ptr):
                self._stored.setdefault(variable_key(op.ptr), []).append(op.value)

    def is_inside(self, value: SSAValue) -> bool:
        """Whether the loop computes `value`, so that it may differ in each iteration."""
        return is_defined_inside(value, self.loop)

    def stored_to(self, load: llvm.LoadOp) -> list[SSAValue] | None:
        """
        The values assigned in the loop that a load from a scalar variable may read; None for other loads.
        """
        if not is_scalar_variable(load.ptr):
            return None
        return self._stored.get(variable_key(load.ptr), [])

    def choices(self, value: SSAValue) -> list[SSAValue] | None:
        """The values among which `?:`, `if` or assignments select `value`; None if it is computed."""
        owner = value.owner
        if isinstance(owner, llvm.LoadOp):
            return self.stored_to(owner)
        if isinstance(owner, scf.IfOp):
            return branch_values(owner, value)
        return None

    def loads_behind(self, values: Iterable[SSAValue]) -> Iterator[llvm.LoadOp]:
        """
        The loads from arrays in the loop from which `values` are computed, without those in their
        subscripts.
        """
        seen: set[SSAValue] = set()
        work = list(values)
        while work:
            value = work.pop()
            if value in seen or isinstance(value, BlockArgument) or not self.is_inside(value):
                continue
            seen.add(value)
            owner = value.owner
            assert isinstance(owner, Operation)
            choices = self.choices(value)
            if choices is not None:
                work += choices
            elif isinstance(owner, llvm.LoadOp):
                yield owner
            else:
                ends = (block.last_op for region in owner.regions for block in region.blocks)
                work += (*owner.operands, *(v for end in ends if end for v in end.operands))
