"""
C types and their layout (C11 6.2.5; System V psABI for x86-64 3.1.2, AAPCS64 5 and 10).

Types are immutable values compared structurally, except struct and union types, which are compared
by identity (each declaration of a tag makes one type, completed later by `complete`). Qualifiers
live beside a type in `QualType` only where C cares: pointees, members and declared objects.
Sizes and alignments are in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..base.machine import target_machine

if TYPE_CHECKING:
    from .ast import Expr


class CType:
    """Base of all C types. `size` and `align` raise `ValueError` on incomplete types."""

    @property
    def size(self) -> int:
        raise ValueError(f"'{self}' has no size")

    @property
    def align(self) -> int:
        return self.size

    @property
    def is_complete(self) -> bool:
        return True


@dataclass(frozen=True)
class VoidType(CType):
    def __str__(self) -> str:
        return "void"

    @property
    def is_complete(self) -> bool:
        return False


@dataclass(frozen=True)
class IntType(CType):
    """
    An integer type: `name` is its C spelling, `bits` 8 to 128, `rank` its conversion rank
    (C11 6.3.1.1). `_Bool` is `BOOL`: 8 bits in memory, and conversion to it yields 0 or 1.
    """

    name: str
    bits: int
    signed: bool
    rank: int

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return self.bits // 8


@dataclass(frozen=True)
class FloatType(CType):
    """`_Float16` (16), `float` (32), `double` (64) or `long double` (80 bits, stored in 16 bytes; on AArch64
    128)."""

    name: str
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return 16 if self.bits == 80 else self.bits // 8


_ON_ARM = target_machine() == "aarch64"

VOID = VoidType()
BOOL = IntType("_Bool", 8, False, 0)
CHAR = IntType("char", 8, not _ON_ARM, 1)
SCHAR = IntType("signed char", 8, True, 1)
UCHAR = IntType("unsigned char", 8, False, 1)
SHORT = IntType("short", 16, True, 2)
USHORT = IntType("unsigned short", 16, False, 2)
INT = IntType("int", 32, True, 3)
UINT = IntType("unsigned int", 32, False, 3)
LONG = IntType("long", 64, True, 4)
ULONG = IntType("unsigned long", 64, False, 4)
LLONG = IntType("long long", 64, True, 5)
ULLONG = IntType("unsigned long long", 64, False, 5)
INT128 = IntType("__int128", 128, True, 6)
UINT128 = IntType("unsigned __int128", 128, False, 6)
HALF = FloatType("_Float16", 16)
FLOAT = FloatType("float", 32)
DOUBLE = FloatType("double", 64)
LDOUBLE = FloatType("long double", 128 if _ON_ARM else 80)
COMPLEX_TAG = "_Complex"
"""The prefix of the tags of complex types, with which no tag of a program can begin."""
SIZE_T = ULONG
WCHAR_T = UINT if _ON_ARM else INT
PTRDIFF_T = LONG


@dataclass(frozen=True)
class QualType:
    """A type with its qualifiers."""

    type: CType
    const: bool = False
    volatile: bool = False
    restrict: bool = False
    atomic: bool = False

    def __str__(self) -> str:
        return spelling(self)

    @property
    def words(self) -> str:
        """The qualifiers as C writes them, separated by spaces."""
        return " ".join(q for q in ("const", "volatile", "restrict") if getattr(self, q))

    @property
    def is_constant(self) -> bool:
        """
        Whether objects of this type keep their initial value: `const` ones, or arrays of such elements, that
        are not `volatile` (C11 6.7.3, 6).
        """
        qual = self
        while isinstance(qual.type, ArrayType) and not qual.const:
            qual = qual.type.element
        return qual.const and not qual.volatile


@dataclass(frozen=True)
class PointerType(CType):
    pointee: QualType

    def __str__(self) -> str:
        return spelling(QualType(self))

    @property
    def size(self) -> int:
        return 8


@dataclass(frozen=True)
class ArrayType(CType):
    """
    An array. `length` is an int; None for an incomplete array (`int a[]`); or, for a
    variable-length array, the typed expression of its length (evaluated at the declaration).
    """

    element: QualType
    length: int | Expr | None

    def __str__(self) -> str:
        return spelling(QualType(self))

    @property
    def is_vla(self) -> bool:
        """Whether this array, or an array it is made of, has a length known only at run time."""
        if self.length is not None and not isinstance(self.length, int):
            return True
        return isinstance(self.element.type, ArrayType) and self.element.type.is_vla

    @property
    def is_complete(self) -> bool:
        return self.length is not None

    @property
    def size(self) -> int:
        if not isinstance(self.length, int):
            raise ValueError(f"'{self}' has no constant size")
        return self.length * self.element.type.size

    @property
    def align(self) -> int:
        return self.element.type.align


@dataclass(frozen=True)
class Field:
    """
    A member. `offset` in bytes. For a bit-field, `bit_width` is its width and `bit_offset` its first bit
    within the storage unit of the member's type at `offset`, or of `unit` bytes there if it crosses the
    boundary of one. An anonymous struct or union member has `name` None; its members are found by
    `RecordType.find`.
    """

    name: str | None
    type: QualType
    offset: int
    bit_offset: int = 0
    bit_width: int | None = None
    unit: int | None = None


@dataclass(frozen=True)
class RecordMember:
    """
    A member to lay out. `width` is that of a bit-field, in bits. `align` is the least alignment by its
    declaration, in bytes; `packed` removes the alignment of its type (GNU C).
    """

    name: str | None
    qual: QualType
    width: int | None = None
    align: int = 1
    packed: bool = False


@dataclass(eq=False)
class RecordType(CType):
    """A struct (`is_union` false) or a union. Incomplete until `complete` is called."""

    tag: str | None
    is_union: bool
    fields: tuple[Field, ...] | None = None
    is_packed: bool = False
    """Whether it has members at offsets that their types' alignments forbid."""
    is_transparent: bool = False
    """Whether arguments of its members' types convert to this union (GNU C's `transparent_union`)."""
    natural_align: int = 1
    """The alignment in bytes from its members, without that declared for the whole type."""
    _size: int = 0
    _align: int = 1

    def __str__(self) -> str:
        return f"{'union' if self.is_union else 'struct'} {self.tag or '<anonymous>'}"

    @property
    def is_complete(self) -> bool:
        return self.fields is not None

    @property
    def size(self) -> int:
        if self.fields is None:
            raise ValueError(f"'{self}' is incomplete")
        return self._size

    @property
    def align(self) -> int:
        if self.fields is None:
            raise ValueError(f"'{self}' is incomplete")
        return self._align

    def complete(
        self, members: Sequence[RecordMember], align: int = 1, *, most: int | None = None
    ) -> None:
        """
        Lay out `members` by the machine's ABI. The whole is aligned to at least `align` bytes, a member to
        at most `most` bytes unless its declaration says more (`#pragma pack`). A trailing flexible array
        member has size 0.
        """
        at, size, needed = 0, 0, 1  # bits, bytes, bytes
        out: list[Field] = []
        for member in members:
            t = member.qual.type
            natural = 1 if member.packed else min(t.align, most or t.align)
            t_align = max(natural, member.align)
            if self.is_union:
                at = 0
            if member.width is None:
                flexible = isinstance(t, ArrayType) and t.length is None
                at = _round_up(at, t_align * 8)
                out.append(Field(member.name, member.qual, at // 8))
                at += 0 if flexible else t.size * 8
                needed = max(needed, t_align)
                self.is_packed |= _is_packed(t)
            elif member.width == 0:
                at = _round_up(at, max(t.align, member.align) * 8)
                needed = max(needed, t_align if _ON_ARM else 1)
                continue
            else:
                at = _bit_field_place(at, member, natural)
                if member.name is not None or _ON_ARM:  # AAPCS64 10.1.8: with or without a name
                    needed = max(needed, t_align)
                if member.name is not None:
                    out.append(_bit_field(member, at, whole=natural == t.align))
                at += member.width
            size = max(size, -(-at // 8))
        self.fields = tuple(out)
        self.natural_align, align = needed, max(align, needed)
        self._align = align
        self._size = _round_up(size, align)
        self.is_packed |= any(
            f.type.type.align > align or f.offset % f.type.type.align for f in out
        )

    def find(self, name: str) -> tuple[Field, ...] | None:
        """The path of fields that `.name` selects, through anonymous members; None if absent."""
        for f in self.fields or ():
            if f.name == name:
                return (f,)
            if f.name is None and isinstance(f.type.type, RecordType):
                inner = f.type.type.find(name)
                if inner is not None:
                    return (f, *inner)
        return None


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def _is_packed(t: CType) -> bool:
    t = innermost(t)
    return isinstance(t, RecordType) and t.is_packed


def _bit_field_place(at: int, member: RecordMember, natural: int) -> int:
    """
    The first bit, from bit `at` on, at which a bit-field may begin: so that it lies within one aligned unit
    of its type (gcc's `excess_unit_span`), unless it is packed.
    """
    width, unit = member.width or 0, natural * 8
    if member.align > 1:
        at = _round_up(at, member.align * 8)
    if not member.packed and -(-(at % unit + width) // unit) > member.qual.type.size * 8 // unit:
        return _round_up(at, unit)
    return at


def _bit_field(member: RecordMember, at: int, *, whole: bool) -> Field:
    """The field of a bit-field at bit `at`: in a unit of its type, if it lies within one and the record
    contains `whole` units; otherwise in bytes."""
    size, width = member.qual.type.size, member.width or 0
    bits = size * 8
    if at // bits == (at + width - 1) // bits and whole:
        return Field(member.name, member.qual, at // bits * size, at % bits, width)
    return Field(member.name, member.qual, at // 8, at % 8, width, -(-(at % 8 + width) // 8))


@dataclass(eq=False)
class ComplexType(RecordType):
    """
    `float _Complex`, `double _Complex` or `long double _Complex`: laid out as a structure of the real and
    the imaginary part (C11 6.2.5p13). There is one per unit and element type.
    """

    element: FloatType = DOUBLE

    def __str__(self) -> str:
        return f"{self.element} _Complex"

    @staticmethod
    def of(element: FloatType) -> ComplexType:
        """A complete complex type."""
        made = ComplexType(f"{COMPLEX_TAG}{element.bits}", False, element=element)
        made.complete(
            [RecordMember("re", QualType(element)), RecordMember("im", QualType(element))]
        )
        return made


@dataclass(frozen=True)
class FunctionType(CType):
    """`prototyped` is false for `int f()`, whose arguments get default promotions."""

    result: CType
    params: tuple[CType, ...] = field(default=())
    variadic: bool = False
    prototyped: bool = True

    def __str__(self) -> str:
        return spelling(QualType(self))


def spelling(q: QualType, declarator: str = "") -> str:
    """How C writes the type of something declared as `declarator`: `int (*)[3]`, `char *const p`."""
    t = q.type
    if isinstance(t, PointerType):
        star = f"*{q.words}" + (" " if q.words and declarator else "") + declarator
        nested = isinstance(t.pointee.type, ArrayType | FunctionType)
        return spelling(t.pointee, f"({star})" if nested else star)
    if isinstance(t, ArrayType):
        n = t.length if isinstance(t.length, int) else "" if t.length is None else "*"
        return spelling(t.element, f"{declarator}[{n}]")
    if isinstance(t, FunctionType):
        params = [str(p) for p in t.params] + (["..."] if t.variadic else [])
        inside = ", ".join(params) or ("void" if t.prototyped else "")
        return spelling(QualType(t.result), f"{declarator}({inside})")
    words = f"{q.words} {t}" if q.words else str(t)
    separator = "" if not declarator or declarator.startswith("[") else " "
    return f"{words}{separator}{declarator}"


def pointer_to(t: CType) -> PointerType:
    return PointerType(QualType(t))


def is_arithmetic(t: CType) -> bool:
    return isinstance(t, IntType | FloatType)


def innermost(t: CType) -> CType:
    """The elements of an array, through all its dimensions; other types unchanged."""
    while isinstance(t, ArrayType):
        t = t.element.type
    return t


def scalars(t: CType) -> Iterator[CType]:
    """The scalar types in `t`, of elements and members; records with bit-fields, and unions, as they are."""
    t = innermost(t)
    if isinstance(t, RecordType) and not t.is_union and t.fields is not None:
        for member in t.fields:
            if member.bit_width is not None:
                yield t
            else:
                yield from scalars(member.type.type)
    else:
        yield t


def is_scalar(t: CType) -> bool:
    return isinstance(t, IntType | FloatType | PointerType)
