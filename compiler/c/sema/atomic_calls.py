"""
Atomic operations: gcc's `__sync_…` and `__atomic_…` built-ins (GCC manual, "Legacy __sync Built-in
Functions", "Built-in Functions for Memory Model Aware Atomic Operations"), and the accesses to `_Atomic`
objects (C11 6.2.6.1p9, 6.5.16.2), which are sequentially consistent.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from typing import Any

from ...base.diagnostics import SourceLoc, error
from ..ast import (
    AddressOf,
    Assign,
    AtomicOp,
    BinaryOp,
    CompoundAssign,
    Deref,
    DoWhile,
    Expr,
    ExprStmt,
    IncDec,
    IntConst,
    Load,
    UnaryOp,
    VarRef,
)
from ..types import (
    BOOL,
    INT,
    LONG,
    UCHAR,
    VOID,
    CType,
    FunctionType,
    IntType,
    PointerType,
    pointer_to,
)
from .casts import cast
from .constants import integer_value
from .conversions import convert_assigned, mark_address_taken
from .temporaries import Temporary
from .unit import Unit

SEQUENTIAL = 5
_ORDERS = range(6)  # relaxed, consume, acquire, release, acq_rel, seq_cst
_UPDATES = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "nand": "nand"}
_SYNC = re.compile(r"__sync_(?:fetch_and_(\w+?)|(\w+?)_and_fetch)(?:_(?:1|2|4|8|16))?$")
_ATOMIC = re.compile(r"__atomic_(?:fetch_(\w+)|(\w+)_fetch)$")
_SIZES = (1, 2, 4, 8, 16)


class AtomicChecker:
    """Checks atomic built-ins, and makes the accesses to `_Atomic` objects."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def knows(self, name: str) -> bool:
        """Whether `check` takes calls of this name."""
        plain = re.sub(r"_(?:1|2|4|8|16)$", "", name) if name.startswith("__sync_") else name
        update = _SYNC.match(name) or _ATOMIC.match(name)
        named = update is not None and (update.group(1) or update.group(2)) in _UPDATES
        return named or hasattr(self, f"_{plain.lstrip('_')}")

    def check(self, name: str, node: Any, arguments: list[Any]) -> Expr | None:
        """The call of built-in `name`; None if it is not an atomic built-in."""
        loc = self.unit.loc(node)
        plain = re.sub(r"_(?:1|2|4|8|16)$", "", name) if name.startswith("__sync_") else name
        values = None
        update = _SYNC.match(name) or _ATOMIC.match(name)
        if update is not None and (update.group(1) or update.group(2)) in _UPDATES:
            values = self._values(name, arguments, 2, loc, more=True)
            op = _UPDATES[update.group(1) or update.group(2)]
            order = SEQUENTIAL if name.startswith("__sync_") else self._order(values[2:])
            before = update.group(1) is not None
            return self._update(op, values[0], values[1], order, before=before, loc=loc)
        handler = getattr(self, f"_{plain.lstrip('_')}", None)
        if handler is None or not plain.startswith(("__sync_", "__atomic_")):
            return None
        values = [self.unit.expressions.value(argument) for argument in arguments]
        try:
            return handler(values, loc)
        except IndexError:
            raise error(loc, f"too few arguments to '{name}'", "check the call") from None

    # Helpers ----------------------------------------------------------------------------------

    def _values(
        self, name: str, arguments: list[Any], least: int, loc: SourceLoc, *, more: bool
    ) -> list[Expr]:
        if len(arguments) < least or (len(arguments) > least and not more):
            raise error(loc, f"too few arguments to '{name}'", "check the call")
        return [self.unit.expressions.value(argument) for argument in arguments]

    def _order(self, values: list[Expr]) -> int:
        """A memory order by its number; the strictest where it is not a constant."""
        number = integer_value(values[0]) if values else SEQUENTIAL
        return number & 0xFFFF if number is not None and number & 0xFFFF in _ORDERS else SEQUENTIAL

    def _object(self, pointer: Expr) -> CType:
        """The type of the object that a pointer operand points to. Raises `CompileError` if it has no
        atomic operations."""
        t = pointer.type
        if not isinstance(t, PointerType) or isinstance(t.pointee.type, FunctionType):
            raise error(pointer.loc, f"an atomic operation on '{t}'", "give a pointer to an object")
        inner = t.pointee.type
        if not inner.is_complete or inner.size not in _SIZES:
            size = f"of {inner.size} bytes" if inner.is_complete else f"of type '{inner}'"
            raise error(
                pointer.loc, f"an atomic operation on an object {size}", "protect it by a mutex"
            )
        return inner

    def _make(
        self, op: str, t: CType, pointer: Expr, operands: list[Expr], order: int, **words: Any
    ) -> AtomicOp:
        of = self._object(pointer)
        return AtomicOp(
            type=t,
            loc=pointer.loc,
            op=op,
            of=of,
            pointer=pointer,
            operands=operands,
            order=order,
            **words,
        )

    def _converted(self, value: Expr, t: CType) -> Expr:
        return convert_assigned(value, t, "an atomic operand", self.unit.sink)

    def _update(
        self, op: str, pointer: Expr, value: Expr, order: int, *, before: bool, loc: SourceLoc
    ) -> Expr:
        t = self._object(pointer)
        if not isinstance(t, IntType | PointerType):
            raise error(loc, f"an atomic update of '{t}'", "use an integer or a pointer")
        operand = cast(value, LONG) if isinstance(t, PointerType) else self._converted(value, t)
        return self._make(op, t, pointer, [operand], order, before=before)

    def _compare(self, values: list[Expr], *, by_address: bool) -> Expr:
        pointer, expected, desired = values[:3]
        t = self._object(pointer)
        desired = self._pointed(desired) if by_address else self._converted(desired, t)
        failure = self._order(values[5:])
        return self._make(
            "compare", BOOL, pointer, [expected, desired], self._order(values[4:]), failure=failure
        )

    def _pointed(self, pointer: Expr) -> Expr:
        """The lvalue that a pointer operand points to. Raises `CompileError` if it is not a pointer."""
        t = pointer.type
        if not isinstance(t, PointerType):
            raise error(pointer.loc, f"'{t}' is not a pointer", "give the address of the value")
        place = Deref(type=t.pointee.type, loc=pointer.loc, pointer=pointer)
        return Load(type=place.type, loc=pointer.loc, lvalue=place)

    def _into(self, pointer: Expr, value: Expr) -> Expr:
        """The store of a value through a pointer."""
        assert isinstance(pointer.type, PointerType)
        t = pointer.type.pointee.type
        place = Deref(type=t, loc=pointer.loc, pointer=pointer)
        stored = Assign(type=t, loc=pointer.loc, target=place, value=value)
        return cast(stored, VOID)

    # Built-ins by name ------------------------------------------------------------------------

    def _sync_synchronize(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return AtomicOp(type=VOID, loc=loc, op="fence", order=SEQUENTIAL)

    def _atomic_thread_fence(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return AtomicOp(type=VOID, loc=loc, op="fence", order=self._order(values))

    def _atomic_signal_fence(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return AtomicOp(type=VOID, loc=loc, op="fence", order=self._order(values))

    def _sync_lock_test_and_set(self, values: list[Expr], loc: SourceLoc) -> Expr:
        t = self._object(values[0])
        return self._make("exchange", t, values[0], [self._converted(values[1], t)], 2)

    def _sync_lock_release(self, values: list[Expr], loc: SourceLoc) -> Expr:
        zero = self._converted(IntConst(type=INT, loc=loc, value=0), self._object(values[0]))
        return self._make("store", VOID, values[0], [zero], 3)

    def _sync_bool_compare_and_swap(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._swapped(values, BOOL)

    def _sync_val_compare_and_swap(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._swapped(values, self._object(values[0]))

    def _swapped(self, values: list[Expr], result: CType) -> Expr:
        """A compare-and-swap; `result` is `_Bool` for whether it stored, or else the type of the old
        value."""
        t = self._object(values[0])
        operands = [self._converted(v, t) for v in values[1:3]]
        old = "swap" if result == BOOL and t != BOOL else "swapped"
        return self._make(old, result, values[0], operands, SEQUENTIAL)

    def _atomic_load_n(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._make("load", self._object(values[0]), values[0], [], self._order(values[1:]))

    def _atomic_load(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._into(values[1], self._atomic_load_n([values[0], *values[2:]], loc))

    def _atomic_store_n(self, values: list[Expr], loc: SourceLoc) -> Expr:
        value = self._converted(values[1], self._object(values[0]))
        return self._make("store", VOID, values[0], [value], self._order(values[2:]))

    def _atomic_store(self, values: list[Expr], loc: SourceLoc) -> Expr:
        value = self._pointed(values[1])
        return self._make("store", VOID, values[0], [value], self._order(values[2:]))

    def _atomic_exchange_n(self, values: list[Expr], loc: SourceLoc) -> Expr:
        t = self._object(values[0])
        operand = self._converted(values[1], t)
        return self._make("exchange", t, values[0], [operand], self._order(values[2:]))

    def _atomic_exchange(self, values: list[Expr], loc: SourceLoc) -> Expr:
        t = self._object(values[0])
        order = self._order(values[3:])
        return self._into(
            values[2], self._make("exchange", t, values[0], [self._pointed(values[1])], order)
        )

    def _atomic_compare_exchange_n(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._compare(values, by_address=False)

    def _atomic_compare_exchange(self, values: list[Expr], loc: SourceLoc) -> Expr:
        return self._compare(values, by_address=True)

    def _atomic_test_and_set(self, values: list[Expr], loc: SourceLoc) -> Expr:
        one = IntConst(type=UCHAR, loc=loc, value=1)
        flag = cast(values[0], pointer_to(UCHAR))
        return cast(self._make("exchange", UCHAR, flag, [one], self._order(values[1:])), BOOL)

    def _atomic_clear(self, values: list[Expr], loc: SourceLoc) -> Expr:
        zero = IntConst(type=UCHAR, loc=loc, value=0)
        flag = cast(values[0], pointer_to(UCHAR))
        return self._make("store", VOID, flag, [zero], self._order(values[1:]))

    def _atomic_always_lock_free(self, values: list[Expr], loc: SourceLoc) -> Expr:
        size = integer_value(values[0])
        return IntConst(type=BOOL, loc=loc, value=int(size in _SIZES[:4]))

    _atomic_is_lock_free = _atomic_always_lock_free

    def accopt_atomic_step(self, node: Any, arguments: list[Any]) -> Expr:
        """`__accopt_atomic_step(pointer, n)` of our `<stdatomic.h>`: `n` elements of a pointer, in bytes."""
        pointer, value = (self.unit.expressions.value(argument) for argument in arguments)
        t = self._object(pointer)
        if not isinstance(t, PointerType):
            return value
        size = IntConst(type=LONG, loc=value.loc, value=t.pointee.type.size)
        return BinaryOp(type=LONG, loc=value.loc, op="*", lhs=cast(value, LONG), rhs=size)

    # `_Atomic` objects ------------------------------------------------------------------------

    def assign(self, e: Assign) -> Expr:
        """`place = value`; its value is the stored one."""
        out = Temporary(self.unit, e.loc)
        pointer, value = out.hold(_address(e.target)), out.hold(e.value)
        stored = self._make("store", VOID, pointer(), [value()], SEQUENTIAL)
        out.body.append(ExprStmt(loc=e.loc, expr=stored))
        return out.result(value())

    def step(self, e: IncDec) -> Expr:
        """`++place`, `place++`, `--place` or `place--`."""
        one = IntConst(type=INT, loc=e.loc, value=1)
        op = "+" if e.is_increment else "-"
        return self._updated(op, e.target, one, e.target.type, before=not e.is_prefix)

    def compound(self, e: CompoundAssign) -> Expr:
        """`place op= value`."""
        return self._updated(e.op, e.target, e.value, e.compute_type, before=False)

    def _updated(self, op: str, target: Expr, value: Expr, compute: CType, *, before: bool) -> Expr:
        """An update, by one operation if the processor has it; its value is the object's `before`, or after
        it."""
        t, loc = target.type, target.loc
        if isinstance(t, PointerType):
            inner = t.pointee.type
            size = IntConst(type=LONG, loc=loc, value=inner.size if inner.is_complete else 1)
            bytes_ = BinaryOp(type=LONG, loc=loc, op="*", lhs=cast(value, LONG), rhs=size)
            return self._make(op, t, _address(target), [bytes_], SEQUENTIAL, before=before)
        simple = isinstance(t, IntType) and isinstance(value.type, IntType) and t != BOOL
        if simple and op in _UPDATES.values():
            return self._make(op, t, _address(target), [cast(value, t)], SEQUENTIAL, before=before)
        return self._loop(op, target, value, compute, before=before)

    def _loop(self, op: str, target: Expr, value: Expr, compute: CType, *, before: bool) -> Expr:
        """An update by a loop of compare-and-exchange, for operators without an atomic instruction."""
        t, loc, out = target.type, target.loc, Temporary(self.unit, target.loc)
        pointer, operand = out.hold(_address(target)), out.hold(value)
        old = out.hold(self._make("load", t, pointer(), [], SEQUENTIAL))
        new = out.hold(old())
        if isinstance(compute, IntType) and compute.bits < 32:
            compute = INT
        rhs = operand() if op in ("<<", ">>") else cast(operand(), compute)
        made = BinaryOp(type=compute, loc=loc, op=op, lhs=cast(old(), compute), rhs=rhs)
        assign = Assign(type=t, loc=loc, target=_variable(new()), value=cast(made, t))
        place = _variable(old())
        place.decl.address_taken = True
        address = AddressOf(type=pointer_to(t), loc=loc, operand=place)
        swap = self._make(
            "compare", BOOL, pointer(), [address, new()], SEQUENTIAL, failure=SEQUENTIAL
        )
        again = UnaryOp(type=INT, loc=loc, op="!", operand=swap)
        body = ExprStmt(loc=loc, expr=assign)
        out.body.append(DoWhile(loc=loc, body=body, condition=again))
        return out.result(old() if before else new())


def _address(place: Expr) -> Expr:
    mark_address_taken(place)
    return AddressOf(type=pointer_to(place.type), loc=place.loc, operand=place)


def _variable(read: Expr) -> VarRef:
    """The variable that a temporary's value is loaded from."""
    assert isinstance(read, Load) and isinstance(read.lvalue, VarRef)
    return read.lvalue
