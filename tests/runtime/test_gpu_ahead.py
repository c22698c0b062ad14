"""What is made for a GPU before the program opens it: its context, and the runtime's native code."""

from __future__ import annotations

import ctypes
import threading
from types import SimpleNamespace

import pytest
from accopt.compiler.backend import forks
from accopt.compiler.drivers import accrun_main, context_early, native_ahead
from accopt.compiler.drivers.run_program import context_ahead as context_ahead_of
from accopt.runtime.cuda import context_ahead
from accopt.runtime.cuda.context_ahead import ContextAhead
from accopt.runtime.cuda.gpus_to_come import gpus_to_come
from accopt.runtime.native import code
from accopt.runtime.program import Runtime
from fake_cuda import FakeCuda


@pytest.mark.parametrize("count", [1, 2])
def test_native_code_serves_the_gpus(count: int, tmp_path, monkeypatch):
    """With an empty cache, all of it is made for what stands for them, and nothing for the GPUs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[str] = []

    def compiled(*arguments, compile_it=code._compiled) -> bytes:
        made.append(arguments[0])
        return compile_it(*arguments)

    monkeypatch.setattr(code, "_compiled", compiled)
    entries = Runtime((), gpus_to_come(count), number=count - 1).callbacks().keys()
    assert len(made) >= 4 + (count > 1)  # beside what the process has from other tests
    made.clear()
    key = ctypes.c_uint()
    assert not ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), None)  # as a driver does
    runtime = Runtime((), FakeCuda(count).provider(), number=count - 1)
    assert runtime.callbacks().keys() == entries
    assert not made
    ctypes.CDLL(None).pthread_key_delete(key)


@pytest.fixture
def driver(monkeypatch):
    """What is called of a driver that has one GPU, by name; `go` lets the context come."""
    called: list[str] = []
    go = threading.Event()

    def retain(context, device) -> int:
        assert go.wait(60)
        called.append("cuDevicePrimaryCtxRetain")
        return 0

    def count(number) -> int:
        number._obj.value = 1
        return 0

    library = SimpleNamespace(
        cuInit=lambda _: called.append("cuInit") or 0,
        cuDeviceGetCount=count,
        cuDeviceGet=lambda device, number: int(number != 0),
        cuDevicePrimaryCtxRetain=retain,
    )
    monkeypatch.setattr(context_ahead.ctypes, "CDLL", lambda name: library)
    return SimpleNamespace(called=called, go=go)


def test_the_context_comes_while_the_block_runs(driver):
    with ContextAhead(0) as context:
        context.start()
        context.start()
        assert "cuDevicePrimaryCtxRetain" not in driver.called
        driver.go.set()
    assert driver.called == ["cuInit", "cuDevicePrimaryCtxRetain"]


def test_copies_wait_for_the_context(driver, monkeypatch):
    seen: list[list[str]] = []
    monkeypatch.setattr(forks.os, "fork", lambda: seen.append([*driver.called]) or 1)
    monkeypatch.setattr(forks.os, "kill", lambda *_: None)
    monkeypatch.setattr(forks.os, "waitpid", lambda *_: (1, 0))
    with ContextAhead(0) as context:
        context.start()
        threading.Timer(0.1, driver.go.set).start()
        forks.ForkedCopies(int, (1,), 1).close()
    assert seen == [["cuInit", "cuDevicePrimaryCtxRetain"]]


@pytest.mark.parametrize("number", [None, 7])
def test_nothing_is_opened_that_is_not_there(driver, number):
    driver.go.set()
    with ContextAhead(number) as context:
        context.start()
    assert driver.called == ([] if number is None else ["cuInit"])


def test_the_context_of_a_shared_gpu(driver):
    driver.go.set()
    with ContextAhead(7, 8) as context:
        context.start()
    assert driver.called == ["cuInit", "cuDevicePrimaryCtxRetain"]


def test_no_driver_is_no_error(monkeypatch):
    def missing(name: str):
        raise OSError(name)

    monkeypatch.setattr(context_ahead.ctypes, "CDLL", missing)
    monkeypatch.setattr(forks, "_before", [])
    with ContextAhead(0) as context:
        context.initialise()
        assert not forks._before  # copies need not wait for anything
        context.start()


@pytest.fixture
def early(driver, monkeypatch):
    """The beginning of a command, where the native code is known and the environment chooses no device."""
    monkeypatch.setattr(context_early, "_early", None)
    monkeypatch.setattr(native_ahead, "native_code_is_known", lambda *_: True)
    for name in (
        *context_early._CHOICES,
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "SLURM_PROCID",
        "PMIX_RANK",
    ):
        monkeypatch.delenv(name, raising=False)
    driver.go.set()
    return context_early


@pytest.mark.parametrize("target", ["auto", "nvptx"])
def test_the_context_comes_before_the_modules(early, driver, target):
    early.start_context(target)
    with context_ahead_of(target, 0, None) as context:
        context.start()
    assert driver.called == ["cuInit", "cuDevicePrimaryCtxRetain"]
    assert early.early_context(0, None) is context


def test_another_device_has_a_context_of_its_own(early, driver):
    early.start_context("nvptx")
    assert early.early_context(0, None) is not None
    assert early.early_context(1, None) is None
    assert early.early_context(0, 2) is None
    assert early.early_context(None, None) is None  # of the host


@pytest.mark.parametrize(
    ("target", "environment"),
    [
        ("host", {}),
        ("sim", {}),
        ("auto", {"ACC_DEVICE_TYPE": "host"}),
        ("nvptx", {"ACC_DEVICE_NUM": "1"}),
        ("nvptx", {"ACCOPT_DEVICES": "2"}),
        ("nvptx", {"OMPI_COMM_WORLD_RANK": "0"}),
    ],
)
def test_what_starts_later(early, driver, monkeypatch, target, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    early.start_context(target)
    assert early.early_context(0, None) is None
    assert not driver.called


def test_before_copies_only_the_driver_is_started(early, driver, monkeypatch):
    monkeypatch.setattr(native_ahead, "native_code_is_known", lambda *_: False)
    early.start_context("nvptx")
    with context_ahead_of("nvptx", 0, None) as context:
        context.finish()
        assert driver.called == ["cuInit"]
        context.start()
    assert driver.called == ["cuInit", "cuInit", "cuDevicePrimaryCtxRetain"]


@pytest.mark.parametrize(
    ("arguments", "usual"),
    [
        ("saxpy.c", True),
        ("--target=nvptx -O2 -DN=3 a.c b.c -lm --sm=90 --fast-math --timing", True),
        ("a.c -- --device 1", True),
        ("--target=host a.c", False),
        ("--target host a.c", False),
        ("--targ=host a.c", False),
        ("-foffload=disable a.c", False),
        ("--device 1 a.c", False),
        ("--devices=2 a.c", False),
        ("--help", False),
        ("@options a.c", False),
    ],
)
def test_arguments(arguments: str, usual: bool):
    assert accrun_main._is_usual(arguments.split()) == usual
