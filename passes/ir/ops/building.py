"""
Building operations: a cursor that places operations, gives them a location, and names their values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar, cast

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from ....compiler.base.names import value_name
from ....dialects.accx_element import Index
from ....dialects.layout import is_long_double

PTR = llvm.LLVMPointerType()
NSW = arith.IntegerOverflowAttr([arith.IntegerOverflowFlag.NSW])
"""The mark of integer arithmetic that does not wrap around, as C promises of signed arithmetic."""


OpT = TypeVar("OpT", bound=Operation)


def _pointer_type(pointer: SSAValue) -> llvm.LLVMPointerType:
    """With its address space, such as that of a tile in shared memory."""
    return cast(llvm.LLVMPointerType, pointer.type)


class Cursor:
    """
    A place in the IR where operations are added, one after the other, with location `loc`.

    Insertion "before operation x" stays before x, wherever x is moved; insertion at the end of a block stays
    at its end.
    """

    def __init__(self, point: InsertPoint, loc: LocationAttr):
        self.point = point
        self.loc = loc

    @staticmethod
    def before(op: Operation, loc: LocationAttr | None = None) -> Cursor:
        return Cursor(InsertPoint.before(op), op.location if loc is None else loc)

    @staticmethod
    def after(op: Operation, loc: LocationAttr | None = None) -> Cursor:
        return Cursor(InsertPoint.after(op), op.location if loc is None else loc)

    @staticmethod
    def at_start(block: Block, loc: LocationAttr) -> Cursor:
        return Cursor(InsertPoint.at_start(block), loc)

    @staticmethod
    def at_end(block: Block, loc: LocationAttr) -> Cursor:
        return Cursor(InsertPoint.at_end(block), loc)

    def inside(self, block: Block, loc: LocationAttr | None = None) -> Cursor:
        """
        A cursor at the end of `block`, which belongs to an operation placed at this cursor now or later.
        """
        return self._nested(InsertPoint.at_end(block), self.loc if loc is None else loc)

    def inside_before(self, end: Operation) -> Cursor:
        """As `inside`, but before operation `end` of such a block."""
        return self._nested(InsertPoint.before(end), self.loc)

    def _nested(self, point: InsertPoint, loc: LocationAttr) -> Cursor:
        return Cursor(point, loc)

    def insert(self, op: OpT, hint: str | None = None) -> OpT:
        """Places `op` here; `hint` names its first result."""
        op.location = self.loc
        before = self.point.insert_before
        if before is None:
            self.point.block.add_op(op)
        else:
            block = before.parent
            assert block is not None
            block.insert_op_before(op, before)
        if hint is not None and op.results:
            op.results[0].name_hint = value_name(hint)
        return op

    def move(self, op: OpT) -> OpT:
        """Moves `op`, or places a new operation, here; it keeps its location."""
        if op.parent is not None:
            op.detach()
        location = op.location
        self.insert(op).location = location
        return op

    def clone(self, op: OpT, values: dict[SSAValue, SSAValue]) -> OpT:
        """Clones `op`, with its location, here; `values` maps operands and gains the results."""
        return self.move(op.clone(values))

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Places `op` and returns its first result."""
        return self.insert(op, hint).results[0]

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        """A constant of an integer, index or float type."""
        if isinstance(type, IntegerType | IndexType):
            assert isinstance(value, int)
            attr = IntegerAttr(value, type, truncate_bits=True)
            name = f"c{value}" if value >= 0 else f"cm{-value}"
            return self.value(arith.ConstantOp(attr), name)
        assert isinstance(type, AnyFloat)
        if is_long_double(type):  # xDSL cannot print such a constant
            return self.value(arith.ExtFOp(self.constant(value, f64), type), "cst")
        return self.value(arith.ConstantOp(FloatAttr(float(value), type)), "cst")

    def once(self, key: tuple[Hashable, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """The value that `make` adds here; a `SharingCursor` adds the value for a `key` only once."""
        return make()

    def zero(self, type: Attribute) -> SSAValue:
        """The zero of a scalar or pointer type."""
        if isinstance(type, IntegerType | IndexType | AnyFloat):
            return self.constant(0, type)
        return self.value(llvm.ZeroOp.create(result_types=[type]))

    def i32(self, value: int) -> SSAValue:
        return self.constant(value, i32)

    def i64(self, value: int) -> SSAValue:
        return self.constant(value, i64)

    def to_i64(self, value: SSAValue) -> SSAValue:
        """`value` (integer or index) as i64, sign-extended."""
        return self.to_integer(value, i64)

    def widened(self, subscript: Index) -> SSAValue:
        """A subscript extended to i64, with or without sign as it says."""
        value = subscript.value
        if value.type == i64 or not subscript.unsigned:
            return self.to_integer(value, i64)
        width, known = cast(IntegerType, value.type).width.data, constant_value(value)
        if known is not None:
            return self.i64(known % (1 << width))
        kind = arith.ExtUIOp if width < 64 else arith.TruncIOp
        return self.value(kind(value, i64), value.name_hint)

    def to_integer(self, value: SSAValue, type: IntegerType) -> SSAValue:
        """`value` (integer or index) sign-extended or truncated to `type`."""
        if value.type == type:
            return value
        constant = constant_value(value)
        if constant is not None:
            return self.constant(constant, type)
        if isinstance(value.type, IndexType):
            return self.value(arith.IndexCastOp(value, type), value.name_hint)
        assert isinstance(value.type, IntegerType)
        if value.type.width.data < type.width.data:
            return self.value(arith.ExtSIOp(value, type), value.name_hint)
        return self.value(arith.TruncIOp(value, type), value.name_hint)

    def add(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        if constant_value(b) == 0:
            return a
        if constant_value(a) == 0:
            return b
        return self.value(arith.AddiOp(a, b), hint)

    def sub(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        if constant_value(b) == 0:
            return a
        return self.value(arith.SubiOp(a, b), hint)

    def mul(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        if constant_value(b) == 1:
            return a
        if constant_value(a) == 1:
            return b
        return self.value(arith.MuliOp(a, b), hint)

    def both(self, a: SSAValue | None, b: SSAValue, hint: str | None = None) -> SSAValue:
        """The conjunction of two conditions (i1), of which None always holds; or of two masks."""
        return b if a is None else self.value(arith.AndIOp(a, b), hint)

    def any_bits(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        """The bits that are set in either integer; None has none."""
        return b if a is None else self.value(arith.OrIOp(a, b))

    def is_multiple(self, value: SSAValue, size: int, hint: str | None = None) -> SSAValue:
        """An i1: `value` is a multiple of `size`, a power of two."""
        rest = self.value(arith.AndIOp(value, self.constant(size - 1, value.type)))
        return self.value(arith.CmpiOp(rest, self.constant(0, value.type), "eq"), hint)

    def alloca(
        self, type: Attribute, hint: str, count: SSAValue | None = None, alignment: int = 16
    ) -> SSAValue:
        """Stack memory for `count` (default one) elements of `type`, with this alignment in bytes."""
        size = self.i32(1) if count is None else count
        return self.value(llvm.AllocaOp(size, type, alignment=alignment), hint)

    def temporary(self, type: Attribute, hint: str) -> SSAValue:
        """Stack memory for a short-lived value of `type`."""
        return self.alloca(type, hint)

    def inline(self, operations: Iterable[Operation], known: dict[SSAValue, SSAValue]) -> None:
        """
        Clones the operations of one block, except its terminator, here. `known` maps original values to the
        values to use here and gains the results; an operation whose result is already known is not cloned.
        """
        for op in operations:
            made = bool(op.results) and op.results[0] in known
            if not made and not op.has_trait(IsTerminator):
                self.insert(op.clone(known))

    def field(self, pointer: SSAValue, offset: int, hint: str | None = None) -> SSAValue:
        """The address `offset` bytes after `pointer`, in the same address space."""
        if offset == 0:
            return pointer
        gep = llvm.GEPOp(pointer, [offset], i8, result_type=_pointer_type(pointer), inbounds=True)
        return self.value(gep, hint)

    def offset(self, pointer: SSAValue, bytes: SSAValue, hint: str | None = None) -> SSAValue:
        """The address `bytes` (an i64) after `pointer`."""
        constant = constant_value(bytes)
        if constant == 0:
            return pointer
        return self.value(
            llvm.GEPOp.from_mixed_indices(pointer, [bytes], i8), hint or pointer.name_hint
        )

    def element(
        self, pointer: SSAValue, index: SSAValue, type: Attribute, hint: str | None = None
    ) -> SSAValue:
        """The address of element `index` of an array of `type` at `pointer`, in its address space."""
        gep = llvm.GEPOp(
            pointer,
            [llvm.GEP_USE_SSA_VAL],
            type,
            ssa_indices=[index],
            result_type=_pointer_type(pointer),
        )
        return self.value(gep, hint)

    def load(self, pointer: SSAValue, type: Attribute, hint: str | None = None) -> SSAValue:
        return self.value(llvm.LoadOp(pointer, type), hint)

    def store(self, value: SSAValue, pointer: SSAValue) -> None:
        self.insert(llvm.StoreOp(value, pointer))

    def for_loop(
        self, lower: SSAValue, upper: SSAValue, step: SSAValue, hint: str
    ) -> tuple[scf.ForOp, Cursor]:
        """An `scf.for` here with an empty body, and a cursor in the body before its yield."""
        block = Block(arg_types=[lower.type])
        block.args[0].name_hint = hint
        loop = self.insert(scf.ForOp(lower, upper, step, [], Region(block)))
        end = scf.YieldOp()
        end.location = self.loc
        block.add_op(end)
        return loop, self.inside_before(end)

    def if_then(self, condition: SSAValue) -> Cursor:
        """An `scf.if` without else here; the result is a cursor in its body."""
        branch, inside = self._branch()
        self.insert(scf.IfOp(condition, [], Region(branch)))
        return inside

    def if_else(self, condition: SSAValue) -> tuple[Cursor, Cursor]:
        """An `scf.if` without results here; cursors in its two branches."""
        (then, inside), (otherwise, outside) = self._branch(), self._branch()
        self.insert(scf.IfOp(condition, [], Region(then), Region(otherwise)))
        return inside, outside

    def _branch(self) -> tuple[Block, Cursor]:
        """A block that yields nothing, and a cursor before its yield."""
        block, end = Block(), scf.YieldOp()
        end.location = self.loc
        block.add_op(end)
        return block, self.inside_before(end)

    def either(
        self,
        condition: SSAValue,
        then: Callable[[Cursor], Sequence[SSAValue]],
        otherwise: Callable[[Cursor], Sequence[SSAValue]],
        hints: Iterable[str | None] = (),
    ) -> list[SSAValue]:
        """
        An `scf.if` here; the values that one of two functions emits, each into its own branch, named by
        `hints` in order.
        """
        blocks = Block(), Block()
        for block, emit in zip(blocks, (then, otherwise), strict=True):
            inside = self.inside(block)
            inside.insert(scf.YieldOp(*emit(inside)))
        end = blocks[0].last_op
        assert end is not None
        types = [value.type for value in end.operands]
        branch = scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))
        results = self.insert(branch).results
        for result, hint in zip(results, hints, strict=False):
            if hint is not None:
                result.name_hint = value_name(hint)
        return list(results)


def constant_value(value: SSAValue) -> int | None:
    """The integer that `value` is a constant of; None if it is not an integer constant."""
    op = value.owner
    if isinstance(op, arith.ConstantOp | llvm.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def never_wraps(op: Operation) -> bool:
    """Whether `op` is integer arithmetic marked as not wrapping around when read as signed."""
    flags = op.properties.get("overflowFlags")
    if isinstance(flags, arith.IntegerOverflowAttr):
        return arith.IntegerOverflowFlag.NSW in flags.data
    return isinstance(flags, llvm.OverflowAttr) and llvm.OverflowFlag.NO_SIGNED_WRAP in flags.data


def constant_trips(lower: SSAValue, upper: SSAValue, step: SSAValue) -> int | None:
    """
    The number of iterations of a loop with these bounds; None unless they are constants and it counts up.
    """
    low, high, by = constant_value(lower), constant_value(upper), constant_value(step)
    if low is None or high is None or by is None or by <= 0:
        return None
    return max(0, -(-(high - low) // by))


def put_first(block: Block, op: Operation) -> None:
    """Adds `op` to a block, before its other operations."""
    if block.first_op is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, block.first_op)


def erase(op: Operation) -> None:
    """Removes `op`, whose results must be unused, from the IR."""
    op.detach()
    op.erase()
