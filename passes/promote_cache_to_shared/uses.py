"""Summarises the uses of the cached array in a directive's scope: their number, and the kind of writes."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation

from ..decisions.cache_plan import Uses
from ..ir.data.cached_accesses import Cached, CachedAccess, Symbols, usual_turns
from ..ir.ops.acc_ops import operations_around
from .nest import CachedNest


def uses_of(cached: Cached, nest: CachedNest) -> Uses:
    """Counts the accesses in the directive's scope."""
    reads: int | None = 0
    stores = in_loop = conditional = read_in_loop = 0
    scope = cached.op.parent_op()
    assert scope is not None
    for access in cached.accesses:
        trips, branches = _trips(access, scope, nest.symbols)
        if access.is_store:
            stores += 1
            in_loop += trips != 1
            conditional += branches
        else:
            read_in_loop += isinstance(access.op.parent_op(), scf.ForOp)
        if not access.is_store and reads is not None:
            reads = None if trips is None else reads + trips
    renewed = cached.op.parent_op() is not nest.loops[-1]
    return Uses(reads, renewed, stores, in_loop > 0, conditional > 0, read_in_loop > 0)


def _trips(access: CachedAccess, scope: Operation, symbols: Symbols) -> tuple[int | None, bool]:
    """The number of times an access runs in its scope (None: not known), and whether it is conditional."""
    trips: int | None = 1
    conditional = False
    for parent in operations_around(access.op, scope):
        if isinstance(parent, scf.ForOp):
            own = usual_turns(parent, symbols)
            trips = None if trips is None or own is None else trips * own
        elif isinstance(parent, scf.IfOp):
            conditional = True
        else:
            trips = None
    return trips, conditional
