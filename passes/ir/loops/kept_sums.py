"""
Keeps sums that a loop over terms accumulates in memory in registers.

`for k: c[i][j] += a[i][k] * b[k][j]` loads and stores the same element in every iteration. One load before
the loop and one store after it suffice if no other access of the loop can be to that element.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, llvm, scf
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.volatility import is_ordered
from ..data.cached_accesses import Symbols
from ..ops.acc_ops import is_defined_inside
from ..ops.building import Cursor, constant_trips, erase
from ..ops.purity import is_pure, only_computes
from ..values.addresses import base_of
from ..variables.handed_on import hand_on
from .product_loads import offset_of
from .products import OWN, find_accumulators


def _address(store: llvm.StoreOp, loop: scf.ForOp, at: Cursor) -> SSAValue:
    """The address of a store, which is loop-invariant, computed before the loop."""
    needed: list[Operation] = []

    def visit(value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, Operation) and is_defined_inside(value, loop) and owner not in needed:
            for operand in owner.operands:
                visit(operand)
            needed.append(owner)

    visit(store.ptr)
    values: dict[SSAValue, SSAValue] = {}
    for op in needed:
        at.insert(op.clone(values))
    return values.get(store.ptr, store.ptr)


def _set_before(
    before: Operation | None, store: llvm.StoreOp, sums: Sequence[llvm.StoreOp], symbols: Symbols
) -> llvm.StoreOp | None:
    """
    The store that initialises the element to which `store` adds, `before` the loop or earlier, if it cannot
    be read in between; else None. Other `sums` may be initialised there, too.
    """
    place = offset_of(store.ptr, symbols)
    elsewhere = {(offset_of(o.ptr, symbols), o.value.type) for o in sums if o is not store}
    op = before
    while op is not None:
        own = False
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            if is_ordered(op):
                return None
            own = isinstance(base_of(op.ptr).owner, OWN)
        if isinstance(op, llvm.StoreOp):
            found = offset_of(op.ptr, symbols), op.value.type
            if found[0] == place:
                return op if found[1] == store.value.type else None
            if found in elsewhere:
                op = op.prev_op
                continue
        if op.regions or not (own or is_pure(op)):
            return None
        op = op.prev_op
    return None


def keep_in_registers(loop: scf.ForOp, stores: Sequence[llvm.StoreOp]) -> scf.ForOp:
    """Replaces the loop by one that carries the elements written by `stores` in registers; returns it."""
    symbols = Symbols(loop)
    at = Cursor.before(loop)
    first = [_set_before(loop.prev_op, store, stores, symbols) for store in stores]
    addresses = [_address(store, loop, at) for store in stores]
    body = loop.body.block
    places = {store: offset_of(store.ptr, symbols) for store in stores}
    # If the loop does not run, it accesses nothing, and the array may not be mapped.
    runs = at.value(arith.CmpiOp(loop.lb, loop.ub, "slt"), "runs")
    turns = constant_trips(loop.lb, loop.ub, loop.step)
    safe: list[bool] = []
    starts: list[SSAValue] = []
    for store, address, earlier in zip(stores, addresses, first, strict=True):
        if earlier is not None:
            # The element is set in any case; that store now comes after the sum.
            safe.append(True)
            starts.append(earlier.value)
            erase(earlier)
            continue
        safe.append(bool(turns) or isinstance(places[store][0].owner, OWN))
        type_ = store.value.type
        starts.append(at.load(address, type_) if safe[-1] else load_if(runs, address, type_, at))
    current: dict[llvm.StoreOp, SSAValue] = {}
    for store in stores:
        current[store] = body.insert_arg(store.value.type, len(body.args))
    for op in list(body.ops):
        if isinstance(op, llvm.LoadOp):
            for store in stores:
                if places[store] == offset_of(op.ptr, symbols):
                    op.dereferenced_value.replace_all_uses_with(current[store])
                    erase(op)
                    break
        elif isinstance(op, llvm.StoreOp) and op in current:
            current[op] = op.value
            erase(op)
    held = len(loop.results)
    new = hand_on(loop, starts, list(current.values()))
    at = Cursor.after(new)
    sums = new.results[held:]
    for address, result, sure in zip(addresses, sums, safe, strict=True):
        (at if sure else at.if_then(runs)).store(result, address)
    return new


def load_if(condition: SSAValue, address: SSAValue, type_: Attribute, at: Cursor) -> SSAValue:
    """The value at an address if a condition holds, else 0."""
    (start,) = at.either(
        condition,
        lambda inside: [inside.load(address, type_)],
        lambda outside: [outside.zero(type_)],
        ["start"],
    )
    return start


def keep_sums(loop: scf.ForOp) -> None:
    """Keeps the sums of a loop in registers, if it has some and all its stores are to them."""
    stores = False
    for op in loop.body.block.ops:
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            if is_ordered(op):
                return
            stores = stores or isinstance(op, llvm.StoreOp)
        elif not (isinstance(op, scf.YieldOp) or only_computes(op)):
            return
    if not stores:
        return
    found = find_accumulators(loop, ())
    if found is not None:
        keep_in_registers(loop, found.stores)
