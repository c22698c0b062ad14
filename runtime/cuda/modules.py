"""The code loaded on a GPU: modules, their kernels and variables, and the limits that they need."""

from __future__ import annotations

from typing import Any

from ...compiler.backend.module_parts import ptx_parts
from ..device import CubinImage, ModuleImage, PtxImage
from ..errors import AccRuntimeError, ErrorClass
from .device_stack import has_recursion, heap_bytes, stack_bytes, uses_heap
from .driver import SUCCESS, Driver
from .memory import CudaMemory

_TELLING = (b"vprintf", b"__assertfail")
"""Functions of device code by which the host can observe the progress of a kernel."""
JIT_LOG_BYTES = 16 << 10


class CudaModules:
    """The modules of the GPU with this handle, whose context is current in all calls."""

    def __init__(self, driver: Driver, handle: Any, memory: CudaMemory):
        self._driver = driver
        self._handle = handle
        self._memory = memory
        self._loaded: list[Any] = []
        self.tells = False
        """As `Device.tells`."""

    def load(self, image: ModuleImage) -> Any:
        """Loads PTX (compiled by the driver, whose log is in the error on failure) or a cubin; returns the
        module, of several the last."""
        module: Any = None
        if isinstance(image, CubinImage):
            code = image.data
            module = self._driver.call(self._driver.api.cuModuleLoadData, code)
            self._loaded.append(module)
        elif isinstance(image, PtxImage):
            code = image.text.encode()
            self._raise_limits(image.text)
            for part in ptx_parts(image.text):
                module = self._compiled(part.encode())
                self._loaded.append(module)
        else:
            raise AccRuntimeError(
                ErrorClass.INVALID_ARGUMENT, f"a GPU cannot load a {type(image).__name__}"
            )
        self.tells |= any(name in code for name in _TELLING)
        return module

    def _compiled(self, ptx: bytes) -> Any:
        api = self._driver.api
        log = bytearray(JIT_LOG_BYTES)
        option = api.CUjit_option
        options = [
            option.CU_JIT_ERROR_LOG_BUFFER,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        status, module = api.cuModuleLoadDataEx(ptx + b"\0", len(options), options, [log, len(log)])
        if int(status) != SUCCESS:
            text = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
            raise AccRuntimeError(
                ErrorClass.EXECUTION,
                f"the driver rejects the program's PTX: {self._driver.describe(int(status))}\n{text}",
                remedy="this is a fault in accopt, or a --target newer than this GPU",
            )
        return module

    def function(self, symbol: str) -> Any:
        """The driver's handle of a kernel."""
        api = self._driver.api
        for module in self._loaded:
            status, function = api.cuModuleGetFunction(module, symbol.encode())
            if int(status) == SUCCESS:
                return function
        raise AccRuntimeError(ErrorClass.EXECUTION, f"the loaded GPU code has no kernel '{symbol}'")

    def global_address(self, symbol: str) -> int:
        """The address of a global variable."""
        api = self._driver.api
        for module in self._loaded:
            status, address, _ = api.cuModuleGetGlobal(module, symbol.encode())
            if int(status) == SUCCESS:
                return int(address)
        raise AccRuntimeError(
            ErrorClass.EXECUTION, f"the loaded GPU code has no global variable '{symbol}'"
        )

    def close(self) -> None:
        """Unloads all modules."""
        for module in self._loaded:
            self._driver.call(self._driver.api.cuModuleUnload, module)
        self._loaded.clear()

    def _raise_limits(self, ptx: str) -> None:
        """Raises the limits of the context to what kernels of a module need, before they do."""
        driver, api = self._driver, self._driver.api
        if has_recursion(ptx):
            which = api.CUdevice_attribute
            processors, threads = (
                driver.attribute(attribute, self._handle)
                for attribute in (
                    which.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                    which.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                )
            )
            wanted = stack_bytes(self._memory.available(), processors * threads)
            self._raise_limit(api.CUlimit.CU_LIMIT_STACK_SIZE, wanted)
        if uses_heap(ptx):
            wanted = heap_bytes(self._memory.available())
            self._raise_limit(api.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, wanted)

    def _raise_limit(self, limit: Any, wanted: int) -> None:
        api, call = self._driver.api, self._driver.call
        if wanted > int(call(api.cuCtxGetLimit, limit)):
            call(api.cuCtxSetLimit, limit, wanted)
