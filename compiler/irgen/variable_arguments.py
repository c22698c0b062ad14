"""
Variable argument lists (C11 7.16; psABI 3.5.7; AAPCS64 10.1.5): the whole of an argument is either in the
area where the function saved its argument registers, or on the stack.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import AnyFloat, f32, f64, i8, i32, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, SSAValue

from ...dialects.layout import size_of
from ...dialects.llvm_ext import VaCopyOp, VaEndOp, VaStartOp
from ..c import ast as c
from ..c.types import CType, FloatType, RecordType
from .conventions import InMemory, InRegisters, classify, needed
from .function import FunctionState
from .layout import PTR

_GENERAL, _VECTOR, _STACK, _SAVED = 0, 4, 8, 16
"""Byte offsets in x86-64's `__va_list_tag`: gp_offset, fp_offset, overflow_arg_area, reg_save_area."""
_GENERAL_END = 6 * 8
_VECTOR_END = _GENERAL_END + 8 * 16

_ARM_GENERAL = (8, 24)
_ARM_VECTOR = (16, 28)
"""Byte offsets in AArch64's `va_list`, for general and vector registers: of the end of the saved registers,
and of the (negative) offset from it."""


def va_arg(fn: FunctionState, e: c.VaArg) -> SSAValue:
    """`va_arg` (C11 7.16.1.1)."""
    arguments = fn.rvalue(e.list)
    fn.b.at(e.loc)
    t = fn.module.types.convert(e.type)
    if isinstance(e.type, RecordType) and not e.type.size:
        return fn.b.zero(t)
    if fn.module.types.machine == "aarch64":
        return fn.b.load(_on_arm(fn, arguments, e.type), t)
    if isinstance(e.type, RecordType):
        passing = classify(e.type, "x86_64")
        if isinstance(passing, InRegisters):
            return fn.b.load(_from_registers(fn, arguments, e.type, passing), t)
    elif not (isinstance(e.type, FloatType) and e.type.bits == 80):
        return fn.b.load(_from_registers(fn, arguments, e.type, _in_registers(e.type)), t)
    return fn.b.load(_from_stack(fn, arguments, e.type), t)


def _in_registers(t: CType) -> InRegisters:
    """How a scalar is passed on x86-64."""
    if isinstance(t, FloatType):
        return InRegisters(((0, f64),))
    return InRegisters(tuple((offset, i64) for offset in range(0, _in_slots(t.size), 8)))


def _from_stack(fn: FunctionState, list_: SSAValue, t: CType) -> SSAValue:
    """The address of the next argument on x86-64's stack; advances the list past it."""
    b = fn.b
    place = b.offset(list_, _STACK)
    address = b.load(place, PTR)
    if t.align > 8:
        address = b.value(llvm.IntToPtrOp(_aligned(fn, b.to_int(address), t.align)), "argument")
    b.store(b.offset(address, _in_slots(t.size)), place)
    return address


def _in_slots(size: int) -> int:
    return 8 * -(-size // 8)


def _aligned(fn: FunctionState, value: SSAValue, align: int) -> SSAValue:
    raised = fn.b.value(arith.AddiOp(value, fn.b.int(align - 1, value.type)))
    return fn.b.value(arith.AndIOp(raised, fn.b.int(-align, value.type)))


@dataclass
class _ArgumentPart:
    """A part of an argument: its type, the address of its saved register, and its offset in the
    argument."""

    type: Attribute
    saved: SSAValue
    offset: int


def _gather(
    fn: FunctionState, pieces: list[_ArgumentPart], fits: SSAValue, stack: SSAValue, t: CType
) -> SSAValue:
    """The address of an argument whose pieces are saved registers if `fits`, else on the stack."""
    b = fn.b
    size = max(t.size, max(p.offset + size_of(p.type) for p in pieces))
    copy = fn.scratch(LLVMArrayType(size, i8), max(16, t.align), "argument")
    for piece in pieces:
        there = b.offset(stack, piece.offset)
        source = b.value(arith.SelectOp(fits, piece.saved, there))
        b.store(b.load(source, piece.type), b.offset(copy, piece.offset))
    return copy


def _from_registers(fn: FunctionState, list_: SSAValue, t: CType, passing: InRegisters) -> SSAValue:
    """The address of a copy of the next argument on x86-64, if it may come in registers."""
    b = fn.b
    general, vector = needed(passing)
    sizes = {_GENERAL: general * 8, _VECTOR: vector * 16}
    ends = {_GENERAL: _GENERAL_END, _VECTOR: _VECTOR_END}
    used = {at: b.load(b.offset(list_, at), i32) for at, size in sizes.items() if size}
    room = [b.cmp("ule", n, b.int(ends[at] - sizes[at], i32)) for at, n in used.items()]
    fits = room[0] if len(room) == 1 else b.value(arith.AndIOp(room[0], room[1]))
    saved = b.load(b.offset(list_, _SAVED), PTR)
    stack = b.load(b.offset(list_, _STACK), PTR)
    if t.align > 8:
        stack = b.value(llvm.IntToPtrOp(_aligned(fn, b.to_int(stack), t.align)), "argument")
    registers = {at: b.gep(saved, [b.resize(n, i64, signed=False)], i8) for at, n in used.items()}
    pieces: list[_ArgumentPart] = []
    for offset, piece in passing.pieces:
        at, step = (_VECTOR, 16) if piece in (f32, f64) else (_GENERAL, 8)
        pieces.append(_ArgumentPart(piece, registers[at], offset))
        registers[at] = b.offset(registers[at], step)
    copy = _gather(fn, pieces, fits, stack, t)
    for at, offset in used.items():
        after = b.value(arith.AddiOp(offset, b.int(sizes[at], i32)))
        b.store(b.value(arith.SelectOp(fits, after, offset)), b.offset(list_, at))
    begin = b.load(b.offset(list_, _STACK), PTR) if t.align > 8 else stack
    after = b.offset(stack, _in_slots(t.size))
    b.store(b.value(arith.SelectOp(fits, begin, after)), b.offset(list_, _STACK))
    return copy


def _on_arm(fn: FunctionState, list_: SSAValue, t: CType) -> SSAValue:
    """The address of the next argument on AArch64."""
    b = fn.b
    wanted = t.natural_align if isinstance(t, RecordType) else t.align
    size, align = _in_slots(t.size), 16 if wanted >= 16 else 8
    element, count = fn.module.types.convert(t), 1
    if isinstance(t, RecordType):
        passing = classify(t, "aarch64")
        if isinstance(passing, InMemory):
            return b.load(_next_on_arm(fn, list_, _ARM_GENERAL, [(i64, 0)], 8, 8, t), PTR)
        assert isinstance(passing, InRegisters)
        element = passing.pieces[0][1]
        if isinstance(element, LLVMArrayType) and isinstance(element.type, AnyFloat):
            count, element = element.size.data, element.type
    if isinstance(element, AnyFloat):
        parts = [(element, n * size_of(element)) for n in range(count)]
        return _next_on_arm(fn, list_, _ARM_VECTOR, parts, size, align, t)
    parts: list[tuple[Attribute, int]] = [(i64, offset) for offset in range(0, size, 8)]
    return _next_on_arm(fn, list_, _ARM_GENERAL, parts, size, align, t)


def _next_on_arm(
    fn: FunctionState,
    list_: SSAValue,
    area: tuple[int, int],
    parts: list[tuple[Attribute, int]],
    size: int,
    align: int,
    t: CType,
) -> SSAValue:
    """
    The address of a copy of the next argument, of `size` bytes on the stack, or with each of its parts
    (type, place in the argument) in a register of an `area`.
    """
    b = fn.b
    step = 16 if area == _ARM_VECTOR else 8
    offset = b.load(b.offset(list_, area[1]), i32)
    if align > 8 and step == 8:
        offset = _aligned(fn, offset, align)
    after = b.value(arith.AddiOp(offset, b.int(step * len(parts), i32)))
    fits = b.cmp("sle", after, b.int(0, i32))
    b.store(after, b.offset(list_, area[1]))
    begin = stack = b.load(list_, PTR)
    if align > 8:
        stack = b.value(llvm.IntToPtrOp(_aligned(fn, b.to_int(stack), align)), "argument")
    top = b.load(b.offset(list_, area[0]), PTR)
    saved = b.gep(top, [b.resize(offset, i64, signed=True)], i8)
    pieces = [
        _ArgumentPart(part, b.offset(saved, step * n), place)
        for n, (part, place) in enumerate(parts)
    ]
    copy = _gather(fn, pieces, fits, stack, t)
    b.store(b.value(arith.SelectOp(fits, begin, b.offset(stack, size))), list_)
    return copy


def va_op(fn: FunctionState, e: c.VaOp) -> None:
    """`va_start`, `va_end`, `va_copy`."""
    arguments = fn.rvalue(e.list)
    source = None if e.source is None else fn.rvalue(e.source)
    fn.b.at(e.loc)
    if e.op == "va_start":
        fn.b.add(VaStartOp(arguments))
    elif e.op == "va_end":
        fn.b.add(VaEndOp(arguments))
    else:
        assert source is not None
        fn.b.add(VaCopyOp(arguments, source))
