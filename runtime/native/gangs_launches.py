"""LLVM IR of launches on the team of `gangs.py` (`gangs_code.py`), by the measured number of threads."""

LAUNCHES = """\
; gangs %first to %gangs - 1, which are expected to take %total ns, with the team; 1/1024 ns a gang takes
define internal i64 @together(ptr %kernel, i64 %first, i64 %gangs, ptr %args, i64 %threads,
    i64 %total) noinline {{
entry:
  %left = sub i64 %gangs, %first
  ; with n members a launch takes total/n + n * member_ns, least where n is the root of total/member_ns
  %ratio = udiv i64 %total, {member_ns}
  %ratio_float = uitofp i64 %ratio to double
  %root = call double @llvm.sqrt.f64(double %ratio_float)
  %best = fptoui double %root to i64
  %useful = call i64 @llvm.umax.i64(i64 %best, i64 2)
  %most = call i64 @llvm.umin.i64(i64 %threads, i64 %left)
  %wanted = call i64 @llvm.umin.i64(i64 %most, i64 %useful)
  %others = load atomic i32, ptr @size acquire, align 4
  %others_64 = zext i32 %others to i64
  %present = add i64 %others_64, 1
  if ugt i64 %wanted, %present: grow, find
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
  if ult i64 %k_next, {jobs}: slot, alone
alone:
  call void %kernel(i64 %first, i64 %gangs, i64 %gangs, ptr %args)
  br label %measure
fill:
  %state_at = &%job->job.state
  %job->job.kernel = %kernel
  %job->job.args = %args
  %job->job.gangs = %gangs
  %job->job.share_count = %shares
  ; an eighth of a share, or the number of gangs that pay for taking a piece
  %pieces = shl i64 %shares, 3
  %fine = udiv i64 %left, %pieces
  %scaled_left = mul i64 %left, {piece_ns}
  %some_time = call i64 @llvm.umax.i64(i64 %total, i64 1)
  %short = udiv i64 %scaled_left, %some_time
  %coarse = call i64 @llvm.umax.i64(i64 %fine, i64 %short)
  %grain = call i64 @llvm.umax.i64(i64 %coarse, i64 1)
  %job->job.grain = %grain
  ; reading others' words does not pay if shares are single pieces
  %pieces_in_all = mul i64 %grain, %shares
  %divided = icmp ult i64 %pieces_in_all, %left
  %helps = zext i1 %divided to i64
  %job->job.helps = %helps
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
  %shares_at = &%job->job.shares
  %word = &%shares_at[i64 %s]->share.gangs
  store i64 %range, ptr %word
  if ult i64 %s_next, %shares: share, publish
publish:
  %shares_32 = trunc i64 %shares to i32
  %open = or i32 %shares_32, 1073741824
  %job->job.state = %open release
  %ticket = call i32 @next_ticket()
  br label %invite
invite:
  %m = phi i64 [ 0, %publish ], [ %m_next, %next_door ]
  %m_next = add i64 %m, 1
  if ult i64 %m_next, %shares: next_door, begin
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
  %job->job.state = 0 monotonic
  store atomic i32 0, ptr %job release, align 4
  br label %measure
measure:
  %ran = phi i64 [ %left, %alone ], [ %done_here, %finish ]
  %end = phi i64 [ 0, %alone ], [ %worked, %finish ]
  if eq i64 %end, 0: clock, divide
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

; records the time of a gang in a launch by one thread: up to twice the former at once, shorter ones gradually
define internal void @learn_alone(ptr %kernel, i64 %each) {{
  %old = %kernel->kernel.by_one monotonic
  %three = mul i64 %old, 3
  %sum = add i64 %three, %each
  %mean = lshr i64 %sum, 2
  %first = icmp eq i64 %old, 0
  %twice = shl i64 %old, 1
  %believed = call i64 @llvm.umin.i64(i64 %each, i64 %twice)
  %raised = select i1 %first, i64 %each, i64 %believed
  %larger = call i64 @llvm.umax.i64(i64 %mean, i64 %raised)
  %new = call i64 @llvm.umax.i64(i64 %larger, i64 1)
  %kernel->kernel.by_one = %new monotonic
  ret void
}}

; records the time of a gang in a launch by the team: shorter ones at once, longer ones gradually
define internal void @learn_team(ptr %kernel, i64 %each) {{
  %old = %kernel->kernel.by_team monotonic
  %three = mul i64 %old, 3
  %sum = add i64 %three, %each
  %mean = lshr i64 %sum, 2
  %unknown = icmp eq i64 %old, 0
  %less = icmp ult i64 %each, %old
  %at_once = or i1 %unknown, %less
  %new = select i1 %at_once, i64 %each, i64 %mean
  %kernel->kernel.by_team = %new monotonic
  ret void
}}

; returns 1: the launch should run in its thread alone, as the team takes as long (its threads do not run,
; or data is in other threads' caches), or to find out whether it does; 2: the team should run it, to measure
; again; 0: neither
define internal i32 @judge(ptr %kernel, i64 %gangs) {{
entry:
  %alone = %kernel->kernel.by_one monotonic
  %team = %kernel->kernel.by_team monotonic
  if eq i64 %team, 0: neither, look
look:
  %product = mul i64 %team, %gangs
  %wall = lshr i64 %product, 10
  %short = icmp ult i64 %wall, {probe_ns}
  %turn = %kernel->kernel.compared monotonic
  %turn_next = add i64 %turn, 1
  %kernel->kernel.compared = %turn_next monotonic
  if eq i64 %alone, 0: first, compare
first:
  ; the first launches also touch memory and start threads
  %warm = icmp uge i64 %turn, 3
  %sure = and i1 %warm, %short
  %probe = zext i1 %sure to i32
  ret i32 %probe
compare:
  if ule i64 %alone, %team: lone, crowd
lone:
  ; first often, then every 64th time
  %less = sub i64 %turn, 1
  %bits = and i64 %turn, %less
  %power = icmp eq i64 %bits, 0
  %later = and i64 %turn, 63
  %turned = icmp eq i64 %later, 0
  %due = or i1 %power, %turned
  %way = select i1 %due, i32 2, i32 1
  ret i32 %way
crowd:
  ; an attempt takes at most four times the team's time, or is made more rarely
  %four = shl i64 %team, 2
  %poor = icmp ult i64 %alone, %four
  %mask = select i1 %poor, i64 255, i64 4095
  %rest = and i64 %turn, %mask
  %last = icmp eq i64 %rest, %mask
  %again = and i1 %last, %short
  %attempt = zext i1 %again to i32
  ret i32 %attempt
neither:
  ret i32 0
}}

; runs all gangs of a launch, with the number of threads for which they pay
define void @run(ptr %kernel, i64 %gangs, ptr %args) {{
entry:
  %code = %kernel->kernel.function
  %threads = %kernel->kernel.threads
  %one_gang = icmp ule i64 %gangs, 1
  %one_thread = icmp ule i64 %threads, 1
  %one = or i1 %one_gang, %one_thread
  br i1 %one, label %plain, label %consider
plain:
  call void %code(i64 0, i64 %gangs, i64 %gangs, ptr %args)
  ret void
consider:
  %each = %kernel->kernel.each monotonic
  %way = call i32 @judge(ptr %kernel, i64 %gangs)
  if eq i32 %way, 1: whole, estimate
whole:
  %whole_start = call i64 @now()
  call void %code(i64 0, i64 %gangs, i64 %gangs, ptr %args)
  %whole_end = call i64 @now()
  %whole_spent = sub i64 %whole_end, %whole_start
  %whole_fixed = shl i64 %whole_spent, 10
  %whole_each = udiv i64 %whole_fixed, %gangs
  call void @learn_alone(ptr %kernel, i64 %whole_each)
  br label %note
estimate:
  %known_alone = %kernel->kernel.by_one monotonic
  %has_run_alone = icmp ne i64 %known_alone, 0
  %gang_takes = select i1 %has_run_alone, i64 %known_alone, i64 %each
  %unknown = icmp eq i64 %each, 0
  %product = mul i64 %gang_takes, %gangs
  %expected = lshr i64 %product, 10
  %bed = getelementptr %bed, ptr @beds, i64 1
  %asleep = %bed->bed.sleeps monotonic
  %sleeps = icmp ne i32 %asleep, 0
  %at_hand = select i1 %sleeps, i64 {wake_ns}, i64 {worth_ns}
  %members = load atomic i32, ptr @size monotonic, align 4
  %nobody = icmp eq i32 %members, 0
  %least = select i1 %nobody, i64 {start_ns}, i64 %at_hand
  %large = icmp ugt i64 %expected, %least
  %tried_again = icmp eq i32 %way, 2
  %wanted = or i1 %large, %tried_again
  ; a kernel is tried alone first, unless that would take much of the time
  %few = icmp ult i64 %gangs, {tried_gangs}
  %untried = and i1 %unknown, %few
  %much = or i1 %untried, %wanted
  %total = select i1 %untried, i64 1000000000, i64 %expected
  br i1 %much, label %team, label %small
small:
  if ugt i64 %expected, {worth_ns}: owe, try
owe:
  ; the others sleep, or there are none: the time that they would have saved is added up until calling
  ; them pays
  %owed = atomicrmw add ptr @owed, i64 %expected monotonic
  if ugt i64 %owed, {owed_ns}: settle, try
settle:
  store atomic i64 0, ptr @owed monotonic, align 8
  br label %team
try:
  %start = call i64 @now()
  %shift = select i1 %unknown, i64 5, i64 3
  %part_alone = lshr i64 %gangs, %shift
  %piece = call i64 @llvm.umax.i64(i64 %part_alone, i64 1)
  call void %code(i64 0, i64 %piece, i64 %gangs, ptr %args)
  %tried = call i64 @now()
  %spent = sub i64 %tried, %start
  %others = sub i64 %gangs, %piece
  %scaled = mul i64 %spent, %others
  %rest = udiv i64 %scaled, %piece
  %limit = shl i64 %least, 1
  %piece_fixed = shl i64 %spent, 10
  %piece_each = udiv i64 %piece_fixed, %piece
  if ugt i64 %rest, %limit: more, alone
more:
  ; a kernel's first gangs take long, as memory is touched and code is loaded
  br i1 %unknown, label %open, label %tell_alone
tell_alone:
  call void @learn_alone(ptr %kernel, i64 %piece_each)
  br label %open
open:
  br label %team
alone:
  call void %code(i64 %piece, i64 %gangs, i64 %gangs, ptr %args)
  %end = call i64 @now()
  %all = sub i64 %end, %start
  %fixed = shl i64 %all, 10
  %alone_each = udiv i64 %fixed, %gangs
  call void @learn_alone(ptr %kernel, i64 %alone_each)
  br label %note
team:
  %first = phi i64 [ 0, %estimate ], [ 0, %settle ], [ %piece, %open ]
  %work = phi i64 [ %total, %estimate ], [ %total, %settle ], [ %rest, %open ]
  %team_start = call i64 @now()
  %team_each = call i64 @together(ptr %code, i64 %first, i64 %gangs, ptr %args, i64 %threads, i64 %work)
  %team_end = call i64 @now()
  %team_spent = sub i64 %team_end, %team_start
  %team_fixed = shl i64 %team_spent, 10
  %team_gangs = sub i64 %gangs, %first
  %team_wall = udiv i64 %team_fixed, %team_gangs
  call void @learn_team(ptr %kernel, i64 %team_wall)
  br label %note
note:
  %measured = phi i64 [ %alone_each, %alone ], [ %team_each, %team ], [ %whole_each, %whole ]
  %part = lshr i64 %each, 3
  %faded = sub i64 %each, %part
  %larger = call i64 @llvm.umax.i64(i64 %measured, i64 %faded)
  %known = call i64 @llvm.umax.i64(i64 %larger, i64 1)
  %kernel->kernel.each = %known monotonic
  ret void
}}

; runs a launch; launches that share memory of the kernel run one after the other
define internal void @perform(ptr %kernel, i64 %gangs, ptr %args) {{
entry:
  %lock = &%kernel->kernel.lock
  %locks = %kernel->kernel.alone
  if eq i32 %locks, 0: go, first
first:
  %pair = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %locked, label %busy
busy:
  %old = atomicrmw xchg ptr %lock, i32 2 acquire
  if eq i32 %old, 0: locked, wait
wait:
  call void @sleep(ptr %lock, i32 2)
  br label %busy
locked:
  call void @run(ptr %kernel, i64 %gangs, ptr %args)
  %was = atomicrmw xchg ptr %lock, i32 0 release
  if eq i32 %was, 2: tell, done
tell:
  call void @rouse(ptr %lock)
  br label %done
go:
  call void @run(ptr %kernel, i64 %gangs, ptr %args)
  br label %done
done:
  ret void
}}

; returns the size of a gang's piece of %bytes bytes: whole pages
define internal i64 @edge(i64 %gang, i64 %gangs, i64 %bytes) {{
  %even = udiv i64 %bytes, %gangs
  %page = add i64 %even, 4096
  %piece = and i64 %page, -4096
  %at = mul i64 %piece, %gang
  %result = call i64 @llvm.umin.i64(i64 %at, i64 %bytes)
  ret i64 %result
}}

; kernels that copy or clear memory; their argument is {{ ptr target, ptr source, i64 bytes }}
define void @copy(i64 %begin, i64 %end, i64 %gangs, ptr %args) {{
  %target = load ptr, ptr %args
  %source = load ptr, ptr %args[i64 1]
  %bytes = load i64, ptr %args[i64 2]
  %from = call i64 @edge(i64 %begin, i64 %gangs, i64 %bytes)
  %to = call i64 @edge(i64 %end, i64 %gangs, i64 %bytes)
  %size = sub i64 %to, %from
  %there = getelementptr i8, ptr %target, i64 %from
  %here = getelementptr i8, ptr %source, i64 %from
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  ret void
}}

"""
"""`run` and `perform`; the kernel that copies."""
