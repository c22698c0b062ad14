"""
LLVM IR of native threads that wait for work: the part of `transfer.py` that does not depend on transfers.

    perform(ptr team, ptr work, ptr argument, i64 threads)
    dismiss(ptr team)

`perform` calls `work(argument)` in up to `threads` threads, including the caller's, and returns when all
calls have returned. The others are started when they are first needed, and kept: starting 16 threads takes
half a millisecond, waking them a tenth of that. `dismiss` ends them.

A team is zeroed memory. A call is a *ticket*, which any idle thread of the team takes. When its own call
has returned, the caller takes back the remaining tickets: by then no work is left, and it need not wait for
threads that have yet to wake.
"""

from __future__ import annotations

import ctypes

MAX_THREADS = 16


class Team(ctypes.Structure):
    """The memory of a team; on Linux, zeros are initialised POSIX mutexes and conditions."""

    _fields_ = (
        ("mutex", ctypes.c_int64 * 8),
        ("called", ctypes.c_int64 * 8),
        ("done", ctypes.c_int64 * 8),
        ("tickets", ctypes.c_int64),
        ("pending", ctypes.c_int64),
        ("dismissed", ctypes.c_int64),
        ("work", ctypes.c_void_p),
        ("argument", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("threads", ctypes.c_int64 * MAX_THREADS),
    )


THREADS_IR = """
%team = type { [8 x i64], [8 x i64], [8 x i64], i64, i64, i64, ptr, ptr, i64, [16 x i64] }

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)

define void @perform(ptr %team, ptr %work, ptr %argument, i64 %threads) {
entry:
  %others = sub i64 %threads, 1
  %called = getelementptr %team, ptr %team, i32 0, i32 1
  %done = getelementptr %team, ptr %team, i32 0, i32 2
  %tickets_at = getelementptr %team, ptr %team, i32 0, i32 3
  %pending_at = getelementptr %team, ptr %team, i32 0, i32 4
  %work_at = getelementptr %team, ptr %team, i32 0, i32 6
  %argument_at = getelementptr %team, ptr %team, i32 0, i32 7
  %size_at = getelementptr %team, ptr %team, i32 0, i32 8
  br label %grow
grow:
  %size = load i64, ptr %size_at
  %few = icmp slt i64 %size, %others
  br i1 %few, label %begin, label %call
begin:
  %thread = getelementptr %team, ptr %team, i32 0, i32 9, i64 %size
  %status = call i32 @pthread_create(ptr %thread, ptr null, ptr @member, ptr %team)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %begun, label %call
begun:
  %more = add i64 %size, 1
  store i64 %more, ptr %size_at
  br label %grow
call:
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  store ptr %work, ptr %work_at
  store ptr %argument, ptr %argument_at
  store i64 %others, ptr %tickets_at
  store i64 %others, ptr %pending_at
  %alone = icmp sle i64 %others, 0
  br i1 %alone, label %start, label %wake
wake:
  %woken = call i32 @pthread_cond_broadcast(ptr %called)
  br label %start
start:
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %own = call ptr %work(ptr %argument)
  %locked_again = call i32 @pthread_mutex_lock(ptr %team)
  %untaken = load i64, ptr %tickets_at
  %all = load i64, ptr %pending_at
  %rest = sub i64 %all, %untaken
  store i64 0, ptr %tickets_at
  store i64 %rest, ptr %pending_at
  br label %look
look:
  %pending = load i64, ptr %pending_at
  %some = icmp ne i64 %pending, 0
  br i1 %some, label %wait, label %end
wait:
  %waited = call i32 @pthread_cond_wait(ptr %done, ptr %team)
  br label %look
end:
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr %team)
  ret void
}

define internal ptr @member(ptr %team) {
entry:
  %called = getelementptr %team, ptr %team, i32 0, i32 1
  %done = getelementptr %team, ptr %team, i32 0, i32 2
  %tickets_at = getelementptr %team, ptr %team, i32 0, i32 3
  %pending_at = getelementptr %team, ptr %team, i32 0, i32 4
  %dismissed_at = getelementptr %team, ptr %team, i32 0, i32 5
  %work_at = getelementptr %team, ptr %team, i32 0, i32 6
  %argument_at = getelementptr %team, ptr %team, i32 0, i32 7
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  br label %look
look:
  %dismissed = load i64, ptr %dismissed_at
  %leaves = icmp ne i64 %dismissed, 0
  br i1 %leaves, label %leave, label %stay
stay:
  %tickets = load i64, ptr %tickets_at
  %some = icmp sgt i64 %tickets, 0
  br i1 %some, label %take, label %wait
wait:
  %waited = call i32 @pthread_cond_wait(ptr %called, ptr %team)
  br label %look
take:
  %fewer = sub i64 %tickets, 1
  store i64 %fewer, ptr %tickets_at
  %work = load ptr, ptr %work_at
  %argument = load ptr, ptr %argument_at
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %result = call ptr %work(ptr %argument)
  %locked_again = call i32 @pthread_mutex_lock(ptr %team)
  %pending = load i64, ptr %pending_at
  %left = sub i64 %pending, 1
  store i64 %left, ptr %pending_at
  %last = icmp eq i64 %left, 0
  br i1 %last, label %tell, label %look
tell:
  %told = call i32 @pthread_cond_signal(ptr %done)
  br label %look
leave:
  %unlocked_last = call i32 @pthread_mutex_unlock(ptr %team)
  ret ptr null
}

define void @dismiss(ptr %team) {
entry:
  %called = getelementptr %team, ptr %team, i32 0, i32 1
  %dismissed_at = getelementptr %team, ptr %team, i32 0, i32 5
  %size_at = getelementptr %team, ptr %team, i32 0, i32 8
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  store i64 1, ptr %dismissed_at
  %woken = call i32 @pthread_cond_broadcast(ptr %called)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %size = load i64, ptr %size_at
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %some = icmp slt i64 %i, %size
  br i1 %some, label %join, label %end
join:
  %thread_at = getelementptr %team, ptr %team, i32 0, i32 9, i64 %i
  %thread = load i64, ptr %thread_at
  %joined = call i32 @pthread_join(i64 %thread, ptr null)
  %next = add i64 %i, 1
  br label %look
end:
  store i64 0, ptr %size_at
  ret void
}
"""
