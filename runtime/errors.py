"""
Errors of a running program, with the construct, variable and device.

Every mistake that a user's program can make at run time is an `AccRuntimeError`. Its class is one
of the standard's `acc_error_*` (OpenACC 3.4, 5.2.2); `render` gives the text the user sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorClass(Enum):
    """The standard's classes of run-time errors; the value is the name users know."""

    OTHER = "acc_error_other"
    SYSTEM = "acc_error_system"
    EXECUTION = "acc_error_execution"
    DEVICE_INIT = "acc_error_device_init"
    DEVICE_SHUTDOWN = "acc_error_device_shutdown"
    DEVICE_UNAVAILABLE = "acc_error_device_unavailable"
    DEVICE_TYPE_UNAVAILABLE = "acc_error_device_type_unavailable"
    WRONG_DEVICE_TYPE = "acc_error_wrong_device_type"
    OUT_OF_MEMORY = "acc_error_out_of_memory"
    NOT_PRESENT = "acc_error_not_present"
    PARTLY_PRESENT = "acc_error_partly_present"
    PRESENT = "acc_error_present"
    INVALID_ARGUMENT = "acc_error_invalid_argument"
    INVALID_ASYNC = "acc_error_invalid_async"
    INVALID_NULL_POINTER = "acc_error_invalid_null_pointer"
    INVALID_DATA_SECTION = "acc_error_invalid_data_section"
    IMPLEMENTATION_DEFINED = "acc_error_implementation_defined"


@dataclass(frozen=True, slots=True)
class ProgramPlace:
    """
    The place in the program of a runtime call: a construct, or a call of an `acc_*` routine. `directive` is
    `serial` or `kernels` for these compute constructs.
    """

    construct: str
    file: str = ""
    line: int = 0
    function: str = ""
    directive: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line > 0 else ""
        return f"{self.construct} at {where}" if where else self.construct


API_PLACE = ProgramPlace("an acc_ routine")


@dataclass(frozen=True, slots=True)
class HostRange:
    """`bytes` bytes of host memory from `start`; `origin` names the construct that mapped it, if known."""

    start: int
    bytes: int
    origin: str = ""

    def __str__(self) -> str:
        text = f"{self.start:#x}..{self.start + self.bytes:#x} ({self.bytes} bytes)"
        return f"{text}, mapped by {self.origin}" if self.origin else text


class AccRuntimeError(Exception):
    """
    A run-time error of the user's program.

    It is raised with the facts known there; the entry point adds the place and the device (`located`)
    before it is rendered.
    """

    def __init__(
        self,
        kind: ErrorClass,
        message: str,
        *,
        place: ProgramPlace | None = None,
        device: str = "",
        requested: HostRange | None = None,
        overlapping: tuple[HostRange, ...] = (),
        remedy: str = "",
    ):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.place = place
        self.device = device
        self.requested = requested
        self.overlapping = overlapping
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message if self.place is None else self.render()

    def located(self, place: ProgramPlace | None, device: str) -> AccRuntimeError:
        """This error with the place and the device filled in where they were unknown."""
        self.place = self.place or place
        self.device = self.device or device
        return self

    def render(self) -> str:
        """The message for the user: position, cause, ranges, device, remedy."""
        place = self.place
        position = f"{place.file}:{place.line}: " if place and place.line > 0 else ""
        subject = f"in {place.construct}: " if place else ""
        lines = [f"{position}error: {subject}{self.message} [{self.kind.value}]"]
        if self.requested:
            lines.append(f"    requested: {self.requested}")
        lines += [f"    present:   {held}" for held in self.overlapping]
        if self.device:
            lines.append(f"    device:    {self.device}")
        if self.remedy:
            lines.append(f"    help: {self.remedy}")
        return "\n".join(lines)


class NoDeviceError(AccRuntimeError):
    """There is no usable GPU: no driver, no device, or no bindings to reach it."""

    def __init__(self, cause: str, remedy: str = "run on the CPU with --target=host"):
        super().__init__(
            ErrorClass.DEVICE_TYPE_UNAVAILABLE,
            f"no NVIDIA GPU can be used: {cause}",
            remedy=remedy,
        )


class ProgramExit(Exception):
    """C code that Python called has called `exit`."""

    def __init__(self, status: int):
        super().__init__(f"the program called exit({status})")
        self.status = status


class ProgramFault(Exception):
    """C code raised the signal with number `signal`; the text says where and why."""

    def __init__(self, message: str, signal: int):
        super().__init__(message)
        self.signal = signal
