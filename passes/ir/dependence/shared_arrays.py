"""
Small local arrays that the iterations of a parallel loop share because no clause names them, such as
`double tmp[5]` at the top of a C90 function. OpenACC makes them `copy` (3.4, 2.6.2), or private to the gang
if declared in the construct: one array for all iterations.

If every iteration fills such an array before reading it and the array is dead after the loop, each
iteration gets its own, which gives the result of serial C. If iterations otherwise certainly assign the
same elements, there is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import acc, llvm, scf
from xdsl.ir import Operation, SSAValue

from ...decisions.levels import Level
from ...decisions.polynomials import Polynomial
from ..data.visible_data import visible_entry
from ..ops.acc_ops import (
    COMPUTE_OPS,
    MAPPING_OPS,
    is_defined_inside,
    operations_around,
    replace_inside,
    source_loc,
    variable_name,
)
from ..ops.levels import loop_levels
from ..ops.messages import Messages, access_notes
from ..values.accesses import root_of, subscripts_of
from ..values.addresses import base_of
from ..values.loop_symbols import LoopSymbols
from ..variables.scalar_clauses import add_private
from .loop_dependence import settle_arrays
from .private_arrays import is_small_array


def give_own_arrays(loop: acc.LoopOp, messages: Messages) -> dict[str, Operation]:
    """
    Adds private clauses for the arrays of which each iteration may have its own. Returns, by name and each
    with a store, the arrays that iterations share although every one assigns the same elements.
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
            access_notes(None, stores[root][0]),
            only_wall=True,
        )
    common = (
        (variable_name(root), next((op for op in stores[root] if _is_common(op, loop)), None))
        for root in shared
    )
    return {name: store for name, store in common if store is not None}


def warn_of_shared(loop: acc.LoopOp, shared: dict[str, Operation], messages: Messages) -> None:
    """Warns of each array that `give_own_arrays` found to be shared."""
    for name, store in shared.items():
        messages.warn(
            source_loc(loop),
            f"every iteration of this loop assigns the same elements of '{name}', which they share",
            f"write private({name}) if each iteration has its own, or 'loop seq'",
            access_notes(None, store),
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
    """
    Whether data constructs around the construct map the array, or it is private to a gang in a loop over
    gangs.
    """
    if construct is None:
        return False
    of_gang = isinstance(root.owner, acc.PrivateOp) or is_defined_inside(root, construct)
    if of_gang and loop_levels(loop) == {Level.GANG}:
        return True
    return visible_entry(construct, root) is not None


def _is_mapped(pointer: SSAValue) -> bool:
    """Whether a data clause maps the object at an address."""
    return isinstance(base_of(pointer).owner, MAPPING_OPS)


def _is_common(store: llvm.StoreOp, loop: acc.LoopOp) -> bool:
    """Whether every iteration of a loop certainly stores a value of its own to the same elements."""
    if not is_defined_inside(store.value, loop):
        return False
    if not all(isinstance(op, scf.ForOp | acc.LoopOp) for op in operations_around(store, loop)):
        return False
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
