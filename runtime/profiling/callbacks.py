"""
The callbacks of the profiling interface (`acc_prof.h`, OpenACC 3.4, section 5): registrations by event, and
the structures that a callback gets.

`Callbacks` keeps the registrations and calls them; `events.py` says when.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..host.host_threads import PerThread

VERSION = 202506


class Event(IntEnum):
    """`acc_event_t`; the end event of a pair is its start event plus one."""

    NONE = 0
    DEVICE_INIT_START = 1
    DEVICE_SHUTDOWN_START = 3
    RUNTIME_SHUTDOWN = 5
    CREATE = 6
    DELETE = 7
    ALLOC = 8
    FREE = 9
    ENTER_DATA_START = 10
    EXIT_DATA_START = 12
    UPDATE_START = 14
    COMPUTE_CONSTRUCT_START = 16
    ENQUEUE_LAUNCH_START = 18
    ENQUEUE_UPLOAD_START = 20
    ENQUEUE_DOWNLOAD_START = 22
    WAIT_START = 24
    ERROR = 100


_ENDS = frozenset((2, 4, 11, 13, 15, 17, 19, 21, 23, 25))
_LAST = 25


class Construct(IntEnum):
    """`acc_construct_t`."""

    PARALLEL = 0
    KERNELS = 1
    LOOP = 2
    DATA = 3
    ENTER_DATA = 4
    EXIT_DATA = 5
    HOST_DATA = 6
    ATOMIC = 7
    DECLARE = 8
    INIT = 9
    SHUTDOWN = 10
    SET = 11
    UPDATE = 12
    ROUTINE = 13
    WAIT = 14
    RUNTIME_API = 15
    SERIAL = 16


class RegisterMode(IntEnum):
    """`acc_register_t`."""

    REG = 0
    TOGGLE = 1
    TOGGLE_PER_THREAD = 2


class ProfInfo(ctypes.Structure):
    """`acc_prof_info`."""

    _fields_ = (
        ("event_type", ctypes.c_int),
        ("valid_bytes", ctypes.c_int),
        ("version", ctypes.c_int),
        ("device_type", ctypes.c_int),
        ("device_number", ctypes.c_int),
        ("thread_id", ctypes.c_int),
        ("async_value", ctypes.c_ssize_t),
        ("async_queue", ctypes.c_ssize_t),
        ("src_file", ctypes.c_char_p),
        ("func_name", ctypes.c_char_p),
        ("line_no", ctypes.c_int),
        ("end_line_no", ctypes.c_int),
        ("func_line_no", ctypes.c_int),
        ("func_end_line_no", ctypes.c_int),
    )


class EventInfo(ctypes.Structure):
    """The common first fields of the members of `acc_event_info`; this is all of `acc_other_event_info`."""

    _fields_ = (
        ("event_type", ctypes.c_int),
        ("valid_bytes", ctypes.c_int),
        ("parent_construct", ctypes.c_int),
        ("implicit", ctypes.c_int),
        ("tool_info", ctypes.c_void_p),
    )


class DataEventInfo(EventInfo):
    """`acc_data_event_info`."""

    _fields_ = (
        ("var_name", ctypes.c_char_p),
        ("bytes", ctypes.c_size_t),
        ("host_ptr", ctypes.c_void_p),
        ("device_ptr", ctypes.c_void_p),
    )


class LaunchEventInfo(EventInfo):
    """`acc_launch_event_info`."""

    _fields_ = (
        ("kernel_name", ctypes.c_char_p),
        ("num_gangs", ctypes.c_size_t),
        ("num_workers", ctypes.c_size_t),
        ("vector_length", ctypes.c_size_t),
    )


class ApiInfo(ctypes.Structure):
    """`acc_api_info`."""

    _fields_ = (
        ("device_api", ctypes.c_int),
        ("valid_bytes", ctypes.c_int),
        ("device_type", ctypes.c_int),
        ("vendor", ctypes.c_int),
        ("device_handle", ctypes.c_void_p),
        ("context_handle", ctypes.c_void_p),
        ("async_handle", ctypes.c_void_p),
    )


PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""The C type of a callback, and that of `acc_register_library`."""


@dataclass(slots=True)
class _Registered:
    address: int
    function: Any
    count: int = 1


class _ThreadCallbacks(PerThread):
    def __init__(self) -> None:
        super().__init__()
        self.silenced: set[tuple[int, int]] = set()
        self.inside = False


class Callbacks:
    """
    The registrations of one program. `changed(active)` is called when the first callback is registered and
    when the last one is removed.
    """

    def __init__(self, changed: Callable[[bool], None]):
        self.active = False
        self._changed = changed
        self._registered: dict[int, list[_Registered]] = {}
        self._silenced: set[tuple[int, int]] = set()
        self._thread = _ThreadCallbacks()
        self._threads: dict[int, int] = {}

    def register(self, event: int, address: int, mode: int) -> None:
        """`acc_prof_register`: adds a callback, or (the toggles) lets it be called again."""
        if mode == RegisterMode.TOGGLE:
            self._silenced.discard((event, address))
        elif mode == RegisterMode.TOGGLE_PER_THREAD:
            self._thread.silenced.discard((event, address))
        elif address and event > Event.NONE and (event <= _LAST or event == Event.ERROR):
            known = self._find(event, address)
            if known is not None:
                known.count += 1
            else:
                new = _Registered(address, PROTOTYPE(address))
                self._registered.setdefault(event, []).append(new)
        self._settle()

    def unregister(self, event: int, address: int, mode: int) -> None:
        """
        `acc_prof_unregister`: removes one registration, or (the toggles) disables the callback; address 0
        disables all callbacks of the event, event 0 those of all events.
        """
        if mode == RegisterMode.TOGGLE:
            self._silenced.add((event, address))
        elif mode == RegisterMode.TOGGLE_PER_THREAD:
            self._thread.silenced.add((event, address))
        else:
            known = self._find(event, address)
            if known is not None:
                known.count -= 1
                if known.count == 0:
                    self._registered[event].remove(known)
        self._settle()

    def fire(self, event: int, prof: ProfInfo, info: EventInfo, api: ApiInfo) -> None:
        """
        Calls the callbacks for `event` in the order of registration, for end events in reverse order.
        Events that a callback itself causes are not reported.
        """
        registered = self._registered.get(event)
        if not registered or self._thread.inside:
            return
        prof.event_type = info.event_type = event
        prof.thread_id = self._threads.setdefault(threading.get_ident(), len(self._threads))
        pointers = [ctypes.addressof(x) for x in (prof, info, api)]
        self._thread.inside = True
        try:
            for callback in reversed(registered) if event in _ENDS else list(registered):
                if not self._is_silenced(event, callback.address):
                    callback.function(*pointers)
        finally:
            self._thread.inside = False

    def _find(self, event: int, address: int) -> _Registered | None:
        known = self._registered.get(event, ())
        return next((r for r in known if r.address == address), None)

    def _is_silenced(self, event: int, address: int) -> bool:
        keys = ((event, address), (event, 0), (Event.NONE, 0))
        return any(key in self._silenced or key in self._thread.silenced for key in keys)

    def _settle(self) -> None:
        active = any(self._registered.values()) and (Event.NONE, 0) not in self._silenced
        if active != self.active:
            self.active = active
            self._changed(active)
