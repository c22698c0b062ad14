"""Which stores of a loop a load may be seen to meet, found without comparing all with all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ..decisions.polynomials import Monomial, Polynomial
from .array_accesses import ArrayAccess
from .loop_symbols import LoopSymbols

Positions = tuple[int, ...]
Constants = tuple[int | None, ...]


@dataclass(frozen=True)
class Candidate:
    """
    A store, and what it has in common (`kin`) with accesses that may meet it in another iteration while
    inner loops are the same. `varies`: its value is another in other iterations, for which it is one array.
    """

    access: ArrayAccess
    order: int
    kin: Hashable
    varies: bool


@dataclass
class _StoreGroup:
    """Stores with constant subscripts in the same positions; those of equal constants in some of them."""

    stores: list[tuple[Constants, Candidate]] = field(
        default_factory=list[tuple[Constants, Candidate]]
    )
    _by_constants: dict[Positions, dict[Constants, list[Candidate]]] = field(
        default_factory=dict[Positions, dict[Constants, list[Candidate]]]
    )

    def equal(self, constants: Constants, positions: Positions) -> Sequence[Candidate]:
        if positions not in self._by_constants:
            found = self._by_constants[positions] = dict[Constants, list[Candidate]]()
            for own, candidate in self.stores:
                found.setdefault(tuple(own[i] for i in positions), []).append(candidate)
        return self._by_constants[positions].get(tuple(constants[i] for i in positions), ())


class MeetingCandidates:
    """The stores of a loop, each place once; complete before the first question."""

    def __init__(self, variables: Sequence[SSAValue], symbols: LoopSymbols):
        self._variables = variables
        self._symbols = symbols
        self._stores: dict[Hashable, Candidate] = {}
        self._groups: dict[Hashable, dict[Positions, _StoreGroup]] = {}

    def add(self, store: ArrayAccess, varies: bool) -> None:
        kin = self.kin(store)
        place = kin, store.subscripts, varies
        if place in self._stores:
            return
        self._stores[place] = candidate = Candidate(store, len(self._stores), kin, varies)
        constants = _constants(store)
        groups = self._groups.setdefault(_array(store), {})
        group = groups.setdefault(_positions(constants), _StoreGroup())
        group.stores.append((constants, candidate))

    def all(self) -> Sequence[Candidate]:
        return list(self._stores.values())

    def of(self, access: ArrayAccess) -> list[Candidate]:
        """Stores to its array, in order, but for those with another constant as a subscript."""
        constants = _constants(access)
        own = set(_positions(constants))
        found: list[Candidate] = []
        for positions, group in self._groups.get(_array(access), {}).items():
            found += group.equal(constants, tuple(i for i in positions if i in own))
        return sorted(found, key=lambda candidate: candidate.order)

    def kin(self, access: ArrayAccess) -> Hashable:
        """All of the subscripts but for what adding to the loop's variables changes, and the loops around."""
        rests = tuple(
            None if poly is None else _without_steps(poly, self._variables)
            for poly in access.subscripts
        )
        return _array(access), rests, self._symbols.inner_ranges(access.op)


def _array(access: ArrayAccess) -> Hashable:
    """What accesses of which one may be seen to meet another have in common."""
    return access.key, access.units, access.type


def _constants(access: ArrayAccess) -> Constants:
    return tuple(None if poly is None else poly.as_constant for poly in access.subscripts)


def _positions(constants: Constants) -> Positions:
    return tuple(i for i, constant in enumerate(constants) if constant is not None)


def _without_steps(poly: Polynomial, variables: Sequence[SSAValue]) -> Polynomial:
    """`poly` without the terms by which it changes from one value of a variable to another."""
    steps: set[Monomial] = set()
    for variable in variables:
        parts = poly.split(variable)
        if parts is not None:
            steps.update(parts[1].terms)
    return Polynomial({term: n for term, n in poly.terms.items() if term not in steps})
