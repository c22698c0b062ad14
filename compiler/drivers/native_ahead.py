"""
Compiles the runtime's own native code in a copy of this process while a program is compiled in this one:
with an empty cache, it takes LLVM as long as a small program does.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from ..backend.cache import DiskCache, content_key
from ..backend.forks import ForkedCopies, copies
from ..base.options import TargetName
from ..fingerprint import compiler_fingerprint

if TYPE_CHECKING:
    from ...runtime.device import DeviceProvider
    from ..api import RunOptions


def native_code_is_known(target: Literal["auto"] | TargetName, devices: int | None) -> bool:
    """Whether the cache has the runtime's native code for this number of devices of `target`."""
    return DiskCache.default("host").has(_key(target, devices))


def _key(target: Literal["auto"] | TargetName, devices: int | None) -> str:
    target = "nvptx" if target == "auto" else target
    return content_key("native code", compiler_fingerprint(), target, str(devices))


@contextmanager
def native_code_ahead(target: TargetName, options: RunOptions) -> Generator[None]:
    """
    While the block runs, compiles the native code that the runtime needs for `target` with these options
    into the cache, where `Program` finds it; not what only programs need that call for it (waits, updates
    and questions). Does nothing if the cache has it, without a cache, and on one processor.
    """
    cache, key = DiskCache.default("host"), _key(target, options.devices)
    if cache.has(key) or not cache.is_usable() or copies() < 2:
        yield
        return
    # Modules that this process also needs later are loaded before it forks.
    from ...runtime.program import Runtime

    devices = _devices(target, options)

    def make(_: int) -> None:
        runtime = Runtime(
            (), devices, number=options.device_number, trace=options.trace, calls=lambda name: False
        )
        runtime.callbacks()
        cache.put(key, b"")

    copy = ForkedCopies(make, (0,), 1)
    try:
        yield
    finally:
        copy.finish()


def _devices(target: TargetName, options: RunOptions) -> DeviceProvider:
    """The devices for `options`; stand-ins for GPUs, which a copy of this process cannot open."""
    from ..api import open_devices

    devices = open_devices(target, options, tells=False)
    if target != "nvptx":
        return devices
    from ...runtime.cuda.gpus_to_come import gpus_to_come

    return gpus_to_come(devices.count)
