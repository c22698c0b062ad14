"""
LLVM IR of the functions of `gangs.py`: memory, clock and sleep here, the rest in the other files. Format
fields: `max_threads`, threads of the team; `jobs`, launches it works on at a time; `pause` and
`pause_declared`, a call of the processor's instruction for a thread that spins; `wait_number`, the number
of the system call `futex`; `spin_ns`, `worth_ns`, `wake_ns`, `owed_ns`, `share_ns`, `probe_ns`, in ns;
`signals`, the signals that the threads of the team block; `signal_stack`, `beds_bytes`, `jobs_bytes` and
`calls_bytes`, sizes in bytes of a stack and of tables.
"""

from .gangs_launches import LAUNCHES
from .gangs_members import FORKED, MEMBER, WAKING
from .gangs_sharing import SHARING
from .gangs_team import TEAM

STATE = """
; owner, state (the number of shares, the flags OPEN and WAITING), kernel, args, gangs, shares, grain, whether
; members help others (the launching thread always does), spare; then a cache line for each share: gangs from
; the upper half up to the lower half of a word, and whether member i is in. Members that join
; write to their own lines, so that they do not wait for each other
%job = type {{ i32, i32, ptr, ptr, i64, i64, i64, i64, i64, [{max_threads} x [8 x i64]] }}
; kernel, the time of a gang in 1/1024 ns (0: not known), threads, lock, whether it is used; a gang's time
; in launches by one thread, and in those by the team, from start to end; the number of comparisons of the two
%kernel = type {{ ptr, i64, i64, i32, i32, i64, i64, i64 }}

@ticket = internal global i32 0, align 64
@size = internal global i32 0, align 64
@owed = internal global i64 0, align 64
@growing = internal global i32 0, align 4
; the number of members that sleep or are about to: if 0, no thread reads the words on which members spin
@asleep = internal global i32 0, align 64
; for each member: whether it sleeps, and a number that changes when there is work for it (its door)
@sleeping = internal global [{max_threads} x [16 x i32]] zeroinitializer, align 64
; for each member: 0 free, 1 taken, 2 called; then the function and its argument
@calls = internal global [{max_threads} x [16 x i64]] zeroinitializer, align 64
@jobs = internal global [{jobs} x %job] zeroinitializer, align 64

declare i32 @clock_gettime(i32, ptr)
declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigaltstack(ptr, ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
{pause_declared}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @now() {{
  %time = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %rest_at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest_at
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

TEMPLATE = STATE + WAKING + SHARING + TEAM + MEMBER + LAUNCHES + FORKED
