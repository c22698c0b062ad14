"""
A fake CUDA driver with several devices and contexts, for tests without a GPU.

Device memory is memory of this process. A stream's work is performed as late as the rules allow: when a
thread waits for it, or for work that follows it by an event. So missing order gives wrong data. Every call
makes the driver's checks and returns the driver's status: no context is current (201), a stream, event,
module or function of another context (400), memory that is not allocated or belongs to another device (1),
a context that is gone (709). `faults` lists the calls that failed.

Kernels are Python functions `kernel(memory_of_argument)` given by name: `arguments` is the address of the
launch's pointer array, whose values are taken at the launch.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from accopt.runtime.cuda.device import cuda_devices
from accopt.runtime.cuda.driver import Driver
from accopt.runtime.cuda.rows_kernel import WORDS, kernel_name
from accopt.runtime.device import DeviceProvider

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY = 0, 1, 2
INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND, NOT_READY = 201, 400, 500, 600
PEER_ALREADY, PEER_MISSING, DESTROYED = 704, 705, 709
NAMES = {
    1: "CUDA_ERROR_INVALID_VALUE",
    2: "CUDA_ERROR_OUT_OF_MEMORY",
    201: "CUDA_ERROR_INVALID_CONTEXT",
    400: "CUDA_ERROR_INVALID_HANDLE",
    500: "CUDA_ERROR_NOT_FOUND",
    709: "CUDA_ERROR_CONTEXT_IS_DESTROYED",
}

_p, _i, _u, _d, _z = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_size_t


class Name(int):
    """A constant of an enumeration that keeps its name."""

    name: str

    def __new__(cls, name: str) -> Name:
        self = super().__new__(cls, sum(map(ord, name)))
        self.name = name
        return self


class Names:
    """An enumeration with every name."""

    def __getattr__(self, name: str) -> Name:
        return Name(name)


@dataclass(eq=False)
class Context:
    device: int
    users: int = 0
    alive: bool = True
    peers: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Stream:
    context: Context
    flags: int = 0
    work: list[Callable[[], None]] = field(default_factory=list)
    done: int = 0

    def run(self, until: int | None = None) -> None:
        """Performs the work up to a position."""
        until = len(self.work) if until is None else until
        while self.done < until:
            self.done += 1
            self.work[self.done - 1]()


@dataclass(eq=False)
class Event:
    context: Context
    stream: Stream | None = None
    at: int = 0

    def run(self) -> None:
        if self.stream is not None:
            self.stream.run(self.at)


@dataclass
class Block:
    """Memory: `device` -1 is pinned memory of the host."""

    device: int
    buffer: Any
    size: int


class Fault(Exception):
    def __init__(self, status: int):
        self.status = status


class FakeCuda:
    """The fake driver; `api` and `library` are the arguments of `Driver`."""

    def __init__(
        self,
        devices: int = 2,
        kernels: dict[str, Callable[[Sequence[int]], None]] | None = None,
        *,
        arguments: dict[str, int] | None = None,
        peer_access: bool = True,
        pools: bool = True,
    ):
        self.devices, self.peer_access, self.pools = devices, peer_access, pools
        rows = {kernel_name(word): self._rows_kernel(word) for word in WORDS}
        self.kernels = {**rows, **(kernels or {})}
        self.arguments = {**dict.fromkeys(rows, 6), **(arguments or {})}
        self.pool_access: set[tuple[int, int]] = set()
        self.log: list[tuple[str, int]] = []
        self.faults: list[tuple[str, int]] = []
        self._lock = threading.RLock()
        self._next = 0x1000
        self._handles: dict[int, Any] = {}
        self._contexts: dict[int, int] = {}
        self._current: dict[int, int] = {}
        self.blocks: dict[int, Block] = {}
        self.api = self._make_api()
        self.library = self._make_library()

    def provider(self, count: int | None = None) -> DeviceProvider:
        return cuda_devices(count, Driver(self.api, self.library))

    def current(self) -> int | None:
        """The device whose context is the calling thread's."""
        context = self._handles.get(self._current.get(threading.get_ident(), 0))
        return context.device if context is not None else None

    def pin(self, array: Any) -> None:
        """Marks an array's memory (`ctypes.data`, `nbytes`) as pinned, so that its copies are performed as
        late as other work."""
        self.blocks[array.ctypes.data] = Block(-1, array, array.nbytes)

    def set_current(self, device: int | None) -> None:
        """Sets the current context, as another library would."""
        handle = 0 if device is None else self._contexts[device]
        self._current[threading.get_ident()] = handle

    # Handles and memory

    def _add(self, thing: Any) -> int:
        self._next += 0x10
        self._handles[self._next] = thing
        return self._next

    def _context(self) -> Context:
        context = self._handles.get(self._current.get(threading.get_ident(), 0))
        if context is None:
            raise Fault(INVALID_CONTEXT)
        if not context.alive:
            raise Fault(DESTROYED)
        return context

    def _own(self, handle: Any, kind: type) -> Any:
        """The object of a handle, which must belong to the current context."""
        thing = self._known(handle, kind)
        if thing.context is not self._context():
            raise Fault(INVALID_HANDLE)
        return thing

    def _known(self, handle: Any, kind: type) -> Any:
        thing = self._handles.get(int(handle or 0))
        if not isinstance(thing, kind):
            raise Fault(INVALID_HANDLE)
        if not thing.context.alive:
            raise Fault(DESTROYED)
        return thing

    def _block(self, address: int, size: int, device: int | None) -> Block | None:
        """The block around memory; None for pageable memory of the host (`device` None)."""
        for start, block in self.blocks.items():
            if start <= address < start + block.size:
                if address + size > start + block.size or (
                    block.device != -1 and block.device != device
                ):
                    raise Fault(INVALID_VALUE)
                return block
        if device is not None:
            raise Fault(INVALID_VALUE)
        return None

    def _allocate(self, device: int, size: int) -> int:
        if size <= 0:
            raise Fault(INVALID_VALUE)
        buffer = ctypes.create_string_buffer(b"\xcb" * size, size)
        address = ctypes.addressof(buffer)
        self.blocks[address] = Block(device, buffer, size)
        return address

    def _free(self, address: int, device: int) -> Block:
        block = self.blocks.get(int(address))
        if block is None or block.device != device:
            raise Fault(INVALID_VALUE)
        return self.blocks.pop(int(address))

    # What both kinds of functions do

    def _copy(self, target: int, source: int, size: int, handle: int, to: Any, origin: Any) -> None:
        """`to` and `origin`: the devices whose memory it is, None for the host's."""
        stream = self._own(handle, Stream)
        target_block = self._block(target, size, to)
        source_block = self._block(source, size, origin)
        if origin is None and source_block is None:  # pageable: taken at the call
            held = ctypes.string_at(source, size)
            stream.work.append(lambda: ctypes.memmove(target, held, size) and None)
            return
        stream.work.append(lambda: ctypes.memmove(target, source, size) and None)
        if to is None and target_block is None:
            stream.run()

    def _rows_kernel(self, word: int) -> Callable[[Sequence[int]], None]:
        """The runtime's own kernel, whose GPU has access to all of the memory."""

        def kernel(values: Sequence[int]) -> None:
            target, source, width, count, target_pitch, source_pitch = values
            for row in range(count // width):
                to, origin = target + row * target_pitch, source + row * source_pitch
                for place in (to, origin):
                    self._block(place, width * word, self._home(place))
                    assert place % word == 0 and self._home(place) is not None
                ctypes.memmove(to, origin, width * word)

        return kernel

    def _rows(self, copy: Any) -> tuple[int, int, int, int]:
        inward = copy.srcMemoryType.name.endswith("HOST")
        source = copy.srcHost if inward else copy.srcDevice
        target = copy.dstDevice if inward else copy.dstHost
        return source, target, copy.WidthInBytes, copy.Height

    def _launch(self, function: int, stream: int, arguments: int) -> None:
        name = self._own(function, SimpleNamespace).name
        queue = self._own(stream, Stream)
        count = self.arguments.get(name, 0)
        pointers = (ctypes.c_int64 * count).from_address(arguments) if count else ()
        values = [ctypes.c_int64.from_address(p).value for p in pointers]
        kernel = self.kernels[name]
        queue.work.append(lambda: kernel(values))

    # The functions

    def _guard(self, name: str, function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        def call(*args: Any) -> tuple[Any, ...]:
            with self._lock:
                device = self.current()
                self.log.append((name, -1 if device is None else device))
                try:
                    result = function(*args)
                except Fault as fault:
                    if fault.status not in (NOT_READY, PEER_ALREADY):
                        self.faults.append((name, fault.status))
                    return (fault.status, None, None)
            if result is None:
                return (SUCCESS,)
            return (SUCCESS, *result) if isinstance(result, tuple) else (SUCCESS, result)

        call.__name__ = name
        return call

    def _make_api(self) -> Any:
        api = SimpleNamespace()
        for name in dir(self):
            if name.startswith("cu") and name != "current":
                setattr(api, name, self._guard(name, getattr(self, name)))
        for name in ("CUstream_flags", "CUevent_flags", "CUdevice_attribute", "CUmemorytype"):
            setattr(api, name, Names())
        for name in ("CUmemPool_attribute", "CUlimit", "CUjit_option", "CUfunction_attribute"):
            setattr(api, name, Names())
        api.CU_MEMHOSTALLOC_DEVICEMAP, api.CU_MEMHOSTALLOC_PORTABLE = 2, 1
        api.CUDA_MEMCPY2D = api.CUDA_MEMCPY3D_PEER = SimpleNamespace
        api.CUmemLocationType = api.CUmemAccess_flags = Names()
        api.CUmemAccessDesc = lambda: SimpleNamespace(location=SimpleNamespace())
        api.CUresult = lambda status: SimpleNamespace(name=NAMES[status], status=status)
        api.cuuint64_t = int
        api.cuGetErrorName = lambda code: (0, code.name.encode())
        api.cuGetErrorString = lambda code: (0, b"")
        return api

    def _make_library(self) -> Any:
        """The functions that are called by address."""
        raw: dict[str, tuple[list[type], Callable[..., Any]]] = {
            "cuCtxSetCurrent": ([_p], self.cuCtxSetCurrent),
            "cuLaunchKernel": (
                [_p, *[_u] * 7, _p, _p, _p],
                lambda f, *r: self._launch(f, r[7], r[8]) if all(r[:6]) else self._refuse(),
            ),
            "cuStreamSynchronize": ([_p], lambda s: self._own(s, Stream).run()),
            "cuStreamQuery": ([_p], self._query),
            "cuLaunchHostFunc": ([_p, _p, _p], self._call_later),
            "cuMemcpyHtoDAsync_v2": (
                [_d, _p, _z, _p],
                lambda d, h, n, s: self._copy(d, h, n, s, self._context().device, None),
            ),
            "cuMemcpyDtoHAsync_v2": (
                [_p, _d, _z, _p],
                lambda h, d, n, s: self._copy(h, d, n, s, None, self._context().device),
            ),
            "cuMemcpyDtoDAsync_v2": (
                [_d, _d, _z, _p],
                lambda t, o, n, s: self._copy(
                    t, o, n, s, self._context().device, self._context().device
                ),
            ),
            "cuMemcpyPeerAsync": ([_d, _p, _d, _p, _z, _p], self._peer),
            "cuMemcpy3DPeerAsync": ([_p, _p], self._rectangle),
            "cuMemcpy2DAsync_v2": ([_p, _p], self._host_rectangle),
            "cuMemcpyAsync": ([_d, _d, _z, _p], self._any_copy),
            "cuEventSynchronize": ([_p], lambda e: self._context() and self._known(e, Event).run()),
            "cuEventQuery": ([_p], lambda e: self._context() and self._known(e, Event).run()),
            "cuEventRecord": ([_p, _p], self.cuEventRecord),
            "cuStreamWaitEvent": ([_p, _p, _u], self.cuStreamWaitEvent),
        }
        library = SimpleNamespace()
        for name, (types, function) in raw.items():
            guarded = self._guard(name, function)
            callback = ctypes.CFUNCTYPE(_i, *types)(lambda *a, g=guarded: int(g(*a)[0]))
            setattr(library, name, callback)
        return library

    def _call_later(self, stream: int, function: int, argument: int) -> None:
        called = ctypes.CFUNCTYPE(None, _p)(function)
        self._own(stream, Stream).work.append(lambda: called(argument))

    def _refuse(self) -> None:
        raise Fault(INVALID_VALUE)

    def _query(self, stream: int) -> None:
        found = self._own(stream, Stream)
        if found.done < len(found.work):
            raise Fault(NOT_READY)

    def _any_copy(self, target: int, source: int, size: int, stream: int) -> None:
        own = self._context().device
        devices = [self._home(address) for address in (target, source)]
        for device in devices:
            if device not in (None, own):
                raise Fault(INVALID_VALUE)
        self._copy(target, source, size, stream, *devices)

    def _home(self, address: int) -> int | None:
        for start, block in self.blocks.items():
            if start <= address < start + block.size:
                return None if block.device < 0 else block.device
        return None

    def _peer(self, target: int, to: int, source: int, origin: int, size: int, stream: int) -> None:
        devices = [self._handles[int(c)].device for c in (to, origin)]
        if self._context().device not in devices:
            raise Fault(INVALID_CONTEXT)
        self._copy(target, source, size, stream, *devices)

    def cuInit(self, flags: int) -> None:
        pass

    def cuDeviceGetCount(self) -> int:
        return self.devices

    def cuDeviceGet(self, number: int) -> int:
        return number

    def cuDeviceGetName(self, length: int, device: int) -> bytes:
        return b"fake\0"

    def cuDeviceGetAttribute(self, which: Name, device: int) -> int:
        if which.name.endswith("MEMORY_POOLS_SUPPORTED"):
            return int(self.pools)
        return 8

    def cuDriverGetVersion(self) -> int:
        return 13000

    def cuDeviceTotalMem(self, device: int) -> int:
        return 1 << 30

    def cuDevicePrimaryCtxRetain(self, device: int) -> int:
        found = self._contexts.get(device)
        if found is None or not self._handles[found].alive:
            found = self._contexts[device] = self._add(Context(device))
        self._handles[found].users += 1
        return found

    def cuDevicePrimaryCtxRelease(self, device: int) -> None:
        context = self._handles[self._contexts[device]]
        context.users -= 1
        context.alive = context.users > 0

    def cuCtxSetCurrent(self, context: int) -> None:
        if int(context or 0) and not self._handles[int(context)].alive:
            raise Fault(DESTROYED)
        self._current[threading.get_ident()] = int(context or 0)

    def cuCtxGetLimit(self, which: Name) -> int:
        self._context()
        return 1024

    def cuCtxSetLimit(self, which: Name, value: int) -> None:
        self._context()

    def cuDeviceCanAccessPeer(self, device: int, other: int) -> int:
        return int(self.peer_access and device != other)

    def cuCtxEnablePeerAccess(self, context: int, flags: int) -> None:
        own, other = self._context(), self._handles[int(context)]
        if not self.peer_access or other is own:
            raise Fault(PEER_MISSING)
        if other.device in own.peers:
            raise Fault(PEER_ALREADY)
        own.peers.add(other.device)

    def cuStreamCreate(self, flags: int) -> int:
        return self._add(Stream(self._context(), flags))

    def cuStreamCreateWithPriority(self, flags: int, priority: int) -> int:
        return self.cuStreamCreate(flags)

    def cuStreamDestroy(self, stream: int) -> None:
        self._own(stream, Stream).run()
        del self._handles[int(stream)]

    def cuEventCreate(self, flags: int) -> int:
        return self._add(Event(self._context()))

    def cuEventRecord(self, event: int, stream: int) -> None:
        found, queue = self._own(event, Event), self._own(stream, Stream)
        found.stream, found.at = queue, len(queue.work)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        queue, found = self._own(stream, Stream), self._known(event, Event)
        then = Event(found.context, found.stream, found.at)
        queue.work.append(then.run)

    def cuEventDestroy(self, event: int) -> None:
        self._context()
        self._known(event, Event)
        del self._handles[int(event)]

    def cuMemGetInfo(self) -> tuple[int, int]:
        device = self._context().device
        used = sum(block.size for block in self.blocks.values() if block.device == device)
        return (1 << 30) - used, 1 << 30

    def cuMemAlloc(self, size: int) -> int:
        return self._allocate(self._context().device, size)

    def cuMemFree(self, address: int) -> None:
        self._free(address, self._context().device)

    def cuMemAllocAsync(self, size: int, stream: int) -> int:
        return self._allocate(self._own(stream, Stream).context.device, size)

    def cuMemFreeAsync(self, address: int, stream: int) -> None:
        queue = self._own(stream, Stream)
        block = self._free(address, queue.context.device)
        queue.work.append(lambda: block.buffer and None)  # alive until then

    def cuDeviceGetDefaultMemPool(self, device: int) -> int:
        return device

    def cuMemPoolSetAttribute(self, pool: int, which: Name, value: int) -> None:
        pass

    def cuMemPoolGetAttribute(self, pool: int, which: Name) -> int:
        return 0

    def cuMemPoolTrimTo(self, pool: int, keep: int) -> None:
        pass

    def cuMemsetD8Async(self, address: int, value: int, size: int, stream: int) -> None:
        queue = self._own(stream, Stream)
        self._block(int(address), size, queue.context.device)
        queue.work.append(lambda: ctypes.memset(int(address), value, size) and None)

    def cuMemHostAlloc(self, size: int, flags: int) -> int:
        self._context()
        return self._allocate(-1, size)

    def cuMemHostGetDevicePointer(self, address: int, flags: int) -> int:
        self._context()
        return int(address)

    def cuMemFreeHost(self, address: int) -> None:
        self._context()
        self._free(address, -1)

    def cuModuleLoadData(self, data: bytes) -> int:
        return self._add(SimpleNamespace(context=self._context(), symbols={}))

    def cuModuleLoadDataEx(self, data: bytes, *options: Any) -> int:
        return self.cuModuleLoadData(data)

    def cuModuleUnload(self, module: int) -> None:
        self._own(module, SimpleNamespace)

    def cuModuleGetFunction(self, module: int, name: bytes) -> int:
        own = self._own(module, SimpleNamespace)
        if name.decode() not in self.kernels:
            raise Fault(NOT_FOUND)
        if name not in own.symbols:
            own.symbols[name] = self._add(SimpleNamespace(context=own.context, name=name.decode()))
        return own.symbols[name]

    def cuModuleGetGlobal(self, module: int, name: bytes) -> tuple[int, int]:
        own = self._own(module, SimpleNamespace)
        if name not in own.symbols:
            own.symbols[name] = self._allocate(own.context.device, 64)
        return own.symbols[name], 64

    def cuFuncSetAttribute(self, function: int, which: Name, value: int) -> None:
        self._own(function, SimpleNamespace)

    def cuMemPoolSetAccess(self, pool: int, access: list[Any], count: int) -> None:
        self.pool_access.add((pool, access[0].location.id))

    def _rectangle(self, words: int, stream: int) -> None:
        """From the structure in memory, whose fields are the driver's."""
        side = (
            "x",
            "y",
            "z",
            "lod",
            "type",
            "host",
            "device",
            "array",
            "context",
            "pitch",
            "height",
        )
        names = [f"{s}_{name}" for s in ("src", "dst") for name in side] + [
            "width",
            "rows",
            "depth",
        ]
        copy = dict(zip(names, (ctypes.c_int64 * len(names)).from_address(words), strict=True))
        if copy["src_type"] != 2 or copy["dst_type"] != 2 or copy["depth"] != 1:
            raise Fault(INVALID_VALUE)
        if min(copy["src_pitch"], copy["dst_pitch"]) < copy["width"]:
            raise Fault(INVALID_VALUE)
        for row in range(copy["rows"]):
            self._peer(
                copy["dst_device"] + row * copy["dst_pitch"],
                copy["dst_context"],
                copy["src_device"] + row * copy["src_pitch"],
                copy["src_context"],
                copy["width"],
                stream,
            )

    def _host_rectangle(self, words: int, stream: int) -> None:
        """From the structure in memory."""
        side = ("x", "y", "type", "host", "device", "array", "pitch")
        names = [f"{s}_{name}" for s in ("src", "dst") for name in side] + ["width", "rows"]
        copy = dict(zip(names, (ctypes.c_int64 * len(names)).from_address(words), strict=True))
        if {copy["src_type"], copy["dst_type"]} != {1, 2}:
            raise Fault(INVALID_VALUE)
        if min(copy["src_pitch"], copy["dst_pitch"]) < copy["width"]:
            raise Fault(INVALID_VALUE)
        own = self._context().device
        places, homes = {}, {}
        for s in ("src", "dst"):
            on_host = copy[f"{s}_type"] == 1
            places[s] = copy[f"{s}_host" if on_host else f"{s}_device"]
            homes[s] = None if on_host else own
        for row in range(copy["rows"]):
            to, origin = (places[s] + row * copy[f"{s}_pitch"] for s in ("dst", "src"))
            self._copy(to, origin, copy["width"], stream, homes["dst"], homes["src"])

    def cuMemcpy3DPeerAsync(self, copy: Any, stream: int) -> None:
        for row in range(copy.Height):
            self._peer(
                copy.dstDevice + row * copy.dstPitch,
                copy.dstContext,
                copy.srcDevice + row * copy.srcPitch,
                copy.srcContext,
                copy.WidthInBytes,
                stream,
            )

    def cuMemcpy2DAsync(self, copy: Any, stream: int) -> None:
        source, target, width, height = self._rows(copy)
        device = self._context().device
        inward = copy.srcMemoryType.name.endswith("HOST")
        for row in range(height):
            self._copy(
                target + row * copy.dstPitch,
                source + row * copy.srcPitch,
                width,
                stream,
                device if inward else None,
                None if inward else device,
            )
