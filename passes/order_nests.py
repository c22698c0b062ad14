"""
Make the loop with contiguous accesses the innermost one of a nest of parallel loops.

Parallel loops have no order of iterations (OpenACC 3.4, 2.9.1), so a nest of them can be interchanged. The
innermost loop is mapped to lanes, which should access neighbouring elements; the others are mapped to the
grid.

Takes:  data level, bounds of inner loops computed before the construct where the host can.
Leaves: nests of loops without other code, and collapsed loops, in the order that `decisions/nest_order.py`
        chooses (for a GPU also with a few passes over the same elements innermost): variables, bounds and
        steps change places. All loops of such a nest are parallel and without
        levels, their bounds do not depend on each other, all of them reduce the same variables or none does,
        and the code between them is pure; it moves into the body. Loads from sections of `cache` directives
        do not count as accesses. Other nests are unchanged. A note on the construct says what was done.
Fails:  never.

Before:
  acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
    acc.loop control(%j : i32) = (%c1 : i32) to (%m : i32) step (%c1 : i32) { … a[%j * %n + %i] … }
  }
After:
  acc.loop control(%j : i32) = (%c1 : i32) to (%m : i32) step (%c1 : i32) {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) { … a[%j * %n + %i] … }
  }

Options: `target` (`host`: only where enough iterations remain for the threads).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from ..dialects.accx import WHY
from .decisions.nest_order import best_order, order_of_passes, outer_iterations
from .decisions.schedule import Target
from .ir.dependence.parallel_nests import is_entry, nest_from, walks_of
from .ir.ops.acc_ops import child_loops, parallel_constructs, set_operand_groups
from .ir.ops.machine import machine_of
from .ir.ops.notes import note

_FACTS = (WHY,)
"""The attributes of a loop that belong to its variable."""

# Rewriting.


def _sink(nest: Sequence[acc.LoopOp]) -> None:
    """Moves the code between the loops of a nest to the start of the innermost body."""
    body = nest[-1].region.block
    for loop in reversed(nest[:-1]):
        for op in reversed(list(loop.region.block.ops)):
            if isinstance(op, acc.LoopOp) or op.has_trait(IsTerminator) or is_entry(op):
                continue
            op.detach()
            assert body.first_op is not None
            body.insert_op_before(op, body.first_op)


@dataclass(frozen=True)
class _Control:
    """A variable of a nest with its bounds, its step, and the location and facts of its directive."""

    variable: BlockArgument
    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    location: LocationAttr
    facts: dict[str, Attribute]


def _controls(loop: acc.LoopOp) -> list[_Control]:
    facts = {name: loop.attributes[name] for name in _FACTS if name in loop.attributes}
    return [
        _Control(*parts, loop.location, facts)
        for parts in zip(
            loop.region.block.args, loop.lowerbound, loop.upperbound, loop.step, strict=True
        )
    ]


def _give(loop: acc.LoopOp, controls: Sequence[_Control]) -> None:
    """Adds arguments for `controls` to the body of a loop of as many variables, and replaces the old ones."""
    block = loop.region.block
    for control in controls:
        new = block.insert_arg(control.variable.type, len(block.args))
        new.name_hint = control.variable.name_hint
        control.variable.replace_all_uses_with(new)
    set_operand_groups(
        loop,
        lowerbound=[control.lower for control in controls],
        upperbound=[control.upper for control in controls],
        step=[control.step for control in controls],
    )
    loop.location = controls[0].location
    for name in _FACTS:
        loop.attributes.pop(name, None)
    loop.attributes.update(controls[0].facts)


def reorder(nest: Sequence[acc.LoopOp], order: Sequence[int]) -> None:
    """Permutes the variables of a nest: `order[k]` is the old position of the new variable k."""
    _sink(nest)
    old = [control for loop in nest for control in _controls(loop)]
    controls = [old[p] for p in order]
    for loop in nest:
        count = len(loop.lowerbound)
        _give(loop, controls[:count])
        del controls[:count]
    for loop in nest:
        block = loop.region.block
        for variable in block.args[: len(loop.lowerbound)]:
            block.erase_arg(variable)


def _order_nests(construct: acc.ParallelOp, rows: int, *, for_gpu: bool) -> None:
    for root in child_loops(construct):
        nest = nest_from(root)
        walks = walks_of(nest, construct) if nest else []
        order, why = best_order(walks, rows), "its accesses are contiguous"
        if order is None and for_gpu and nest and not nest[0].reduction_operands:
            order, why = order_of_passes(walks), "its few iterations read the same elements"
        if order is None:
            continue
        names = [v.name_hint or "…" for loop in nest for v in loop.region.block.args]
        reorder(nest, order)
        text = f"loop over '{names[order[-1]]}' made the innermost: {why}"
        note(construct, [(construct, text)])


@dataclass(frozen=True)
class OrderNestsPass(ModulePass):
    """See the module's description."""

    name = "order-nests"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        for construct in parallel_constructs(op):
            _order_nests(construct, outer_iterations(target), for_gpu=target != "host")
