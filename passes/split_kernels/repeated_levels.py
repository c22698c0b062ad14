"""
Nested loops of a kernels construct that name one level twice, as older programs do for two-dimensional
blocks (`loop gang vector(16)` around `loop gang vector(16)`). OpenACC allows each level once (3.4, 2.9), so
the inner loop keeps vector and worker, the outer one gang, and the sizes, which were those of the block,
are dropped.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.dialects.builtin import StringAttr

from ...dialects.accx import WHY
from ..decisions.levels import Level
from ..ir.ops.acc_ops import NONE, loops_around, loops_in, set_operand_groups, set_prop
from ..ir.ops.levels import loop_levels

_WHY = "a level that the nest names twice: gang outside, vector inside"

_PROPERTIES = {
    Level.GANG: ("gang", "gangOperandsArgType", "gangOperandsSegments", "gangOperandsDeviceType"),
    Level.WORKER: ("worker", "workerNumOperandsDeviceType"),
    Level.VECTOR: ("vector", "vectorOperandsDeviceType"),
}


def settle_repeated_levels(kernels: acc.KernelsOp) -> None:
    """Keeps each level on one loop of every nest."""
    for inner in loops_in(kernels):
        for outer in loops_around(inner, kernels):
            _settle(outer, inner)


def _settle(outer: acc.LoopOp, inner: acc.LoopOp) -> None:
    above, below = loop_levels(outer), loop_levels(inner)
    if not above or not below or min(above) > max(below):
        return
    if above == below == {Level.GANG}:  # gang dimensions, or a mistake
        return
    above.discard(Level.VECTOR)
    below.discard(Level.GANG)
    if above and below and min(above) <= max(below):
        above.discard(Level.WORKER)
    for loop, levels in ((outer, above), (inner, below)):
        _keep(loop, levels)


def _keep(loop: acc.LoopOp, levels: set[Level]) -> None:
    """Reduces a loop's levels to `levels`, without sizes."""
    set_operand_groups(loop, gang_operands=[], worker_num_operands=[], vector_operands=[])
    for level, names in _PROPERTIES.items():
        for name in names:
            set_prop(loop, name, None)
        if level in levels:
            set_prop(loop, names[0], NONE)
    loop.attributes[WHY] = StringAttr(_WHY)
