"""
The runtime's own native code, made by a copy of this process while a program is compiled here: with an empty
cache, LLVM works on it for as long as on a small program.
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
    """Whether this compiler has made it before, for so many devices of `target`."""
    return DiskCache.default("host").has(_key(target, devices))


def _key(target: Literal["auto"] | TargetName, devices: int | None) -> str:
    target = "nvptx" if target == "auto" else target
    return content_key("native code", compiler_fingerprint(), target, str(devices))


@contextmanager
def native_code_ahead(target: TargetName, options: RunOptions) -> Generator[None]:
    """
    What the runtime needs for `target` with these options comes into the cache, where `Program` finds it,
    while the block runs. Nothing is done where it is known, without a cache, and on one processor.
    """
    cache, key = DiskCache.default("host"), _key(target, options.devices)
    if cache.has(key) or not cache.is_usable() or copies() < 2:
        yield
        return
    # What this process needs later, too, is loaded before there are two.
    from ...runtime.program import Runtime

    devices = _devices(target, options)

    def make(_: int) -> None:
        runtime = Runtime((), devices, number=options.device_number, trace=options.trace)
        runtime.callbacks()
        cache.put(key, b"")

    copy = ForkedCopies(make, (0,), 1)
    try:
        yield
    finally:
        copy.finish()


def _devices(target: TargetName, options: RunOptions) -> DeviceProvider:
    """The devices, of which a copy of this process opens one: GPUs are something in their place."""
    from ..api import open_devices

    devices = open_devices(target, options)
    if target != "nvptx":
        return devices
    from ...runtime.cuda.gpus_to_come import gpus_to_come

    return gpus_to_come(devices.count)
