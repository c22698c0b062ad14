"""
Plain numbers in a GPU's memory, scanned and packed there by kernels (`codec_kernels.py`).

The host would have to read an array with unknown range twice. Instead the array is transferred plain; these
kernels then take a small fraction of the transfer's time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ...compiler.base.packed import MAX_MEMBERS, Coefficients, PackedFormat
from ..compression.codec_kernels import codec_kernels, range_of_keys
from ..device import PackedPlace, Queue
from .driver import Driver
from .staging import StagingCopier

THREADS = 256
BLOCKS_PER_PROCESSOR = 8
KEY_BYTES = 16 * MAX_MEMBERS
KERNELS = ("scan", "encode", "decode")


class CudaPacker:
    """
    The kernels for one GPU with `processors` multiprocessors; `load` makes a module from LLVM IR, and scans
    store their result in the `KEY_BYTES` bytes of device memory at `keys`.
    """

    def __init__(
        self,
        driver: Driver,
        load: Callable[[str], Any],
        stream_of: Callable[[Queue], int],
        processors: int,
        keys: int,
        staging: Callable[[], StagingCopier],
    ):
        self._driver = driver
        self._load = load
        self._stream = stream_of
        self._blocks = processors * BLOCKS_PER_PROCESSOR
        self._keys = keys
        self._staging = staging
        self._kernels: dict[tuple[PackedFormat, str], int] = {}

    def bring(
        self, fmt: PackedFormat, raw: int, host: int, count: int, queue: Queue
    ) -> tuple[int, tuple[float, float]]:
        """As `DevicePacker.bring`."""
        return self._staging().find(raw, host, count, fmt.base_bits, self._stream(queue))

    def scan(
        self, fmt: PackedFormat, raw: int, count: int, queue: Queue
    ) -> tuple[tuple[float, float], ...]:
        """As `DevicePacker.scan`."""
        driver, stream = self._driver, self._stream(queue)
        words = (ctypes.c_uint64 * (2 * fmt.members))()
        size = ctypes.sizeof(words)
        driver.call(driver.api.cuMemsetD8Async, self._keys, 0, size, stream)
        for member in range(fmt.members):
            values = (
                ctypes.c_uint64(raw + member * fmt.base_bytes),
                ctypes.c_int64(count),
                ctypes.c_int64(fmt.members),
                ctypes.c_uint64(self._keys + 16 * member),
            )
            self._launch(fmt, "scan", count, stream, values)
        status = driver.copy_out(ctypes.addressof(words), self._keys, size, stream)
        driver.check(status, "cuMemcpyDtoHAsync")
        queue.wait()
        return tuple(map(range_of_keys, words[::2], words[1::2]))

    def encode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        """As `DevicePacker.encode`."""
        for member, own in enumerate(coefs):
            values = (
                ctypes.c_uint64(place.device + member * place.plane),
                ctypes.c_uint64(raw + member * fmt.base_bytes),
                ctypes.c_int64(place.count),
                ctypes.c_double(own.inverse),
                ctypes.c_double(own.offset),
                ctypes.c_int64(fmt.members),
                ctypes.c_uint64(place.counter),
            )
            self._launch(fmt, "encode", place.count, self._stream(queue), values)

    def decode(
        self,
        fmt: PackedFormat,
        coefs: Sequence[Coefficients],
        place: PackedPlace,
        raw: int,
        queue: Queue,
    ) -> None:
        """As `DevicePacker.decode`."""
        for member, own in enumerate(coefs):
            values = (
                ctypes.c_uint64(raw + member * fmt.base_bytes),
                ctypes.c_uint64(place.device + member * place.plane),
                ctypes.c_int64(place.count),
                ctypes.c_double(own.c0),
                ctypes.c_double(own.c1),
                ctypes.c_int64(fmt.members),
            )
            self._launch(fmt, "decode", place.count, self._stream(queue), values)

    def _launch(
        self, fmt: PackedFormat, name: str, count: int, stream: int, values: tuple[Any, ...]
    ) -> None:
        blocks = max(1, min(self._blocks, -(-count // THREADS)))
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        status = self._driver.launch_kernel(
            self._kernel(fmt, name), blocks, 1, 1, THREADS, 1, 1, 0, stream, pointers, None
        )
        self._driver.check(status, f"the launch of the {name} kernel of {fmt}")

    def _kernel(self, fmt: PackedFormat, name: str) -> int:
        fmt = fmt.one_member
        if (fmt, name) not in self._kernels:
            module = self._load(codec_kernels(fmt))
            get = self._driver.api.cuModuleGetFunction
            for each in KERNELS:
                self._kernels[fmt, each] = int(self._driver.call(get, module, each.encode()))
        return self._kernels[fmt, name]
