"""Appends operations to the current block, with locations, names and C's arithmetic conventions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects import arith, cf, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FileLineColLoc,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.layout import is_long_double
from ...dialects.llvm_ext import MemcpyOp, MemsetOp
from ...dialects.volatility import set_volatile
from ...passes.ir.ops.building import NSW
from ..base.diagnostics import UNKNOWN_LOC, SourceLoc
from ..base.names import value_name
from .layout import PTR, is_integer_type

OpT = TypeVar("OpT", bound=Operation)


_GIVEN = SourceLoc("<given>", 0)
"""The place of a builder whose location is already known as an attribute."""


class Builder:
    """
    A cursor at the end of `block`. `loc` is given to every operation added. Constants and widened
    integers are reused within a block.
    """

    def __init__(self, block: Block):
        self.block = block
        self._place = self._known = UNKNOWN_LOC
        self._loc: FileLineColLoc = UNKNOWN_LOC.to_attr()
        self._constants: dict[tuple[Block, int | str, Attribute], SSAValue] = {}
        self._extended: dict[tuple[Block, SSAValue, IntegerType, bool], SSAValue] = {}
        self._locs: dict[SourceLoc, FileLineColLoc] = {}

    def at(self, loc: SourceLoc) -> None:
        """Gives operations added from now on the place `loc` (if it is known)."""
        if loc.line:
            self._place = loc

    @property
    def loc(self) -> FileLineColLoc:
        """The location attribute of the current place; made when first used, as most places have no
        operation."""
        place = self._place
        if place is not self._known:
            attr = self._locs.get(place)
            if attr is None:
                attr = self._locs[place] = place.to_attr()
            self._known, self._loc = place, attr
        return self._loc

    @loc.setter
    def loc(self, attr: FileLineColLoc) -> None:
        self._place = self._known = _GIVEN
        self._loc = attr

    @property
    def terminated(self) -> bool:
        last = self.block.last_op
        return last is not None and last.has_trait(IsTerminator)

    def add(self, op: OpT, hint: str | None = None) -> OpT:
        op.location = self.loc
        if hint is not None and op.results:
            op.results[0].name_hint = value_name(hint)
        self.block.add_op(op)
        return op

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Adds `op` and returns its only result."""
        return self.add(op, hint).results[0]

    # Constants --------------------------------------------------------------------------------

    def int(self, value: int, t: Attribute = i32) -> SSAValue:
        assert is_integer_type(t)
        width = t.width.data
        if width > 1:
            value = as_signed(value, width)
        key = (self.block, value, t)
        found = self._constants.get(key)
        if found is None:
            if width == 1:
                attr = IntegerAttr.from_bool(bool(value))
                hint = "true" if value else "false"
            else:
                attr = IntegerAttr(value, t)
                hint = f"c{value}" if value >= 0 else f"cm{-value}"
            found = self._constants[key] = self.value(
                arith.ConstantOp(attr), hint if t == i32 or width == 1 else f"{hint}_{t}"
            )
        return found

    def float(self, value: float, t: Attribute, bits: int | None = None) -> SSAValue:
        """A floating constant; `bits` are those of a `long double` that is not exactly a double."""
        assert isinstance(t, AnyFloat)
        key = (self.block, repr(value) if bits is None else hex(bits), t)
        found = self._constants.get(key)
        if found is None:
            if bits is not None:
                whole = self.int(bits, IntegerType(t.bitwidth))
                made = self.value(arith.BitcastOp(whole, t), "cst")
            elif is_long_double(t):  # xDSL cannot print such a constant
                made = self.value(arith.ExtFOp(self.float(value, f64), t), "cst")
            else:
                made = self.value(arith.ConstantOp(FloatAttr(value, t)), "cst")
            found = self._constants[key] = made
        return found

    def zero(self, t: Attribute) -> SSAValue:
        """The zero of any first-class type."""
        if is_integer_type(t):
            return self.int(0, t)
        if isinstance(t, AnyFloat):
            return self.float(0.0, t)
        return self.value(llvm.ZeroOp.create(result_types=[t]), "null" if t == PTR else "zero")

    def undef(self, t: Attribute, hint: str | None = None) -> SSAValue:
        return self.value(llvm.UndefOp(t), hint)

    def part(self, whole: SSAValue, number: int, t: Attribute, hint: str | None = None) -> SSAValue:
        """Part `number`, of type `t`, of a first-class structure or array."""
        return self.value(llvm.ExtractValueOp(_position([number]), whole, t), hint)

    def with_part(self, whole: SSAValue, path: Sequence[int], part: SSAValue) -> SSAValue:
        """A first-class structure or array with the part at `path` replaced."""
        return self.value(llvm.InsertValueOp(_position(path), whole, part))

    # Memory -----------------------------------------------------------------------------------

    def load(
        self, address: SSAValue, t: Attribute, hint: str | None = None, *, volatile: bool = False
    ) -> SSAValue:
        op = llvm.LoadOp(address, t)
        if volatile:
            set_volatile(op)
        return self.value(op, hint)

    def store(self, value: SSAValue, address: SSAValue, *, volatile: bool = False) -> None:
        self.add(llvm.StoreOp(value, address, volatile=volatile))

    def gep(
        self,
        pointer: SSAValue,
        indices: Sequence[int | SSAValue],
        element: Attribute,
        hint: str | None = None,
    ) -> SSAValue:
        return self.value(
            llvm.GEPOp.from_mixed_indices(pointer, indices, element, inbounds=True), hint
        )

    def offset(self, pointer: SSAValue, n: int, hint: str | None = None) -> SSAValue:
        """`pointer` plus `n` bytes."""
        return pointer if n == 0 else self.gep(pointer, [n], i8, hint)

    def alloca(
        self, t: Attribute, align: int, hint: str | None = None, count: SSAValue | None = None
    ) -> SSAValue:
        size = self.int(1, i32) if count is None else count
        return self.value(llvm.AllocaOp(size, t, alignment=align), hint)

    def copy(
        self,
        target: SSAValue,
        source: SSAValue,
        size: int,
        aligned: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Copies `size` bytes; `aligned`: the alignments of the two addresses where they are known."""
        if size:
            self.add(MemcpyOp(target, source, self.int(size, i64), alignments=aligned))

    def clear(self, target: SSAValue, size: SSAValue) -> None:
        self.add(MemsetOp(target, self.int(0, i8), size))

    # Arithmetic -------------------------------------------------------------------------------

    def cmp(self, predicate: str, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        return self.value(arith.CmpiOp(a, b, predicate), hint)

    def add_nsw(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        return self.value(arith.AddiOp(a, b, overflow=NSW), hint)

    def sub_nsw(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        return self.value(arith.SubiOp(a, b, overflow=NSW), hint)

    def mul_nsw(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.value(arith.MuliOp(a, b, overflow=NSW))

    def resize(self, value: SSAValue, t: IntegerType, *, signed: bool) -> SSAValue:
        """An integer of another width: truncated, or extended by its signedness."""
        source = value.type
        assert is_integer_type(source)
        if source == t:
            return value
        if source.width.data > t.width.data:
            return self.value(arith.TruncIOp(value, t), value.name_hint)
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            n = owner.value.value.data
            return self.int(n if signed and source != i1 else n % (1 << source.width.data), t)
        key = (self.block, value, t, signed)
        found = self._extended.get(key)
        if found is None:
            op = arith.ExtSIOp(value, t) if signed else arith.ExtUIOp(value, t)
            found = self._extended[key] = self.value(op, value.name_hint)
        return found

    def to_int(self, pointer: SSAValue) -> SSAValue:
        return self.value(llvm.PtrToIntOp(pointer, i64), pointer.name_hint)

    # Control ----------------------------------------------------------------------------------

    def branch(self, target: Block) -> None:
        if not self.terminated:
            self.add(cf.BranchOp(target))

    def cond_branch(self, condition: SSAValue, then: Block, otherwise: Block) -> None:
        self.add(cf.ConditionalBranchOp(condition, then, (), otherwise, ()))


def _position(path: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, path)


def as_signed(value: int, width: int) -> int:
    """The number of `width` bits, in two's complement, that equals `value` modulo 2^width."""
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


def name_after(value: SSAValue, variable: str) -> None:
    """
    Gives a value that is assigned to `variable` its name, unless it has one. The result of a call, which is
    named after its function, is renamed, so that messages name `x` and not `malloc`.
    """
    hint = value.name_hint
    owner = value.owner
    if isinstance(owner, llvm.CallOp):
        callee = owner.callee
        function = "call" if callee is None else value_name(callee.string_value())
        hint = None if hint == function else hint
    if hint is None:
        value.name_hint = value_name(variable)
