"""The plan of a nest, for the code that carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects import acc

from ..decisions.cache_matrix import PAIR, Instruction
from ..decisions.cache_plan import Sharing, row_axis
from ..decisions.cache_shapes import Shape, side_by_side
from .matrix import Product
from .nest import CachedNest
from .tiles import Planned

Width = Literal["auto", "argument", "synchronisation", "fixed"]
Form = Literal["grid", "line", "within"]


@dataclass
class NestPlan:
    """
    The plan of a nest: the mapped axes, threads and outputs per thread along each, and the tiles.
    `given_gangs`: the user gives the grid; `shares_grid`: other loops of the construct use it too. `width`:
    how a block finds the number of its iterations. `launched`: the tiles are larger than a kernel may
    declare, so they are in dynamic shared memory. `stages`: buffers of renewed tiles, 0 by analysis.
    `alternatives`: shapes of which the host chooses one by the number of blocks. `product`: the loop over
    terms that matrix instructions can run; `instruction`: the one used (None: none). `form`: the blocks
    have a dimension of the grid for each loop, or one for all, or one gang runs all of them.
    """

    nest: CachedNest
    sharing: Sharing
    threads: tuple[int, ...]
    outputs: tuple[int, ...]
    planned: list[Planned]
    reasons: dict[acc.CacheOp, str]
    given_gangs: bool
    sets: int = 8
    ways: int = 1
    product: Product | None = None
    instruction: Instruction | None = None
    form: Form = "grid"
    shares_grid: bool = False
    launched: bool = False
    width: Width = "auto"
    alternatives: tuple[Shape, ...] = ()
    stages: int = 0

    @property
    def thread_count(self) -> int:
        """The threads of a block."""
        return prod(self.threads)

    @property
    def has_measured_shape(self) -> bool:
        """Whether blocks have one of the shapes of `decisions/cache_shapes.py` for products."""
        return self.stages > 0

    @property
    def widths(self) -> tuple[int, ...]:
        """The iterations of a block along each mapped axis."""
        return tuple(t * o for t, o in zip(self.threads, self.outputs, strict=True))

    def has_fixed_width(self, number: int) -> bool:
        """Whether every block has the same number of iterations along mapped axis `number`."""
        axis = self.nest.axes[self.sharing.axes[number]]
        trips = axis.multiple if axis.trips is None else axis.trips
        return trips % self.widths[number] == 0 and self.width in ("auto", "fixed")

    @property
    def together(self) -> tuple[int, ...]:
        """
        The neighbouring outputs of one thread along each mapped axis: along the lanes as many as fill a
        16-byte access, also along the other axis if a tile stores its iterations side by side; with a
        matrix instruction the thread's fragment of a row.
        """
        if self.instruction is not None:
            return 1, PAIR
        element = max(planned.plan.section.element_bytes for planned in self.planned)
        found = [1] * len(self.outputs)
        rows = [row_axis(planned.plan) for planned in self.planned]
        by_columns = any(planned.plan.transposed for planned in self.planned)
        # Factors of a product that all hold a thread's outputs side by side are read in wide words, too.
        if 0 in rows and (by_columns or (self.has_measured_shape and None not in rows)):
            found[0] = side_by_side(element, self.outputs[0])
        found[-1] = side_by_side(element, self.outputs[-1])
        return tuple(found)

    def _form_of(self, planned: Planned) -> list[str]:
        plan = planned.plan
        found = [f"{plan.bytes} bytes"]
        if plan.transposed:
            found.append("transposed")
        if plan.padding:
            found.append(f"rows padded by {plan.padding}")
        if planned.bulk:
            found.append("bulk copies of rows that are aligned to 16 bytes")
        if planned.ahead:
            found.append("two buffers, filled one turn ahead")
        return found

    def remark(self, planned: Planned) -> str:
        """The remark on a tile."""
        names = ", ".join(self.nest.axes[a].name for a in self.sharing.axes)
        shape = " × ".join(str(t) for t in self.threads)
        plan = planned.plan
        size = " × ".join(str(d.size) for d in plan.dims)
        if planned.method == "ehc":
            return (
                f"cache({plan.section.name}) in shared memory: {self.sets} sets of {self.ways} per"
                f" thread; {self.reasons[planned.cached.op]}"
            )
        where = "shared memory" if not self.launched else "dynamic shared memory"
        text = (
            f"cache({plan.section.name}) in {where}: tile of {size} elements"
            f" ({', '.join(self._form_of(planned))}),"
            f" shared by {shape} threads along {names}"
        )
        each = " × ".join(str(o) for o in self.outputs)
        if each.replace("1", "").strip(" ×"):
            text += f", {each} outputs per thread"
        if self.instruction is not None:
            m, n, k = self.instruction.shape
            text += f", {m} × {n} × {k} elements in a matrix instruction"
        text += f"; {self.reasons[planned.cached.op]}"
        kept = f"the loops outside stay as they are: {self.nest.kept}" if self.nest.kept else ""
        return "; ".join([text, *self.sharing.notes, *filter(None, [kept])])
