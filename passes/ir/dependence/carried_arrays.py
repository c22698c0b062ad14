"""
Arrays through which iterations of a loop certainly depend on each other, even if the program declares them
independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum

from xdsl.dialects import acc, llvm
from xdsl.ir import Operation, SSAValue

from ...decisions.certain_dependence import EVERY, is_met, iterations_apart
from ...decisions.certain_meeting import LoopPlace, meeting
from ...decisions.ranges import LoopRange
from ..ops.acc_ops import PRIVATIZING_OPS, operations_around, variable_name
from ..ops.building import constant_value
from ..ops.loop_bounds import bounds_of
from ..values.loop_symbols import LoopSymbols
from ..values.varying_values import VaryingValues
from .array_accesses import ArrayAccess, array_accesses
from .meeting_candidates import Candidate, MeetingCandidates

MOST_TRIES = 128
"""At most this many pairs of accesses of one loop are solved as equations."""


class Carried(Enum):
    """How iterations depend on each other."""

    PASSED = 0
    """One iteration reads an element that another assigns."""
    COMBINED = 1
    """All iterations read and assign one element."""
    SHARED = 2
    """Each iteration assigns and reads back elements that the others assign too."""
    OVERWRITTEN = 3
    """All iterations assign the same elements."""


@dataclass(frozen=True)
class CarriedArray:
    """
    An array that carries values between iterations, with a load of an element that another iteration
    stores, if there is one.
    """

    name: str
    load: Operation | None
    store: Operation
    kind: Carried


def carried_array(loop: acc.LoopOp, *, lanes: bool, gangs: bool) -> CarriedArray | None:
    """
    The first array through which iterations of `loop` certainly depend on each other; None if there is
    none. Either every iteration, except for a few at the ends of the loop, unconditionally loads an element
    that another one stores, or all iterations store to the same elements and different values may be
    observed. `lanes`: threads of one gang share the iterations, and so the gang's private arrays; `gangs`:
    only gangs do, each of which runs its own in order.
    """
    finder = _Finder(loop, lanes, gangs)
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
    """Compares the array accesses of one loop."""

    def __init__(self, loop: acc.LoopOp, lanes: bool, gangs: bool):
        self.loop = loop
        self.lanes, self.gangs = lanes, gangs
        self.symbols = LoopSymbols(loop, None)
        self.varying = VaryingValues(loop)
        self.tried: set[Hashable] = set()

    def kind(
        self, store: Candidate, load: ArrayAccess, akin: bool, has_stored: bool
    ) -> Carried | None:
        """
        The kind of dependence between a load and the stores of other iterations; None if none is certain.
        """
        apart = self._apart(store.access, load) if akin else None
        if apart is not None and not has_stored:
            if apart == EVERY and self._is_reduced_by_gang(load):
                return None
            return Carried.COMBINED if apart == EVERY else Carried.PASSED
        if not store.varies or (apart is None and not self._meet(store.access, load)):
            return None
        return Carried.SHARED if has_stored and not apart else Carried.PASSED

    def _is_reduced_by_gang(self, access: ArrayAccess) -> bool:
        """Whether an access is to a reduced array's copy of a gang that runs its iterations in order."""
        return self.gangs and isinstance(access.root.owner, acc.ReductionOp)

    def is_overwritten(self, store: Candidate) -> bool:
        """Whether all iterations store to the same elements, so that the last iteration's values remain."""
        return store.varies and self._apart(store.access, store.access) == EVERY

    def varies(self, store: ArrayAccess) -> bool:
        """
        Whether concurrent iterations store different values, and to one array rather than to private
        copies.
        """
        if not self.lanes and isinstance(store.root.owner, PRIVATIZING_OPS):
            return False
        assert isinstance(store.op, llvm.StoreOp)
        return self.varying.varies(store.op.value)

    def _apart(self, store: ArrayAccess, load: ArrayAccess) -> int | None:
        """
        The number of iterations after which the stored element is certainly loaded, with inner loops at the
        same iteration; None if unknown.
        """
        inner = self.symbols.inner_ranges(store.op)
        if inner != self.symbols.inner_ranges(load.op):
            return None
        for own, step, trip, others in self._variables(store, load):
            ranges = {known.variable: known for known in (*inner, *others)}
            apart = iterations_apart(
                store.subscripts,
                load.subscripts,
                own.variable,
                step,
                ranges,
                self.symbols.is_invariant,
            )
            if apart is not None and is_met(apart, trip):
                return apart
        return None

    def _variables(
        self, *accesses: ArrayAccess
    ) -> Iterator[tuple[LoopRange, int, int | None, tuple[LoopRange, ...]]]:
        """
        For each of the loop's variables, up to the first of unknown step: its range, its step, the number
        of iterations that make all of these accesses, and the other variables.
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
        """
        Whether two different iterations certainly access one element, in whatever iterations inner loops
        are.
        """
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
            if (
                meeting(places[0], places[1], own, step, trip, self.symbols.is_invariant)
                is not None
            ):
                return True
        return False

    def _is_known(self, access: ArrayAccess) -> bool:
        """
        Whether subscripts consist of loop variables that take every value in their range, and invariants.
        """
        variables: set[SSAValue] = set(self.loop.region.block.args)
        for around in operations_around(access.op, self.loop):
            for variable, _, _, step in bounds_of(around):
                if constant_value(step) != 1:
                    return False
                variables.add(variable)
        return all(
            poly is not None
            and all(s in variables or self.symbols.is_invariant(s) for s in poly.symbols)
            for poly in access.subscripts
        )
