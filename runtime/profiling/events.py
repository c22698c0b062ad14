"""
Maps the runtime's actions to events of the profiling interface (OpenACC 3.4, 5.1). Every method is called
only while some callback is registered (`Profile.active`).

A compute construct calls the runtime for entry of its data, launches, and exit of its data; a construct
without data only for its launch. Whether there will be an exit is known at entry: there is none for
`deviceptr` alone. Between entry and exit of a kernels construct, its parts enter and leave data of their
own, which is all implicit and present, and is not reported.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from ...compiler.base.abi import ASYNC_SYNC, DataFlag, DataKind, DeviceType
from ..data.clauses import Request
from ..data.present import Entry
from ..device import Queue
from ..errors import ProgramPlace
from ..host.host_threads import PerThread
from ..sites import COMPUTE
from ..state import DeviceState
from .callbacks import (
    VERSION,
    ApiInfo,
    Callbacks,
    Construct,
    DataEventInfo,
    Event,
    EventInfo,
    LaunchEventInfo,
    ProfInfo,
)

_CONSTRUCTS = {
    COMPUTE: Construct.PARALLEL,
    "serial": Construct.SERIAL,
    "kernels": Construct.KERNELS,
    "data construct": Construct.DATA,
    "enter data": Construct.ENTER_DATA,
    "exit data": Construct.EXIT_DATA,
    "host_data": Construct.HOST_DATA,
    "update": Construct.UPDATE,
    "declare": Construct.DECLARE,
    "wait": Construct.WAIT,
    "init": Construct.INIT,
    "shutdown": Construct.SHUTDOWN,
    "set": Construct.SET,
}
_REGIONS = {
    "enter": Event.ENTER_DATA_START,
    "exit": Event.EXIT_DATA_START,
    "update": Event.UPDATE_START,
}
_TRANSFERS = {
    "copy in": Event.ENQUEUE_UPLOAD_START,
    "copy out": Event.ENQUEUE_DOWNLOAD_START,
}
_NO_EXIT = frozenset((DataKind.DEVICEPTR, DataKind.USE_DEVICE))
_CUDA = 1


@dataclass(slots=True)
class _Cause:
    """The current action of the program: a construct or routine, on a device and queue."""

    place: ProgramPlace
    state: DeviceState
    number: int
    implicit: bool = False

    @property
    def construct(self) -> Construct:
        name = self.place.directive or self.place.construct
        return _CONSTRUCTS.get(name, Construct.RUNTIME_API)


class _PerThread(PerThread):
    """Variables of a thread: `construct` is the running compute construct; `parts` is how often data has
    been entered in it."""

    def __init__(self) -> None:
        super().__init__()
        self.cause: _Cause | None = None
        self.construct: tuple[_Cause, EventInfo] | None = None
        self.parts = 0


class Profile:
    """Reports the actions of one runtime to the registered callbacks."""

    def __init__(self, callbacks: Callbacks):
        self.callbacks = callbacks
        self._thread = _PerThread()
        self._initialised: set[int] = set()
        self._texts: dict[str, bytes] = {}
        self._finished = False

    @property
    def active(self) -> bool:
        return self.callbacks.active

    def begin(self, states: Iterable[DeviceState]) -> None:
        """Starts reporting when the first callback is registered; devices in use count as initialised
        before."""
        for state in states:
            used = any(state.launchers) or any(not entry.pinned for entry in state.table)
            if used:
                self._initialised.add(state.number)

    # Devices

    def use(self, place: ProgramPlace, state: DeviceState, *, implicit: bool = True) -> None:
        """Reports the initialisation of a device at its first use; called before each use."""
        if state.number in self._initialised:
            return
        self._initialised.add(state.number)
        with self._pair(Event.DEVICE_INIT_START, _Cause(place, state, ASYNC_SYNC, implicit)):
            pass

    def shutdown(
        self, place: ProgramPlace, state: DeviceState, *, implicit: bool = False
    ) -> AbstractContextManager[None]:
        """Reports the shutdown of a device, which happens in the block."""
        if state.number not in self._initialised:
            return nullcontext()
        self._initialised.discard(state.number)
        cause = _Cause(place, state, ASYNC_SYNC, implicit)
        return self._pair(Event.DEVICE_SHUTDOWN_START, cause)

    def finish(self, states: Iterable[DeviceState], current: DeviceState) -> None:
        """Reports, once, the end of the program: the shutdown of devices, then of the runtime."""
        if self._finished or not self.active:
            return
        self._finished = True
        place = ProgramPlace("the end of the program")
        for state in states:
            with self.shutdown(place, state, implicit=True):
                pass
        self._fire(Event.RUNTIME_SHUTDOWN, _Cause(place, current, ASYNC_SYNC, True), EventInfo())

    def error(self, place: ProgramPlace, state: DeviceState) -> None:
        """Reports that the program is about to end with an error."""
        self._fire(Event.ERROR, _Cause(place, state, ASYNC_SYNC), EventInfo())

    # Data

    @contextmanager
    def region(
        self,
        what: str,
        place: ProgramPlace,
        state: DeviceState,
        number: int,
        requests: Sequence[Request],
    ) -> Generator[None]:
        """Reports the clauses of an entry ("enter"), exit or update, which are performed in the block."""
        self.use(place, state)
        implicit = all(r.flags & DataFlag.IMPLICIT for r in requests)
        cause = _Cause(place, state, number, implicit)
        outer, self._thread.cause = self._thread.cause, cause
        is_compute = place.construct == COMPUTE
        if is_compute and what == "enter":
            self._open_construct(_Cause(place, state, number))
        if place.construct == "host_data" or (is_compute and self._thread.parts > 1):
            yield
        else:
            with self._pair(_REGIONS[what], cause):
                yield
        if is_compute and (
            what == "exit" or (what == "enter" and all(r.kind in _NO_EXIT for r in requests))
        ):
            self._close_construct()
        self._thread.cause = outer

    @contextmanager
    def transfer(self, what: str, request: Request, size: int, queue: Queue) -> Generator[None]:
        """Reports a "copy in" or "copy out" of `size` bytes, which happens in the block."""
        cause, event = self._thread.cause, _TRANSFERS.get(what)
        if cause is None or event is None:
            yield
            return
        entry = cause.state.mapper.table.containing(request.start, 1)
        device = 0 if entry is None else entry.device_address(request.start)
        info = self._data(request.name, size, request.start, device)
        with self._pair(event, cause, info, queue):
            yield

    def mapped(self, request: Request, entry: Entry, queue: Queue) -> None:
        """Reports that device memory was allocated and entered into the present table."""
        for event in (Event.ALLOC, Event.CREATE):
            self._of_entry(event, request, entry, queue)

    def unmapped(self, request: Request, entry: Entry, queue: Queue) -> None:
        """Reports that device memory was removed from the present table and freed."""
        for event in (Event.DELETE, Event.FREE):
            self._of_entry(event, request, entry, queue)

    def memory(
        self, event: Event, place: ProgramPlace, state: DeviceState, device: int, size: int
    ) -> None:
        """Reports `acc_malloc` (ALLOC) or `acc_free` (FREE)."""
        self.use(place, state)
        info = self._data("", size, 0, device)
        self._fire(event, _Cause(place, state, ASYNC_SYNC), info)

    @contextmanager
    def copy(
        self, place: ProgramPlace, state: DeviceState, number: int, what: str, addresses: tuple[int, int],
        size: int,
    ) -> Generator[None]:  # fmt: skip
        """Reports an `acc_memcpy_…`, which happens in the block: "copy in" or "copy out" between (host,
        device) `addresses`."""
        self.use(place, state)
        info = self._data("", size, *addresses)
        cause = _Cause(place, state, number)
        with self._pair(_TRANSFERS[what], cause, info, state.queue(number, number)):
            yield

    def _of_entry(self, event: Event, request: Request, entry: Entry, queue: Queue) -> None:
        cause = self._thread.cause
        if cause is not None:
            info = self._data(request.name, entry.bytes, entry.host, entry.device)
            self._fire(event, cause, info, queue)

    # Compute constructs

    def _open_construct(self, cause: _Cause) -> None:
        self._thread.parts += 1
        if self._thread.parts > 1:
            return
        info = EventInfo()
        self._fire(Event.COMPUTE_CONSTRUCT_START, cause, info)
        self._thread.construct = (cause, info)

    def _close_construct(self) -> None:
        self._thread.parts = max(self._thread.parts - 1, 0)
        if self._thread.parts == 0 and self._thread.construct is not None:
            cause, info = self._thread.construct
            self._thread.construct = None
            self._fire(Event.COMPUTE_CONSTRUCT_START + 1, cause, info)

    @contextmanager
    def launch(
        self, place: ProgramPlace, state: DeviceState, number: int, kernel: str, values: Sequence[int],
        queue: Queue,
    ) -> Generator[None]:  # fmt: skip
        """Reports a launch, which happens in the block; `values` as in `abi.LAUNCH_FORMAT`."""
        self.use(place, state)
        cause = _Cause(place, state, number)
        alone = self._thread.construct is None
        if alone:
            self._open_construct(cause)
        info = LaunchEventInfo(
            kernel_name=self._text(kernel),
            num_gangs=values[0] * values[1] * values[2],
            num_workers=values[4] * values[5],
            vector_length=values[3],
        )
        with self._pair(Event.ENQUEUE_LAUNCH_START, cause, info, queue):
            yield
        if alone:
            self._close_construct()

    def waiting(
        self, place: ProgramPlace, state: DeviceState, number: int
    ) -> AbstractContextManager[None]:
        """Reports a `wait` directive or clause, or `acc_wait…`, on queue `number`, which happens in the
        block."""
        self.use(place, state)
        implicit = place.construct != "wait" and place.line > 0
        return self._pair(Event.WAIT_START, _Cause(place, state, number, implicit))

    # The structures

    def _data(self, name: str, size: int, host: int, device: int) -> DataEventInfo:
        return DataEventInfo(
            var_name=None if name.startswith("0x") else self._text(name),
            bytes=size,
            host_ptr=host,
            device_ptr=device,
        )

    @contextmanager
    def _pair(
        self, start: Event, cause: _Cause, info: EventInfo | None = None, queue: Queue | None = None
    ) -> Generator[None]:
        info = info or EventInfo()
        self._fire(start, cause, info, queue)
        yield
        self._fire(start + 1, cause, info, queue)

    def _fire(self, event: int, cause: _Cause, info: EventInfo, queue: Queue | None = None) -> None:
        place, state, number = cause.place, cause.state, cause.number
        kind = int(state.device.type)
        prof = ProfInfo(
            valid_bytes=ctypes.sizeof(ProfInfo),
            version=VERSION,
            device_type=kind,
            device_number=state.number,
            async_value=number,
            async_queue=number,
            src_file=self._text(place.file),
            func_name=self._text(place.function),
            line_no=place.line,
            end_line_no=place.line,
        )
        info.valid_bytes = ctypes.sizeof(info)
        info.parent_construct = int(cause.construct)
        info.implicit = int(cause.implicit)
        stream = getattr(queue, "stream", None)
        api = ApiInfo(
            device_api=_CUDA if kind == DeviceType.NVIDIA else 0,
            valid_bytes=ctypes.sizeof(ApiInfo),
            device_type=kind,
            async_handle=stream if isinstance(stream, int) else None,
        )
        self.callbacks.fire(event, prof, info, api)

    def _text(self, text: str) -> bytes | None:
        """`text` as a C string that lives as long as the program, as callbacks may keep the pointer; None for
        an empty one."""
        return self._texts.setdefault(text, text.encode()) if text else None
