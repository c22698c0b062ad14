"""
Count the numbers that saturate when a kernel stores them to a compressed array (docs/compression.md).

Takes:  constructs with `accx.counted` on the `accx.coefficients` of the arrays concerned, and on the
        operations that compute the stored codes.
Leaves: on the GPU, after the last such store of a block to an array, one comparison for all of them; if
        some may have saturated they are counted, and an atomic operation adds their number to the array's
        counter. On the host each gang has its own count, added at its end, since a branch would keep LLVM
        from vectorising. `accx.counted` stays, so that the runtime is told.
Fails:  never.

Options:
  target  `nvptx` or `host`; the pipeline sets it

Before:
  llvm.store %code, %p : i16, !llvm.ptr
After:
  llvm.store %code, %p : i16, !llvm.ptr
  %some = arith.cmpi uge, %distance, %greatest : i32
  scf.if %some {
    %saturated = arith.extui %is_saturated : i1 to i32 ...
    llvm.atomicrmw add %word, %saturated  // one of those at %a_counter, by the address %p
  }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...compiler.base.packed import COUNTER_WORDS, PackedFormat
from ...dialects.accx_compress import COUNTED, CoefficientsOp
from ...dialects.llvm_ext import AtomicBinOp, AtomicRMWOp
from ..decisions.schedule import Target
from ..ir.kernels.packed_arrays import packed_arrays
from ..ir.ops.acc_ops import parallel_constructs
from ..ir.ops.building import Cursor
from ..ir.ops.machine import machine_of
from .saturation import distance, is_saturated


@dataclass(frozen=True)
class Counted:
    """One array of a construct: its format, and the address of its counter."""

    format: PackedFormat
    counter: SSAValue


def counted_arrays(construct: acc.ParallelOp) -> dict[int, Counted]:
    """
    The arrays whose saturated stores are counted, by the number in their `accx.counted`. Other versions of
    the construct have counters of their own.
    """
    found: dict[int, Counted] = {}
    for entry, packed in packed_arrays(construct):
        for use in entry.results[0].uses:
            op = use.operation
            block, number = op.parent_block(), op.attributes.get(COUNTED)
            if not isinstance(op, CoefficientsOp) or not isinstance(number, IntegerAttr):
                continue
            if block is not None and block.is_ancestor(construct):
                found[number.value.data] = Counted(packed.format, op.counter)
    return found


def stores_of(construct: acc.ParallelOp) -> dict[tuple[Block, int], list[llvm.StoreOp]]:
    """The stores that are counted, by block and array."""
    found: dict[tuple[Block, int], list[llvm.StoreOp]] = {}
    for op in construct.walk():
        if not isinstance(op, llvm.StoreOp) or not isinstance(op.value.owner, Operation):
            continue
        number = op.value.owner.attributes.get(COUNTED)
        block = op.parent_block()
        if isinstance(number, IntegerAttr) and block is not None:
            found.setdefault((block, number.value.data), []).append(op)
    return found


def count_at_once(stores: Sequence[llvm.StoreOp], array: Counted) -> None:
    """Emits, after the last of `stores`, which are in one block, a test for all of them and the count."""
    at = Cursor.after(stores[-1])
    farthest: SSAValue | None = None
    limit = 0
    for store in stores:
        word, limit = distance(at, array.format, store.value)
        farthest = word if farthest is None else at.value(arith.MaxUIOp(farthest, word))
    assert farthest is not None
    some = at.value(arith.CmpiOp(farthest, at.constant(limit, farthest.type), "uge"), "saturates")
    inside = at.if_then(some)
    total = _total(inside, stores, array)
    wide = inside.value(arith.ExtUIOp(total, i64))
    # Neighbouring threads use neighbouring words: atomics on one word would be serialised.
    place = inside.value(llvm.PtrToIntOp(stores[0].ptr, i64))
    chosen = inside.value(arith.AndIOp(place, inside.i64(8 * (COUNTER_WORDS - 1))))
    word = inside.offset(array.counter, chosen, "word")
    inside.insert(AtomicRMWOp(AtomicBinOp.add, word, wide, "monotonic"))


def count_by_gang(
    construct: acc.ParallelOp, groups: Sequence[Sequence[llvm.StoreOp]], array: Counted
) -> None:
    """
    Makes a count private to the gang, to which each block adds, and which is added to the counter at the
    gang's end.
    """
    block = construct.region.block
    assert block.first_op is not None and block.last_op is not None
    begin = Cursor.before(block.first_op, construct.location)
    count = begin.alloca(i32, "saturated")
    begin.store(begin.i32(0), count)
    for stores in groups:
        at = Cursor.after(stores[-1])
        before = at.load(count, i32)
        at.store(at.add(before, _total(at, stores, array)), count)
    end = Cursor.before(block.last_op, construct.location)
    total = end.load(count, i32, "saturated")
    inside = end.if_then(end.value(arith.CmpiOp(total, end.i32(0), "ne")))
    wide = inside.value(arith.ExtUIOp(total, i64))
    inside.insert(AtomicRMWOp(AtomicBinOp.add, array.counter, wide, "monotonic"))


def _total(at: Cursor, stores: Sequence[llvm.StoreOp], array: Counted) -> SSAValue:
    """The number (i32) of `stores` that store the code of a saturated number."""
    total: SSAValue | None = None
    for store in stores:
        one = at.value(arith.ExtUIOp(is_saturated(at, array.format, store.value), i32))
        total = one if total is None else at.add(total, one)
    assert total is not None
    return total


@dataclass(frozen=True)
class CountSaturatedStoresPass(ModulePass):
    """See the file's docstring."""

    name = "count-saturated-stores"

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target or machine_of(op).target
        for construct in parallel_constructs(op):
            arrays = counted_arrays(construct)
            if not arrays:
                continue
            found = stores_of(construct)
            if target == "nvptx":
                for (_, number), stores in found.items():
                    count_at_once(stores, arrays[number])
                continue
            for number, array in arrays.items():
                groups = [stores for (_, n), stores in found.items() if n == number]
                if groups:
                    count_by_gang(construct, groups, array)
