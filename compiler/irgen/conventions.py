"""
How C's calling conventions pass values: the System V ABI for x86-64 (psABI 3.2.3, 3.5.7) and the
procedure call standard of AArch64 (AAPCS64 6.8, 6.9), as LLVM's types and parameter attributes.

Scalars are passed as they are. A record is passed in registers, as pieces of its bytes, or in memory:
x86-64 copies it to the arguments on the stack (`byval`), AArch64 passes the address of a copy. Results in
memory are written to an address that the caller gives (`sret`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    f32,
    f64,
    f80,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMStructType
from xdsl.ir import Attribute, TypeAttribute

from ...dialects.layout import size_of
from ..base.machine import Machine
from ..c.types import (
    ArrayType,
    ComplexType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    RecordType,
    VoidType,
)
from .layout import FLOATS, PTR, TypeLowering

GENERAL_REGISTERS = 6
"""Registers for integers and pointers among the arguments on x86-64."""
VECTOR_REGISTERS = 8
"""Registers for `float` and `double` among the arguments on x86-64."""


@dataclass(frozen=True)
class AsItIs:
    """
    A scalar. `extended`: it is narrower than a register, and the caller extends it by its signedness. On
    AArch64 the other bits of the register are unspecified (AAPCS64 6.8.2).
    """

    type: Attribute
    extended: str | None = None


@dataclass(frozen=True)
class InRegisters:
    """A record as pieces (offset in bytes, type); the last one may reach past the record's end."""

    pieces: tuple[tuple[int, Attribute], ...]

    @property
    def size(self) -> int:
        """Bytes that a buffer of all pieces needs."""
        return max(offset + size_of(t) for offset, t in self.pieces)

    @property
    def result_type(self) -> Attribute:
        """The IR type of a result that is returned in these registers."""
        if len(self.pieces) == 1:
            return self.pieces[0][1]
        return LLVMStructType.from_type_list([t for _, t in self.pieces])


@dataclass(frozen=True)
class InMemory:
    """A record at an address; `on_stack`: it is copied to the stack's arguments, otherwise its address is
    passed."""

    record: RecordType
    align: int
    on_stack: bool


@dataclass(frozen=True)
class Nothing:
    """A record without members, which is not passed, and the result of a `void` function."""


Passing = AsItIs | InRegisters | InMemory | Nothing


@dataclass(frozen=True)
class Signature:
    """A function type by the convention: `params` has one entry for each C argument."""

    result: Passing
    params: tuple[Passing, ...]
    type: LLVMFunctionType
    attributes: ArrayAttr[DictionaryAttr] | None
    """Attributes of the IR arguments; None if no argument has any."""


def has_records(t: FunctionType) -> bool:
    """Whether values of records are passed or returned, whose form the convention decides."""
    return any(isinstance(x, RecordType) for x in (t.result, *t.params))


def signature(
    types: TypeLowering, t: FunctionType, arguments: Sequence[CType] | None = None
) -> Signature:
    """
    The signature of a function of type `t`; with `arguments`, of a call with arguments of these types,
    which may be more than the parameters.
    """
    result = _result(types, t.result)
    state = _Registers(types)
    if isinstance(result, InMemory):
        state.general -= types.machine == "x86_64"
    params = tuple(state.passing(p) for p in (t.params if arguments is None else arguments))
    inputs: list[Attribute] = []
    words: list[dict[str, Attribute]] = []
    if isinstance(result, InMemory):
        inputs.append(PTR)
        words.append({"llvm.sret": types.convert(result.record), "llvm.align": _int(result.align)})
    fixed = len(inputs)
    for index, passing in enumerate(params):
        for type_, attributes in _slots(types, passing):
            inputs.append(type_)
            words.append(attributes)
        if index < len(t.params):
            fixed = len(inputs)
    output: Attribute | None = None
    match result:
        case AsItIs():
            output = result.type
        case InRegisters():
            output = result.result_type
        case _:
            pass
    variadic = t.variadic or (not t.prototyped and not t.params)
    ir_type = LLVMFunctionType(
        inputs[:fixed] if t.variadic else inputs, output, is_variadic=variadic
    )
    attributes = ArrayAttr(map(DictionaryAttr, words)) if any(words) else None
    return Signature(result, params, ir_type, attributes)


def _int(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _slots(
    types: TypeLowering, passing: Passing
) -> Iterator[tuple[Attribute, dict[str, Attribute]]]:
    """The IR arguments of one C argument, with their attributes."""
    match passing:
        case AsItIs():
            word = {f"llvm.{passing.extended}": UnitAttr()} if passing.extended else {}
            yield passing.type, dict[str, Attribute](word)
        case InRegisters():
            for _, t in passing.pieces:
                yield t, {}
        case InMemory(on_stack=True):
            record = types.convert(passing.record)
            yield PTR, {"llvm.byval": record, "llvm.align": _int(passing.align)}
        case InMemory():
            yield PTR, {}
        case Nothing():
            return


class _Registers:
    """Assigns arguments in order; x86-64 splits no record between registers and the stack."""

    def __init__(self, types: TypeLowering):
        self.types = types
        self.general = GENERAL_REGISTERS
        self.vector = VECTOR_REGISTERS

    def passing(self, t: CType) -> Passing:
        """How the next argument, of type `t`, is passed."""
        if not isinstance(t, RecordType):
            self._count(t)
            return _scalar(self.types, t)
        found = classify(t, self.types.machine)
        if self.types.machine == "aarch64" or not isinstance(found, InRegisters):
            return found
        general, vector = needed(found)
        if general > self.general or vector > self.vector:
            return InMemory(t, max(8, t.align), on_stack=True)
        self.general -= general
        self.vector -= vector
        return found

    def _count(self, t: CType) -> None:
        if isinstance(t, FloatType):
            self.vector -= t.bits != 80 and self.vector > 0
        elif t.size <= 8:
            self.general -= self.general > 0
        elif self.general >= 2:  # whole, or on the stack
            self.general -= 2


def needed(passing: InRegisters) -> tuple[int, int]:
    """The general and vector registers that a record takes on x86-64."""
    vector = sum(t in (f32, f64) for _, t in passing.pieces)
    return len(passing.pieces) - vector, vector


def _scalar(types: TypeLowering, t: CType) -> Passing:
    extended = None
    if types.machine == "x86_64" and isinstance(t, IntType) and t.bits < 32:
        extended = "signext" if t.signed else "zeroext"
    return AsItIs(types.convert(t), extended)


def _result(types: TypeLowering, t: CType) -> Passing:
    if isinstance(t, VoidType):
        return Nothing()
    if not isinstance(t, RecordType):
        return _scalar(types, t)
    x86 = types.machine == "x86_64"
    if x86 and isinstance(t, ComplexType) and t.element.bits == 80:
        return InRegisters(((0, f80), (16, f80)))  # COMPLEX_X87: st(0) and st(1)
    if x86 and _classes(t) == _LONG_DOUBLE:
        return InRegisters(((0, f80),))
    return classify(t, types.machine)


def classify(t: RecordType, machine: Machine) -> InRegisters | InMemory | Nothing:
    """How a record is passed as an argument, as long as there are registers for all of it."""
    if t.size == 0:
        return Nothing()
    return _classify_x86(t) if machine == "x86_64" else _classify_arm(t)


def _scalars(t: CType, offset: int = 0) -> Iterator[tuple[int, CType, int]]:
    """The scalars in an object: offset, type, and size in bytes (for a bit-field, of the bytes that it
    covers)."""
    if isinstance(t, RecordType):
        for field in t.fields or ():
            place = offset + field.offset
            if field.bit_width is None:
                yield from _scalars(field.type.type, place)
            elif field.bit_width:
                first = field.bit_offset // 8
                end = -(-(field.bit_offset + field.bit_width) // 8)
                yield place + first, field.type.type, end - first
    elif isinstance(t, ArrayType):
        element = t.element.type
        for i in range(t.length if isinstance(t.length, int) else 0):
            yield from _scalars(element, offset + i * element.size)
    else:
        yield offset, t, t.size


class _Class(Enum):
    """The class of an eightbyte of a record (psABI 3.2.3)."""

    INTEGER = auto()
    SSE = auto()
    X87 = auto()
    X87UP = auto()


_LONG_DOUBLE = [_Class.X87, _Class.X87UP]


def _classes(t: RecordType) -> list[_Class | None] | None:
    """The classes of the eightbytes of `t`, with None for one that is only padding; None for class
    MEMORY."""
    if t.size > 16:
        return None
    classes: list[_Class | None] = [None] * -(-t.size // 8)
    for offset, scalar, size in _scalars(t):
        if size == scalar.size and offset % scalar.align:
            return None  # it is not aligned
        of_it = [_Class.INTEGER] * 2
        if isinstance(scalar, FloatType):
            of_it = _LONG_DOUBLE if scalar.bits == 80 else [_Class.SSE]
        first = offset // 8
        for n in range(first, (offset + size - 1) // 8 + 1):
            before, now = classes[n], of_it[n - first]
            if before is None or now in (before, _Class.INTEGER):
                classes[n] = now
            elif before is not _Class.INTEGER:
                return None  # X87 and SSE
    up_alone = _Class.X87UP in classes and classes != _LONG_DOUBLE
    return None if up_alone else classes


def _classify_x86(t: RecordType) -> InRegisters | InMemory | Nothing:
    """x86-64 (psABI 3.2.3): each eightbyte of class INTEGER or SSE is passed in a register; records with
    `long double` are passed in memory."""
    classes = _classes(t)
    if classes is None or _Class.X87 in classes:
        return InMemory(t, max(8, t.align), on_stack=True)
    pieces: list[tuple[int, Attribute]] = []
    for n, kind in enumerate(classes):
        left = min(8, t.size - 8 * n)
        if kind is _Class.SSE:
            pieces.append((8 * n, f64 if left > 4 else f32))
        elif kind is not None:
            pieces.append((8 * n, IntegerType(8 * (1 << (left - 1).bit_length()))))
    return InRegisters(tuple(pieces)) if pieces else Nothing()


def _classify_arm(t: RecordType) -> InRegisters | InMemory:
    """AArch64 (AAPCS64 6.8.2): up to four floats of one type in vector registers (B.2), up to 16 bytes in
    general registers (C.12), otherwise the address of a copy."""
    scalars = list(_scalars(t))
    kinds = {scalar for _, scalar, _ in scalars}
    first = scalars[0][1] if scalars else None
    if len(kinds) == 1 and isinstance(first, FloatType):
        count = t.size // first.size
        places = {offset for offset, _, _ in scalars}
        if count <= 4 and len(places) == count and t.size == count * first.size:
            kind: TypeAttribute = FLOATS[first.bits]
            return InRegisters(((0, LLVMArrayType(count, kind)),))
    if t.size > 16:
        return InMemory(t, t.align, on_stack=False)
    if t.size <= 8:
        return InRegisters(((0, i64),))
    if t.natural_align >= 16:
        return InRegisters(((0, IntegerType(128)),))
    return InRegisters(((0, LLVMArrayType(2, i64)),))
