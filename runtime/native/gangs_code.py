"""
The functions of `native_gangs.py` as LLVM IR. Format fields: `max_threads`, threads of the team; `jobs`,
launches it works on at a time; `pause` and `pause_declared`, a call of the processor's instruction for a
thread that spins; `wait_number`, that of the system call `futex`; `spin_ns`, `worth_ns`, `wake_ns`,
`owed_ns` and `share_ns`, times in nanoseconds; `signals`, those that no thread of the team takes;
`beds_bytes`, `jobs_bytes` and `calls_bytes`, sizes of tables.
"""

TEMPLATE = """
; owner, state (the number of shares, the flags OPEN and WAITING), kernel, args, gangs, shares, grain, whether
; members help others (the launching thread always does), spare; then a cache line for each share: gangs from
; the upper half up to the lower half of a word, and whether the member of that number is in: who joins writes
; a line of its own, so that members do not wait for each other
%job = type {{ i32, i32, ptr, ptr, i64, i64, i64, i64, i64, [{max_threads} x [8 x i64]] }}
; kernel, 1/1024 ns a gang takes (0: not known), threads, lock, whether it is used
%kernel = type {{ ptr, i64, i64, i32, i32 }}

@ticket = internal global i32 0, align 64
@size = internal global i32 0, align 64
@owed = internal global i64 0, align 64
@growing = internal global i32 0, align 4
; members that sleep or are about to: where there are none, nobody looks at their words, which they spin on
@asleep = internal global i32 0, align 64
; for each member: whether it sleeps, and a number that changes when there is work for it (its door)
@sleeping = internal global [{max_threads} x [16 x i32]] zeroinitializer, align 64
; for each member: 0 free, 1 taken, 2 called; the function and its argument
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

; wakes member %i if it sleeps and the launch wants so many
define internal void @wake(i64 %i, i64 %shares) {{
entry:
  %wanted = icmp ult i64 %i, %shares
  %sleepers = load atomic i32, ptr @asleep seq_cst, align 4
  %some = icmp ne i32 %sleepers, 0
  %useful = and i1 %wanted, %some
  br i1 %useful, label %look, label %done
look:
  %word = getelementptr [16 x i32], ptr @sleeping, i64 %i
  %state = load atomic i32, ptr %word seq_cst, align 4
  %sleeps = icmp ne i32 %state, 0
  br i1 %sleeps, label %take, label %done
take:
  %old = atomicrmw xchg ptr %word, i32 0 seq_cst
  %mine = icmp ne i32 %old, 0
  br i1 %mine, label %call, label %done
call:
  %fewer = atomicrmw sub ptr @asleep, i32 1 seq_cst
  call void @rouse(ptr %word)
  br label %done
done:
  ret void
}}

; a number that no door had for long
define internal i32 @next_ticket() {{
  %old = atomicrmw add ptr @ticket, i32 1 monotonic
  %new = add i32 %old, 1
  ret i32 %new
}}

; member %i finds work when it looks; whoever rings then passes a fence and wakes it if it sleeps
define internal void @ring(i64 %i, i32 %ticket) {{
  %door = getelementptr [16 x i32], ptr @sleeping, i64 %i, i64 1
  store atomic i32 %ticket, ptr %door release, align 4
  ret void
}}

; begins members up to number %wanted - 1; how many there are, with the caller
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
  %few = icmp ult i64 %number, %wanted
  br i1 %few, label %begin, label %over
begin:
  %argument = inttoptr i64 %number to ptr
  %status = call i32 @pthread_create(ptr %handle, ptr null, ptr @member, ptr %argument)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %begun, label %over
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

; half of what is left of a share, at least %grain gangs: the first in the upper half, the last in the lower
define internal i64 @take(ptr %share, i64 %grain) {{
entry:
  %first = load atomic i64, ptr %share monotonic, align 8
  br label %test
test:
  %old = phi i64 [ %first, %entry ], [ %seen, %try ]
  %begin = lshr i64 %old, 32
  %end = and i64 %old, 4294967295
  %some = icmp ult i64 %begin, %end
  br i1 %some, label %try, label %none
try:
  %left = sub i64 %end, %begin
  %half = lshr i64 %left, 1
  %wanted = call i64 @llvm.umax.i64(i64 %half, i64 %grain)
  %count = call i64 @llvm.umin.i64(i64 %wanted, i64 %left)
  %past = add i64 %begin, %count
  %high = shl i64 %past, 32
  %new = or i64 %high, %end
  %pair = cmpxchg ptr %share, i64 %old, i64 %new acq_rel monotonic
  %seen = extractvalue {{ i64, i1 }} %pair, 0
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %taken, label %test
taken:
  %upper = shl i64 %begin, 32
  %result = or i64 %upper, %past
  ret i64 %result
none:
  ret i64 0
}}

; runs gangs for member %i: its own share, then what others have left; how many
define internal i64 @work(ptr %job, i64 %i) {{
entry:
  %kernel_at = getelementptr %job, ptr %job, i32 0, i32 2
  %kernel = load ptr, ptr %kernel_at
  %args_at = getelementptr %job, ptr %job, i32 0, i32 3
  %args = load ptr, ptr %args_at
  %gangs_at = getelementptr %job, ptr %job, i32 0, i32 4
  %gangs = load i64, ptr %gangs_at
  %shares_at = getelementptr %job, ptr %job, i32 0, i32 5
  %shares = load i64, ptr %shares_at
  %grain_at = getelementptr %job, ptr %job, i32 0, i32 6
  %grain = load i64, ptr %grain_at
  %helps_at = getelementptr %job, ptr %job, i32 0, i32 7
  %helps = load i64, ptr %helps_at
  %launches = icmp eq i64 %i, 0
  %may_help = icmp ne i64 %helps, 0
  %goes_on = or i1 %launches, %may_help
  br label %share
share:
  %d = phi i64 [ 0, %entry ], [ %d_next, %empty ]
  %so_far = phi i64 [ 0, %entry ], [ %count, %empty ]
  %sum = add i64 %i, %d
  %beyond = icmp uge i64 %sum, %shares
  %wrapped = sub i64 %sum, %shares
  %index = select i1 %beyond, i64 %wrapped, i64 %sum
  %word = getelementptr %job, ptr %job, i32 0, i32 9, i64 %index
  br label %piece
piece:
  %count = phi i64 [ %so_far, %share ], [ %more, %run ]
  %taken = call i64 @take(ptr %word, i64 %grain)
  %nothing = icmp eq i64 %taken, 0
  br i1 %nothing, label %empty, label %run
run:
  %begin = lshr i64 %taken, 32
  %end = and i64 %taken, 4294967295
  call void %kernel(i64 %begin, i64 %end, i64 %gangs, ptr %args)
  %length = sub i64 %end, %begin
  %more = add i64 %count, %length
  br label %piece
empty:
  %d_next = add i64 %d, 1
  %others = icmp ult i64 %d_next, %shares
  %again = and i1 %others, %goes_on
  br i1 %again, label %share, label %done
done:
  ret i64 %count
}}

; whether a job of this state is open to member %i
define internal i1 @invites(i32 %state, i64 %i) {{
  %open = and i32 %state, 1073741824
  %is_open = icmp ne i32 %open, 0
  %shares = and i32 %state, 65535
  %shares_64 = zext i32 %shares to i64
  %wanted = icmp ult i64 %i, %shares_64
  %result = and i1 %is_open, %wanted
  ret i1 %result
}}

; member %i helps with the job, if it is open and wants it. It says that it is in before it looks again:
; either it finds the job closed then, or the launching thread, which closes first, finds it in
define internal void @help(ptr %job, i64 %i) {{
entry:
  %state_at = getelementptr %job, ptr %job, i32 0, i32 1
  %state = load atomic i32, ptr %state_at acquire, align 4
  %useful = call i1 @invites(i32 %state, i64 %i)
  br i1 %useful, label %in, label %done
in:
  %mark = getelementptr %job, ptr %job, i32 0, i32 9, i64 %i, i64 1
  %was = atomicrmw xchg ptr %mark, i64 1 seq_cst
  %again = load atomic i32, ptr %state_at seq_cst, align 4
  %still = call i1 @invites(i32 %again, i64 %i)
  br i1 %still, label %run, label %leave
run:
  %shares = and i32 %again, 65535
  %shares_64 = zext i32 %shares to i64
  %twice = shl i64 %i, 1
  %left = add i64 %twice, 1
  %right = add i64 %twice, 2
  call void @wake(i64 %left, i64 %shares_64)
  call void @wake(i64 %right, i64 %shares_64)
  %count = call i64 @work(ptr %job, i64 %i)
  br label %leave
leave:
  %out = atomicrmw xchg ptr %mark, i64 0 seq_cst
  %after = load atomic i32, ptr %state_at seq_cst, align 4
  %waiting = and i32 %after, 536870912
  %waits = icmp ne i32 %waiting, 0
  br i1 %waits, label %tell, label %done
tell:
  %told = atomicrmw and ptr %state_at, i32 -536870913 seq_cst
  call void @rouse(ptr %state_at)
  br label %done
done:
  ret void
}}

; returns when no member is in a job that is closed
define internal void @gather(ptr %job, i64 %shares) noinline {{
entry:
  %state_at = getelementptr %job, ptr %job, i32 0, i32 1
  br label %member
member:
  %i = phi i64 [ 1, %entry ], [ %i_next, %gone ]
  %turn = phi i32 [ 0, %entry ], [ %turn_now, %gone ]
  %more = icmp ult i64 %i, %shares
  br i1 %more, label %look, label %done
look:
  %turn_now = phi i32 [ %turn, %member ], [ %turn_next, %spin ], [ %turn_now, %sleep ]
  %mark = getelementptr %job, ptr %job, i32 0, i32 9, i64 %i, i64 1
  %in = load atomic i64, ptr %mark acquire, align 8
  %out = icmp eq i64 %in, 0
  br i1 %out, label %gone, label %still
gone:
  %i_next = add i64 %i, 1
  br label %member
still:
  %turn_next = add i32 %turn_now, 1
  %long = icmp ugt i32 %turn_next, 1024
  br i1 %long, label %announce, label %spin
spin:
  {pause}
  br label %look
announce:
  %before = atomicrmw or ptr %state_at, i32 536870912 seq_cst
  %latest = load atomic i64, ptr %mark seq_cst, align 8
  %left = icmp eq i64 %latest, 0
  br i1 %left, label %gone, label %sleep
sleep:
  call void @sleep(ptr %state_at, i32 536870912)
  br label %look
done:
  ret void
}}

; runs what member %i was called for
define internal void @answer(i64 %i) {{
entry:
  %call = getelementptr [16 x i64], ptr @calls, i64 %i
  %state = load atomic i64, ptr %call acquire, align 8
  %called = icmp eq i64 %state, 2
  br i1 %called, label %run, label %done
run:
  %function_at = getelementptr i64, ptr %call, i64 1
  %function = load ptr, ptr %function_at
  %argument_at = getelementptr i64, ptr %call, i64 2
  %argument = load ptr, ptr %argument_at
  store atomic i64 1, ptr %call monotonic, align 8
  call void %function(ptr %argument)
  br label %done
done:
  ret void
}}

; the first member from number %from on that nobody has taken, the caller's until @team_release; 0: none
define i64 @team_take(i64 %from) {{
entry:
  %first = call i64 @llvm.umax.i64(i64 %from, i64 1)
  br label %test
test:
  %i = phi i64 [ %first, %entry ], [ %next, %other ]
  %exists = icmp ult i64 %i, {max_threads}
  br i1 %exists, label %try, label %none
try:
  %call = getelementptr [16 x i64], ptr @calls, i64 %i
  %pair = cmpxchg ptr %call, i64 0, i64 1 acq_rel monotonic
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %taken, label %other
other:
  %next = add i64 %i, 1
  br label %test
taken:
  %number = add i64 %i, 1
  br label %enough
enough:
  %size = load atomic i32, ptr @size acquire, align 4
  %there = zext i32 %size to i64
  %present = icmp ule i64 %i, %there
  br i1 %present, label %answer, label %grow
grow:
  %grown = call i64 @grow(i64 %number)
  %reached = icmp uge i64 %grown, %number
  br i1 %reached, label %answer, label %busy
busy:
  ; no thread could be made, or another thread is making some
  %growing = load atomic i32, ptr @growing acquire, align 4
  %wait = icmp ne i32 %growing, 0
  br i1 %wait, label %enough, label %again
again:
  %size_now = load atomic i32, ptr @size acquire, align 4
  %there_now = zext i32 %size_now to i64
  %came = icmp ule i64 %i, %there_now
  br i1 %came, label %answer, label %refused
refused:
  store atomic i64 0, ptr %call release, align 8
  br label %none
answer:
  ret i64 %i
none:
  ret i64 0
}}

; has member %i, which the caller took, run %function(%argument)
define void @team_call(i64 %i, ptr %function, ptr %argument) {{
  %call = getelementptr [16 x i64], ptr @calls, i64 %i
  %function_at = getelementptr i64, ptr %call, i64 1
  store ptr %function, ptr %function_at
  %argument_at = getelementptr i64, ptr %call, i64 2
  store ptr %argument, ptr %argument_at
  store atomic i64 2, ptr %call release, align 8
  %ticket = call i32 @next_ticket()
  call void @ring(i64 %i, i32 %ticket)
  fence seq_cst
  %next = add i64 %i, 1
  call void @wake(i64 %i, i64 %next)
  ret void
}}

; member %i, which calls this at the end of its function, may be taken again
define void @team_release(i64 %i) {{
  %call = getelementptr [16 x i64], ptr @calls, i64 %i
  store atomic i64 0, ptr %call release, align 8
  ret void
}}

define i64 @team_add(ptr %word, i64 %value) {{
  %old = atomicrmw add ptr %word, i64 %value seq_cst
  ret i64 %old
}}

define i64 @team_swap(ptr %word, i64 %old, i64 %new) {{
  %pair = cmpxchg ptr %word, i64 %old, i64 %new seq_cst seq_cst
  %found = extractvalue {{ i64, i1 }} %pair, 0
  ret i64 %found
}}

define i64 @team_load(ptr %word) {{
  %value = load atomic i64, ptr %word seq_cst, align 8
  ret i64 %value
}}

define void @team_store(ptr %word, i64 %value) {{
  store atomic i64 %value, ptr %word seq_cst, align 8
  ret void
}}

; waits up to %turns turns for %word to be other than %value; whether it is
define i64 @team_spin(ptr %word, i64 %value, i64 %turns) {{
entry:
  br label %spin
spin:
  %turn = phi i64 [ 0, %entry ], [ %turn_next, %still ]
  %seen = load atomic i64, ptr %word seq_cst, align 8
  %changed = icmp ne i64 %seen, %value
  br i1 %changed, label %yes, label %still
still:
  {pause}
  %turn_next = add i64 %turn, 1
  %more = icmp ult i64 %turn_next, %turns
  br i1 %more, label %spin, label %no
yes:
  ret i64 1
no:
  ret i64 0
}}

; sleeps while %word is %value, until `team_wake` or sooner
define void @team_sleep(ptr %word, i64 %value) {{
  %low = trunc i64 %value to i32
  call void @sleep(ptr %word, i32 %low)
  ret void
}}

; wakes all who sleep there
define void @team_wake(ptr %word) {{
  %status = call i64 (i64, ...) @syscall(i64 {wait_number}, ptr %word, i32 129, i32 2147483647)
  ret void
}}

define void @team_fence() {{
  fence seq_cst
  ret void
}}

; a thread of the team, for the life of the process; faults that leave no stack are told from another one
define internal ptr @member(ptr %argument) {{
entry:
  %stack = alloca [{signal_stack} x i8], align 16
  %description = alloca [3 x i64]
  store ptr %stack, ptr %description
  %flags = getelementptr i64, ptr %description, i64 1
  store i64 0, ptr %flags
  %bytes = getelementptr i64, ptr %description, i64 2
  store i64 {signal_stack}, ptr %bytes
  %set = call i32 @sigaltstack(ptr %description, ptr null)
  %i = ptrtoint ptr %argument to i64
  %bed = getelementptr [16 x i32], ptr @sleeping, i64 %i
  %door = getelementptr i32, ptr %bed, i64 1
  br label %scan
scan:
  %seen = load atomic i32, ptr %door seq_cst, align 4
  call void @answer(i64 %i)
  br label %look
look:
  %k = phi i64 [ 0, %scan ], [ %k_next, %look ]
  %job = getelementptr %job, ptr @jobs, i64 %k
  call void @help(ptr %job, i64 %i)
  %k_next = add i64 %k, 1
  %more = icmp ult i64 %k_next, {jobs}
  br i1 %more, label %look, label %idle
idle:
  %begin = call i64 @now()
  br label %spin
spin:
  %turn = phi i32 [ 0, %idle ], [ %turn_next, %calm ], [ 0, %late ]
  {pause}
  %rung = load atomic i32, ptr %door acquire, align 4
  %called = icmp ne i32 %rung, %seen
  br i1 %called, label %scan, label %calm
calm:
  %turn_next = add i32 %turn, 1
  %many = icmp eq i32 %turn_next, 64
  br i1 %many, label %late, label %spin
late:
  %time = call i64 @now()
  %spent = sub i64 %time, %begin
  %enough = icmp ugt i64 %spent, {spin_ns}
  br i1 %enough, label %lie_down, label %spin
lie_down:
  %more_asleep = atomicrmw add ptr @asleep, i32 1 seq_cst
  %old = atomicrmw xchg ptr %bed, i32 1 seq_cst
  %latest = load atomic i32, ptr %door seq_cst, align 4
  %missed = icmp ne i32 %latest, %seen
  br i1 %missed, label %get_up, label %doze
get_up:
  ; unless somebody has just woken it
  %lay = atomicrmw xchg ptr %bed, i32 0 seq_cst
  %fewer = atomicrmw sub ptr @asleep, i32 %lay seq_cst
  br label %scan
doze:
  call void @sleep(ptr %bed, i32 1)
  %still = load atomic i32, ptr %bed acquire, align 4
  %woken = icmp eq i32 %still, 0
  br i1 %woken, label %scan, label %doze
}}

; gangs %first to %gangs - 1, which are expected to take %total ns, with the team; 1/1024 ns a gang takes
define internal i64 @together(ptr %kernel, i64 %first, i64 %gangs, ptr %args, i64 %threads,
    i64 %total) noinline {{
entry:
  %left = sub i64 %gangs, %first
  %parts = udiv i64 %total, {share_ns}
  %useful = add i64 %parts, 1
  %most = call i64 @llvm.umin.i64(i64 %threads, i64 %left)
  %wanted = call i64 @llvm.umin.i64(i64 %most, i64 %useful)
  %others = load atomic i32, ptr @size acquire, align 4
  %others_64 = zext i32 %others to i64
  %present = add i64 %others_64, 1
  %few = icmp ugt i64 %wanted, %present
  br i1 %few, label %grow, label %find
grow:
  %grown = call i64 @grow(i64 %wanted)
  br label %find
find:
  %there_are = phi i64 [ %wanted, %entry ], [ %grown, %grow ]
  %shares = call i64 @llvm.umin.i64(i64 %wanted, i64 %there_are)
  %start = call i64 @now()
  br label %slot
slot:
  %k = phi i64 [ 0, %find ], [ %k_next, %other ]
  %job = getelementptr %job, ptr @jobs, i64 %k
  %pair = cmpxchg ptr %job, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %fill, label %other
other:
  %k_next = add i64 %k, 1
  %more_slots = icmp ult i64 %k_next, {jobs}
  br i1 %more_slots, label %slot, label %alone
alone:
  call void %kernel(i64 %first, i64 %gangs, i64 %gangs, ptr %args)
  br label %measure
fill:
  %state_at = getelementptr %job, ptr %job, i32 0, i32 1
  %kernel_at = getelementptr %job, ptr %job, i32 0, i32 2
  %args_at = getelementptr %job, ptr %job, i32 0, i32 3
  %gangs_at = getelementptr %job, ptr %job, i32 0, i32 4
  %shares_at = getelementptr %job, ptr %job, i32 0, i32 5
  %grain_at = getelementptr %job, ptr %job, i32 0, i32 6
  store ptr %kernel, ptr %kernel_at
  store ptr %args, ptr %args_at
  store i64 %gangs, ptr %gangs_at
  store i64 %shares, ptr %shares_at
  ; an eighth of a share, or what takes as long as another member is worth
  %pieces = shl i64 %shares, 3
  %fine = udiv i64 %left, %pieces
  %scaled_left = mul i64 %left, {share_ns}
  %some_time = call i64 @llvm.umax.i64(i64 %total, i64 1)
  %short = udiv i64 %scaled_left, %some_time
  %coarse = call i64 @llvm.umax.i64(i64 %fine, i64 %short)
  %grain = call i64 @llvm.umax.i64(i64 %coarse, i64 1)
  store i64 %grain, ptr %grain_at
  ; shares of one piece are not worth a look at the others' words
  %pieces_in_all = mul i64 %grain, %shares
  %divided = icmp ult i64 %pieces_in_all, %left
  %helps = zext i1 %divided to i64
  %helps_at = getelementptr %job, ptr %job, i32 0, i32 7
  store i64 %helps, ptr %helps_at
  br label %share
share:
  %s = phi i64 [ 0, %fill ], [ %s_next, %share ]
  %from = phi i64 [ %first, %fill ], [ %to, %share ]
  %s_next = add i64 %s, 1
  %scaled = mul i64 %left, %s_next
  %length = udiv i64 %scaled, %shares
  %to = add i64 %first, %length
  %high = shl i64 %from, 32
  %range = or i64 %high, %to
  %word = getelementptr %job, ptr %job, i32 0, i32 9, i64 %s
  store i64 %range, ptr %word
  %more_shares = icmp ult i64 %s_next, %shares
  br i1 %more_shares, label %share, label %publish
publish:
  %shares_32 = trunc i64 %shares to i32
  %open = or i32 %shares_32, 1073741824
  store atomic i32 %open, ptr %state_at release, align 4
  %ticket = call i32 @next_ticket()
  br label %invite
invite:
  %m = phi i64 [ 0, %publish ], [ %m_next, %next_door ]
  %m_next = add i64 %m, 1
  %more_doors = icmp ult i64 %m_next, %shares
  br i1 %more_doors, label %next_door, label %begin
next_door:
  call void @ring(i64 %m_next, i32 %ticket)
  br label %invite
begin:
  fence seq_cst
  call void @wake(i64 1, i64 %shares)
  call void @wake(i64 2, i64 %shares)
  %done_here = call i64 @work(ptr %job, i64 0)
  %worked = call i64 @now()
  %closed = atomicrmw xchg ptr %state_at, i32 0 seq_cst
  call void @gather(ptr %job, i64 %shares)
  br label %finish
finish:
  store atomic i32 0, ptr %state_at monotonic, align 4
  store atomic i32 0, ptr %job release, align 4
  br label %measure
measure:
  %ran = phi i64 [ %left, %alone ], [ %done_here, %finish ]
  %end = phi i64 [ 0, %alone ], [ %worked, %finish ]
  %unknown = icmp eq i64 %end, 0
  br i1 %unknown, label %clock, label %divide
clock:
  %late = call i64 @now()
  br label %divide
divide:
  %stop = phi i64 [ %end, %measure ], [ %late, %clock ]
  %spent = sub i64 %stop, %start
  %fixed = shl i64 %spent, 10
  %divisor = call i64 @llvm.umax.i64(i64 %ran, i64 1)
  %each = udiv i64 %fixed, %divisor
  ret i64 %each
}}

; all gangs of a launch, by as many threads as they are worth
define void @run(ptr %kernel, i64 %gangs, ptr %args) {{
entry:
  %code = load ptr, ptr %kernel
  %each_at = getelementptr %kernel, ptr %kernel, i32 0, i32 1
  %threads_at = getelementptr %kernel, ptr %kernel, i32 0, i32 2
  %threads = load i64, ptr %threads_at
  %one_gang = icmp ule i64 %gangs, 1
  %one_thread = icmp ule i64 %threads, 1
  %one = or i1 %one_gang, %one_thread
  br i1 %one, label %plain, label %estimate
plain:
  call void %code(i64 0, i64 %gangs, i64 %gangs, ptr %args)
  ret void
estimate:
  %each = load atomic i64, ptr %each_at monotonic, align 8
  %unknown = icmp eq i64 %each, 0
  %product = mul i64 %each, %gangs
  %expected = lshr i64 %product, 10
  %bed = getelementptr [16 x i32], ptr @sleeping, i64 1
  %asleep = load atomic i32, ptr %bed monotonic, align 4
  %sleeps = icmp ne i32 %asleep, 0
  %least = select i1 %sleeps, i64 {wake_ns}, i64 {worth_ns}
  %large = icmp ugt i64 %expected, %least
  %much = or i1 %unknown, %large
  %total = select i1 %unknown, i64 1000000000, i64 %expected
  br i1 %much, label %team, label %small
small:
  %worth = icmp ugt i64 %expected, {worth_ns}
  br i1 %worth, label %owe, label %try
owe:
  ; the others sleep: what they would have been worth adds up until they are woken
  %owed = atomicrmw add ptr @owed, i64 %expected monotonic
  %due = icmp ugt i64 %owed, {owed_ns}
  br i1 %due, label %settle, label %try
settle:
  store atomic i64 0, ptr @owed monotonic, align 8
  br label %team
try:
  %start = call i64 @now()
  %eighth = lshr i64 %gangs, 3
  %piece = call i64 @llvm.umax.i64(i64 %eighth, i64 1)
  call void %code(i64 0, i64 %piece, i64 %gangs, ptr %args)
  %tried = call i64 @now()
  %spent = sub i64 %tried, %start
  %others = sub i64 %gangs, %piece
  %scaled = mul i64 %spent, %others
  %rest = udiv i64 %scaled, %piece
  %limit = shl i64 %least, 1
  %surprise = icmp ugt i64 %rest, %limit
  br i1 %surprise, label %team, label %alone
alone:
  call void %code(i64 %piece, i64 %gangs, i64 %gangs, ptr %args)
  %end = call i64 @now()
  %all = sub i64 %end, %start
  %fixed = shl i64 %all, 10
  %alone_each = udiv i64 %fixed, %gangs
  br label %note
team:
  %first = phi i64 [ 0, %estimate ], [ 0, %settle ], [ %piece, %try ]
  %work = phi i64 [ %total, %estimate ], [ %total, %settle ], [ %rest, %try ]
  %team_each = call i64 @together(ptr %code, i64 %first, i64 %gangs, ptr %args, i64 %threads, i64 %work)
  br label %note
note:
  %measured = phi i64 [ %alone_each, %alone ], [ %team_each, %team ]
  %part = lshr i64 %each, 3
  %faded = sub i64 %each, %part
  %larger = call i64 @llvm.umax.i64(i64 %measured, i64 %faded)
  %known = call i64 @llvm.umax.i64(i64 %larger, i64 1)
  store atomic i64 %known, ptr %each_at monotonic, align 8
  ret void
}}

; as `cuLaunchKernel`: launches that share memory of the kernel run one after the other
define i32 @launch(ptr %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
    i64 %stream, ptr %args, ptr %extra) {{
entry:
  %x = zext i32 %gx to i64
  %y = zext i32 %gy to i64
  %z = zext i32 %gz to i64
  %x1 = call i64 @llvm.umax.i64(i64 %x, i64 1)
  %y1 = call i64 @llvm.umax.i64(i64 %y, i64 1)
  %z1 = call i64 @llvm.umax.i64(i64 %z, i64 1)
  %xy = mul i64 %x1, %y1
  %gangs = mul i64 %xy, %z1
  %lock = getelementptr %kernel, ptr %kernel, i32 0, i32 3
  %locks_at = getelementptr %kernel, ptr %kernel, i32 0, i32 4
  %locks = load i32, ptr %locks_at
  %free = icmp eq i32 %locks, 0
  br i1 %free, label %go, label %first
first:
  %pair = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %locked, label %busy
busy:
  %old = atomicrmw xchg ptr %lock, i32 2 acquire
  %now_mine = icmp eq i32 %old, 0
  br i1 %now_mine, label %locked, label %wait
wait:
  call void @sleep(ptr %lock, i32 2)
  br label %busy
locked:
  call void @run(ptr %kernel, i64 %gangs, ptr %args)
  %was = atomicrmw xchg ptr %lock, i32 0 release
  %others = icmp eq i32 %was, 2
  br i1 %others, label %tell, label %done
tell:
  call void @rouse(ptr %lock)
  br label %done
go:
  call void @run(ptr %kernel, i64 %gangs, ptr %args)
  br label %done
done:
  ret i32 0
}}

; as `cuStreamSynchronize`: launches are over when they return
define i32 @synchronize(i64 %stream) {{
  ret i32 0
}}

; the piece of a gang in %bytes bytes: whole pages
define internal i64 @edge(i64 %gang, i64 %gangs, i64 %bytes) {{
  %even = udiv i64 %bytes, %gangs
  %page = add i64 %even, 4096
  %piece = and i64 %page, -4096
  %at = mul i64 %piece, %gang
  %result = call i64 @llvm.umin.i64(i64 %at, i64 %bytes)
  ret i64 %result
}}

; kernels whose argument is {{ ptr target, ptr source, i64 bytes }}
define void @copy(i64 %begin, i64 %end, i64 %gangs, ptr %args) {{
  %target = load ptr, ptr %args
  %source_at = getelementptr ptr, ptr %args, i64 1
  %source = load ptr, ptr %source_at
  %bytes_at = getelementptr i64, ptr %args, i64 2
  %bytes = load i64, ptr %bytes_at
  %from = call i64 @edge(i64 %begin, i64 %gangs, i64 %bytes)
  %to = call i64 @edge(i64 %end, i64 %gangs, i64 %bytes)
  %size = sub i64 %to, %from
  %there = getelementptr i8, ptr %target, i64 %from
  %here = getelementptr i8, ptr %source, i64 %from
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  ret void
}}

; in a forked process: its threads are those it begins
define void @forked() {{
  store i32 0, ptr @size
  store i32 0, ptr @growing
  store i32 0, ptr @asleep
  call void @llvm.memset.p0.i64(ptr @sleeping, i8 0, i64 {beds_bytes}, i1 false)
  call void @llvm.memset.p0.i64(ptr @jobs, i8 0, i64 {jobs_bytes}, i1 false)
  call void @llvm.memset.p0.i64(ptr @calls, i8 0, i64 {calls_bytes}, i1 false)
  ret void
}}
"""
