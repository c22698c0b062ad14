"""
The options of the pass, as its decisions read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..decisions import cache_plan as plans
from ..decisions.cache_plan import CacheTuning
from ..decisions.device import MULTIPROCESSORS
from .bulk import BULK_SM
from .plan import Width

Fetch = Literal["auto", "registers", "async", "bulk"]
MatrixChoice = Literal["auto", "never", "m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"]


@dataclass(frozen=True)
class Choices:
    """The options of the pass."""

    tuning: CacheTuning
    method: Literal["auto", "rbi", "rbc", "ehc"] = "auto"
    trust: bool = False
    promote: Literal["auto", "always", "never"] = "auto"
    communicate: bool = False
    fetch: Fetch = "auto"
    write: Literal["auto", "through", "back", "mask"] = "auto"
    sets: int = 8
    ways: int = 1
    stages: int = 0
    width: Width = "auto"
    transpose: bool = True
    shared_limit: int = plans.SHARED_LIMIT
    """The most bytes of shared memory for a block on the GPU."""
    sm: int = BULK_SM
    multiprocessors: int = MULTIPROCESSORS
    """The number of the GPU's multiprocessors."""
    matrix: MatrixChoice = "auto"
    """The instruction for products of doubles."""
    fused: bool = True
    """Whether a multiplication and an addition may be fused."""
    strict: bool = False
    """Whether an option that cannot be honoured is an error."""

    @property
    def in_bulk(self) -> bool:
        """Whether bulk copies are requested and the GPU has them."""
        return self.fetch == "bulk" and self.sm >= BULK_SM
