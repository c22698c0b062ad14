"""
Tracing of a running program, controlled by the environment variables of other OpenACC compilers.

`NVCOMPILER_ACC_NOTIFY` (or `NV_ACC_NOTIFY`) is a sum of: 1 kernel launches, 2 data transfers,
4 entry to and exit from regions, 8 waits, 16 allocation of device memory. `ACCOPT_TRACE` takes the
same number or the words `kernels,data,regions,waits,memory,all`. `NVCOMPILER_ACC_TIME` (or
`NV_ACC_TIME`) prints a summary at exit; it waits for every launch and transfer to time it, so that
nothing overlaps. `ACCOPT_COMPRESSION_REPORT` requests the report of compressed arrays.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TextIO

from ..device import Queue
from ..errors import AccRuntimeError, ErrorClass, ProgramPlace


class Notify(IntFlag):
    """The kinds of events to report, with the bits of `NVCOMPILER_ACC_NOTIFY`."""

    KERNELS = 1
    DATA = 2
    REGIONS = 4
    WAITS = 8
    MEMORY = 16


NOTHING = Notify(0)
EVERYTHING = Notify(31)


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The events to report while running (`notify`), and whether to print a summary at exit (`time`)."""

    notify: Notify = NOTHING
    time: bool = False
    compression: bool = False
    """Report on every compressed array at exit; measuring its errors takes a pass over the data."""

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> TraceOptions:
        """Reads the variables above. Raises `acc_error_invalid_argument` on other words."""
        notify = NOTHING
        for name in ("NVCOMPILER_ACC_NOTIFY", "NV_ACC_NOTIFY", "ACCOPT_TRACE"):
            notify |= _parse_notify(name, environment.get(name, ""))

        def is_set(*names: str) -> bool:
            return any(environment.get(name, "0") not in ("", "0") for name in names)

        timed = is_set("NVCOMPILER_ACC_TIME", "NV_ACC_TIME")
        return TraceOptions(notify, timed, is_set("ACCOPT_COMPRESSION_REPORT"))


def _parse_notify(variable: str, text: str) -> Notify:
    result = NOTHING
    for word in filter(None, (w.strip().lower() for w in text.split(","))):
        if word.isdecimal():
            result |= Notify(int(word) & EVERYTHING)
        elif word == "all":
            result |= EVERYTHING
        elif word.upper() in Notify.__members__:
            result |= Notify[word.upper()]
        else:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT,
                f"environment variable {variable}: '{word}' is not something to trace",
                remedy="use a sum of 1 kernels, 2 data, 4 regions, 8 waits, 16 memory; or those"
                " words, or 'all'",
            )
    return result


_BIT_OF = {
    "copy in": Notify.DATA,
    "copy out": Notify.DATA,
    "attach": Notify.DATA,
    "detach": Notify.DATA,
    "zero": Notify.DATA,
    "allocate": Notify.MEMORY,
    "free": Notify.MEMORY,
    "launch": Notify.KERNELS,
    "wait": Notify.WAITS,
    "enter": Notify.REGIONS,
    "exit": Notify.REGIONS,
}


@dataclass(slots=True)
class _Total:
    count: int = 0
    seconds: float = 0.0
    bytes: int = 0


@dataclass
class Trace:
    """Prints and sums up the actions of one program; belongs to its `Runtime`."""

    options: TraceOptions
    out: TextIO = field(default_factory=lambda: sys.stderr)
    _totals: dict[tuple[str, str, str], _Total] = field(
        default_factory=dict[tuple[str, str, str], _Total]
    )

    @property
    def active(self) -> bool:
        return self.options.time or self.options.notify != 0

    @contextmanager
    def action(
        self,
        what: str,
        subject: str,
        place: ProgramPlace,
        size: int,
        queue: Queue | None,
        device: str,
    ) -> Generator[None]:
        """Wraps one action on `subject` (a variable or kernel); `size` in bytes, 0 for none."""
        if self.options.notify & _BIT_OF[what]:
            amount = f" bytes={size}" if size else ""
            where = f"file={place.file} function={place.function} line={place.line}"
            print(f"{what} {subject} {where}{amount} device={device}", file=self.out, flush=True)
        if not self.options.time:
            yield
            return
        begin = time.perf_counter()
        yield
        if queue is not None:
            queue.wait()
        total = self._totals.setdefault((str(place), what, subject), _Total())
        total.count += 1
        total.seconds += time.perf_counter() - begin
        total.bytes += size

    def summary(self) -> str:
        """The table for the end of the program, empty unless timing is on."""
        if not self.options.time:
            return ""
        lines = ["accopt: time per construct (every action was waited for)"]
        place = None
        for (where, what, subject), total in sorted(self._totals.items()):
            if where != place:
                lines.append(f"  {where}")
                place = where
            rate = total.bytes / total.seconds / 1e9 if total.bytes and total.seconds else 0.0
            amount = f"  {total.bytes} bytes  {rate:.2f} GB/s" if total.bytes else ""
            lines.append(
                f"    {what:<9} {subject:<24} {total.count:>8} times"
                f" {total.seconds * 1e6:>14.1f} us{amount}"
            )
        return "\n".join(lines)
