"""Library functions with effects that kernels may call: output, memory, assertions, `modf` and similar
ones."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiler.base.abi import DeviceType
from .access import Access
from .findings import FaultKind
from .mathlib import Function, math_function
from .values import Threads, Value, spread

if TYPE_CHECKING:
    from .access import SourcePlace
    from .execution import Execution

_STRING = re.compile(rb"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|j|z|t|L)?([a-zA-Z%])")


def _printf(
    rt: Execution, threads: Threads, place: SourcePlace, format: Value, *args: Value
) -> Value:
    """
    Each thread's line in the order of threads, through C's `printf`, so that it keeps its order
    with the program's own output.
    """
    printf = ctypes.CDLL(None).printf
    formats = spread(threads.n, format)
    columns = [spread(threads.n, arg) for arg in args]
    result = np.zeros(threads.n, np.int32)
    for row in range(threads.n):
        text = rt.memories.text(int(formats[row]))
        kinds = [kind for kind in _STRING.findall(text) if kind != b"%"]
        values: list[Any] = []
        for index, column in enumerate(columns):
            kind = kinds[index] if index < len(kinds) else b""
            values.append(_c_argument(rt, column[row], kind))
        result[row] = printf(text, *values)
    return result


def _c_argument(rt: Execution, value: Any, kind: bytes) -> Any:
    if value.dtype.kind == "f":
        return ctypes.c_double(float(value))
    if kind == b"s":
        return ctypes.c_char_p(rt.memories.text(int(value)))
    return ctypes.c_int64(int(value))


def _copy(
    rt: Execution, threads: Threads, place: SourcePlace, to: Value, frm: Value, n: Value
) -> Value:
    target = Access(place, np.dtype(np.int8), "memcpy target", checked=False)
    source = Access(place, np.dtype(np.int8), "memcpy source", checked=False)
    rt.copy(threads, to, frm, n, target, source)
    return to


def _fill(
    rt: Execution, threads: Threads, place: SourcePlace, to: Value, c: Value, n: Value
) -> Value:
    rt.fill(threads, to, c, n, Access(place, np.dtype(np.int8), "memset target", checked=False))
    return to


def _malloc(rt: Execution, threads: Threads, place: SourcePlace, bytes: Value) -> Value:
    sizes = map(int, spread(threads.n, bytes))
    return _blocks(rt, sizes, f"of malloc at line {place.line}", cleared=False)


def _calloc(
    rt: Execution, threads: Threads, place: SourcePlace, count: Value, size: Value
) -> Value:
    counts, sizes = spread(threads.n, count), spread(threads.n, size)
    products = (int(n) % 2**64 * (int(s) % 2**64) for n, s in zip(counts, sizes, strict=True))
    return _blocks(rt, products, f"of calloc at line {place.line}", cleared=True)


def _blocks(rt: Execution, sizes: Iterable[int], name: str, *, cleared: bool) -> Value:
    """The addresses of new blocks of the heap."""
    heap = rt.memories.memory.heap
    return np.array([heap.allocate(size, name, cleared=cleared) for size in sizes], np.int64)


def _free(rt: Execution, threads: Threads, place: SourcePlace, address: Value) -> None:
    for position, pointer in enumerate(spread(threads.n, address)):
        wrong = rt.memories.memory.heap.free(int(pointer))
        if wrong is not None:
            rt.fault(FaultKind.WRONG_FREE, wrong, threads, place, position)


def _abort(rt: Execution, threads: Threads, place: SourcePlace) -> None:
    rt.trap(threads, place)


def _assert_fail(
    rt: Execution,
    threads: Threads,
    place: SourcePlace,
    text: Value,
    file: Value,
    line: Value,
    *_: Value,
) -> None:
    message = rt.memories.text(int(spread(threads.n, text)[0])).decode(errors="replace")
    rt.fault(FaultKind.ASSERTION, message, threads, place)


def _on_device(rt: Execution, threads: Threads, place: SourcePlace, kind: Value) -> Value:
    yes = (kind == int(DeviceType.NOT_HOST)) | (kind == int(DeviceType.NVIDIA))
    return yes.astype(np.int32)


def _store(rt: Execution, threads: Threads, place: SourcePlace, to: Value, value: Value) -> None:
    rt.store(threads, to, value, Access(place, value.dtype, "result"))


def _modf(rt: Execution, threads: Threads, place: SourcePlace, a: Value, to: Value) -> Value:
    fraction, whole = np.modf(a)
    _store(rt, threads, place, to, whole)
    return fraction


def _frexp(rt: Execution, threads: Threads, place: SourcePlace, a: Value, to: Value) -> Value:
    mantissa, exponent = np.frexp(a)
    _store(rt, threads, place, to, exponent.astype(np.int32))
    return mantissa


def _sincos(
    rt: Execution, threads: Threads, place: SourcePlace, a: Value, s: Value, c: Value
) -> None:
    _store(rt, threads, place, s, np.sin(a))
    _store(rt, threads, place, c, np.cos(a))


def _remquo(
    rt: Execution, threads: Threads, place: SourcePlace, a: Value, b: Value, to: Value
) -> Value:
    remainder = math_function("remainder")
    assert remainder is not None
    rest = remainder(a, b)
    _store(rt, threads, place, to, np.rint((a - rest) / b).astype(np.int32))
    return rest


def _nan(rt: Execution, threads: Threads, place: SourcePlace, tag: Value) -> Value:
    return np.float64(np.nan)


def _nanf(rt: Execution, threads: Threads, place: SourcePlace, tag: Value) -> Value:
    return np.float32(np.nan)


LIBRARY: dict[str, Function] = {
    "printf": _printf,
    "memcpy": _copy,
    "memmove": _copy,
    "memset": _fill,
    "malloc": _malloc,
    "calloc": _calloc,
    "free": _free,
    "abort": _abort,
    "__assert_fail": _assert_fail,
    "acc_on_device": _on_device,
    "modf": _modf,
    "modff": _modf,
    "frexp": _frexp,
    "frexpf": _frexp,
    "sincos": _sincos,
    "sincosf": _sincos,
    "remquo": _remquo,
    "remquof": _remquo,
    "nan": _nan,
    "nanf": _nanf,
}
"""C name → function, which is called with the execution, the active threads, the place and the
arguments."""
