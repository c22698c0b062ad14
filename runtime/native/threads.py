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

from .text import structure

MAX_THREADS = 16


@structure("team")
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
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)

define void @perform(ptr %team, ptr %work, ptr %argument, i64 %threads) {{
entry:
  %others = sub i64 %threads, 1
  %called = &%team->team.called
  %done = &%team->team.done
  br label %grow
grow:
  %size = %team->team.size
  if slt i64 %size, %others: begin, call
begin:
  %threads_at = &%team->team.threads
  %thread = getelementptr i64, ptr %threads_at, i64 %size
  %status = call i32 @pthread_create(ptr %thread, ptr null, ptr @member, ptr %team)
  if eq i32 %status, 0: begun, call
begun:
  %more = add i64 %size, 1
  %team->team.size = %more
  br label %grow
call:
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  %team->team.work = %work
  %team->team.argument = %argument
  %team->team.tickets = %others
  %team->team.pending = %others
  if sle i64 %others, 0: start, wake
wake:
  %woken = call i32 @pthread_cond_broadcast(ptr %called)
  br label %start
start:
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %own = call ptr %work(ptr %argument)
  %locked_again = call i32 @pthread_mutex_lock(ptr %team)
  %untaken = %team->team.tickets
  %all = %team->team.pending
  %rest = sub i64 %all, %untaken
  %team->team.tickets = 0
  %team->team.pending = %rest
  br label %look
look:
  %pending = %team->team.pending
  if ne i64 %pending, 0: wait, end
wait:
  %waited = call i32 @pthread_cond_wait(ptr %done, ptr %team)
  br label %look
end:
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr %team)
  ret void
}}

define internal ptr @member(ptr %team) {{
entry:
  %called = &%team->team.called
  %done = &%team->team.done
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  br label %look
look:
  %dismissed = %team->team.dismissed
  if ne i64 %dismissed, 0: leave, stay
stay:
  %tickets = %team->team.tickets
  if sgt i64 %tickets, 0: take, wait
wait:
  %waited = call i32 @pthread_cond_wait(ptr %called, ptr %team)
  br label %look
take:
  %fewer = sub i64 %tickets, 1
  %team->team.tickets = %fewer
  %work = %team->team.work
  %argument = %team->team.argument
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %result = call ptr %work(ptr %argument)
  %locked_again = call i32 @pthread_mutex_lock(ptr %team)
  %pending = %team->team.pending
  %left = sub i64 %pending, 1
  %team->team.pending = %left
  if eq i64 %left, 0: tell, look
tell:
  %told = call i32 @pthread_cond_signal(ptr %done)
  br label %look
leave:
  %unlocked_last = call i32 @pthread_mutex_unlock(ptr %team)
  ret ptr null
}}

define void @dismiss(ptr %team) {{
entry:
  %called = &%team->team.called
  %locked = call i32 @pthread_mutex_lock(ptr %team)
  %team->team.dismissed = 1
  %woken = call i32 @pthread_cond_broadcast(ptr %called)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %team)
  %size = %team->team.size
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  if slt i64 %i, %size: join, end
join:
  %threads_at = &%team->team.threads
  %thread = load i64, ptr %threads_at[i64 %i]
  %joined = call i32 @pthread_join(i64 %thread, ptr null)
  %next = add i64 %i, 1
  br label %look
end:
  %team->team.size = 0
  ret void
}}
"""
