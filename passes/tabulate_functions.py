"""
Read the values of mathematical functions that are known when the program is compiled from tables.

`cosf((2 * y + 1) * u * 0.196f)`, in loops over 8 values of y and u, is one of 64 numbers, which every
iteration of the loops around computes again.

Takes:  data level, after loops without levels are `scf.for`s.
Leaves: in constructs for GPUs, calls of functions whose arguments are computed from constants and the
        variables of loops with constant bounds, within a loop on which they do not depend, are loads from a
        constant global that has the values for all these iterations, if they are few
        (`decisions/tabulated.py`). Once such loops are unrolled, LLVM replaces loads by constants. A remark
        on the construct says so. Others are unchanged.
Fails:  never.

Before:
  scf.for %u = %c0 to %c8 step %c1 : i32 {
    %x = arith.sitofp %u : i32 to f32
    %y = arith.mulf %x, %cst : f32
    %cosf = llvm.call @cosf(%y) : (f32) -> f32
After:
  llvm.mlir.global internal constant @cosf.table(dense<[1.0, …]> : tensor<8xf32>)
  …
  scf.for %u = %c0 to %c8 step %c1 : i32 {
    %table = llvm.mlir.addressof @cosf.table : !llvm.ptr
    %place = llvm.getelementptr %table[%u] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %cosf = llvm.load %place : !llvm.ptr -> f32

Options: `target` (`host`: no change).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..compiler.base.diagnostics import SourceLoc
from .decisions.tabulated import MOST_OPERATIONS, as_float, computed, is_known, pays
from .ir.kernels.outline import symbol_table
from .ir.ops.acc_ops import callee_of, operations_around, parallel_constructs, source_loc
from .ir.ops.building import PTR, Cursor, constant_trips, constant_value, erase, put_first
from .ir.ops.gpu_pass import GpuPass
from .ir.ops.layout import size_of
from .ir.ops.loop_bounds import bounds_of
from .ir.ops.notes import note
from .ir.ops.purity import erase_unused, is_pure_call

Number = int | float


def _divided(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _divided(a, b)


def _same(a: Number) -> Number:
    return a


_COMPUTED: dict[type[Operation], Callable[..., Number]] = {
    arith.AddiOp: int.__add__,
    arith.SubiOp: int.__sub__,
    arith.MuliOp: int.__mul__,
    arith.DivSIOp: _divided,
    arith.RemSIOp: _rest,
    arith.AndIOp: int.__and__,
    arith.OrIOp: int.__or__,
    arith.XOrIOp: int.__xor__,
    arith.ExtSIOp: _same,
    arith.TruncIOp: _same,
    arith.SIToFPOp: float,
    arith.AddfOp: float.__add__,
    arith.SubfOp: float.__sub__,
    arith.MulfOp: float.__mul__,
    arith.DivfOp: float.__truediv__,
    arith.NegfOp: float.__neg__,
    arith.ExtFOp: _same,
    arith.TruncFOp: _same,
}
"""Arithmetic on numbers without bounds; its results are those of the operation's type if they are in that."""


def _in_type(value: Number, type: Attribute) -> Number | None:
    """`value` as a number of `type`; None if that cannot represent it."""
    match type:
        case IntegerType() | IndexType():
            bits = 64 if isinstance(type, IndexType) else type.width.data
            return (
                value
                if isinstance(value, int) and -(1 << (bits - 1)) <= value < 1 << (bits - 1)
                else None
            )
        case Float32Type():
            return as_float(value)
        case Float64Type():
            return value if math.isfinite(value) else None
        case _:
            return None


@dataclass(frozen=True)
class _Counter:
    """The variable of a loop with constant bounds."""

    value: SSAValue
    low: int
    step: int
    trips: int

    @property
    def values(self) -> range:
        return range(self.low, self.low + self.trips * self.step, self.step)


def _counter(value: SSAValue) -> _Counter | None:
    block = value.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    for variable, low, high, step in [] if loop is None else bounds_of(loop):
        trips, first, by = (
            constant_trips(low, high, step),
            constant_value(low),
            constant_value(step),
        )
        if variable is value and trips is not None and first is not None and by is not None:
            return _Counter(value, first, by, trips)
    return None


@dataclass(frozen=True)
class Values:
    """A call whose arguments the `counters` decide, by `operations` in their order."""

    call: llvm.CallOp
    name: str
    counters: tuple[_Counter, ...]
    operations: tuple[Operation, ...]

    @property
    def number(self) -> int:
        return math.prod(counter.trips for counter in self.counters)

    def all(self) -> list[float] | None:
        """The values in all iterations, the last counter moving first; None if one is not known."""
        values: list[float] = []
        for numbers in product(*(counter.values for counter in self.counters)):
            at = dict(zip((counter.value for counter in self.counters), numbers, strict=True))
            value = self._value(at)
            if value is None:
                return None
            values.append(value)
        return values

    def _value(self, known: dict[SSAValue, Any]) -> float | None:
        for op in self.operations:
            try:
                numbers = [known[v] for v in op.operands]
                value = _COMPUTED[type(op)](*numbers) if numbers else _constant(op)
            except ArithmeticError:
                return None
            typed = None if value is None else _in_type(value, op.results[0].type)
            if typed is None:
                return None
            known[op.results[0]] = typed
        return computed(self.name, [known[value] for value in self.call.args])


def _constant(op: Operation) -> Number | None:
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
        return op.value.value.data
    return constant_value(op.results[0])


class _Reader:
    """What leads to the arguments of a call in `construct`, from constants and counters."""

    def __init__(self, construct: acc.ParallelOp):
        self._construct = construct
        self.counters: dict[SSAValue, _Counter] = {}
        self.operations: dict[Operation, None] = {}

    def read(self, value: SSAValue) -> bool:
        """Adds what leads to `value`, in its order; whether all of that can be computed."""
        owner = value.owner
        if isinstance(owner, Block):
            counter = _counter(value)
            if counter is None or not self._construct.is_ancestor(owner):
                return False
            self.counters[value] = counter
            return True
        if owner in self.operations:
            return True
        known = isinstance(owner, arith.ConstantOp) or type(owner) in _COMPUTED
        if not known or len(self.operations) >= MOST_OPERATIONS:
            return False
        if not all(map(self.read, owner.operands)):
            return False
        self.operations[owner] = None
        return True


def find_values(call: llvm.CallOp, construct: acc.ParallelOp) -> Values | None:
    """A call in `construct` as a function of counters with constant bounds; None if it is something else."""
    name = callee_of(call)
    if name is None or len(call.results) != 1 or not is_pure_call(call) or not is_known(name):
        return None
    types = {value.type for value in (*call.args, *call.results)}
    if len(types) != 1 or not isinstance(types.pop(), Float32Type | Float64Type):
        return None
    reader = _Reader(construct)
    if not all(map(reader.read, call.args)):
        return None
    around = [variables_of(op) for op in operations_around(call, construct)]
    variables = [variable for group in reversed(around) for variable in group]
    counters = tuple(reader.counters[v] for v in variables if v in reader.counters)
    repeated = any(group and reader.counters.keys().isdisjoint(group) for group in around)
    found = Values(call, name, counters, tuple(reader.operations))
    return found if pays(found.number, repeated=repeated) else None


def variables_of(op: Operation) -> list[SSAValue]:
    """The variables of a counted loop; none for other operations."""
    return [variable for variable, *_ in bounds_of(op)]


@dataclass
class _Tables:
    """The tables of a module, one for all calls with the same values."""

    module: ModuleOp
    _names: set[str] = field(init=False)
    _made: dict[tuple[Attribute, tuple[str, ...]], str] = field(
        default_factory=dict[tuple[Attribute, tuple[str, ...]], str]
    )

    def __post_init__(self) -> None:
        self._names = set(symbol_table(self.module))

    def table(self, name: str, type: Attribute, values: Sequence[float]) -> str:
        """The constant global with `values`, of a function called `name`."""
        key = type, tuple(map(float.hex, values))  # apart: 0.0, -0.0
        if key not in self._made:
            symbol, number = f"{name}.table", 1
            while symbol in self._names:
                number += 1
                symbol = f"{name}.table.{number}"
            self._names.add(symbol)
            array = llvm.LLVMArrayType(len(values), type)
            assert isinstance(type, AnyFloat)
            data = DenseIntOrFPElementsAttr.from_list(TensorType(type, [len(values)]), values)
            size = size_of(type)
            made = llvm.GlobalOp(
                array, symbol, "internal", constant=True, value=data, alignment=size
            )
            put_first(self.module.body.block, made)
            self._made[key] = symbol
        return self._made[key]


def read_from_table(found: Values, values: Sequence[float], tables: _Tables) -> None:
    """Replaces a call by a load from a table of its values."""
    call = found.call
    type, at = call.results[0].type, Cursor.before(call)
    address = llvm.AddressOfOp(tables.table(found.name, type, values), PTR)
    place = at.i64(0)
    for counter in found.counters:
        number = at.to_i64(counter.value)
        if counter.low:
            number = at.sub(number, at.i64(counter.low))
        if counter.step != 1:
            number = at.value(arith.DivUIOp(number, at.i64(counter.step)))
        place = at.add(at.mul(place, at.i64(counter.trips)), number)
    table = at.value(address, "table")
    loaded = at.load(at.element(table, place, type), type, call.results[0].name_hint)
    call.results[0].replace_all_uses_with(loaded)
    arguments = list(call.args)
    erase(call)
    for argument in arguments:
        erase_unused(argument)


@dataclass(frozen=True)
class TabulateFunctionsPass(GpuPass):
    """See the contract at the top of this file."""

    name = "tabulate-functions"

    def rewrite(self, module: ModuleOp) -> None:
        tables = _Tables(module)
        for construct in parallel_constructs(module):
            said: dict[str, SourceLoc] = {}
            for call in [op for op in construct.walk() if isinstance(op, llvm.CallOp)]:
                found = find_values(call, construct)
                values = None if found is None else found.all()
                if found is not None and values is not None:
                    text = f"{found.name}: read from a table of its {found.number} values"
                    said.setdefault(text, source_loc(call))
                    read_from_table(found, values, tables)
            note(construct, [(loc, text) for text, loc in said.items()])
