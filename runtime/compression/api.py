"""
Routines for compressed arrays in `openacc.h` (a research extension; docs/compression.md).

Sizes are those of the plain data. `type` is `"float"` or `"double"`, with a format after a colon where
it is not the default of 16 or 32 bits: `"float:bits12"`, `"double:half"`, `"float:centred"`,
`"double:bits16:centred"`. `"float:bits16:soa2"` makes a structure of two arrays of an array of
structures. `coef`, unless null, gets c0, c1 and 1 / c0 of each member as numbers of the base type.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

from ...compiler.base.abi import DataFlag, DataKind
from ...compiler.base.packed import MAX_MEMBERS, Code, PackedFormat, check_format
from ..data.clauses import Request
from ..errors import AccRuntimeError, ErrorClass, HostRange, ProgramPlace
from .arrays import Packed, PackedRequest

if TYPE_CHECKING:
    from ..data.present import Entry
    from ..program import Runtime

DEFAULT_BITS = {"float": 16, "double": 32}

SIGNATURES: dict[str, tuple[str, str]] = {
    "acc_compress_create": ("ppzppidd", "create"),
    "acc_compress_present_or_create": ("ppzppidd", "create"),
    "acc_pcompress_create": ("ppzppidd", "create"),
    "acc_compress_copyin": ("ppzppiff", "copyin"),
    "acc_compress_present_or_copyin": ("ppzppiff", "copyin"),
    "acc_pcompress_copyin": ("ppzppiff", "copyin"),
    "acc_decompress_copyout": ("vpz", "copyout"),
    "acc_isComp": ("pp", "is_compressed"),
    "acc_get_coef": ("pp", "coefficients"),
    "acc_compression_statistics": ("ipp", "statistics"),
    "acc_compression_report": ("v", "report"),
}
"""Routine → signature (as in `api.py`; `d` a double, `f` a float) and method."""


def format_of(text: str) -> PackedFormat:
    """The format that a `type` argument names. Raises `acc_error_invalid_argument`."""
    base, *words = text.split(":")
    members = 1
    if words and words[-1].startswith("soa") and words[-1][3:].isdecimal():
        members = min(int(words.pop()[3:]), MAX_MEMBERS)
    ranged = Code.RANGE
    if words and words[-1] == "centred":
        words.pop()
        ranged = Code.CENTRED
        if words and not words[0].startswith("bits"):
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"'{text}': {words[0]} has no range that could be centred",
                remedy='use "float:centred" or "float:bits12:centred"',
            )
    how = words[0] if len(words) == 1 else "" if not words else "?"
    if base in DEFAULT_BITS:
        width = 32 if base == "float" else 64
        if how in ("half", "bfloat16", "plain"):
            bits = width if how == "plain" else 16
            return PackedFormat(width, Code[how.upper()], bits, members)
        digits = how.removeprefix("bits")
        if not how or (how.startswith("bits") and digits.isdecimal()):
            fmt = PackedFormat(width, ranged, int(digits or DEFAULT_BITS[base]), members)
            problem = check_format(fmt)
            if problem is None:
                return fmt
            raise AccRuntimeError(ErrorClass.INVALID_ARGUMENT, problem)
    raise AccRuntimeError(
        ErrorClass.INVALID_ARGUMENT,
        f"'{text}' is not a type that can be compressed",
        remedy='use "float" or "double", perhaps with ":bits12", ":centred" (or both), ":half" or'
        ' ":bfloat16"',
    )


class CompressionRoutines:
    """The routines, as methods over a `Runtime`; pointers are integers, null is 0."""

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self._answers: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def create(
        self, host: int, size: int, type: int, coef: int, scan: int, low: float, high: float
    ) -> int:
        return self._enter(DataKind.CREATE, host, size, type, coef, scan, low, high)

    def copyin(
        self, host: int, size: int, type: int, coef: int, scan: int, low: float, high: float
    ) -> int:
        return self._enter(DataKind.COPYIN, host, size, type, coef, scan, low, high)

    def copyout(self, host: int, size: int) -> None:
        state = self._runtime.current
        with state.lock:
            entry = state.table.lookup(host, size, f"{host:#x}")
        if entry is None or entry.packed is None:
            what = "not present" if entry is None else "not compressed"
            raise AccRuntimeError(
                ErrorClass.NOT_PRESENT if entry is None else ErrorClass.INVALID_ARGUMENT,
                f"the data is {what} on the device",
                requested=HostRange(host, size),
            )
        self._perform("exit", Request(host, 0, size, DataKind.COPYOUT, DataFlag.DYNAMIC))

    def is_compressed(self, host: int) -> int:
        """The device address of the element of a compressed array at `host`; null for other addresses."""
        found = self._packed(host)
        return found[0].device_address(host) if found is not None else 0

    def coefficients(self, host: int) -> int:
        """
        The address of c0, c1, 1 / c0 of each member, valid until the next call for the same array; null if
        the array is not compressed.
        """
        found = self._packed(host)
        if found is None:
            return 0
        entry, packed = found
        size = 3 * packed.format.record_bytes
        buffer = self._answers.get(entry.host)
        if buffer is None or len(buffer) < size:
            buffer = self._answers[entry.host] = ctypes.create_string_buffer(size)
        _write(packed, ctypes.addressof(buffer))
        return ctypes.addressof(buffer)

    def statistics(self, host: int, result: int) -> int:
        """
        Writes six doubles to `result`: minimum, maximum, largest absolute and relative error (-1 if not
        measured), the number of saturated values on the way to the device, and that in stores of finished
        kernels (-1 if some kernels do not count them). Returns 1 if the array is compressed.
        """
        found = self._packed(host)
        if found is None:
            return 0
        r = found[1].report
        self._runtime.current.mapper.actions.compressor.reports.settle([r])
        errors = (r.absolute, r.relative) if r.measured else (-1.0, -1.0)
        incoming = r.saturated_in + r.saturated_packing
        stores = r.saturated_stores if r.counted else -1
        values = (r.minimum, r.maximum, *errors, incoming, stores)
        (ctypes.c_double * 6).from_address(result)[:] = values
        return 1

    def report(self) -> None:
        """Prints a line for each compressed array so far."""
        ctypes.CDLL(None).fflush(None)
        for line in self._runtime.current.mapper.actions.compressor.reports.lines():
            print(line, file=sys.stderr, flush=True)

    def _packed(self, host: int) -> tuple[Entry, Packed] | None:
        """The row of the compressed array at `host`, and its storage; None for other addresses."""
        entry = self._runtime.current.table.at(host)
        return (entry, entry.packed) if entry is not None and entry.packed is not None else None

    def _enter(
        self,
        kind: DataKind,
        host: int,
        size: int,
        type: int,
        coef: int,
        scan: int,
        low: float,
        high: float,
    ) -> int:
        text = ctypes.string_at(type).decode(errors="replace") if type else ""
        limits = None if scan else (low, high)
        packed = PackedRequest(format_of(text.strip()), False, limits)
        request = Request(host, 0, size, kind, DataFlag.DYNAMIC, name=f"{host:#x}", packed=packed)
        self._runtime.current.expose()
        self._perform("enter", request)
        found = self._packed(host)
        if coef and found is not None:
            _write(found[1], coef)
        return request.device

    def _perform(self, what: str, request: Request) -> None:
        runtime = self._runtime
        request.origin = "an acc_ routine"
        if request.name == "?":
            request.name = f"{request.base:#x}"
        _ = runtime.current.table
        runtime.perform(runtime.current, ProgramPlace("an acc_ routine"), [request], -2, what)


def _write(packed: Packed, address: int) -> None:
    real = ctypes.c_float if packed.format.base_bits == 32 else ctypes.c_double
    words = [word for coefs in packed.coefficients for word in coefs.words[:3]]
    (real * len(words)).from_address(address)[:] = words
