"""
Compute unsigned subscripts as signed ones if they do not wrap around.

Unsigned arithmetic may wrap around: with 32-bit unsigned numbers, the subscript of `a[i * n + j]` is not
linear in i and j, so that passes which look for reuse and for neighbouring elements do not handle it.
Arrays are hardly ever large enough for it to wrap.

Takes:  data level, before the schedule.
Leaves: a construct in which sequential loops use subscripts computed in 32 unsigned bits (`Gain`) is in an
        `scf.if`. In the first version they are signed arithmetic that does not overflow, and 64-bit loop
        variables that represent 32-bit unsigned ones are 32 bits wide; so are 64-bit subscripts and loop
        variables in general, if that pays. The condition is that all values fit into 31 bits, computed from
        the bounds of the enclosing loops. Values whose range only the device knows (a subscript loaded from
        memory) are unchanged. The second version is the original. If all bounds are constant, there is only
        the first version.
Fails:  never.

Before:
  acc.parallel {
    acc.loop control(%i64 : i64) = (%c0 : i64) to (%end : i64) step (%c1 : i64) {
      %i = arith.trunci %i64 : i64 to i32
      %0 = arith.muli %i, %n : i32
      %p = accx.element %a[%0] of f32 : ui32
After:
  scf.if %no_wrap {
    acc.parallel {
      acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %0 = arith.muli %i, %n overflow<nsw> : i32
        %p = accx.element %a[%0] of f32 : i32
  } else { … }

Options: `target` (`host`: nothing to do).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import acc, arith, scf
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from ..dialects.accx_element import ElementOp
from .ir.data.signed_readings import ARITHMETIC, Reader, Readings
from .ir.loops.products import find_terms
from .ir.ops.acc_ops import (
    has_level,
    is_defined_inside,
    loops_around,
    outermost_loop,
    tuned_constructs,
)
from .ir.ops.building import NSW, Cursor, constant_value, erase
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.loop_bounds import LoopLike, body_of, bounds_of
from .ir.ops.purity import erase_unused
from .ir.ops.versions import (
    ready_for_versions,
    second_version,
)
from .ir.values.addresses import steps_to
from .ir.values.host_tests import emit_test
from .ir.values.region_values import RegionSymbols


def _sign(op: ElementOp, positions: set[int]) -> None:
    """Makes the subscripts of an element at `positions` signed."""
    unsigned = op.unsigned
    assert unsigned is not None
    left = [position for position in unsigned.get_values() if position not in positions]
    op.unsigned = DenseArrayBase.from_list(i32, left) if left else None


class _Narrower:
    """Rewrites 64-bit values of a construct that fit into 32 bits in 32 bits."""

    def __init__(self, construct: acc.ParallelOp):
        self.construct = construct
        self.known: dict[SSAValue, SSAValue] = {}

    def subscript(self, op: ElementOp, position: int) -> None:
        """Makes a subscript of an element 32 bits wide."""
        old = op.subscripts[position]
        op.operands[1 + position] = self._value(old)
        if op.unsigned is not None:
            _sign(op, {position})
        erase_unused(old)

    def bound(self, value: SSAValue, loop: LoopLike) -> SSAValue:
        """A bound of a loop as an i32; constants are defined before the outermost loop."""
        known = constant_value(value)
        if known is None:
            return self._value(value)
        return Cursor.before(outermost_loop(loop, self.construct)).i32(known)

    def _value(self, value: SSAValue) -> SSAValue:
        if value.type == i32:
            return value
        if value not in self.known:
            self.known[value] = self._write(value)
        return self.known[value]

    def _write(self, value: SSAValue) -> SSAValue:
        known, op = constant_value(value), value.owner
        if known is not None:
            return Cursor.before(self.construct).i32(known)
        if isinstance(op, arith.ExtSIOp | arith.ExtUIOp):
            return Cursor.before(op).to_integer(op.input, i32)
        if not is_defined_inside(value, self.construct):
            at = Cursor.before(self.construct)
        elif isinstance(op, ARITHMETIC):
            left, right = (self._value(operand) for operand in op.operands)
            return Cursor.before(op).value(type(op)(left, right, overflow=NSW), value.name_hint)
        else:
            at = Cursor.after(op) if isinstance(op, Operation) else _beginning(op)
        return at.value(arith.TruncIOp(value, i32), value.name_hint)


def _narrow_variable(loop: LoopLike, position: int, narrower: _Narrower) -> None:
    """Makes the 64-bit variable of a loop at `position` 32 bits wide."""
    count = 1 if isinstance(loop, scf.ForOp) else len(loop.lowerbound)
    for group in range(3):
        index = group * count + position
        loop.operands[index] = narrower.bound(loop.operands[index], loop)
    block = body_of(loop).block
    old = block.args[position]
    new = block.insert_arg(i32, position)
    new.name_hint = old.name_hint
    for use in list(old.uses):
        op = use.operation
        if isinstance(op, arith.TruncIOp) and op.result.type == i32:
            op.result.replace_all_uses_with(new)
            erase(op)
    if old.first_use is not None:
        wide = _beginning(block).value(arith.ExtSIOp(new, i64), old.name_hint)
        old.replace_all_uses_with(wide)
    block.erase_arg(old)


def _beginning(block: Block) -> Cursor:
    first = block.first_op
    assert first is not None
    return Cursor.before(first)


def apply(found: Readings, construct: acc.ParallelOp) -> None:
    """Makes all changes of `found`."""
    for op in found.arithmetic:
        op.overflow_flags = NSW
    for op, positions in found.elements.items():
        _sign(op, positions)
    for op in found.extensions:
        wide = Cursor.before(op).value(arith.ExtSIOp(op.input, op.result.type), op.result.name_hint)
        op.result.replace_all_uses_with(wide)
        erase(op)
    narrower = _Narrower(construct)
    for loop, position in found.loops:
        _narrow_variable(loop, position, narrower)
    for op, position in found.narrow:
        narrower.subscript(op, position)


def sign_subscripts(construct: acc.ParallelOp) -> None:
    """Makes a version of a construct with signed subscripts, if that is possible and pays (`gain_of`)."""
    gain = gain_of(construct)
    if not gain.signed and not gain.wide:
        return
    found = Reader(construct, wide=gain.wide).read()
    if not found.arithmetic and not found.narrow:
        return
    if found.needed:
        if not ready_for_versions(construct):
            return
        condition = emit_test(construct, found.needed)
        condition.name_hint = "no_wrap"
        second_version(construct, condition)
    apply(found, construct)


def _runs_sequentially(loop: scf.ForOp | acc.LoopOp) -> bool:
    """Whether a thread runs the whole loop, or may (it is a reduction)."""
    return isinstance(loop, scf.ForOp) or has_level(loop.seq) or bool(loop.reduction_operands)


def _around(loop: Operation) -> int:
    """The number of variables of the parallel loops that enclose `loop`."""
    parallel = (around for around in loops_around(loop) if not has_level(around.seq))
    return sum(len(around.lowerbound) for around in parallel)


@dataclass(frozen=True)
class Gain:
    """The gains of a version of a construct: by `signed` subscripts, by 32 instead of 64 bits (`wide`)."""

    signed: bool
    wide: bool


def gain_of(construct: acc.ParallelOp) -> Gain:
    """
    The changes for which a version of a construct pays. Signed subscripts pay in sequential loops inside two
    parallel loops, which repeat their subscripts and share tiles; other nests wait for memory anyway.
    Replacing 64 bits pays there too, and for accesses across rows, but not for products, which wait for
    memory and already have many versions.
    """
    loops = [op for op in construct.walk() if isinstance(op, scf.ForOp | acc.LoopOp)]
    signed = any(_runs_sequentially(loop) and _around(loop) > 1 for loop in loops)
    wide = any(variable.type == i64 for loop in loops for variable, *_ in bounds_of(loop))
    if wide:
        products = any(find_terms(loop) is not None for loop in loops)
        wide = not products and (signed or _goes_across(construct))
    return Gain(signed, wide)


def _goes_across(construct: acc.ParallelOp) -> bool:
    """Whether neighbouring iterations of a loop access elements at a distance known only at run time."""
    symbols = RegionSymbols(construct)
    for op in construct.walk():
        loop = op.parent_op()
        if not isinstance(op, ElementOp) or not isinstance(loop, acc.LoopOp):
            continue
        for step in steps_to(op.result):
            index, _ = step.read_flat(symbols)
            parts = None if index is None else index.split(loop.region.block.args[-1])
            if parts is not None and parts[1].as_constant is None:
                return True
    return False


@dataclass(frozen=True)
class SignSubscriptsPass(GpuPass):
    """See the module's description."""

    name = "sign-subscripts"

    def rewrite(self, module: ModuleOp) -> None:
        for construct in tuned_constructs(module):
            sign_subscripts(construct)
