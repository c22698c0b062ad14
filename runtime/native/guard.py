"""
Leaves C code after an error, back to the Python code that called it.

A *guarded* call of a C function saves the caller's registers in a frame of its thread, and makes the
function return to our code. An error inside of it leaves the same way, and the frame records the reason:

- a callback of the runtime failed: its exception has been handled in Python, and C code is left when the
  callback returns;
- a fault in C code raised a signal: the handler records the fault, and lets the thread continue where the
  guarded call returns. A fault in a thread of the runtime (the gangs of the host target) is passed on to
  the thread that waits for it.

Python code is never skipped: a fault inside a callback into Python that is not in another guarded call goes
to the previous handler of the signal. The code is for x86-64 (`supported`).
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import signal
import weakref
from functools import cache
from typing import Any

from .fault import Fault, GuardFrame, read_fault
from .guard_code import CONSTANTS, GUARD_CODE

_SIGNALS = (
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGTRAP,
)
_SIGACTION_BYTES = 152
_FLAGS_OFFSET = 136
_SA_SIGINFO, _SA_ONSTACK, _SA_NODEFER = 4, 0x08000000, 0x40000000
_STUB_BYTES = 32
_REGISTER_ARGUMENTS = 6


class FaultSignal(Exception):
    """Reports that a guarded call of the runtime itself ended by a fault, which is not explained yet."""

    def __init__(self, fault: Fault):
        super().__init__(f"signal {fault.signal}")
        self.fault = fault


def supported() -> bool:
    """Whether calls can be guarded on this computer."""
    return platform.machine() == "x86_64" and platform.system() == "Linux"


class Guard:
    """The code of guarded calls, for the life of the process."""

    def __init__(self) -> None:
        from .code import NativeCode

        self._libc: Any = ctypes.CDLL(None)
        self._keys = (ctypes.c_uint * 3)()
        for i in range(3):
            if self._libc.pthread_key_create(ctypes.byref(self._keys, 4 * i), None):
                raise OSError("no key for data of threads")
        self._old = ctypes.create_string_buffer(_SIGACTION_BYTES * 65)
        addresses = {
            "keys": ctypes.addressof(self._keys),
            "old": ctypes.addressof(self._old),
        }
        self._code = NativeCode(GUARD_CODE, addresses, CONSTANTS)
        number, pointer = ctypes.c_uint64, ctypes.c_void_p

        def function(name: str, result: Any, *arguments: Any) -> Any:
            # PyDLL's calling convention: Python's lock is kept, nothing blocks
            return ctypes.PYFUNCTYPE(result, *arguments)(self._code.address(name))

        self._enter = function("place_enter", number)()
        self._back = function("place_back", number)()
        self._handler = function("place_fault", number)()
        self._active = function("active", pointer)
        self._fail = function("fail", None)
        self._last = function("last", pointer)
        self._release = function("release", None, pointer)
        self._pages: list[mmap.mmap] = []
        self._free: list[tuple[mmap.mmap, int]] = []
        """Pages, with the places in them where code may be put."""
        self._installed = False
        array = ctypes.c_void_p * 4
        self._libc.backtrace(array(), 4)  # loads the unwinder, which a handler must not do

    def guarded(self, address: int, owner: object) -> int:
        """The address of a function that calls the one at `address`, guarded, while `owner` is alive."""
        self._install()
        return self._stub(address, self._enter, owner)

    def callback(self, address: int, arguments: int, owner: object) -> int:
        """
        The address of a function that calls a callback with up to `arguments` arguments, and leaves C code
        if the callback has failed; while `owner` is alive.
        """
        if arguments > _REGISTER_ARGUMENTS:
            return address
        return self._stub(address, self._back, owner)

    def inside(self) -> bool:
        """Whether this thread is in a guarded call that a failing callback can leave."""
        return bool(self._active())

    def fail(self) -> None:
        """Makes the current callback leave C code when it returns."""
        self._fail()

    def outcome(self) -> Fault | bool:
        """After a guarded call: the fault that ended it, True if a callback did, False if it returned."""
        frame = self._last()
        if not frame:
            return False
        fault = read_fault(GuardFrame.from_address(frame))
        self._release(frame)
        return fault or True

    def raising(self, prototype: Any, address: int, owner: object) -> Any:
        """The function at an address as a callable that raises `FaultSignal`, while `owner` is alive."""

        def check(result: Any, function: Any, arguments: Any) -> Any:
            outcome = self.outcome()
            if isinstance(outcome, Fault):
                raise FaultSignal(outcome)
            return result

        function = prototype(self.guarded(address, owner))
        function.errcheck = check
        return function

    def _stub(self, target: int, through: int, owner: object) -> int:
        """The address of code for the life of `owner`: `mov r11, target; mov r10, through; jmp r10`."""
        if not self._free:
            everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
            page = mmap.mmap(-1, mmap.PAGESIZE, prot=everything)
            self._pages.append(page)
            self._free += [(page, at) for at in range(0, mmap.PAGESIZE, _STUB_BYTES)]
        page, start = place = self._free.pop()
        weakref.finalize(owner, self._free.append, place).atexit = False
        code = (
            b"\x49\xbb" + target.to_bytes(8, "little") + b"\x49\xba" + through.to_bytes(8, "little")
        )
        page[start : start + len(code) + 3] = code + b"\x41\xff\xe2"
        return ctypes.addressof(ctypes.c_char.from_buffer(page)) + start

    def _install(self) -> None:
        if self._installed:
            return
        self._installed = True
        for number in _SIGNALS:
            action = ctypes.create_string_buffer(_SIGACTION_BYTES)
            action[0:8] = self._handler.to_bytes(8, "little")
            flags = _SA_SIGINFO | _SA_ONSTACK | _SA_NODEFER
            action[_FLAGS_OFFSET : _FLAGS_OFFSET + 4] = flags.to_bytes(4, "little")
            before = ctypes.byref(self._old, _SIGACTION_BYTES * number)
            self._libc.sigaction(ctypes.c_int(number), action, before)


@cache
def guard() -> Guard | None:
    """The guard of this process; None where calls cannot be guarded."""
    try:
        return Guard() if supported() else None
    except OSError:  # no memory that is both written and executed
        return None
