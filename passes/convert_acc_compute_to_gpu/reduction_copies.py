"""
The copies of reduced variables in a kernel: those of the construct, of the loops being lowered, and the
accumulators of reductions over gangs (OpenACC 3.4, 2.5.15 and 2.9.11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import acc
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..ir.kernels.routine_calls import Calls
from .context import Kernel
from .grid_reductions import GridReduction
from .leaves import ReductionSpec, reduction_spec, with_count
from .privatise import section_length, shift_to_zero
from .reductions import initialise, needs_constants_only, thread_copy


class ReductionCopies:
    """The reductions of one kernel. `construct`: those of the compute construct itself."""

    def __init__(self, k: Kernel, calls: Calls, construct: Sequence[acc.ReductionOp]):
        self.k = k
        self.calls = calls
        self.construct = list(construct)
        self.copies: dict[SSAValue, SSAValue] = {}
        """Reduced variable → its copy in the loop (or construct) being lowered."""
        self.accumulators: dict[SSAValue, GridReduction] = {}

    def spec(self, op: acc.ReductionOp) -> ReductionSpec:
        """The contents of reduction `op`; the length of a section is computed at the current position."""
        spec = reduction_spec(op, self.calls.recipes)
        if spec.storage is not None:
            return spec
        length = section_length(self.k, spec.layout, spec.name, op)
        (leaf,) = spec.leaves
        with self.k.at(self.k.in_prologue()):
            count = self.k.mul(length, self.k.constant(leaf.per_row, i64), "elements")
        return replace(spec, leaves=(with_count(leaf, count),))

    def begin_construct(self, op: acc.ReductionOp) -> None:
        """Makes the gang's copy for a reduction of the construct, with equal values in all threads."""
        k = self.k
        reduction = self.over_gangs(op)
        copy = thread_copy(k, reduction.spec, reduction.spec.name)
        initialise(k, k, reduction.spec, copy)
        reduction.gang_copy = copy
        visible = shift_to_zero(k, reduction.spec.layout, copy)
        k.values[op.acc_var] = self.copies[reduction.variable] = visible

    def over_gangs(self, op: acc.ReductionOp) -> GridReduction:
        """The kernel's reduction over gangs to which `op` belongs, created on first use."""
        outer = op
        while isinstance(outer.var.owner, acc.ReductionOp):
            outer = outer.var.owner
        target = self.k.values[outer.var]
        known = self.accumulators.get(target)
        if known is None:
            spec = self.spec(outer)
            accumulator = thread_copy(self.k, spec, f"{spec.name}_accumulator")
            place = self.k.in_prologue() if needs_constants_only(spec) else self.k.in_setup()
            initialise(self.k, place, spec, accumulator)
            known = self.accumulators[target] = GridReduction(spec, target, accumulator, None)
        return known

    def innermost(self, op: acc.ReductionOp) -> SSAValue:
        """The target of a loop's reduction: the innermost copy of its variable."""
        variable = self.k.values[op.var]
        return self.copies.get(variable, variable)
