"""
The CPU threads that run gangs: a team for the whole process, in native code.

    launch(kernel, grid, block, shared, stream, args, extra), as `cuLaunchKernel`; `kernel` is a `GangKernel`
    and others that stand for a driver's (`gangs_queues.py`)

The thread that launches is a member of the team. It divides the gangs into a share for each member, calls
the others, runs its own, then what others have not begun; then it waits for those that still run some. Member
t always begins with share t, half of it at a time (short shares at once), so that memory that a launch has
touched is near the member that will use it next. A member that has finished its share helps others, unless
shares are single pieces (then only the launching thread helps). No member waits for others that have yet to
wake: the others' shares are taken over.

All that a member must know of a launch, that there is one, what it runs, and which gangs are its own, is in
one line of the cache, in which the member also records that it takes part. So the launching thread writes a
line for each member and waits for none of them, and a member waits for one line and for the arguments. As it
begins later, the launching thread's share is larger by what runs until then.

Members that find no work spin for a while on a word of that line (their *door*), then sleep (`futex`). A
woken member wakes two more, so that the launching thread wakes at most two.

The number of threads for a launch is decided by *measurement*: each kernel remembers how long a gang
takes. The launching thread starts a short launch alone; if the first eighth takes longer than expected,
the rest is opened to the team. A kernel's first launch is started in the same way, with a smaller part.
From time to time the time of the team is compared with that of one thread: one thread may be faster if
processors are busy with other work, or if data is in its cache; the kernel then runs in one thread until
the team is faster again, which is tried with members that have been woken for it. Results do not depend on
the number of threads: gangs are those of the launch, and reductions combine their parts in the order of gangs
(`passes/convert_acc_compute_to_host/gang_partials.py`).

Several threads may launch at the same time. Each launch has a *job*, and members take part in any job; when
there are more launches than jobs, the further ones run only in their own threads. Launches of kernels that
share scratch memory run one after the other.

A member may also be *taken* for a function of its own, as a thread of an OpenMP team (`team_take`,
`team_call`, `team_release`): it does not help with launches until that function returns. So OpenMP and
launches use the same threads, and a launch by one of them is helped only by members that are idle.

Members block signals, and end with the process. A forked process has no members; it starts its own when it
needs them (`forked`).
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache
from typing import TYPE_CHECKING, Any

from ..device import NativeDriver
from .caches import last_level_caches, stencils_stream
from .gangs_code import MAX_THREADS, TEMPLATE, GangJob, MemberCall
from .gangs_queues import AT_ONCE_NS, SOON_NS
from .queues import NOT_READY
from .rows_copy import HOST_MEMORY
from .text import structure

if TYPE_CHECKING:
    from ...compiler.backend.cache import DiskCache

JOBS = 8
SPIN_NS = 200_000
"""The time for which a member without work spins: longer than most host code between two constructs
takes."""
WORTH_NS = 5_000
"""The time below which a launch is not worth a second thread, even one that spins."""
WAKE_NS = 40_000
"""The time below which a launch is not worth a second thread if the others sleep."""
START_NS = 100_000
"""The time below which a launch is not worth a second thread if it must be created."""
TRIED_GANGS = 16
"""The number of gangs from which the first is tried alone in a kernel's first launch."""
OWED_NS = 200_000
"""The total time of launches between the two limits from which they wake the others, as such launches are
then frequent enough to keep them awake."""
MEMBER_NS = 250
"""The time by which each further member makes a launch longer: it is called and awaited."""
PIECE_NS = 4_000
"""The least time of a piece of a share: taking one, and looking for one, reads words of other members."""
SINGLE_NS = 8_000
"""The time of a share up to which it is a single piece: taking one waits for what the last one stored."""
LEAD_NS = 300
"""The time by which a member is taken to begin, and to be seen to end, later than the launching thread, until
launches tell (`balance`)."""
BALANCE_LAUNCHES = 32
"""The launches after which the launching thread's share is changed, if it has waited in all, or in none."""
PROBE_NS = 500_000
"""The time of the team below which a launch is run once in one thread, to compare."""
COPY_BYTES = 1 << 20
"""The bytes below which one thread copies."""
_COPY_PIECES = 256
_OPT_LEVEL = 2
_SIGNAL_STACK_BYTES = 1 << 16

_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_PAUSE = {
    "x86_64": ("@llvm.x86.sse2.pause()", "@llvm.x86.sse2.pause()"),
    "aarch64": ("@llvm.aarch64.hint(i32 1)", "@llvm.aarch64.hint(i32)"),
}
"""The call, and the declaration, of the instruction that tells the processor that a thread spins."""
_OWN_SIGNALS = (4, 5, 6, 7, 8, 11, 31)
"""SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: signals that a thread's own actions raise."""


TEAM_SERVICES = (
    "team_take",
    "team_call",
    "team_release",
    "team_add",
    "team_swap",
    "team_load",
    "team_store",
    "team_spin",
    "team_sleep",
    "team_wake",
    "team_fence",
    "team_cache",
)
"""
Functions for OpenMP's runtime: members for functions of their own; atomic operations on words of 64 bits;
waiting for a word to change (sleeping looks at its lower half). The last one is for non-temporal stores.
"""


@structure("kernel")
class GangKernel(ctypes.Structure):
    """
    A kernel as `launch` takes it: the address of its function, the measured time of a gang (1/1024 ns; 0:
    not known), the threads it may use, and whether its launches must not overlap; the times of a gang in
    launches by one thread and by the team, and the number of comparisons; the time of a gang in the last
    launch of an asynchronous queue; how the last launch by the team
    was divided, the gangs of the launching thread's share in it, and how often it has waited more than not.
    """

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("each", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("lock", ctypes.c_int32),
        ("alone", ctypes.c_int32),
        ("by_one", ctypes.c_int64),
        ("by_team", ctypes.c_int64),
        ("compared", ctypes.c_int64),
        ("queued", ctypes.c_int64),
        ("division", ctypes.c_int64),
        ("own", ctypes.c_int64),
        ("balance", ctypes.c_int64),
    )


class _Copy(ctypes.Structure):
    _fields_ = (
        ("target", ctypes.c_void_p),
        ("source", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
    )


def gangs_ir(machine: str) -> str:
    """The team's code for a kind of processor, as `platform.machine` names it."""
    mask = (1 << 64) - 1
    for signal in _OWN_SIGNALS:
        mask &= ~(1 << (signal - 1))
    pause, declaration = _PAUSE.get(machine, ("", ""))
    caches = last_level_caches()
    return TEMPLATE.format(
        max_threads=MAX_THREADS,
        jobs=JOBS,
        pause=f"call void {pause}" if pause else "",
        pause_declared=f"declare void {declaration}" if pause else "",
        wait_number=_FUTEX[machine],
        signal_stack=_SIGNAL_STACK_BYTES,
        spin_ns=SPIN_NS,
        worth_ns=WORTH_NS,
        wake_ns=WAKE_NS,
        start_ns=START_NS,
        tried_gangs=TRIED_GANGS,
        owed_ns=OWED_NS,
        member_ns=MEMBER_NS,
        piece_ns=PIECE_NS,
        single_ns=SINGLE_NS,
        lead_ns=LEAD_NS,
        balance_launches=BALANCE_LAUNCHES,
        probe_ns=PROBE_NS,
        at_once_ns=AT_ONCE_NS,
        soon_ns=SOON_NS,
        host_memory=HOST_MEMORY,
        not_ready=NOT_READY,
        signals=mask - (1 << 64),
        jobs_bytes=ctypes.sizeof(GangJob) * JOBS,
        calls_bytes=ctypes.sizeof(MemberCall) * MAX_THREADS,
        caches=caches.count,
        cache_bytes=caches.bytes,
        stencils_stay=int(not stencils_stream()),
    )


def compile_team(cache: DiskCache) -> None:
    """Puts the team's code into the cache, where the first program finds it."""
    from .code import native_object

    native_object(gangs_ir(platform.machine()), cache, _OPT_LEVEL)


class GangTeam:
    """The compiled functions, for the life of the process: members may be running them when it ends."""

    def __init__(self) -> None:
        from .code import NativeCode
        from .guard import guard

        self._code = NativeCode(gangs_ir(platform.machine()), optimize=_OPT_LEVEL)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._code))
        address = self._code.address
        self.launch_address = address("launch")
        self.driver = NativeDriver(
            self.launch_address,
            address("synchronize"),
            address("record"),
            address("wait_event"),
            stream_query=address("query"),
            copy_in=address("copy_little"),
            copy_out=address("copy_little"),
            copy_rows=address("copy_rows"),
            call_later=address("call_later"),
        )
        """The functions that stand for a driver's."""
        pointer = ctypes.c_void_p
        self._run: Any = self._code.function("run", None, pointer, ctypes.c_int64, pointer)
        word, number = ctypes.c_int64, ctypes.c_uint32
        self._launch: Any = self._code.function(
            "launch", ctypes.c_int32, pointer, *[number] * 7, word, pointer, pointer
        )
        if (guarding := guard()) is not None:
            prototype = ctypes.CFUNCTYPE(
                ctypes.c_int32, pointer, *[number] * 7, word, pointer, pointer
            )
            self._launch = guarding.raising(prototype, self.launch_address, self)
        self.services = {f"__accopt_{name}": self._code.address(name) for name in TEAM_SERVICES}
        """C addresses of the functions that OpenMP's runtime uses (`compiler/c/openmp/runtime.c`)."""
        self._on_fork(self._code.address("forked"))

    def _on_fork(self, child: int) -> None:
        """
        Registers `child` with the C library to be called in forked processes; POSIX's `pthread_atfork` is
        not in glibc's shared library.
        """
        libc: Any = ctypes.CDLL(None)
        handler = ctypes.c_void_p(child)
        if hasattr(libc, "__register_atfork"):
            libc["__register_atfork"](None, None, handler, None)
        else:
            libc["pthread_atfork"](None, None, handler)

    def kernel(self, function: int, threads: int) -> GangKernel:
        """A kernel for at most `threads` threads; the caller keeps it alive as long as it may be
        launched."""
        return GangKernel(function, 0, min(threads, MAX_THREADS))

    def launch(self, kernel: GangKernel, grid: tuple[int, int, int], args: int) -> None:
        """Runs all gangs, without Python's global lock."""
        self._launch(ctypes.addressof(kernel), *grid, 1, 1, 1, 0, 0, args, None)

    def copy(self, target: int, source: int, size: int, threads: int) -> None:
        """Copies memory that does not overlap; large blocks in several threads."""
        if size < COPY_BYTES or threads == 1:
            ctypes.memmove(target, source, size)
            return
        kernel = self._copies(threads)
        arguments = _Copy(target, source, size)
        self._run(ctypes.addressof(kernel), _COPY_PIECES, ctypes.addressof(arguments))

    @cache  # noqa: B019 (there is one team)
    def _copies(self, threads: int) -> GangKernel:
        return self.kernel(self._code.address("copy"), threads)


@cache
def gang_team() -> GangTeam:
    """The team of this process."""
    return GangTeam()
