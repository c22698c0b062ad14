"""The faults that the simulator finds in kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from ...compiler.base.ranks import of_rank
from ...compiler.base.standard_streams import flush_output
from ..errors import AccRuntimeError, ErrorClass, ProgramPlace


class FaultKind(Enum):
    """Kinds of faults; the value is the beginning of messages."""

    OUT_OF_BOUNDS = "out-of-bounds access"
    MISALIGNED = "misaligned access"
    UNINITIALISED = "read of uninitialised memory"
    RACE = "data race"
    DIVERGENT_BARRIER = "divergent barrier"
    DIVERGENT_SHUFFLE = "warp operation with inactive lanes"
    NO_FUNCTION = "call of an invalid function"
    ENDLESS = "endless loop"
    TIME = "kernel takes too long"
    RECURSION = "recursion too deep"
    TRAP = "trap"
    ASSERTION = "assertion failed"
    WRONG_FREE = "wrong free"


FATAL = frozenset(FaultKind) - {FaultKind.UNINITIALISED, FaultKind.RACE}
"""Faults after which the behaviour of a GPU is undefined; the kernel is stopped."""


@dataclass(frozen=True, slots=True)
class ThreadName:
    """A thread of a launch: its block in the grid and its place in the block, x y z each."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        block = ",".join(map(str, self.block))
        thread = ",".join(map(str, self.thread))
        return f"block ({block}) thread ({thread})"


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One fault. `file` and `line` are in the C source; `thread` is the first thread with the fault, `other`
    the second one of a race; `address` is 0 if none is involved; `array` names the variable, `device` the
    device if there are several.
    """

    fault: FaultKind
    kernel: str
    file: str
    line: int
    detail: str
    array: str = ""
    address: int = 0
    thread: ThreadName | None = None
    other: ThreadName | None = None
    device: str = ""

    def message(self) -> str:
        """The description of the fault in one sentence, without the place."""
        parts = [f"{self.fault.value}: {self.detail}"]
        if self.thread is not None:
            parts.append(f"by {self.thread}")
        if self.other is not None:
            parts.append("and others" if self.other == self.thread else f"and {self.other}")
        return " ".join(parts)

    def error(self) -> AccRuntimeError:
        """The finding as a run-time error."""
        return AccRuntimeError(
            ErrorClass.EXECUTION,
            self.message(),
            place=ProgramPlace(f"kernel {self.kernel}", self.file, self.line),
            remedy=self._remedy(),
        )

    def _remedy(self) -> str:
        if "a host address" in self.detail:
            return "map the pointer's target, too: copyin(p->x[0:n]) attaches it"
        if "the null pointer" in self.detail:
            return "test the pointer, or give it a value; copies of private pointers have none"
        return ""

    def render(self) -> str:
        """The text the user sees for a fault that does not end the program."""
        on = f" on {self.device}" if self.device else ""
        return f"{self.file}:{self.line}: error: in kernel {self.kernel}{on}: {self.message()}"


class Findings:
    """
    The faults found so far: one per kernel, line and kind. Non-fatal ones are passed to `report`. `device`:
    the device's name, if there are several.
    """

    def __init__(self, report: Callable[[Finding], None] | None = None, device: str = ""):
        self.all: list[Finding] = []
        self._device = device
        self._known: set[tuple[FaultKind, str, str, int, str]] = set()
        self._report = report or (lambda finding: tell(finding.render()))

    def known(self, fault: FaultKind, kernel: str, file: str, line: int, array: str) -> bool:
        """Whether this fault has been reported."""
        return (fault, kernel, file, line, array) in self._known

    def add(self, finding: Finding) -> None:
        """Records a finding; raises `AccRuntimeError` when it is fatal."""
        key = (finding.fault, finding.kernel, finding.file, finding.line, finding.array)
        if key in self._known:
            return
        self._known.add(key)
        finding = replace(finding, device=self._device)
        self.all.append(finding)
        if finding.fault in FATAL:
            raise finding.error()
        self._report(finding)


def tell(text: str) -> None:
    """Prints a message on stderr, after the output of the program so far."""
    flush_output()
    print(of_rank(text), file=sys.stderr, flush=True)
