"""
Tiles of sequential loops (OpenACC 3.4, 2.9.8).

Tiles of two or more loops visit iterations in another order than C does, so the tile clause of loops that
carry values between iterations is dropped, with a warning.
"""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.ir import Operation

from ..ir.dependence.loop_classifier import LoopClassifier
from ..ir.dependence.loop_dependence import judge_loop
from ..ir.ops.acc_ops import has_level, loops_in, set_operand_groups, set_prop, source_loc
from ..ir.ops.messages import Messages


def has_ordered_tiles(loop: acc.LoopOp) -> bool:
    """Whether a sequential loop has tiles of more than one loop."""
    return len(loop.tile_operands) > 1 and has_level(loop.seq)


def drop_ordered_tiles(parent: Operation, classifier: LoopClassifier, messages: Messages) -> None:
    """
    Drops the tiles of sequential loops in a construct or function, except where iterations are independent.
    """
    for loop in loops_in(parent):
        if not has_ordered_tiles(loop):
            continue
        verdict = judge_loop(loop, None, classifier.scalars.of(loop))
        if verdict.independent and not verdict.conditional:
            continue
        drop_tiles(loop)
        messages.warn(
            source_loc(loop),
            f"the tile clause is not honoured, as this loop runs sequentially: {verdict.why}",
            "write 'independent' if no iteration depends on another, or leave the clause out",
        )


def drop_tiles(loop: acc.LoopOp) -> None:
    """Removes the tile clause from a loop, whose variables are then those of a collapsed nest."""
    set_operand_groups(loop, tile_operands=[])
    for name in ("tileOperandsSegments", "tileOperandsDeviceType"):
        set_prop(loop, name, None)
