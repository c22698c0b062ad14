"""
Constants as written: integer, floating, character and string literals (C11 6.4.4, 6.4.5).

Floating constants are exact: a `float` constant is rounded once, from the decimal or hexadecimal digits.
"""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction

from ...base.diagnostics import SourceLoc, error
from ..types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    WCHAR_T,
    FloatType,
    IntType,
)
from .long_doubles import Extended, is_finite

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)([uUlL]*)\Z")
_INTERCHANGE_SUFFIX = re.compile(r"[fF](16|32x?|64x?)\Z")
_INTERCHANGE_TYPES = {"16": HALF, "32": FLOAT, "32x": DOUBLE, "64": DOUBLE, "64x": LDOUBLE}
"""The types of C23's suffixes for interchange and extended formats (ISO/IEC TS 18661-3, 9)."""
_SIMPLE_ESCAPES = {
    "n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27,
    "\\": 92, "'": 39, '"': 34, "?": 63,
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))|([^\\]+)",
    re.DOTALL,
)
_UNITS = {"": CHAR, "u8": CHAR, "L": WCHAR_T, "u": USHORT, "U": UINT}


def fits(value: int, t: IntType) -> bool:
    """Whether `value` is a value of `t`."""
    if t.signed:
        return -(1 << (t.bits - 1)) <= value < 1 << (t.bits - 1)
    return 0 <= value < 1 << t.bits


def integer_literal(text: str, loc: SourceLoc) -> tuple[int, IntType]:
    """Value and type of an integer constant (C11 6.4.4.1: the first type of the list that fits)."""
    m = _INTEGER.match(text)
    if m is None:
        raise error(loc, f"invalid integer constant '{text}'", "write e.g. 42, 0x2a or 42UL")
    digits, suffix = m.group(1).replace("'", ""), m.group(2).lower()
    if digits[:2] in ("0x", "0X"):
        value, decimal = int(digits[2:], 16), False
    elif digits[:2] in ("0b", "0B"):
        value, decimal = int(digits[2:], 2), False
    elif digits[0] == "0":
        value, decimal = int(digits, 8), False
    else:
        value, decimal = int(digits), True
    unsigned, longs = "u" in suffix, suffix.count("l")
    signed_types = [INT, LONG, LLONG][longs:]
    unsigned_types = [UINT, ULONG, ULLONG][longs:]
    if unsigned:
        candidates = unsigned_types
    elif decimal:
        candidates = signed_types
    else:
        candidates = [t for pair in zip(signed_types, unsigned_types, strict=True) for t in pair]
    for t in candidates:
        if fits(value, t):
            return value, t
    raise error(loc, f"integer constant '{text}' is too large for any type", "use a smaller value")


def floating_literal(text: str, loc: SourceLoc) -> tuple[float, FloatType]:
    """Value and type of a floating constant, correctly rounded to its type, for `_Float16` to `float`, in
    which such constants are evaluated."""
    body = text.replace("'", "")
    is_hex = body[:2] in ("0x", "0X")
    t = DOUBLE
    if interchange := _INTERCHANGE_SUFFIX.search(body):
        t, body = _INTERCHANGE_TYPES[interchange[1]], body[: interchange.start()]
    elif body[-1] in "fF":
        t, body = FLOAT, body[:-1]
    elif body[-1] in "lL":
        t, body = LDOUBLE, body[:-1]
    try:
        if t == DOUBLE:
            return (_from_hex(body) if is_hex else float(body)), t
        exact = _exact(body)
        return Extended.of(exact) if t == LDOUBLE else round_to_float(exact), t
    except (ValueError, OverflowError):
        raise error(
            loc, f"invalid floating constant '{text}'", "write e.g. 1.0, 1e-3f or 0x1p-4"
        ) from None


def _from_hex(body: str) -> float:
    try:
        return float.fromhex(body)
    except OverflowError:
        return math.inf


def beyond(text: str, value: float) -> str | None:
    """For a floating constant beyond the range of its type: the value it is taken as, infinity or zero;
    otherwise None."""
    if not is_finite(value):
        return "infinity"
    exponent, digit = ("[pP]", "[1-9a-fA-F]") if text[:2] in ("0x", "0X") else ("[eE]", "[1-9]")
    is_zero = value == 0 and not isinstance(value, Extended)
    digits = re.split(exponent, _INTERCHANGE_SUFFIX.sub("", text))[0]
    return "0" if is_zero and re.search(digit, digits) else None


_BEYOND = 20_000
"""An exponent beyond those of all types: such a number is infinity or zero, so its digits are not
computed."""


def _exact(body: str) -> Fraction:
    """The exact value of a constant without its suffix."""
    is_hex = body[:2] in ("0x", "0X")
    digits, _, exponent = re.sub("[pP]" if is_hex else "[eE]", " ", body).partition(" ")
    power = max(min(int(exponent or "0"), _BEYOND), -_BEYOND)
    if not is_hex:
        return Fraction(digits) * Fraction(10) ** power
    whole, _, part = digits[2:].partition(".")
    return Fraction(int(whole + part or "0", 16)) * Fraction(2) ** (power - 4 * len(part))


def to_single(value: float) -> float:
    """`value` rounded to `float`, to nearest even; infinite on overflow."""
    return _packed(value, "<f")


def to_half(value: float) -> float:
    """`value` rounded to `_Float16`, to nearest even; infinite on overflow."""
    return _packed(value, "<e")


def _packed(value: float, form: str) -> float:
    try:
        return struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def round_to_float(value: Fraction) -> float:
    """`value` rounded once to `float` (rounding first to double could round twice)."""
    try:
        wide = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    single = to_single(wide)
    if math.isinf(single) or wide == single or Fraction(wide) == value:
        return single
    bits = struct.unpack("<i", struct.pack("<f", single))[0]
    step = 1 if (wide > single) == (single >= 0) else -1
    other: float = struct.unpack("<f", struct.pack("<i", bits + step))[0]
    if Fraction(wide) - Fraction(single) != Fraction(other) - Fraction(wide):
        return single
    return max(single, other) if value > Fraction(wide) else min(single, other)


def _code_units(body: str, unit: IntType, loc: SourceLoc) -> list[int]:
    """The code units of a literal's characters; UTF-8 for `char`."""
    out: list[int] = []
    for m in _ESCAPE.finditer(body):
        hexadecimal, octal, short, long, simple, plain = m.groups()
        if hexadecimal or octal:
            value = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
            if value >= 1 << unit.bits:
                raise error(loc, f"escape '{m.group()}' is too large for a character")
            out.append(value)
        elif simple:
            if simple not in _SIMPLE_ESCAPES:
                raise error(
                    loc,
                    f"unknown escape sequence '\\{simple}'",
                    f"write '{simple}' or '\\\\{simple}'",
                )
            out.append(_SIMPLE_ESCAPES[simple])
        else:
            character = chr(int(short or long, 16)) if short or long else plain
            if unit.bits == 8:
                out += character.encode("utf-8", "surrogateescape")
            elif unit.bits == 16:
                raw = character.encode("utf-16-le", "surrogatepass")
                out += [int.from_bytes(raw[i : i + 2], "little") for i in range(0, len(raw), 2)]
            else:
                out += map(ord, character)
    return out


def character_literal(text: str, loc: SourceLoc) -> tuple[int, IntType]:
    """Value and type of a character constant; several characters make an int, as in GCC."""
    prefix, body = text.split("'", 1)
    unit = _UNITS[prefix]
    units = _code_units(body[:-1], unit, loc)
    if prefix:
        if len(units) != 1:
            raise error(
                loc, f"character constant {text} has several characters", "write one character"
            )
        return units[0], unit
    if len(units) == 1:
        return units[0] - 256 if units[0] > 127 and CHAR.signed else units[0], INT
    value = 0
    for u in units:
        value = (value << 8 | u) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value, INT


def plain_text(literal: str, loc: SourceLoc) -> str:
    """The characters of a string literal of `char` (see `string_literal`), for labels, pragmas and
    messages."""
    data, _ = string_literal(literal, loc)
    return data[:-1].decode("utf-8", "replace")


def string_literal(text: str, loc: SourceLoc) -> tuple[bytes, IntType]:
    """
    The bytes of a string literal with its terminating zero, and its element type. `text` may hold
    several quoted fragments, as pycparser keeps them (`"\\x1" "a"`).
    """
    prefix = text[: text.index('"')]
    unit = _UNITS[prefix]
    size = unit.size
    data = bytearray()
    for fragment in re.findall(r'"((?:\\.|[^"\\])*)"', text[len(prefix) :], re.DOTALL):
        units = _code_units(fragment, unit, loc)
        data += bytes(units) if size == 1 else b"".join(u.to_bytes(size, "little") for u in units)
    return bytes(data) + bytes(size), unit
