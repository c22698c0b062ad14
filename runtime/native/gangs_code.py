"""
LLVM IR of the functions of `gangs.py`: memory, clock and sleep here, the rest in the other files. Format
fields: `max_threads`, threads of the team; `jobs`, launches it works on at a time; `pause` and
`pause_declared`, a call of the processor's instruction for a thread that spins; `wait_number`, the
number of the system call `futex`; `spin_ns`, `worth_ns`, `wake_ns`, `start_ns`, `tried_gangs`,
`owed_ns`, `member_ns`, `piece_ns`, `single_ns`, `lead_ns`, `probe_ns`, in ns; `balance_launches`, launches
after which a share is changed; those of `QUEUES`; `signals`, the signals that the threads of the team block;
`signal_stack`, `jobs_bytes` and `calls_bytes`, sizes in bytes of a stack and of tables; `caches` and
`cache_bytes`, the last-level caches and the size of one; `stencils_stay`, whether stencils have ordinary
stores.
"""

from __future__ import annotations

import ctypes

from .gangs_launches import LAUNCHES
from .gangs_members import FORKED, MEMBER, WAKING
from .gangs_queues import QUEUES
from .gangs_sharing import SHARING
from .gangs_team import TEAM
from .text import structure

MAX_THREADS = 256


@structure("share")
class GangShare(ctypes.Structure):
    """
    The share of a launch of a member, and how it is called to it: all that it must know is in one line of the
    cache, since a line takes longer from one processor to another than a thread takes for 1000 elements.

    `gangs`: those not yet taken, the first in the upper half and the end in the lower one; `inside`: 1 if
    the member is in the launch, 2 if the launching thread sleeps until it is out; `share_count`, `total`:
    shares and gangs of the launch; `grain`: gangs in the least piece; `helps`: whether members help others
    (the launching thread always does). Of the first job's shares only: `door`, a number that changes when
    there is work for the member, with one more than the job's number in the lower four bits; `sleeps`: 1 if
    the member sleeps.
    """

    _fields_ = (
        ("gangs", ctypes.c_int64),
        ("inside", ctypes.c_int32),
        ("share_count", ctypes.c_int32),
        ("kernel", ctypes.c_void_p),
        ("args", ctypes.c_void_p),
        ("total", ctypes.c_int64),
        ("grain", ctypes.c_int64),
        ("helps", ctypes.c_int32),
        ("door", ctypes.c_int32),
        ("sleeps", ctypes.c_int32),
        ("unused", ctypes.c_int32),
    )


@structure("job")
class GangJob(ctypes.Structure):
    """A launch on which the team works; `owner`: whether it is in use, which launching threads ask only."""

    _fields_ = (
        ("owner", ctypes.c_int32),
        ("unused", ctypes.c_int32 * 15),
        ("shares", GangShare * MAX_THREADS),
    )


@structure("call")
class MemberCall(ctypes.Structure):
    """What a member is called for. `state`: 0 the member is free, 1 taken, 2 called."""

    _fields_ = (
        ("state", ctypes.c_int64),
        ("function", ctypes.c_void_p),
        ("argument", ctypes.c_void_p),
        ("unused", ctypes.c_int64 * 13),
    )


STATE = """
@ticket = internal global i32 0, align 64
@size = internal global i32 0, align 64
@owed = internal global i64 0, align 64
@growing = internal global i32 0, align 4
; the number of members that sleep or are about to: if 0, no thread reads the words on which members spin
@asleep = internal global i32 0, align 64
; for each member
@calls = internal global [{max_threads} x %call] zeroinitializer, align 64
@jobs = internal global [{jobs} x %job] zeroinitializer, align 64

declare i32 @clock_gettime(i32, ptr)
declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigaltstack(ptr, ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.abs.i64(i64, i1)
declare double @llvm.sqrt.f64(double)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
{pause_declared}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; where member %i is called
define internal ptr @place(i64 %i) {{
  %shares = &@jobs->job.shares
  %place = getelementptr %share, ptr %shares, i64 %i
  ret ptr %place
}}

define internal i64 @now() {{
  %time = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %rest = load i64, ptr %time[i64 1]
  %whole = mul i64 %seconds, 1000000000
  %result = add i64 %whole, %rest
  ret i64 %result
}}

define internal void @sleep(ptr %word, i32 %value) noinline {{
  %status = call i64 (i64, ...) @syscall(i64 {wait_number}, ptr %word, i32 128, i32 %value, ptr null)
  ret void
}}

define internal void @rouse(ptr %word) noinline {{
  %status = call i64 (i64, ...) @syscall(i64 {wait_number}, ptr %word, i32 129, i32 1)
  ret void
}}

"""
"""Definitions that the functions share."""

TEMPLATE = STATE + WAKING + SHARING + TEAM + MEMBER + LAUNCHES + QUEUES + FORKED
