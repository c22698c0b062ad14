"""
Load early what a thread reads: before stores to other elements, and before divisions and functions.

A thread waits for a load where its value is needed, and neither LLVM nor the GPU's assembler moves a load
before a store that might be to the same element, as in arrays whose planes have a length known at run time.
A loop that updates many elements in each step, such as one along the lines of a system of equations, then
waits for one load after the other. Nor does the assembler move a load before a quotient, a root or a function
whose instructions branch for rare arguments, so that the memory waits for arithmetic.

Takes:  scheduled IR for a GPU. Considers bodies of `scf.for` in constructs where a load follows a store, and
        of `acc.loop` where one follows a division or a function, as far as they load, store and compute
        without branches.
Leaves: a load comes before the first store, division or function if no store between may be to its element,
        with the operations that compute its address; a load of what the body has just stored, or loaded, is
        that value. A body keeps at most `MOST_BYTES` of loads early. The order of stores is untouched.
Fails:  never.

Before:
  %x = llvm.load %a[2, %i]
  llvm.store %x * %f, %a[2, %i]
  %y = llvm.load %a[3, %i]
  llvm.store %y * %f, %a[3, %i]
  %z = llvm.load %a[2, %i]
After:
  %x = llvm.load %a[2, %i]
  %y = llvm.load %a[3, %i]
  llvm.store %x * %f, %a[2, %i]
  llvm.store %y * %f, %a[3, %i]
  (%z is %x * %f)

Options: `target` (`host`: no change).
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.volatility import is_ordered
from .ir.ops.acc_ops import parallel_constructs
from .ir.ops.building import erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.purity import is_pure, may_trap, only_computes
from .ir.values.accesses import LoopAccess
from .ir.values.iteration_accesses import (
    access_of,
    are_apart,
    is_same_element,
    positive_symbols,
)
from .ir.values.region_values import RegionSymbols

MOST_ACCESSES = 64
"""The stores and the loads that a load is compared with, so that long bodies take linear time."""
MOST_OPERATIONS = 16
"""The operations that compute the address of a load."""
MOST_BYTES = 256
"""The bytes of loads moved in a body, of which each takes registers from there on."""


def _is_number(type: Attribute) -> bool:
    """Whether a value of `type` is in memory what it is in registers."""
    return isinstance(type, IntegerType | Float32Type | Float64Type)


@dataclass
class _Stretch:
    """
    Loads and stores of a block without other effects between them: the stores so far, what loads in front
    of them have read that no store has changed, and the operations that follow `first`, the first store or
    slow operation.
    """

    symbols: RegionSymbols
    positive: Set[Hashable]
    bytes: int = 0
    first: Operation | None = None
    stores: list[LoopAccess] = field(default_factory=list[LoopAccess])
    loads: list[LoopAccess] = field(default_factory=list[LoopAccess])
    later: set[Operation] = field(default_factory=set[Operation])

    def end(self) -> None:
        """Begins anew after an operation with other effects."""
        self.first = None
        for each in (self.stores, self.loads, self.later):
            each.clear()

    def store(self, op: llvm.StoreOp) -> None:
        if len(self.stores) == MOST_ACCESSES:
            self.end()
        access = access_of(op, self.symbols)
        self.loads = [load for load in self.loads if self._apart(load, access)]
        self.stores.append(access)
        self.first = self.first or op
        self.later.add(op)

    def load(self, op: llvm.LoadOp) -> None:
        access = access_of(op, self.symbols)
        for known in self.loads:
            if is_same_element(known, access):
                _replace(op, known.op.results[0])
                return
        del self.loads[: 1 - MOST_ACCESSES]
        store = next((s for s in reversed(self.stores) if not self._apart(s, access)), None)
        if store is None:
            if self.first is not None and not self._move(op):
                self.later.add(op)
            self.loads.append(access)
        elif is_same_element(store, access) and _is_number(access.type):
            assert isinstance(store.op, llvm.StoreOp)
            _replace(op, store.op.value)
        else:
            self.later.add(op)
            self.loads.append(access)

    def _apart(self, one: LoopAccess, other: LoopAccess) -> bool:
        return are_apart(one, other, self.positive)

    def _move(self, op: llvm.LoadOp) -> bool:
        """Moves a load before `first`, and what computes its address; whether that is possible."""
        assert self.first is not None
        size = size_of(op.dereferenced_value.type)
        if self.bytes + size > MOST_BYTES:
            return False
        needed: list[Operation] = [op]
        work = list[SSAValue](op.operands)
        while work:
            owner = work.pop().owner
            if isinstance(owner, Operation) and owner in self.later and owner not in needed:
                movable = is_pure(owner) and not may_trap(owner) and not _is_slow(owner)
                if not movable or len(needed) > MOST_OPERATIONS:
                    return False
                needed.append(owner)
                work += owner.operands
        self.bytes += size
        block = self.first.parent_block()
        assert block is not None
        place = {each: number for number, each in enumerate(block.ops)}
        for each in sorted(needed, key=lambda each: place[each]):
            each.detach()
            block.insert_op_before(each, self.first)
            self.later.discard(each)
        return True


def _replace(load: llvm.LoadOp, value: SSAValue) -> None:
    load.dereferenced_value.replace_all_uses_with(value)
    erase(load)


def load_early(block: Block, symbols: RegionSymbols) -> None:
    """Orders the loads of a block (see the contract above)."""
    end = block.last_op
    stretch = _Stretch(symbols, positive_symbols(end, symbols) if end is not None else set())
    for op in list(block.ops):
        if isinstance(op, llvm.LoadOp | llvm.StoreOp) and not is_ordered(op):
            if isinstance(op, llvm.LoadOp):
                stretch.load(op)
            else:
                stretch.store(op)
        elif only_computes(op):
            if stretch.first is None and _is_slow(op):
                stretch.first = op
            if stretch.first is not None:
                stretch.later.add(op)
        else:
            stretch.end()


def _is_slow(op: Operation) -> bool:
    """Whether a value takes many instructions, some of which may be behind a branch."""
    return isinstance(op, arith.DivfOp | llvm.CallOp)


def _has_late_load(block: Block) -> bool:
    """Whether a load follows a store, in a sequential loop, or slow operations, in a parallel one."""
    sequential = isinstance(block.parent_op(), scf.ForOp)
    late = False
    for op in block.ops:
        if isinstance(op, llvm.LoadOp) and late:
            return True
        late = late or (isinstance(op, llvm.StoreOp) if sequential else _is_slow(op))
    return False


@dataclass(frozen=True)
class LoadEarlyPass(GpuPass):
    """See the contract at the top of this file."""

    name = "load-early"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in parallel_constructs(module):
            loops = [op for op in construct.region.walk() if isinstance(op, scf.ForOp | acc.LoopOp)]
            bodies = [op.regions[0].blocks[0] for op in loops if len(op.regions[0].blocks) == 1]
            blocks = [body for body in bodies if _has_late_load(body)]
            symbols = RegionSymbols(construct) if blocks else None
            for block in blocks:
                assert symbols is not None
                load_early(block, symbols)
