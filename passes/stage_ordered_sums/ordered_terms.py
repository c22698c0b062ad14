"""Nests with sums whose order is kept, and what of their bodies threads may share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, llvm, scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from ..decisions.declined import Declined
from ..decisions.ordered_sums import turns
from ..ir.loops.conditional_sums import split_conditional_sums
from ..ir.loops.dependent_ops import depending_on
from ..ir.loops.sum_nests import SumNest, count_walks, is_scalar, read_nest
from ..ir.ops.layout import size_of
from ..ir.ops.purity import is_pure, is_pure_call
from ..ir.values.values_outside import is_known_outside


@dataclass(frozen=True)
class OrderedSums:
    """
    A nest with a sequential loop, of whose body `loading` are the loads and what they need, `computing` the
    rest that does not depend on carried values, and `ordered` what does. `loaded`: values of `loading` that
    others use; `terms`: values of both that `ordered` uses. `along`: neighbouring terms of one sum are
    neighbours in memory, else those of neighbouring sums. `turns`: the terms of a piece for each thread.
    """

    nest: SumNest
    loading: tuple[Operation, ...]
    computing: tuple[Operation, ...]
    ordered: tuple[Operation, ...]
    loaded: tuple[SSAValue, ...]
    terms: tuple[SSAValue, ...]
    along: bool
    turns: int


def _used(ops: Iterable[Operation], made: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """The results of `made` that `ops` use, except constants."""
    results = {result: None for op in made if op.operands for result in op.results}
    used = {v for op in ops for inner in op.walk() for v in inner.operands}
    return tuple(v for v in results if v in used)


def carrying_nest(construct: acc.ParallelOp) -> SumNest:
    """The nest of `construct` around a sequential loop that carries values. Raises `Declined` for others."""
    nest = read_nest(construct)
    if not isinstance(nest.terms, scf.ForOp) or not nest.terms.iter_args:
        raise Declined("no sequential loop carries a value")
    return nest


def find_sums(construct: acc.ParallelOp) -> OrderedSums:
    """The nest of `construct`. Raises `Declined` with the reason if its terms cannot be staged."""
    nest = carrying_nest(construct)
    assert isinstance(nest.terms, scf.ForOp)
    if all(isinstance(value.type, IntegerType) for value in nest.terms.iter_args):
        raise Declined("its order is free: other passes share the terms among threads")
    across, along = count_walks(nest)
    if not across and not along:
        raise Declined("its loads are not contiguous")
    if not all(is_known_outside(bound, nest.around[0]) for bound in nest.bounds):
        raise Declined("its number of terms is not known before the construct")
    split_conditional_sums(nest.terms)
    return split_body(nest, along=along > across)


def split_body(nest: SumNest, *, along: bool) -> OrderedSums:
    """The parts of a nest's body. Raises `Declined` with the reason if its terms cannot be staged."""
    ops = [op for op in nest.body.ops if not op.has_trait(IsTerminator)]
    end = nest.body.last_op
    assert end is not None
    ordered = depending_on(nest.body, nest.body.args[1:])
    free = [op for op in ops if op not in ordered]
    if any(not is_pure(op) and not is_pure_call(op) for op in ordered):
        raise Declined("it accesses memory in order")
    loads = {op for op in free if any(isinstance(inner, llvm.LoadOp) for inner in op.walk())}
    for op in free:
        if op not in loads and not is_pure(op) and not is_pure_call(op):
            raise Declined(f"the loop holds {op.name}")
        if any(isinstance(inner, llvm.StoreOp | llvm.AllocaOp) for inner in op.walk()):
            raise Declined("the loop writes variables")
    needed = set(loads)
    for op in reversed(free):
        if op in needed:
            inside = (v for inner in op.walk() for v in inner.operands)
            needed |= {v.owner for v in inside if isinstance(v.owner, Operation)}
    loading = [op for op in free if op in needed]
    computing = [op for op in free if op not in needed]
    loaded = _used([*computing, *ordered, end], loading)
    terms = _used([*ordered, end], free)
    if not terms or not all(is_scalar(value.type) for value in (*terms, *loaded)):
        raise Declined("its terms are not numbers")
    bytes = sum(size_of(value.type) for value in terms)
    words = sum(-(-size_of(value.type) // 4) for value in loaded)
    number = turns(bytes, words)
    if not number:
        raise Declined("its terms take too much memory")
    loads_first, then = (tuple(loading), tuple(computing)), tuple(ordered)
    return OrderedSums(nest, *loads_first, then, loaded, terms, along, number)
