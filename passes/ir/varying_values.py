"""Values that surely differ between the iterations of a loop, as far as what they are computed from shows."""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from .acc_ops import is_defined_inside
from .accesses import root_of
from .region_values import variable_key


class VaryingValues:
    """Answers for one loop; the IR must not change."""

    def __init__(self, loop: acc.LoopOp):
        self.loop = loop
        self.arguments = frozenset(loop.region.blocks[0].args)
        self._known: dict[SSAValue, bool] = {}
        self._stored: dict[object, list[SSAValue]] | None = None

    def varies(self, value: SSAValue) -> bool:
        """
        Whether `value` is computed from the loop's variables: from them, from what is loaded from addresses
        made of them, or from variables and arrays that the loop stores such values to.
        """
        if value not in self._known:
            seen = {value}
            self._known[value] = self._search(value, seen)
            if not self._known[value]:
                self._known |= dict.fromkeys(seen, False)
        return self._known[value]

    def _search(self, value: SSAValue, seen: set[SSAValue]) -> bool:
        """Whether `value` varies; `seen` are then the values it was looked for in."""
        work = [value]
        while work:
            part = work.pop()
            if part in self.arguments or self._known.get(part, False):
                return True
            if part in self._known or not is_defined_inside(part, self.loop):
                continue
            for source in self._sources(part):
                if source not in seen:
                    seen.add(source)
                    work.append(source)
        return False

    def _sources(self, value: SSAValue) -> list[SSAValue]:
        """What a value is made of: operands, what its regions yield, what was stored where it is loaded."""
        op = value.owner
        if not isinstance(op, Operation):
            return []
        found = list(op.operands)
        for region in op.regions:
            for block in region.blocks:
                if block.last_op is not None:
                    found += block.last_op.operands
        if isinstance(op, llvm.LoadOp):
            found += self._stores().get(variable_key(root_of(op.ptr)), ())
        return found

    def _stores(self) -> dict[object, list[SSAValue]]:
        if self._stored is None:
            self._stored = {}
            for op in self.loop.walk():
                if isinstance(op, llvm.StoreOp):
                    key = variable_key(root_of(op.ptr))
                    self._stored.setdefault(key, []).append(op.value)
        return self._stored
