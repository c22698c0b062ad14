"""
Definitions of C's mathematical functions for device code of the host target: they have no side effects, and
a vector form where the C library has one (glibc's `libmvec`, x86-64).

Compiled host code calls `__accopt_math_<name>` or `__accopt_fast_<name>` (`passes/host_mathematics.py`);
`with_mathematics` adds their definitions to its text:

- `fast`: the vector function of that type, within 4 ulp.
- `math` of a `float`: the vector function of `double`, rounded. Its error of 4 ulp of a double makes that
  as accurate as the C library's own function, which rounds from a double as well.
- `math` of a `double`, and everything where there is no vector function: the C library's.

LLVM's loop vectoriser learns of the vector form from the attribute `vector-function-abi-variant` (LLVM
Language Reference, "Call Site Attributes"). A single call that remains, in a remainder loop for example, is
a vector call too, of which one lane is used: so an element's result does not depend on which iterations a
thread gets.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

PREFIX = "__accopt_math_"
FAST_PREFIX = "__accopt_fast_"
LIBRARY = "libmvec.so.1"

_UNARY = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cbrt",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
    ),
    *("exp10", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
)
_BINARY = ["atan2", "hypot", "pow"]
ARGUMENTS = dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2)
"""Functions that libmvec knows, by C name of the `double` form, with the number of arguments."""

VECTOR_FUNCTIONS = frozenset(ARGUMENTS) | frozenset(name + "f" for name in ARGUMENTS)
"""C names of all forms."""

_USE = re.compile(rf"^declare [^\n]*@((?:{PREFIX}|{FAST_PREFIX})(\w+))\([^\n]*\n", re.MULTILINE)
_NAMES = (f"@{PREFIX}", f"@{FAST_PREFIX}")
_PURE = "nounwind willreturn memory(none)"


@dataclass(frozen=True)
class VectorLibrary:
    """
    The vector functions of a machine: the letter of the instruction set in their names (Vector Function
    ABI), the bytes of its registers, and whether a function of a given name exists.
    """

    letter: str
    bytes: int
    has: Callable[[str], bool]

    def symbol(self, name: str, size: int, arguments: int) -> str:
        """The vector form of a function on elements of `size` bytes."""
        return f"_ZGV{self.letter}N{self.bytes // size}{'v' * arguments}_{name}"


@cache
def vector_library(features: str) -> VectorLibrary | None:
    """The vector functions for a processor with these LLVM features; None without a vector library."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    on = features.split(",")
    if "+avx2" in on:
        return VectorLibrary("d", 32, lambda name: hasattr(library, name))
    return VectorLibrary("b", 16, lambda name: hasattr(library, name)) if "+sse2" in on else None


def uses_mathematics(ir: str) -> bool:
    """Whether the text calls any of these functions."""
    return any(name in ir for name in _NAMES) and _USE.search(ir) is not None


def with_mathematics(ir: str, library: VectorLibrary | None) -> str:
    """The text of a host module with definitions of what it declares."""
    if not uses_mathematics(ir):
        return ir
    used = {match[1]: match[2] for match in _USE.finditer(ir)}
    texts: dict[str, str] = {}
    kept: list[str] = []
    for symbol, name in used.items():
        vector = library and _vector_form(symbol, name, library, texts)
        if vector:
            kept.append(vector)
        else:
            _plain(symbol, name, texts)
    if kept:
        listed = ", ".join(f"ptr @{name}" for name in dict.fromkeys(kept))
        count = len(dict.fromkeys(kept))
        texts["kept"] = (
            f"@llvm.compiler.used = appending global [{count} x ptr] [{listed}],"
            ' section "llvm.metadata"\n'
        )
    declared = set(re.findall(r"^(?:declare|define) [^@]*@([\w.$]+)\(", ir, re.MULTILINE))
    added = [text for name, text in texts.items() if name not in declared or name in used]
    return _USE.sub("", ir) + "\n" + "\n".join(added)


def _plain(symbol: str, name: str, texts: dict[str, str]) -> None:
    """Adds a definition of `symbol` that calls the C library's function `name`."""
    element = "float" if name.endswith("f") and name not in ARGUMENTS else "double"
    count = ARGUMENTS.get(name) or ARGUMENTS[name[:-1]]
    parameters = ", ".join(f"{element} %x{i}" for i in range(count))
    texts[name] = f"declare {element} @{name}({', '.join([element] * count)}) nounwind\n"
    texts[symbol] = (
        f"define internal {element} @{symbol}({parameters}) alwaysinline {_PURE} {{\n"
        f"  %r = call {element} @{name}({parameters}) {_PURE}\n"
        f"  ret {element} %r\n}}\n"
    )


def _vector_form(
    symbol: str, name: str, library: VectorLibrary, texts: dict[str, str]
) -> str | None:
    """Adds a definition of `symbol` by a vector function and returns that function's name; None if there is
    none."""
    single = name not in ARGUMENTS
    base = name[:-1] if single else name
    fast, count = symbol.startswith(FAST_PREFIX), ARGUMENTS[base]
    if not (fast or single):
        return None
    size = 4 if single and fast else 8
    known = library.symbol(name if single and fast else base, size, count)
    if not library.has(known):
        return None
    element = "float" if size == 4 else "double"
    lanes = library.bytes // size
    vector = f"<{lanes} x {element}>"
    texts[known] = f"declare {vector} @{known}({', '.join([vector] * count)}) {_PURE}\n"
    if size == 4 or not single:
        texts[symbol] = _one_lane(symbol, known, known, vector, element, element, lanes, count)
        return known
    rounded = f"{symbol}_{2 * lanes}"
    texts[rounded] = _rounded(rounded, known, lanes, count)
    texts[symbol] = _one_lane(symbol, known, rounded, vector, "double", "float", 2 * lanes, count)
    return rounded


def _one_lane(
    symbol: str, called: str, form: str, vector: str, inner: str, outer: str, lanes: int, count: int
) -> str:
    """
    A call of `called` for one element; `form` is the function on `lanes` elements of type `outer`.
    """
    variant = f"_ZGV{_letter(called)}N{lanes}{'v' * count}_{symbol}({form})"
    lines = [
        f"define internal {outer} @{symbol}({', '.join(f'{outer} %x{i}' for i in range(count))})"
        f' noinline {_PURE} "vector-function-abi-variant"="{variant}" {{'
    ]
    for i in range(count):
        value = f"%x{i}"
        if inner != outer:
            lines.append(f"  %w{i} = fpext {outer} %x{i} to {inner}")
            value = f"%w{i}"
        lines.append(f"  %i{i} = insertelement {vector} poison, {inner} {value}, i32 0")
        lines.append(
            f"  %v{i} = shufflevector {vector} %i{i}, {vector} poison,"
            f" <{vector[1:-1].split()[0]} x i32> zeroinitializer"
        )
    arguments = ", ".join(f"{vector} %v{i}" for i in range(count))
    lines.append(f"  %r = call {vector} @{called}({arguments}) {_PURE}")
    lines.append(f"  %e = extractelement {vector} %r, i32 0")
    if inner != outer:
        lines.append(f"  %n = fptrunc {inner} %e to {outer}")
    lines.append(f"  ret {outer} {'%e' if inner == outer else '%n'}\n}}\n")
    return "\n".join(lines)


def _rounded(symbol: str, called: str, lanes: int, count: int) -> str:
    """The text of a function on twice as many floats as `called` takes doubles, which calls it twice and
    rounds."""
    wide, narrow, half = f"<{2 * lanes} x float>", f"<{lanes} x double>", f"<{lanes} x float>"
    lines = [
        f"define internal {wide} @{symbol}({', '.join(f'{wide} %x{i}' for i in range(count))})"
        f" {_PURE} {{"
    ]
    for part in range(2):
        mask = ", ".join(f"i32 {part * lanes + lane}" for lane in range(lanes))
        for i in range(count):
            lines.append(
                f"  %h{part}.{i} = shufflevector {wide} %x{i}, {wide} poison,"
                f" <{lanes} x i32> <{mask}>"
            )
            lines.append(f"  %d{part}.{i} = fpext {half} %h{part}.{i} to {narrow}")
        arguments = ", ".join(f"{narrow} %d{part}.{i}" for i in range(count))
        lines.append(f"  %r{part} = call {narrow} @{called}({arguments}) {_PURE}")
        lines.append(f"  %f{part} = fptrunc {narrow} %r{part} to {half}")
    mask = ", ".join(f"i32 {lane}" for lane in range(2 * lanes))
    lines.append(
        f"  %r = shufflevector {half} %f0, {half} %f1, <{2 * lanes} x i32> <{mask}>\n"
        f"  ret {wide} %r\n}}\n"
    )
    return "\n".join(lines)


def _letter(symbol: str) -> str:
    return symbol[len("_ZGV")]
