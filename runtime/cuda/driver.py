"""
The CUDA driver: cuda.bindings for rare calls, plain ctypes for frequent ones.

Every call of the first kind goes through `Driver.call`, which raises with the error's name and
meaning. The few functions on the path of each launch, copy and wait are bound once by ctypes, with
integers for all handles, which saves the conversions of the general bindings; their status goes
through `Driver.check`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..errors import AccRuntimeError, ErrorClass, NoDeviceError

SUCCESS = 0
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
PEER_ACCESS_ALREADY_ENABLED = 704
NOT_READY = 600

_KERNEL_FAULTS = frozenset((700, 702, 714, 715, 716, 717, 718, 719))
"""CUresult values that report a failed kernel: illegal address, timeout, traps, …"""

_u = ctypes.c_uint
_p = ctypes.c_void_p
_d = ctypes.c_uint64
_z = ctypes.c_size_t


class Driver:
    """
    The loaded CUDA driver. Raises `NoDeviceError` when bindings, driver library or GPU is missing.

    `api` and `library` replace `cuda.bindings.driver` and `libcuda.so.1`, for tests.
    """

    def __init__(self, api: Any = None, library: Any = None) -> None:
        self.api = api or _import_bindings()
        self._library = library or _load_library()
        try:
            (status,) = self.api.cuInit(0)
        except Exception as cause:
            # cuda.bindings raises errors of several packages when it cannot resolve the driver.
            raise NoDeviceError(f"the NVIDIA driver could not be loaded: {cause}") from cause
        if int(status) != SUCCESS:
            raise NoDeviceError(f"cuInit failed: {self.describe(int(status))}")
        if self.call(self.api.cuDeviceGetCount) < 1:
            raise NoDeviceError("the NVIDIA driver reports no device (see CUDA_VISIBLE_DEVICES)")
        self.set_current = self._bind("cuCtxSetCurrent", _p)
        self.launch_kernel = self._bind("cuLaunchKernel", _p, *[_u] * 7, _p, _p, _p)
        self.stream_synchronize = self._bind("cuStreamSynchronize", _p)
        self.stream_query = self._bind("cuStreamQuery", _p)
        self.copy_in = self._bind("cuMemcpyHtoDAsync_v2", _d, _p, _z, _p)
        self.copy_out = self._bind("cuMemcpyDtoHAsync_v2", _p, _d, _z, _p)
        self.call_later = self._bind("cuLaunchHostFunc", _p, _p, _p)
        self.event_record = self._bind("cuEventRecord", _p, _p)
        self.stream_wait_event = self._bind("cuStreamWaitEvent", _p, _p, _u)
        self.copy_peer = self._bind("cuMemcpyPeerAsync", _d, _p, _d, _p, _z, _p)
        self.copy_device = self._bind("cuMemcpyDtoDAsync_v2", _d, _d, _z, _p)

    def _bind(self, name: str, *types: type) -> Callable[..., int]:
        function = getattr(self._library, name)
        function.argtypes = types
        function.restype = ctypes.c_int
        return function

    def address(self, name: str) -> int:
        """The address of a driver function, for compiled code."""
        return ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value or 0

    def call(self, function: Callable[..., Any], *args: object) -> Any:
        """Calls a function of cuda.bindings, and returns its result without the status. Raises
        `AccRuntimeError` for a failure."""
        status, *values = function(*args)
        if int(status) != SUCCESS:
            raise self.failure(int(status), function.__name__)
        return values[0] if len(values) == 1 else tuple(values) or None

    def attribute(self, which: Any, device: Any) -> int:
        """An attribute of a GPU by its handle."""
        return int(self.call(self.api.cuDeviceGetAttribute, which, device))

    def check(self, status: int, name: str) -> None:
        """Raises `AccRuntimeError` unless a ctypes-bound function succeeded."""
        if status != SUCCESS:
            raise self.failure(status, name)

    def describe(self, status: int) -> str:
        """`CUDA_ERROR_NAME: meaning` of a CUresult."""
        try:
            code = self.api.CUresult(status)
        except ValueError:
            return f"CUDA error {status}"
        _, name = self.api.cuGetErrorName(code)
        _, meaning = self.api.cuGetErrorString(code)
        return f"{_text(name) or code.name}: {_text(meaning)}"

    def failure(self, status: int, name: str) -> AccRuntimeError:
        """The run-time error for a failed driver function."""
        text = self.describe(status)
        if status == OUT_OF_MEMORY:
            return AccRuntimeError(ErrorClass.OUT_OF_MEMORY, f"{name} failed with {text}")
        if status in _KERNEL_FAULTS:
            return AccRuntimeError(
                ErrorClass.EXECUTION,
                f"a kernel failed on the GPU (seen by {name}): {text}",
                remedy="an access outside an array is the usual cause: compare its index with the"
                " section in the data clause; --target=host runs the same program on the CPU",
            )
        return AccRuntimeError(ErrorClass.EXECUTION, f"{name} failed with {text}")


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else ""


def _load_library() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as cause:
        raise NoDeviceError(
            "the NVIDIA driver's library libcuda.so.1 is not on this machine"
        ) from cause


def _import_bindings() -> Any:
    try:
        return import_module("cuda.bindings.driver")
    except ImportError as cause:
        raise NoDeviceError(
            "the Python package cuda-bindings is not installed (pip install 'accopt[cuda]')"
        ) from cause
