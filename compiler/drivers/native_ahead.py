"""
The runtime's own native code, made by a copy of this process while a program is compiled here: with an empty
cache, LLVM works on it for as long as on a small program.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..backend.cache import DiskCache, content_key
from ..backend.forks import ForkedCopies, copies
from ..base.options import TargetName
from ..fingerprint import compiler_fingerprint

if TYPE_CHECKING:
    from ..api import RunOptions


@contextmanager
def native_code_ahead(target: TargetName, options: RunOptions) -> Generator[None]:
    """
    What the runtime needs for `target` with these options comes into the cache, where `Program` finds it,
    while the block runs. Nothing is done where this compiler has made it before, without a cache, on one
    processor, and for GPUs, whose driver must not be used in a copy.
    """
    cache = DiskCache.default("host")
    key = content_key("native code", compiler_fingerprint(), target, str(options.devices))
    wanted = target != "nvptx" and not cache.has(key) and cache.is_usable() and copies() > 1
    if not wanted:
        yield
        return
    # What this process needs later, too, is loaded before there are two.
    from ...runtime.program import Runtime
    from ..api import open_devices

    def make(_: int) -> None:
        Runtime(
            (), open_devices(target, options), number=options.device_number, trace=options.trace
        ).callbacks()
        cache.put(key, b"")

    copy = ForkedCopies(make, (0,), 1)
    try:
        yield
    finally:
        copy.finish()
