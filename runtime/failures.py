"""
Handles errors in entry points. An exception cannot pass through compiled C frames: so it either ends the
guarded call from Python that led there, or ends the process with its message.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .errors import AccRuntimeError, ErrorClass, ProgramExit, ProgramPlace
from .fatal import end_process
from .native.guard import FaultSignal, Guard
from .state import DeviceState

if TYPE_CHECKING:
    from .program import Runtime


class Failures:
    """
    Handles the errors of one program's entry points. `raises`: they are raised by the call from Python that
    led to them, instead of ending the process.
    """

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self.guard: Guard | None = None
        self.raises = True
        self.locate: Callable[[str, Sequence[int]], tuple[str, int] | None] = _nowhere
        """File and line of the call of a routine, from the return addresses; None if it is not known."""
        self.ended: dict[int, BaseException] = {}
        """Thread number → the exception that ended its last guarded call."""

    def exit(self, status: int) -> None:
        """C's `exit`: ends the program as if `main` had returned, after all device work has finished."""
        try:
            self._runtime.settle()
        except BaseException as error:
            self.die(error, ProgramPlace("the end of the program"))
            return
        if self.raises and self._leave_c(ProgramExit(status)):
            return
        ctypes.CDLL(None).exit(status)

    def _leave_c(self, error: BaseException) -> bool:
        """
        Lets the guarded call (`native/guard.py`) of this thread end with `error`, which its caller finds in
        `ended`; False if the thread is not in a guarded call.
        """
        if self.guard is None or not self.guard.inside():
            return False
        self.ended[threading.get_ident()] = error
        self.guard.fail()
        return True

    def guarded(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """`method`, wrapped so that an error is located at its site (the first argument) and ends the
        process or the guarded call."""

        def entry(site: int, *rest: int) -> Any:
            try:
                return method(site, *rest)
            except BaseException as error:
                known = 0 <= site < len(self._runtime.sites)
                return self.die(
                    error, self._runtime.sites[site].place if known else ProgramPlace(name)
                )
            finally:
                self._runtime.count_work()

        return entry

    def of_caller(self, place: ProgramPlace) -> Callable[[], ProgramPlace]:
        """
        Returns a function that gives the place of an `acc_*` routine with the line that calls it, if that
        can be found. As finding the line takes as long as compiling the program, it is done only when the
        place is needed.
        """
        if place.file:
            return lambda: place
        addresses = _return_addresses()

        def found() -> ProgramPlace:
            line = self.locate(place.construct, addresses)
            return place if line is None else replace(place, file=line[0], line=line[1])

        return found

    def die(self, error: BaseException, place: ProgramPlace) -> int:
        """
        Reports the error to callbacks, and lets the call from Python that led here raise it; if that is not
        requested (`raises`) or not possible, ends the process with its message (`end_process`).
        """
        state = self._runtime.thread.state
        if isinstance(error, AccRuntimeError):
            place = self.of_caller(place)()
        if isinstance(error, AccRuntimeError) and _is_late(error, state):
            error.remedy += (
                "; the construct at fault may be an earlier one:"
                " ACCOPT_DEVICE_QUEUES=0 waits for each"
            )
        if isinstance(error, AccRuntimeError) and self._runtime.profile.active:
            self._runtime.profile.error(error.place or place, state)
        if isinstance(error, AccRuntimeError):
            self._mention_shutdown(error.located(place, state.device.name))
        if (self.raises or isinstance(error, FaultSignal)) and self._leave_c(error):
            return 0
        end_process(error, place, state.device.name)

    def _mention_shutdown(self, error: AccRuntimeError) -> None:
        """Adds to an error about absent data that a shutdown of the device has released data."""
        if error.kind is not ErrorClass.NOT_PRESENT:
            return
        for state in self._runtime.devices:
            if state.shut_down is not None and state.device.name == error.device:
                error.remedy = f"{state.shut_down()} released what the device held; {error.remedy}"


def _nowhere(routine: str, addresses: Sequence[int]) -> None:
    """The caller's line is not known."""


def _return_addresses() -> list[int]:
    """The return addresses of this thread's calls, the innermost first, as far as they can be found."""
    trace = (ctypes.c_void_p * 64)()
    count = ctypes.CDLL(None).backtrace(trace, len(trace))
    return [address for address in trace[:count] if address]


def _is_late(error: AccRuntimeError, state: DeviceState) -> bool:
    """Whether a kernel's fault may come from an earlier construct for which the host has not waited."""
    queued = state.native.epoch > 0 and not state.native.waits
    return queued and error.kind is ErrorClass.EXECUTION and bool(error.remedy)
