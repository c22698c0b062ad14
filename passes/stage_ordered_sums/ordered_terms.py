"""Nests with sums whose order is kept, and what of their bodies threads may share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.volatility import is_ordered
from ..decisions.declined import Declined
from ..decisions.ordered_sums import turns
from ..ir.loops.conditional_sums import split_conditional_sums
from ..ir.loops.dependent_ops import depending_on
from ..ir.loops.sum_nests import SumNest, count_walks, is_own, is_scalar, read_nest
from ..ir.ops.building import erase
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure, is_pure_call
from ..ir.values.accesses import LoopAccess
from ..ir.values.iteration_accesses import access_of, is_same_element
from ..ir.values.region_values import RegionSymbols
from ..ir.values.values_outside import is_known_outside
from .written_rows import stores_before, written_rows


@dataclass(frozen=True)
class OrderedSums:
    """
    A nest with a sequential loop, of whose body `loading` are the loads and what they need, `computing` the
    rest that does not depend on carried values, and `ordered` what does. `loaded`: values of `loading` that
    others use; `terms`: values of both that `ordered` uses. `along`: neighbouring terms of one sum are
    neighbours in memory, else those of neighbouring sums. `turns`: the terms of a piece for each thread.
    `stores`: what the loop stores of what it carries, along it (`written_rows.py`); `placing` computes where.
    """

    nest: SumNest
    loading: tuple[Operation, ...]
    computing: tuple[Operation, ...]
    ordered: tuple[Operation, ...]
    loaded: tuple[SSAValue, ...]
    terms: tuple[SSAValue, ...]
    along: bool
    turns: int
    stores: tuple[llvm.StoreOp, ...] = ()
    placing: tuple[Operation, ...] = ()

    @property
    def first(self) -> tuple[llvm.StoreOp, ...]:
        """What only the thread of a sum stores, before it."""
        return tuple(stores_before(self.nest))

    @property
    def read_by_all(self) -> SumNest:
        """The nest without these stores."""
        *outer, last = self.nest.before
        kept = tuple(op for op in last if op not in self.first)
        return replace(self.nest, before=(*outer, kept))


def _used(ops: Iterable[Operation], made: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """The results of `made`, except constants, that `ops` use; of a store, what it stores."""
    results = {result: None for op in made if op.operands for result in op.results}
    used = {
        v for op in ops for v in ([op.value] if isinstance(op, llvm.StoreOp) else _inputs([op]))
    }
    return tuple(v for v in results if v in used)


def _needed_by(values: Iterable[SSAValue], made: Sequence[Operation]) -> list[Operation]:
    """The operations of `made`, of one block, from which `values` are computed."""
    wanted = {v.owner for v in values}
    for op in reversed(made):
        if op in wanted:
            wanted |= {v.owner for inner in op.walk() for v in inner.operands}
    return [op for op in made if op in wanted]


def carrying_nest(construct: acc.ParallelOp, *, stores: bool = False) -> SumNest:
    """
    The nest of `construct` around a sequential loop that carries values; `stores`: as for `read_nest`. Raises
    `Declined` for others.
    """
    nest = read_nest(construct, stores=stores)
    if not isinstance(nest.terms, scf.ForOp) or not nest.terms.iter_args:
        raise Declined("no sequential loop carries a value")
    return nest


def find_sums(construct: acc.ParallelOp) -> OrderedSums:
    """The nest of `construct`. Raises `Declined` with the reason if its terms cannot be staged."""
    nest = carrying_nest(construct, stores=True)
    assert isinstance(nest.terms, scf.ForOp)
    stores = written_rows(nest)
    if not stores and all(isinstance(value.type, IntegerType) for value in nest.terms.iter_args):
        raise Declined("its order is free: other passes share the terms among threads")
    across, along = count_walks(nest)
    if not across and not along:
        raise Declined("its loads are not contiguous")
    if not all(is_known_outside(bound, nest.around[0]) for bound in nest.bounds):
        raise Declined("its number of terms is not known before the construct")
    if stores and along <= across:
        raise Declined("its loads are not along its rows")
    _load_once(nest)
    split_conditional_sums(nest.terms)
    return split_body(nest, stores, along=along > across)


def _load_once(nest: SumNest) -> None:
    """
    Replaces loads in branches by what the body has loaded from the element before: the loop stores to no
    memory of others that it loads, but to elements that it has loaded before.
    """
    symbols, root = RegionSymbols(nest.construct), nest.around[0]
    known = list[LoopAccess]()
    for top in nest.body.ops:
        for op in list(top.walk()):
            if not isinstance(op, llvm.LoadOp) or is_ordered(op) or is_own(op.ptr, root):
                continue
            access = access_of(op, symbols)
            if op is top:
                known.append(access)
                continue
            same = next((each for each in known if is_same_element(each, access)), None)
            if same is not None:
                op.dereferenced_value.replace_all_uses_with(same.op.results[0])
                erase(op)


def split_body(nest: SumNest, stores: Sequence[llvm.StoreOp] = (), *, along: bool) -> OrderedSums:
    """
    The parts of a nest's body, of which `stores` write elements of the row. Raises `Declined` with the reason
    if its terms cannot be staged.
    """
    ops = [op for op in nest.body.ops if not (op.has_trait(IsTerminator) or op in stores)]
    end = nest.body.last_op
    assert end is not None
    ordered = [op for op in depending_on(nest.body, nest.body.args[1:]) if op not in stores]
    free = [op for op in ops if op not in ordered]
    if any(not is_pure(op) and not is_pure_call(op) for op in ordered):
        raise Declined("it accesses memory in order")
    loads = {op for op in free if any(isinstance(inner, llvm.LoadOp) for inner in op.walk())}
    for op in free:
        if op not in loads and not is_pure(op) and not is_pure_call(op):
            raise Declined(f"the loop holds {op.name}")
        if any(isinstance(inner, llvm.StoreOp | llvm.AllocaOp) for inner in op.walk()):
            raise Declined("the loop writes variables")
    placing = _needed_by([store.ptr for store in stores], free)
    written = [store.value for store in stores]
    needed = loads | set(_needed_by(_inputs(loads), free))
    loading = [op for op in free if op in needed]
    results = [*_inputs([*ordered, end]), *written]
    computing = [op for op in _needed_by(results, free) if op not in needed]
    loaded = _used([*computing, *ordered, end, *stores], loading)
    terms = _used([*ordered, end, *stores], free)
    if not {*written} <= {*nest.body.args[1:], *terms, *(v for op in ordered for v in op.results)}:
        raise Declined("it stores what its iterations do not compute")
    if not terms or not all(is_scalar(value.type) for value in (*terms, *loaded, *written)):
        raise Declined("its terms are not numbers")
    tiles = tile_types(terms, written)
    words = sum(-(-size_of(value.type) // 4) for value in loaded)
    number = turns(sum(map(size_of, tiles)), words)
    if not number:
        raise Declined("its terms take too much memory")
    parts = (tuple(loading), tuple(computing), tuple(ordered))
    return OrderedSums(nest, *parts, loaded, terms, along, number, tuple(stores), tuple(placing))


def _inputs(ops: Iterable[Operation]) -> list[SSAValue]:
    """What `ops` use, also in their regions."""
    return [value for op in ops for inner in op.walk() for value in inner.operands]


def tile_types(terms: Sequence[SSAValue], written: Sequence[SSAValue]) -> list[Attribute]:
    """The types of the tiles for terms, and after them those of others for what is written."""
    tiles = [value.type for value in terms]
    for value, place in zip(written, places_of_written(terms, written), strict=True):
        if place >= len(tiles):
            tiles.append(value.type)
    return tiles


def places_of_written(terms: Sequence[SSAValue], written: Sequence[SSAValue]) -> list[int]:
    """
    The tiles for what is written: a term's is its own; another value takes the place of a term of its type,
    which has been read by then, if there is one for it alone.
    """
    free = [number for number, term in enumerate(terms) if term not in written]
    found, more = list[int](), len(terms)
    for value in written:
        own = next((number for number, term in enumerate(terms) if term is value), None)
        place = next((number for number in free if terms[number].type == value.type), None)
        if own is not None:
            found.append(own)
            continue
        if place is None:
            place, more = more, more + 1
        else:
            free.remove(place)
        found.append(place)
    return found
