"""
Lower `accx.element` to `llvm.getelementptr`.

Takes:  transformed level (or an earlier one).
Leaves: for every `accx.element` one `llvm.getelementptr` for each subscript: by rows of a variable-length
        array in bytes, else by the type stepped over. Subscripts are extended to i64 according to their
        signedness. In constructs for CPU threads, sums and products of `int` are computed in i64, and a
        subscript `i * n + j` becomes two, of rows and in the row (`accx.in_row`), as LLVM follows those.
        Within a block, equal computations are emitted once: extended subscripts, sizes of rows, and
        addresses with equal subscripts from one pointer.
Fails:  never.

Before:
  %a_i = accx.element %a[%i, %j] rows(%m) of f64 : i32, ui32
After:
  %i_1 = arith.extsi %i : i32 to i64
  %bytes = arith.muli %m, %c8 overflow<nsw> : i64
  %row = arith.muli %i_1, %bytes overflow<nsw> : i64
  %a_1 = llvm.getelementptr inbounds %a[%row] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %j_1 = arith.extui %j : i32 to i64
  %a_i = llvm.getelementptr inbounds %a_1[%j_1] : (!llvm.ptr, i64) -> !llvm.ptr, f64
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import IntegerType, ModuleOp, UnitAttr, i8, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from ..dialects.accx import IN_ROW
from ..dialects.accx_element import ElementOp, Index
from .ir.ops.acc_ops import enclosing
from .ir.ops.building import NSW, Cursor, constant_value, erase, never_wraps
from .ir.ops.layout import size_of
from .ir.ops.machine import machine_of

_Parts = tuple[SSAValue | None, SSAValue | None]
_ARITHMETIC = (arith.AddiOp, arith.SubiOp, arith.MuliOp)
_Key = tuple[Hashable, ...]


def _sum(at: Cursor, left: SSAValue | None, right: SSAValue | None) -> SSAValue | None:
    """A sum that does not wrap, of which either part may be missing."""
    if left is None or right is None:
        return right if left is None else left
    return at.value(arith.AddiOp(left, right, overflow=NSW))


@dataclass
class _Types:
    """Assigns numbers to types, equal for equal types, so that each type object is compared only once."""

    _known: dict[int, tuple[Attribute, int]] = field(
        default_factory=dict[int, tuple[Attribute, int]]
    )
    _numbers: dict[Attribute, int] = field(default_factory=dict[Attribute, int])

    def number(self, type_: Attribute) -> int:
        # The object is kept alive here, so that no other object gets its id.
        found = self._known.get(id(type_))
        if found is None:
            number = self._numbers.setdefault(type_, len(self._numbers))
            found = self._known[id(type_)] = type_, number
        return found[1]


@dataclass
class _Block:
    """The values that the elements of one block share."""

    types: _Types
    wide: bool
    """Whether sums and products in subscripts are computed as i64."""
    constants: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    indices: dict[Index, SSAValue] = field(default_factory=dict[Index, SSAValue])
    parts: dict[SSAValue, _Parts] = field(default_factory=dict[SSAValue, "_Parts"])
    products: dict[_Key, SSAValue] = field(default_factory=dict[_Key, SSAValue])
    addresses: dict[_Key, SSAValue] = field(default_factory=dict[_Key, SSAValue])

    def constant(self, at: Cursor, value: int) -> SSAValue:
        if value not in self.constants:
            self.constants[value] = at.i64(value)
        return self.constants[value]

    def widen(self, at: Cursor, step: int | Index) -> SSAValue:
        """A subscript as i64."""
        if isinstance(step, int):
            return self.constant(at, step)
        known = constant_value(step.value)
        if known is not None:
            width = cast(IntegerType, step.value.type).width.data
            return self.constant(at, known % (1 << width) if step.unsigned else known)
        if step not in self.indices:
            wide = None if step.unsigned or not self.wide else self.computed(at, step.value)
            self.indices[step] = at.widened(step) if wide is None else wide
        return self.indices[step]

    def computed(self, at: Cursor, value: SSAValue) -> SSAValue | None:
        """
        A signed sum, difference or product computed as i64 from its operands: C does not define the result
        where the two differ (C11 6.5p5). None for other values.
        """
        op = value.owner
        if value.type == i64 or not isinstance(op, _ARITHMETIC) or not never_wraps(op):
            return None
        left, right = (self.widen(at, Index(operand)) for operand in (op.lhs, op.rhs))
        return at.value(type(op)(left, right, overflow=NSW), value.name_hint)

    def row_and_place(self, at: Cursor, step: int | Index) -> _Parts:
        """
        The start of the row that a signed subscript such as `i * n + j` names, and the place in it, as i64;
        either may be missing. A product that is subtracted is part of the place.
        """
        if isinstance(step, int) or step.unsigned:
            return None, None
        if step.value not in self.parts:
            self.parts[step.value] = self._row_and_place(at, step.value)
        return self.parts[step.value]

    def _row_and_place(self, at: Cursor, value: SSAValue) -> _Parts:
        op = value.owner
        if isinstance(op, _ARITHMETIC) and never_wraps(op):
            if isinstance(op, arith.AddiOp):
                parts = [self.row_and_place(at, Index(operand)) for operand in (op.lhs, op.rhs)]
                rows, places = zip(*parts, strict=True)
                return _sum(at, *rows), _sum(at, *places)
            if isinstance(op, arith.SubiOp):
                row, place = self.row_and_place(at, Index(op.lhs))
                less = self.widen(at, Index(op.rhs))
                start = self.constant(at, 0) if place is None else place
                return row, at.value(arith.SubiOp(start, less, overflow=NSW))
            if constant_value(op.lhs) is None and constant_value(op.rhs) is None:
                return self.widen(at, Index(value)), None
        return None, self.widen(at, Index(value))

    def row_size(self, at: Cursor, lengths: Sequence[SSAValue], element: Attribute) -> SSAValue:
        """The size in bytes of an array with these lengths."""
        size = self.constant(at, size_of(element))
        for length in reversed(lengths):
            size = self.product(at, length, size)
        return size

    def product(self, at: Cursor, left: SSAValue, right: SSAValue) -> SSAValue:
        key = left, right
        if key not in self.products:
            self.products[key] = at.value(arith.MuliOp(left, right, overflow=NSW))
        return self.products[key]

    def address(
        self,
        at: Cursor,
        pointer: SSAValue,
        indices: Sequence[int | SSAValue],
        type_: Attribute,
        hint: str | None,
        *,
        inbounds: bool = True,
    ) -> SSAValue:
        """The address after one subscript."""
        key = pointer, self.types.number(type_), inbounds, *indices
        if key not in self.addresses:
            result = cast(llvm.LLVMPointerType, pointer.type)
            gep = llvm.GEPOp.from_mixed_indices(pointer, indices, type_, result, inbounds=inbounds)
            self.addresses[key] = at.value(gep, hint)
        return self.addresses[key]


def _step(
    at: Cursor,
    block: _Block,
    op: ElementOp,
    rows: Sequence[SSAValue],
    step: int | Index,
    container: Attribute | None,
) -> tuple[list[int | SSAValue], Attribute]:
    """
    The indices and the element type of the `llvm.getelementptr` for one subscript; `rows` are the lengths of
    the arrays that it counts, if any.
    """
    if isinstance(container, llvm.LLVMStructType):
        assert isinstance(step, int)
        return [0, step], container
    index = block.widen(at, step)
    if isinstance(container, llvm.LLVMArrayType):
        return [index], container.type
    if not rows:
        return [index], op.elem_type
    size = block.row_size(at, rows, op.elem_type)
    return [block.product(at, index, size)], i8


def _lower(op: ElementOp, block: _Block) -> None:
    """Replaces one element."""
    at = Cursor.before(op)
    pointer, rows = op.ptr, tuple(op.rows)
    hint, last_hint = pointer.name_hint, op.result.name_hint
    steps, containers = list(op.steps()), list(op.containers())
    last = len(steps) - 1
    inner = containers[1] if len(steps) > 1 else None
    first = int(steps[0] == 0 and isinstance(inner, llvm.LLVMStructType))
    for position, step in enumerate(steps[first:], first):
        name = last_hint if position == last else hint
        if block.wide and containers[position] is None and not rows[position:]:
            row, place = block.row_and_place(at, step)
            if row is not None and place is not None:
                pointer = block.address(at, pointer, [row], op.elem_type, hint, inbounds=False)
                pointer = block.address(at, pointer, [place], op.elem_type, name, inbounds=False)
                assert isinstance(pointer.owner, llvm.GEPOp)
                pointer.owner.attributes[IN_ROW] = UnitAttr()
                continue
        indices, type_ = _step(at, block, op, rows[position:], step, containers[position])
        pointer = block.address(at, pointer, indices, type_, name)
    op.result.replace_all_uses_with(pointer)
    erase(op)


@dataclass(frozen=True)
class LowerElementsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "lower-elements"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        types = _Types()
        blocks: dict[Block, _Block] = {}
        host = machine_of(op).target == "host"
        elements = [inner for inner in op.walk() if isinstance(inner, ElementOp)]
        for element in elements:
            block = element.parent_block()
            assert block is not None
            if block not in blocks:
                wide = host and enclosing(element, acc.ParallelOp) is not None
                blocks[block] = _Block(types, wide)
            _lower(element, blocks[block])
