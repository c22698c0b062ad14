"""
Count in 32 bits inside a loop whose counter cannot exceed them.

A GPU adds 32 bits at a time: `long count; … for (int k = …) if (…) count++;` costs three instructions for
every iteration where one or two are enough. A loop with a 32-bit variable has fewer than 2^31 iterations,
so a sum of steps of one fits 32 bits and is added to the wide counter once.

Takes:  scheduled IR.
Leaves: in compute constructs, every scf.for on an i32 variable that contains no other loop and changes a
        64-bit private variable only by a constant step adds its steps to a new 32-bit variable, whose value
        is added to the wide variable after the loop. Variables that the loop uses in any other way, or
        whose sum might not fit, are untouched.
Fails:  never.

Before:
  scf.for %k = %c0 to %n step %c1 : i32 {
    scf.if %hit {
      %old = llvm.load %count : !llvm.ptr -> i64
      %new = arith.addi %old, %one : i64
      llvm.store %new, %count : i64, !llvm.ptr
    }
  }
After:
  llvm.store %zero, %narrow : i32, !llvm.ptr
  scf.for %k = %c0 to %n step %c1 : i32 {
    scf.if %hit {
      %old = llvm.load %narrow : !llvm.ptr -> i32
      %new = arith.addi %old, %one : i32
      llvm.store %new, %narrow : i32, !llvm.ptr
    }
  }
  %count = %count + sext %narrow
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ..dialects.volatility import is_ordered
from .ir.ops.acc_ops import PRIVATIZING_OPS, is_inside, parallel_constructs
from .ir.ops.building import Cursor, constant_trips, constant_value, erase

_LOOPS = (scf.ForOp, scf.WhileOp, scf.ExecuteRegionOp, acc.LoopOp)
INT_MAX = (1 << 31) - 1


@dataclass(frozen=True)
class CounterStep:
    """`*variable += amount` as a load, an addition and a store."""

    load: llvm.LoadOp
    add: arith.AddiOp
    store: llvm.StoreOp
    amount: int


def fits(steps: int, trip: int | None) -> bool:
    """
    Whether a loop that adds at most `steps` in absolute value per iteration stays within 32 bits;
    `trip`: its number of iterations if constant, else fewer than 2^31.
    """
    return 0 < steps * (INT_MAX if trip is None else trip) <= INT_MAX


def _step(load: llvm.LoadOp, variable: SSAValue) -> CounterStep | None:
    """The step that begins with `load`; None if it is not one, or if its values have other uses."""
    value = load.dereferenced_value
    if value.type != i64 or is_ordered(load):
        return None
    add = value.get_user_of_unique_use()
    if not isinstance(add, arith.AddiOp):
        return None
    amount = constant_value(add.rhs if add.lhs is value else add.lhs)
    store = add.result.get_user_of_unique_use()
    if amount is None or not isinstance(store, llvm.StoreOp) or store.ptr is not variable:
        return None
    if store.value is not add.result or is_ordered(store):
        return None
    blocks = {op.parent_block() for op in (load, add, store)}
    return CounterStep(load, add, store, amount) if len(blocks) == 1 else None


def _is_private(variable: SSAValue) -> bool:
    """Whether `variable` is a thread-private scalar that is only loaded and stored."""
    owner = variable.owner
    if not isinstance(owner, (*PRIVATIZING_OPS, llvm.AllocaOp)):
        return False
    for use in variable.uses:
        op = use.operation
        if isinstance(op, llvm.StoreOp) and op.ptr is not variable:
            return False
        if not isinstance(op, llvm.LoadOp | llvm.StoreOp | acc.LoopOp | acc.ParallelOp):
            return False
    return True


def _steps(loop: scf.ForOp, variable: SSAValue) -> list[CounterStep] | None:
    """The steps on `variable` in the loop; None if the loop uses it in any other way."""
    users = [use.operation for use in variable.uses if is_inside(use.operation, loop)]
    steps = [_step(op, variable) for op in users if isinstance(op, llvm.LoadOp)]
    found = [step for step in steps if step is not None]
    return found if len(found) == len(steps) and len(users) == 2 * len(found) else None


def _variables(loop: scf.ForOp) -> list[SSAValue]:
    """The 64-bit variables from outside that the loop loads, in order."""
    found: dict[SSAValue, None] = {}
    for op in loop.body.walk():
        if isinstance(op, llvm.LoadOp) and op.dereferenced_value.type == i64:
            owner = op.ptr.owner
            if isinstance(owner, Operation) and not is_inside(owner, loop) and _is_private(op.ptr):
                found[op.ptr] = None
    return list(found)


def _storage_block(loop: scf.ForOp) -> Block:
    """The block of the enclosing region in which a thread's variables are allocated."""
    op: Operation | None = loop
    while op is not None:
        parent = op.parent_op()
        if isinstance(parent, acc.LoopOp | acc.ParallelOp):
            block = op.parent_block()
            assert block is not None
            return block
        op = parent
    raise AssertionError("a loop of a construct is inside of it")


def narrow(loop: scf.ForOp, variable: SSAValue, steps: list[CounterStep]) -> None:
    """Rewrites the steps (see the contract above)."""
    first = _storage_block(loop).first_op
    assert first is not None
    storage = Cursor.before(first, loop.location)
    counter = storage.value(llvm.AllocaOp(storage.i32(1), i32, alignment=4), "narrow")
    before = Cursor.before(loop)
    before.store(before.i32(0), counter)
    for step in steps:
        cursor = Cursor.before(step.store)
        old = cursor.load(counter, i32, step.load.dereferenced_value.name_hint)
        new = cursor.value(arith.AddiOp(old, cursor.i32(step.amount)), step.add.result.name_hint)
        cursor.store(new, counter)
        for op in (step.store, step.add, step.load):
            erase(op)
    after = Cursor.after(loop)
    total = after.to_i64(after.load(counter, i32))
    old = after.load(variable, i64, variable.name_hint)
    after.store(after.value(arith.AddiOp(old, total), variable.name_hint), variable)


def _innermost(module: ModuleOp) -> Iterator[scf.ForOp]:
    for construct in parallel_constructs(module):
        for op in construct.region.walk():
            if isinstance(op, scf.ForOp) and _is_short(op):
                yield op


def _is_short(loop: scf.ForOp) -> bool:
    """Whether the loop counts in 32 bits and contains no other loop."""
    short = loop.body.block.args[0].type == i32
    return short and not any(isinstance(inner, _LOOPS) for inner in loop.body.walk())


@dataclass(frozen=True)
class NarrowCountersPass(ModulePass):
    """See the contract at the top of this file."""

    name = "narrow-counters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in list(_innermost(op)):
            for variable in _variables(loop):
                steps = _steps(loop, variable)
                if steps and fits(
                    sum(abs(s.amount) for s in steps), constant_trips(loop.lb, loop.ub, loop.step)
                ):
                    narrow(loop, variable, steps)
