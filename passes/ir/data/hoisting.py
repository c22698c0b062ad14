"""
Values of a span of host code that are known before it: recognising them by structure, and computing them
there.

A span is consecutive operations of one block. `Hoister.key` describes a value used in the span in terms of
values before it (equal keys mean equal values), or is None if that is impossible; `emit` computes the value
before the span, each key once. Hoisted code runs even where the span's code would not, so it contains no
division by a possible zero, and loads of variables only.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from xdsl.dialects import arith, llvm
from xdsl.ir import Operation, OpResult, SSAValue

from ....dialects.volatility import is_plain_load
from ..ops.purity import is_pure, may_trap
from ..values.addresses import ADDRESS_OPS
from .host_memory import HostMemory, Root

Key = Hashable

_CONVERSIONS = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)
CONSTANTS = (arith.ConstantOp, llvm.ConstantOp, llvm.ZeroOp, llvm.AddressOfOp)


@dataclass
class Hoister:
    """Keys and hoisted values for the span of `ops`, which writes the variables with roots `written`."""

    ops: Collection[Operation]
    anchor: Operation
    memory: HostMemory
    written: set[Root]
    _keys: dict[SSAValue, Key | None] = field(default_factory=dict[SSAValue, "Key | None"])
    _values: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])

    def defines(self, value: SSAValue) -> bool:
        """Whether the span makes `value`."""
        owner = value.owner
        op = owner if isinstance(owner, Operation) else owner.parent_op()
        while op is not None:
            if op in self.ops:
                return True
            op = op.parent_op()
        return False

    def key(self, value: SSAValue) -> Key | None:
        """A hashable description of the value of `value` before the span; None if it has none there."""
        work = [value]
        while work:
            current = work[-1]
            needed = [v for v in self._operands(current) if v not in self._keys]
            if needed and current not in self._keys:
                work += needed
                continue
            work.pop()
            if current not in self._keys:
                self._keys[current] = self._key(current)
        return self._keys[value]

    def _operands(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """The values that the key of `value` is made of."""
        if not isinstance(value, OpResult):
            return ()
        op = value.op
        if isinstance(op, llvm.LoadOp):
            known = self.defines(value) or self._loads_at_anchor(op)
            return (op.ptr,) if known else ()
        if isinstance(op, (*CONSTANTS, *_CONVERSIONS)) or (
            self.defines(value) and is_pure(op) and not op.regions
        ):
            return tuple(op.operands)
        return ()

    def _key(self, value: SSAValue) -> Key | None:
        inside = self.defines(value)
        if not isinstance(value, OpResult):
            return None if inside else ("value", value)
        op = value.op
        if isinstance(op, llvm.AddressOfOp):
            return ("global", op.global_name.string_value())
        if isinstance(op, llvm.LoadOp):
            key = self._load_key(op) if inside or self._loads_at_anchor(op) else None
            return key if key is not None or inside else ("value", value)
        if not isinstance(op, (*CONSTANTS, *_CONVERSIONS)):
            if not inside:
                return ("value", value)
            if op.regions or not is_pure(op) or may_trap(op):
                return None
        operands = tuple(self._keys[operand] for operand in op.operands)
        if None in operands:
            return None
        attributes = frozenset((*op.properties.items(), *op.attributes.items()))
        return (op.name, attributes, operands, value.type, value.index)

    def _loads_at_anchor(self, op: Operation) -> bool:
        """
        Whether a load placed before the span reads the same as at the span's start: no operation is in
        between.
        """
        if op.parent_block() is not self.anchor.parent_block():
            return False
        following = op.next_op
        while following is not None and (is_pure(following) or isinstance(following, llvm.LoadOp)):
            if following is self.anchor:
                return True
            following = following.next_op
        return following is self.anchor

    def _load_key(self, op: llvm.LoadOp) -> Key | None:
        """The key of a load from a variable, or a member of one, that the span does not write; else None."""
        place = op.ptr
        while isinstance(place.owner, ADDRESS_OPS) and len(place.owner.operands) == 1:
            place = place.owner.ptr
        if not isinstance(place.owner, llvm.AllocaOp | llvm.AddressOfOp) or not is_plain_load(op):
            return None
        pointer = self._keys[op.ptr]
        roots = self.memory.roots(place)
        if pointer is None or not all(
            self.memory.distinct(root, other) for root in roots for other in self.written
        ):
            return None
        return ("load", pointer, op.dereferenced_value.type)

    def emit(self, value: SSAValue) -> SSAValue:
        """`value`, which must have a key, computed before the anchor."""
        work = [value]
        while work:
            current = work[-1]
            operands = self._to_emit(current)
            if operands:
                work += operands
                continue
            work.pop()
            self._emit(current)
        return self._emit(value)

    def _to_emit(self, value: SSAValue) -> list[SSAValue]:
        if not self.defines(value) or self.key(value) in self._values:
            return []
        assert isinstance(value, OpResult)
        return [
            operand
            for operand in value.op.operands
            if self.defines(operand) and self.key(operand) not in self._values
        ]

    def _emit(self, value: SSAValue) -> SSAValue:
        """As `emit`, for a value whose operands have already been emitted."""
        if not self.defines(value):
            return value
        key = self.key(value)
        assert key is not None and isinstance(value, OpResult)
        if key not in self._values:
            op = value.op
            clone = op.clone()
            clone.operands = [self._emit(operand) for operand in op.operands]
            insert(clone, self.anchor, op)
            self._values[key] = clone.results[value.index]
        return self._values[key]


def insert(op: Operation, anchor: Operation, like: Operation) -> Operation:
    """Places `op` before `anchor`, with the location of `like`."""
    block = anchor.parent_block()
    assert block is not None
    op.location = like.location
    block.insert_op_before(op, anchor)
    return op
