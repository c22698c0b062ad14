"""
Make the loop with contiguous accesses the innermost one of a nest of parallel loops.

Parallel loops have no order of iterations (OpenACC 3.4, 2.9.1), so a nest of them can be interchanged. The
innermost loop is mapped to lanes, which should access neighbouring elements; the others are mapped to the
grid.

Takes:  data level, bounds of inner loops computed before the construct where the host can.
Leaves: nests of loops without other code, and collapsed loops, in the order that `decisions/nest_order.py`
        chooses: variables, bounds and steps change places. All loops of such a nest are parallel and without
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

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ..dialects.accx import PLAIN, WHY
from .decisions.nest_order import Walk, best_order
from .ir.dependence.loop_classifier import is_parallel
from .ir.ops.acc_ops import (
    child_loops,
    hands_on,
    is_defined_inside,
    parallel_constructs,
    set_operand_groups,
)
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.levels import loop_levels
from .ir.ops.notes import note
from .ir.ops.purity import is_pure
from .ir.values.addresses import base_of
from .ir.values.region_values import RegionSymbols
from .ir.values.strides import AccessCounter

_FACTS = (WHY, PLAIN)
"""The attributes of a loop that belong to its variable."""

# Finding nests.


def _is_open(loop: acc.LoopOp) -> bool:
    """Whether a loop is parallel, has no mapping, and its iterations do not pass values on."""
    return (
        is_parallel(loop)
        and not loop_levels(loop)
        and not loop.tile_operands
        and not loop.cache_operands
        and not loop.firstprivate_operands
        and loop.unstructured is None
        and len(loop.region.blocks) == 1
        and not hands_on(loop)
    )


def _only_child(loop: acc.LoopOp) -> acc.LoopOp | None:
    """The only loop in `loop`, if the rest of its body is pure or declares that loop's variables."""
    found: acc.LoopOp | None = None
    for op in loop.region.block.ops:
        if isinstance(op, acc.LoopOp) and found is None:
            found = op
        elif _is_entry(op):
            if any(is_defined_inside(v, loop) and not _is_entry(v.owner) for v in op.operands):
                return None
        elif not (op.has_trait(IsTerminator) or is_pure(op)):
            return None
    return found


def _is_entry(op: Operation | Block) -> bool:
    """Whether an operation declares a variable of a loop."""
    return isinstance(op, acc.PrivateOp | acc.ReductionOp)


def _uses_own(loop: acc.LoopOp) -> bool:
    """Whether the body of `loop` uses its private variables, other than to declare those of inner loops."""
    return any(
        use.operation is not loop and not _is_entry(use.operation)
        for value in loop.private_operands
        for use in value.uses
    )


def nest_from(loop: acc.LoopOp) -> list[acc.LoopOp]:
    """The loops of the nest that starts with `loop`, outermost first; empty if it cannot be reordered."""
    nest: list[acc.LoopOp] = []
    inner: acc.LoopOp | None = loop
    while inner is not None and _is_open(inner):
        nest.append(inner)
        inner = _only_child(inner)
    if any(map(_uses_own, nest[:-1])) or len({bool(x.reduction_operands) for x in nest}) > 1:
        return []
    bounds = [v for x in nest for v in (*x.lowerbound, *x.upperbound, *x.step)]
    if not nest or any(is_defined_inside(v, nest[0]) for v in bounds):
        return []
    return [] if child_loops(nest[-1]) else nest


def _is_cached(op: Operation) -> bool:
    """Whether an operation loads from a section that a block copies to shared memory."""
    return isinstance(op, llvm.LoadOp) and isinstance(base_of(op.ptr).owner, acc.CacheOp)


def _walks(nest: Sequence[acc.LoopOp], construct: Operation) -> list[Walk]:
    accesses = AccessCounter(RegionSymbols(construct))
    body = [op for op in nest[-1].region.walk() if not _is_cached(op)]
    counts = [accesses.count(body, v) for loop in nest for v in loop.region.block.args]
    return [Walk(c.contiguous, c.strided) for c in counts]


# Rewriting.


def _sink(nest: Sequence[acc.LoopOp]) -> None:
    """Moves the code between the loops of a nest to the start of the innermost body."""
    body = nest[-1].region.block
    for loop in reversed(nest[:-1]):
        for op in reversed(list(loop.region.block.ops)):
            if isinstance(op, acc.LoopOp) or op.has_trait(IsTerminator) or _is_entry(op):
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


def _order_nests(construct: acc.ParallelOp) -> None:
    for root in child_loops(construct):
        nest = nest_from(root)
        order = best_order(_walks(nest, construct)) if nest else None
        if order is None:
            continue
        names = [v.name_hint or "…" for loop in nest for v in loop.region.block.args]
        reorder(nest, order)
        inner = names[order[-1]]
        text = f"loop over '{inner}' made the innermost: its accesses are contiguous"
        note(construct, [(construct, text)])


@dataclass(frozen=True)
class OrderNestsPass(GpuPass):
    """See the module's description."""

    name = "order-nests"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            _order_nests(construct)
