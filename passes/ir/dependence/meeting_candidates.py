"""Finds the stores of a loop that may be proved to meet a given access, without comparing every pair."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ...decisions.polynomials import Monomial, Polynomial
from ..values.loop_symbols import LoopSymbols
from .array_accesses import ArrayAccess

Positions = tuple[int, ...]
Constants = tuple[int | None, ...]


@dataclass(frozen=True)
class Candidate:
    """
    A store. `kin` is a key that it shares with accesses that may meet it in another iteration, inner loops
    being at the same iteration. `varies`: iterations store different values, and to one array rather than
    private copies.
    """

    access: ArrayAccess
    order: int
    kin: Hashable
    varies: bool


@dataclass
class _StoreGroup:
    """Stores that have constant subscripts in the same positions, indexed by those constants."""

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
    """The stores of a loop, each place once. All are added before the first query."""

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
        """
        The stores to the array of `access`, in program order, without those that differ from it in a
        constant subscript.
        """
        constants = _constants(access)
        own = set(_positions(constants))
        found: list[Candidate] = []
        for positions, group in self._groups.get(_array(access), {}).items():
            found += group.equal(constants, tuple(i for i in positions if i in own))
        return sorted(found, key=lambda candidate: candidate.order)

    def kin(self, access: ArrayAccess) -> Hashable:
        """
        A key of the subscripts without the terms that change with the loop's variables, and of the
        enclosing loops.
        """
        rests = tuple(
            None if poly is None else _without_steps(poly, self._variables)
            for poly in access.subscripts
        )
        return _array(access), rests, self._symbols.inner_ranges(access.op)


def _array(access: ArrayAccess) -> Hashable:
    """A key that two accesses must share to be proved to meet."""
    return access.key, access.units, access.type


def _constants(access: ArrayAccess) -> Constants:
    return tuple(None if poly is None else poly.as_constant for poly in access.subscripts)


def _positions(constants: Constants) -> Positions:
    return tuple(i for i, constant in enumerate(constants) if constant is not None)


def _without_steps(poly: Polynomial, variables: Sequence[SSAValue]) -> Polynomial:
    """`poly` without the terms that change with a variable."""
    steps: set[Monomial] = set()
    for variable in variables:
        parts = poly.split(variable)
        if parts is not None:
            steps.update(parts[1].terms)
    return Polynomial({term: n for term, n in poly.terms.items() if term not in steps})
