"""
Keep the element that a sequential loop stored in its previous iteration in a register.

`b[i][j] = b[i][j - 1] + a[i][j]` loads what the iteration before has stored. As a value that the loop
carries, it is the same code as a sum in a variable, for later passes, and an iteration does not wait for
memory that the one before has written.

Takes:  scheduled IR for a GPU. Considers sequential innermost loops in constructs, without effects but loads
        and stores, of which one store is not in a branch, if nothing else in the loop can be to the element
        that it stores.
Leaves: for loads, not in a branch, of the element that the store of the previous iteration wrote, a value
        that the loop carries. It begins with the element's value before the loop, which is loaded if the
        loop runs at all, or is what was stored there directly before. Stores, and other loops, are unchanged.
Fails:  never.

Before:
  scf.for %j = %c1 to %m step %c1 {
    %b = llvm.load %row[%j - 1]
    llvm.store %b + %v, %row[%j]
  }
After:
  %start = (%c1 < %m) ? llvm.load %row[%c1 - 1] : 0
  scf.for %j = %c1 to %m step %c1 iter_args(%b = %start) {
    llvm.store %b + %v, %row[%j]
    scf.yield %b + %v
  }

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects.volatility import is_ordered
from .decisions.previous_elements import is_of_previous
from .ir.loops.kept_sums import load_if
from .ir.ops.acc_ops import is_defined_inside, parallel_constructs
from .ir.ops.building import Cursor, constant_trips, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.purity import is_pure, only_computes
from .ir.values.accesses import LoopAccess
from .ir.values.iteration_accesses import access_of, are_apart, is_fixed_outside, is_same_element
from .ir.values.region_values import RegionSymbols
from .ir.variables.handed_on import hand_on


def _accesses(loop: scf.ForOp) -> tuple[list[llvm.LoadOp], list[llvm.StoreOp]] | None:
    """The loads directly in the body of a loop, and all stores; None if it does anything else."""
    loads, stores, body = list[llvm.LoadOp](), list[llvm.StoreOp](), loop.body.block
    for op in body.walk():
        if isinstance(op, llvm.LoadOp | llvm.StoreOp):
            if is_ordered(op):
                return None
            if isinstance(op, llvm.StoreOp):
                stores.append(op)
            elif op.parent_block() is body:
                loads.append(op)
        elif not (isinstance(op, scf.YieldOp | scf.IfOp) or only_computes(op)):
            return None
    return loads, stores


def _previous(
    loop: scf.ForOp, step: int, symbols: RegionSymbols
) -> tuple[llvm.StoreOp, list[llvm.LoadOp]] | None:
    """A store of the loop, and the loads of what it stored in the iteration before."""
    found = _accesses(loop)
    if found is None or not all(found):
        return None
    loads, stores = ([access_of(op, symbols) for op in ops] for ops in found)
    variable = loop.body.block.args[0]
    for store in stores:
        if store.op.parent_block() is not loop.body.block or not is_fixed_outside(
            store, variable, loop
        ):
            continue
        reads = [load for load in loads if _follows(load, store, loop, step)]
        others = [other for other in stores if other is not store]
        if reads and all(are_apart(load, store) and _differ(load, others) for load in reads):
            assert isinstance(store.op, llvm.StoreOp)
            return store.op, [load.op for load in reads if isinstance(load.op, llvm.LoadOp)]
    return None


def _differ(load: LoopAccess, stores: Iterable[LoopAccess]) -> bool:
    """Whether no iteration of the loop stores to an element that `load` reads in any other."""
    return all(store.root is not load.root and are_apart(load, store) for store in stores)


def _follows(load: LoopAccess, store: LoopAccess, loop: scf.ForOp, step: int) -> bool:
    """Whether a load is of the element to which the iteration before has stored, as the same type."""
    if load.root is not store.root or load.type != store.type or load.units != store.units:
        return False
    return is_of_previous(load.subscripts, store.subscripts, loop.body.block.args[0], step)


def _start(loop: scf.ForOp, load: llvm.LoadOp, symbols: RegionSymbols) -> SSAValue:
    """What `load` reads in the first iteration of the loop, before it; any value if there is none."""
    at = Cursor.before(loop)
    values: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: loop.lb}

    def copy(value: SSAValue) -> None:
        owner = value.owner
        if (
            value in values
            or not isinstance(owner, Operation)
            or not is_defined_inside(value, loop)
        ):
            return
        for operand in owner.operands:
            copy(operand)
        at.clone(owner, values)

    before = loop.prev_op
    copy(load.ptr)
    address, type_ = values.get(load.ptr, load.ptr), load.dereferenced_value.type
    read = at.insert(llvm.LoadOp(address, type_))
    known = _stored_before(before, access_of(read, symbols), symbols)
    if known is not None or constant_trips(loop.lb, loop.ub, loop.step):
        if known is not None:
            erase(read)
        return known or read.dereferenced_value
    erase(read)
    runs = at.value(arith.CmpiOp(loop.lb, loop.ub, "slt"), "runs")
    return load_if(runs, address, type_, at)


def _stored_before(
    op: Operation | None, wanted: LoopAccess, symbols: RegionSymbols
) -> SSAValue | None:
    """The value that `op`, or an operation before it, stores to an element, if nothing is stored since."""
    while op is not None:
        if isinstance(op, llvm.StoreOp) and not is_ordered(op):
            access = access_of(op, symbols)
            if is_same_element(access, wanted):
                return op.value
            if not are_apart(access, wanted):
                return None
        elif op.regions or not (isinstance(op, llvm.LoadOp) or is_pure(op)):
            return None
        op = op.prev_op
    return None


def _carry(
    loop: scf.ForOp, store: llvm.StoreOp, loads: Sequence[llvm.LoadOp], symbols: RegionSymbols
) -> scf.ForOp:
    """Replaces the loop by one that carries the stored value to the `loads` of the next iteration."""
    start, body = _start(loop, loads[0], symbols), loop.body.block
    carried = body.insert_arg(store.value.type, len(body.args))
    carried.name_hint = "previous"
    for load in loads:
        load.dereferenced_value.replace_all_uses_with(carried)
        erase(load)
    return hand_on(loop, [start], [store.value])


def keep_previous(loop: scf.ForOp, symbols: RegionSymbols) -> None:
    """Carries what a loop stores from one iteration to the next, for each store of which that is possible."""
    step = constant_value(loop.step)
    while step is not None:
        found = _previous(loop, step, symbols)
        if found is None:
            return
        loop = _carry(loop, *found, symbols)


@dataclass(frozen=True)
class KeepPreviousElementsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "keep-previous-elements"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            loops = [op for op in construct.region.walk() if isinstance(op, scf.ForOp)]
            symbols = RegionSymbols(construct) if loops else None
            for loop in loops:
                if symbols is not None and isinstance(loop.parent_op(), acc.LoopOp | scf.ForOp):
                    keep_previous(loop, symbols)
