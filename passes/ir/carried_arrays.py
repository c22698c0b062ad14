"""
Arrays through which iterations of a loop certainly depend on each other, whatever the program says of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ..decisions.certain_dependence import EVERY, is_met, iterations_apart
from ..decisions.certain_meeting import LoopPlace, meeting
from ..decisions.ranges import LoopRange
from .acc_ops import PRIVATIZING_OPS, is_defined_inside, variable_name
from .array_accesses import ArrayAccess, array_accesses
from .building import constant_value
from .loop_symbols import LoopSymbols, bounds_of
from .meeting_candidates import Candidate, MeetingCandidates
from .region_values import HostExpression, HostLoad
from .varying_values import VaryingValues

MOST_TRIES = 128
"""Pairs of accesses of one loop that are solved as equations."""


class Carried(Enum):
    """How iterations depend on each other."""

    PASSED = 0
    """One reads what another assigns."""
    COMBINED = 1
    """All read and assign one element."""
    SHARED = 2
    """Each assigns, and reads back, elements that the others assign too."""
    OVERWRITTEN = 3
    """All assign the same elements."""


@dataclass(frozen=True)
class CarriedArray:
    """An array, and a load of an element that another iteration stores, if any."""

    name: str
    load: Operation | None
    store: Operation
    kind: Carried


def carried_array(loop: acc.LoopOp, *, lanes: bool) -> CarriedArray | None:
    """
    The first array through which iterations of `loop` certainly depend on each other: each, but for a few at
    the ends of the loop, loads under no condition what another one has stored or will store, or all store to
    the same elements. Where no iteration sees what it stores differ from what others do, that does not
    count. `lanes`: threads of one gang share the iterations, and so its private arrays.
    """
    finder = _Finder(loop, lanes)
    stores = MeetingCandidates(loop.region.blocks[0].args, finder.symbols)
    stored: set[Hashable] = set()
    loads: dict[Hashable, tuple[ArrayAccess, Hashable, bool]] = {}
    for access in array_accesses(loop, finder.symbols, between_iterations=True):
        if isinstance(access.op, llvm.StoreOp):
            stores.add(access, finder.varies(access))
            stored.add(access.key)
        else:
            kin, has_stored = stores.kin(access), access.key in stored
            loads.setdefault((kin, access.subscripts, has_stored), (access, kin, has_stored))
    for load, kin, has_stored in loads.values():
        for store in stores.of(load):
            kind = finder.kind(store, load, kin == store.kin, has_stored)
            if kind is not None:
                return CarriedArray(variable_name(load.root), load.op, store.access.op, kind)
    for store in stores.all():
        if finder.is_overwritten(store):
            name = variable_name(store.access.root)
            return CarriedArray(name, None, store.access.op, Carried.OVERWRITTEN)
    return None


class _Finder:
    """Compares accesses of one loop."""

    def __init__(self, loop: acc.LoopOp, lanes: bool):
        self.loop = loop
        self.lanes = lanes
        self.symbols = LoopSymbols(loop, None)
        self.varying = VaryingValues(loop)
        self.tried: set[Hashable] = set()

    def kind(
        self, store: Candidate, load: ArrayAccess, akin: bool, has_stored: bool
    ) -> Carried | None:
        """How a load needs what other iterations store; None if that is not certain."""
        apart = self._apart(store.access, load) if akin else None
        if apart is not None and not has_stored:
            return Carried.COMBINED if apart == EVERY else Carried.PASSED
        if not store.varies or (apart is None and not self._meet(store.access, load)):
            return None
        return Carried.SHARED if has_stored and not apart else Carried.PASSED

    def is_overwritten(self, store: Candidate) -> bool:
        """Whether all iterations store to the same elements, which then have the last one's value."""
        return store.varies and self._apart(store.access, store.access) == EVERY

    def varies(self, store: ArrayAccess) -> bool:
        """Whether iterations that run at once store other values, and to one array, not to copies."""
        if not self.lanes and isinstance(store.root.owner, PRIVATIZING_OPS):
            return False
        assert isinstance(store.op, llvm.StoreOp)
        return self.varying.varies(store.op.value)

    def _invariant(self, symbol: Hashable) -> bool:
        match symbol:
            case SSAValue():
                return not is_defined_inside(symbol, self.loop)
            case HostLoad():
                return True
            case HostExpression():
                return all(self._invariant(s) for poly in symbol.operands for s in poly.symbols)
            case _:
                return False

    def _apart(self, store: ArrayAccess, load: ArrayAccess) -> int | None:
        """After how many iterations the element stored is certainly loaded, inner loops being the same."""
        inner = self.symbols.inner_ranges(store.op)
        if inner != self.symbols.inner_ranges(load.op):
            return None
        for own, step, trip, others in self._variables(store, load):
            ranges = {known.variable: known for known in (*inner, *others)}
            apart = iterations_apart(
                store.subscripts, load.subscripts, own.variable, step, ranges, self._invariant
            )
            if apart is not None and is_met(apart, trip):
                return apart
        return None

    def _variables(
        self, *accesses: ArrayAccess
    ) -> Iterator[tuple[LoopRange, int, int | None, tuple[LoopRange, ...]]]:
        """
        The loop's variables up to one of unknown step, with step, how many iterations make all of these
        accesses, and the others.
        """
        missing = sum(access.missing for access in accesses)
        for variable in self.loop.region.block.args:
            step = constant_value(self.symbols.step_of(variable))
            if step is None or step <= 0:
                return
            own, later, earlier = self.symbols.own_ranges(variable)
            extent = (own.last - own.lower).as_constant
            trip = None if extent is None else max(extent // step + 1 - missing, 0)
            yield own, step, trip, (*later, *earlier)

    def _meet(self, store: ArrayAccess, load: ArrayAccess) -> bool:
        """Whether two iterations certainly meet, wherever inner loops are."""
        inner = self.symbols.inner_ranges(store.op), self.symbols.inner_ranges(load.op)
        pair = store.key, store.subscripts, load.subscripts, inner
        if pair in self.tried or len(self.tried) >= MOST_TRIES:
            return False
        self.tried.add(pair)
        if not all(self._is_known(access) for access in (store, load)):
            return False
        for own, step, trip, others in self._variables(store, load):
            places = [
                LoopPlace(access.subscripts, (*around, *others))
                for access, around in zip((store, load), inner, strict=True)
            ]
            if meeting(places[0], places[1], own, step, trip, self._invariant) is not None:
                return True
        return False

    def _is_known(self, access: ArrayAccess) -> bool:
        """Whether subscripts are made of loop variables that take every value, and what does not change."""
        variables: set[SSAValue] = set(self.loop.region.block.args)
        parent = access.op.parent_op()
        while parent is not None and parent is not self.loop:
            for variable, _, _, step in bounds_of(parent):
                if constant_value(step) != 1:
                    return False
                variables.add(variable)
            parent = parent.parent_op()
        return all(
            poly is not None and all(s in variables or self._invariant(s) for s in poly.symbols)
            for poly in access.subscripts
        )
