"""LLVM IR of the members of the team of `gangs.py` (`gangs_code.py`): creation, waking, sleep, fork."""

WAKING = """\
; wakes member %i if it sleeps and is among the first %shares
define internal void @wake(i64 %i, i64 %shares) {{
entry:
  %wanted = icmp ult i64 %i, %shares
  %sleepers = load atomic i32, ptr @asleep seq_cst, align 4
  %some = icmp ne i32 %sleepers, 0
  %useful = and i1 %wanted, %some
  br i1 %useful, label %look, label %done
look:
  %place = call ptr @place(i64 %i)
  %word = &%place->share.sleeps
  %state = load atomic i32, ptr %word seq_cst, align 4
  if ne i32 %state, 0: take, done
take:
  %old = atomicrmw xchg ptr %word, i32 0 seq_cst
  if ne i32 %old, 0: call, done
call:
  %fewer = atomicrmw sub ptr @asleep, i32 1 seq_cst
  call void @rouse(ptr %word)
  br label %done
done:
  ret void
}}

; returns a number that no door has had for a long time, with 0 in the lower four bits
define internal i32 @next_ticket() {{
  %old = atomicrmw add ptr @ticket, i32 16 monotonic
  %new = add i32 %old, 16
  ret i32 %new
}}

; tells member %i that there is work; the caller then wakes it if it sleeps
define internal void @ring(i64 %i, i32 %number) {{
  %place = call ptr @place(i64 %i)
  %place->share.door = %number release
  ret void
}}

; starts members up to number %wanted - 1; returns how many there are, including the caller
define internal i64 @grow(i64 %wanted) noinline {{
entry:
  %old_mask = alloca [16 x i64]
  %mask = alloca [16 x i64]
  %handle = alloca i64
  %pair = cmpxchg ptr @growing, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %prepare, label %answer
prepare:
  call void @llvm.memset.p0.i64(ptr %mask, i8 -1, i64 128, i1 false)
  store i64 {signals}, ptr %mask
  %blocked = call i32 @pthread_sigmask(i32 2, ptr %mask, ptr %old_mask)
  br label %test
test:
  %size = load i32, ptr @size
  %next = add i32 %size, 1
  %number = zext i32 %next to i64
  if ult i64 %number, %wanted: begin, over
begin:
  %argument = inttoptr i64 %number to ptr
  %status = call i32 @pthread_create(ptr %handle, ptr null, ptr @member, ptr %argument)
  if eq i32 %status, 0: begun, over
begun:
  %id = load i64, ptr %handle
  %detached = call i32 @pthread_detach(i64 %id)
  store atomic i32 %next, ptr @size release, align 4
  br label %test
over:
  %unblocked = call i32 @pthread_sigmask(i32 2, ptr %old_mask, ptr null)
  store atomic i32 0, ptr @growing release, align 4
  br label %answer
answer:
  %others = load atomic i32, ptr @size acquire, align 4
  %all = add i32 %others, 1
  %result = zext i32 %all to i64
  ret i64 %result
}}

"""
"""Wakes members, by changing their doors to a number, and creates new ones."""

MEMBER = """\
; the thread of a member, until the process ends; handlers of stack overflows get a stack of their own
define internal ptr @member(ptr %argument) {{
entry:
  %stack = alloca [{signal_stack} x i8], align 16
  %description = alloca [3 x i64]
  store ptr %stack, ptr %description
  store i64 0, ptr %description[i64 1]
  store i64 {signal_stack}, ptr %description[i64 2]
  %set = call i32 @sigaltstack(ptr %description, ptr null)
  %i = ptrtoint ptr %argument to i64
  %place = call ptr @place(i64 %i)
  %door = &%place->share.door
  %bed = &%place->share.sleeps
  br label %scan
scan:
  %seen = load atomic i32, ptr %door seq_cst, align 4
  %low = and i32 %seen, 15
  if eq i32 %low, 0: call, fetch
fetch:
  ; while the member takes its share, the arguments come from the launching thread's processor: two lines that
  ; hold nothing else (`passes/ir/kernels/runtime_calls.py`)
  %number = sub i32 %low, 1
  %named = getelementptr %job, ptr @jobs, i32 %number
  %shares = &%named->job.shares
  %hint = %shares[i64 %i]->share.args monotonic
  %further = getelementptr i8, ptr %hint, i64 64
  call void @llvm.prefetch.p0(ptr %hint, i32 0, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %further, i32 0, i32 3, i32 1)
  call void @help(ptr %named, i64 %i)
  br label %call
call:
  call void @answer(i64 %i)
  br label %look
look:
  ; a door tells of the latest job only
  %k = phi i64 [ 0, %call ], [ %k_next, %further_job ]
  %job = getelementptr %job, ptr @jobs, i64 %k
  %some = call i1 @has_some(ptr %job, i64 %i)
  br i1 %some, label %join, label %further_job
join:
  call void @help(ptr %job, i64 %i)
  br label %further_job
further_job:
  %k_next = add i64 %k, 1
  if ult i64 %k_next, {jobs}: look, idle
idle:
  %begin = call i64 @now()
  br label %spin
spin:
  %turn = phi i32 [ 0, %idle ], [ %turn_next, %calm ], [ 0, %late ]
  {pause}
  %rung = load atomic i32, ptr %door acquire, align 4
  if ne i32 %rung, %seen: scan, calm
calm:
  %turn_next = add i32 %turn, 1
  if eq i32 %turn_next, 64: late, spin
late:
  %time = call i64 @now()
  %spent = sub i64 %time, %begin
  if ugt i64 %spent, {spin_ns}: lie_down, spin
lie_down:
  %more_asleep = atomicrmw add ptr @asleep, i32 1 seq_cst
  %old = atomicrmw xchg ptr %bed, i32 1 seq_cst
  %latest = load atomic i32, ptr %door seq_cst, align 4
  if ne i32 %latest, %seen: get_up, doze
get_up:
  ; 0 if another thread has just woken this one
  %lay = atomicrmw xchg ptr %bed, i32 0 seq_cst
  %fewer = atomicrmw sub ptr @asleep, i32 %lay seq_cst
  br label %scan
doze:
  call void @sleep(ptr %bed, i32 1)
  %still = %place->share.sleeps acquire
  if eq i32 %still, 0: scan, doze
}}

"""
"""The main loop of a member."""

FORKED = """\
; resets the team in a forked process, which has none of the threads
define void @forked() {{
  store i32 0, ptr @size
  store i32 0, ptr @growing
  store i32 0, ptr @asleep
  call void @llvm.memset.p0.i64(ptr @jobs, i8 0, i64 {jobs_bytes}, i1 false)
  call void @llvm.memset.p0.i64(ptr @calls, i8 0, i64 {calls_bytes}, i1 false)
  ret void
}}
"""
"""A forked process has no members."""
