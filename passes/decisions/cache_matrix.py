"""
Products by matrix instructions: the instruction, the threads and outputs per thread that suit it, and the
padding of tile rows for its operand loads.

Nothing here sees IR. A block has 4 lanes along columns, so that a warp is 8 rows of 4 threads: lane 4 g + t
computes row g and, of every group of 8 columns, columns 2 t and 2 t + 1: its fragment of the result of an
instruction (`nvvm.MmaOp`). Its fragments of the operands are row g of the left tile and column g of the
right tile, both for term t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cache_banks import PADDINGS, shared_passes
from .cache_plan import Axis, Sharing, TilePlan, plan_tile
from .cache_section import CachedSection
from .device import WARP

LANES = 4
"""Threads of a block along a row of outputs."""
ROWS = WARP // LANES
"""Threads of a warp along a column of outputs."""
PAIR = 2
"""Neighbouring columns that one thread computes."""
GROUP = LANES * PAIR
"""Columns of one instruction's result."""


@dataclass(frozen=True)
class Instruction:
    """
    A matrix instruction on doubles with 8 columns: its rows and terms, and the first compute capability
    that has it (`nvvm.MMA_SHAPES`).
    """

    rows: int
    terms: int
    sm: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """The rows, columns and terms of one instruction."""
        return self.rows, GROUP, self.terms

    @property
    def halves(self) -> int:
        """The rows of one thread in one instruction."""
        return self.rows // ROWS

    @property
    def parts(self) -> int:
        """The terms of one thread in one instruction."""
        return self.terms // LANES

    def suits(self, threads: Sequence[int], outputs: Sequence[int]) -> bool:
        """
        Whether the outputs of a block of these threads, with these outputs per thread, divide into such
        instructions.
        """
        if len(threads) != 2 or threads[1] != LANES or threads[0] % ROWS:
            return False
        return outputs[0] % self.halves == 0 and outputs[1] % PAIR == 0


INSTRUCTIONS = {
    "m8n8k4": Instruction(8, 4, 80),
    "m16n8k4": Instruction(16, 4, 90),
    "m16n8k8": Instruction(16, 8, 90),
    "m16n8k16": Instruction(16, 16, 90),
}
"""The instructions by their PTX shape names."""
MATRIX_SM = 80
"""The first compute capability with matrix instructions for doubles."""


def choose_fragment_padding(
    section: CachedSection, axes: Sequence[Axis], sharing: Sharing, widths: Sequence[int]
) -> int:
    """
    The elements to add to a row of an operand's tile so that a warp's loads of one fragment (8 rows or
    columns of 4 terms) go to the banks in the fewest passes: of equally good paddings, the least. It is 0 for
    a tile that cannot be planned or is not a matrix moved along one dimension.
    """
    best, best_passes = 0, 0
    for padding in PADDINGS:
        plan = plan_tile(section, axes, sharing, widths, padding)
        if isinstance(plan, str) or len(plan.dims) != 2 or len(plan.moves) != 1:
            return 0
        passes = _passes(plan)
        if padding == 0 or passes < best_passes:
            best, best_passes = padding, passes
    return best


def _passes(plan: TilePlan) -> int:
    """The passes that a warp's loads of one operand take."""
    moved = plan.moves[0].dim
    own, term = plan.dims[moved].pitch, plan.dims[1 - moved].pitch
    addresses = [own * (lane // LANES) + term * (lane % LANES) for lane in range(WARP)]
    half = WARP // 2  # of a warp takes part in a pass, since each lane has 8 bytes
    return sum(
        shared_passes(addresses[first : first + half], plan.section.element_bytes)[0]
        for first in (0, half)
    )
