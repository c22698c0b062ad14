"""Registrations of the profiling interface, and libraries that register (OpenACC 3.4, 5.3)."""

from __future__ import annotations

import ctypes

import pytest
from accopt.runtime.errors import AccRuntimeError
from accopt.runtime.profiling.callbacks import (
    ApiInfo,
    Callbacks,
    Event,
    EventInfo,
    ProfInfo,
    RegisterMode,
)
from accopt.runtime.profiling.libraries import register_libraries

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
START, END = Event.UPDATE_START, Event.UPDATE_START + 1


class Listener:
    """A callback that remembers the events it was told."""

    def __init__(self, name: str, log: list[str]):
        self.function = CALLBACK(lambda prof, *_: log.append(f"{name}{self.event(prof)}"))
        self.address = ctypes.cast(self.function, ctypes.c_void_p).value or 0

    @staticmethod
    def event(address: int) -> int:
        return ProfInfo.from_address(address).event_type


def fire(callbacks: Callbacks, event: int) -> None:
    callbacks.fire(event, ProfInfo(), EventInfo(), ApiInfo())


def test_activity_follows_registrations() -> None:
    told: list[bool] = []
    callbacks, log = Callbacks(told.append), list[str]()
    listener = Listener("x", log)
    fire(callbacks, START)
    callbacks.register(START, listener.address, RegisterMode.REG)
    callbacks.register(START, listener.address, RegisterMode.REG)
    fire(callbacks, START)
    fire(callbacks, END)
    callbacks.unregister(START, listener.address, RegisterMode.REG)
    assert callbacks.active
    callbacks.unregister(START, listener.address, RegisterMode.REG)
    fire(callbacks, START)
    assert log == ["x14"] and told == [True, False] and not callbacks.active


def test_what_nobody_can_register_is_ignored() -> None:
    callbacks = Callbacks(lambda _: None)
    for event, address in ((Event.NONE, 8), (26, 8), (-1, 8), (START, 0)):
        callbacks.register(event, address, RegisterMode.REG)
    callbacks.unregister(START, 8, RegisterMode.REG)
    assert not callbacks.active


def test_silencing_everything_is_as_good_as_no_callback() -> None:
    told: list[bool] = []
    callbacks, log = Callbacks(told.append), list[str]()
    listener = Listener("x", log)
    callbacks.register(START, listener.address, RegisterMode.REG)
    callbacks.unregister(Event.NONE, 0, RegisterMode.TOGGLE)
    callbacks.register(Event.NONE, 0, RegisterMode.TOGGLE)
    assert told == [True, False, True]


def test_a_callback_does_not_hear_of_itself() -> None:
    callbacks, log = Callbacks(lambda _: None), list[str]()

    def again(*_: int) -> None:
        log.append("again")
        fire(callbacks, START)

    function = CALLBACK(again)
    callbacks.register(START, ctypes.cast(function, ctypes.c_void_p).value or 0, RegisterMode.REG)
    fire(callbacks, START)
    assert log == ["again"]


def test_structures_are_those_of_the_header() -> None:
    assert ctypes.sizeof(ProfInfo) == 72
    assert ProfInfo.src_file.offset == 40
    assert ctypes.sizeof(EventInfo) == 24
    assert ctypes.sizeof(ApiInfo) == 40


def test_the_program_may_be_a_library() -> None:
    given: list[tuple[int | None, ...]] = []
    function = CALLBACK(lambda *routines: given.append(routines))
    own = ctypes.cast(function, ctypes.c_void_p).value or 0
    routines = {"acc_prof_register": 8, "acc_prof_unregister": 16, "acc_prof_lookup": 24}
    register_libraries(routines, own, ())
    assert given == [(8, 16, 24)]


@pytest.mark.parametrize(
    ("path", "cause"), [("/nowhere/lib.so", "cannot be used"), ("libm.so.6", "no function")]
)
def test_a_library_that_cannot_be_used(path: str, cause: str) -> None:
    routines = {"acc_prof_register": 8, "acc_prof_unregister": 16, "acc_prof_lookup": 24}
    with pytest.raises(AccRuntimeError, match=cause):
        register_libraries(routines, 0, (path,))
