"""
Products whose blocks of threads multiply by matrix instructions: which instruction, which threads and
outputs of each go with it, and how rows of tiles are padded for it.

Nothing here sees IR. A block has 4 lanes along columns, so that a warp is 8 rows of 4 threads: lane 4 g + t
computes row g and, of every group of 8 columns, columns 2 t and 2 t + 1, which are its shares of the
results of an instruction (`nvvm.MmaOp`). Its shares of the factors are row g of the left tile, which is its
own, and column g of the right tile, both for term t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cache_banks import PADDINGS, shared_passes
from .cache_plan import WARP, Axis, Sharing, TilePlan, plan_tile
from .cache_section import CachedSection

LANES = 4
"""Threads of a block along columns."""
ROWS = WARP // LANES
"""Threads of a warp along rows."""
PAIR = 2
"""Neighbouring columns of a thread."""
GROUP = LANES * PAIR
"""Columns of an instruction."""


@dataclass(frozen=True)
class Instruction:
    """
    Rows and terms of the product of doubles that one instruction adds, with 8 columns, and the first compute
    capability that has it (`nvvm.MMA_SHAPES`).
    """

    rows: int
    terms: int
    sm: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns, terms."""
        return self.rows, GROUP, self.terms

    @property
    def halves(self) -> int:
        """Rows of a thread in one instruction."""
        return self.rows // ROWS

    @property
    def parts(self) -> int:
        """Terms of a thread in one instruction."""
        return self.terms // LANES

    def suits(self, threads: Sequence[int], outputs: Sequence[int]) -> bool:
        """Whether a block of these threads, with these outputs of each, is made of such products."""
        if len(threads) != 2 or threads[1] != LANES or threads[0] % ROWS:
            return False
        return outputs[0] % self.halves == 0 and outputs[1] % PAIR == 0


INSTRUCTIONS = {
    "m8n8k4": Instruction(8, 4, 80),
    "m16n8k4": Instruction(16, 4, 90),
    "m16n8k8": Instruction(16, 8, 90),
    "m16n8k16": Instruction(16, 16, 90),
}
"""By their names in PTX."""
MATRIX_SM = 80
"""The first compute capability with matrix instructions for doubles."""


def choose_fragment_padding(
    section: CachedSection, axes: Sequence[Axis], sharing: Sharing, widths: Sequence[int]
) -> int:
    """
    Elements to add to a row of the tile of a factor so that a warp's loads of an instruction's operand,
    8 rows or columns of 4 terms, fall into different banks: the least such padding, or the best.
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
    """Passes over the banks of the loads of one operand."""
    moved = plan.moves[0].dim
    own, term = plan.dims[moved].pitch, plan.dims[1 - moved].pitch
    addresses = [own * (lane // LANES) + term * (lane % LANES) for lane in range(WARP)]
    half = WARP // 2  # of a warp takes part in a pass, where each lane has 8 bytes
    return sum(
        shared_passes(addresses[first : first + half], plan.section.element_bytes)[0]
        for first in (0, half)
    )
