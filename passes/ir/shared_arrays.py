"""
Small local arrays that the iterations of a parallel loop share for want of a clause, as C90 code has them
at the top of a function (`double tmp[5]`). OpenACC makes them `copy` (3.4, 2.6.2), or private to the gang
where they are declared in the construct: one array for all iterations.

Where every iteration fills such an array before it reads it, and nobody wants it afterwards, each gets its
own, which is what serial C computes. Where iterations surely assign the same elements all the same, the
user is told.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, SSAValue

from ..decisions.levels import Level
from ..decisions.polynomials import Polynomial
from .acc_ops import (
    COMPUTE_OPS,
    MAPPING_OPS,
    is_defined_inside,
    replace_inside,
    source_loc,
    variable_name,
)
from .accesses import root_of, subscripts_of
from .addresses import base_of
from .levels import loop_levels
from .loop_dependence import settle_arrays
from .loop_symbols import LoopSymbols
from .messages import Messages
from .private_arrays import is_small_array
from .scalar_clauses import add_private
from .visible_data import visible_entry


def give_own_arrays(loop: acc.LoopOp, messages: Messages) -> dict[str, Operation]:
    """
    Private clauses for the arrays of which each iteration may have its own. Those that iterations share,
    though every one assigns the same elements, by name with such a store.
    """
    stores = _stores(loop)
    if not stores:
        return {}
    private, shared = settle_arrays(loop, stores)
    for root in private:
        name = variable_name(root)
        copy = add_private(loop, root, messages.module)
        replace_inside(loop, root, copy)
        messages.warn(
            source_loc(loop),
            f"generating implicit private({name}): every iteration fills '{name}' before it reads it",
            f"write private({name})",
            [(source_loc(stores[root][0]), "it is assigned here")],
            only_wall=True,
        )
    common = (
        (variable_name(root), next((op for op in stores[root] if _is_common(op, loop)), None))
        for root in shared
    )
    return {name: store for name, store in common if store is not None}


def warn_of_shared(loop: acc.LoopOp, shared: dict[str, Operation], messages: Messages) -> None:
    """A warning for each array that `give_own_arrays` found to be shared."""
    for name, store in shared.items():
        messages.warn(
            source_loc(loop),
            f"every iteration of this loop assigns the same elements of '{name}', which they share",
            f"write private({name}) if each iteration has its own, or 'loop seq'",
            [(source_loc(store), "it is assigned here")],
        )


def _stores(loop: acc.LoopOp) -> dict[SSAValue, list[llvm.StoreOp]]:
    """The small arrays from outside that a loop stores to and no data clause names, with the stores."""
    found: dict[SSAValue, list[llvm.StoreOp]] = {}
    for op in loop.walk():
        if not isinstance(op, llvm.StoreOp) or _is_mapped(op.ptr):
            continue
        root = root_of(op.ptr)
        if is_small_array(root) and not is_defined_inside(root, loop):
            found.setdefault(root, []).append(op)
    construct = loop.parent_op()
    while construct is not None and not isinstance(construct, COMPUTE_OPS):
        construct = construct.parent_op()
    return {root: ops for root, ops in found.items() if not _is_settled(root, loop, construct)}


def _is_settled(root: SSAValue, loop: acc.LoopOp, construct: Operation | None) -> bool:
    """Whether an array is mapped by data around the construct, or each gang's own in a loop over gangs."""
    if construct is None:
        return False
    of_gang = isinstance(root.owner, acc.PrivateOp) or is_defined_inside(root, construct)
    if of_gang and loop_levels(loop) == {Level.GANG}:
        return True
    return visible_entry(construct, root) is not None


def _is_mapped(pointer: SSAValue) -> bool:
    """Whether an address is that of data which a clause names."""
    return isinstance(base_of(pointer).owner, MAPPING_OPS)


def _is_common(store: llvm.StoreOp, loop: acc.LoopOp) -> bool:
    """Whether every iteration of a loop surely stores a value of its own at the same places."""
    if not is_defined_inside(store.value, loop):
        return False
    parent = store.parent_op()
    while parent is not None and parent is not loop:
        if not isinstance(parent, scf.ForOp | acc.LoopOp):
            return False
        parent = parent.parent_op()
    subscripts, _ = subscripts_of(store.ptr, LoopSymbols(loop, None))
    variables = loop.region.block.args
    return all(poly is not None and not _names(poly, variables) for poly in subscripts)


def _names(poly: Polynomial, variables: Iterable[SSAValue]) -> bool:
    """Whether a polynomial may depend on loop variables."""
    own = set(variables)
    symbols = {symbol for monomial in poly.terms for symbol in monomial}
    return any(symbol in own or not _is_counter(symbol) for symbol in symbols)


def _is_counter(symbol: object) -> bool:
    """Whether a symbol is the variable of a loop."""
    if not isinstance(symbol, SSAValue) or isinstance(symbol.owner, Operation):
        return False
    return isinstance(symbol.owner.parent_op(), scf.ForOp | acc.LoopOp)
