"""LLVM IR of launches on the team of `gangs.py` (`gangs_code.py`), by the measured number of threads."""

LAUNCHES = """\
; gangs %first to %gangs - 1, which are expected to take %total ns, with the team; 1/1024 ns a gang takes
define internal i64 @together(ptr %record, i64 %first, i64 %gangs, ptr %args, i64 %total) noinline {{
entry:
  %kernel = %record->kernel.function
  %threads = %record->kernel.threads
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
  if ule i64 %shares, 1: alone, slot
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
  %late = call i64 @now()
  br label %measure
fill:
  ; what the team takes is known best from its last launches: alone, a thread fetches data from others' caches
  %of_team = %record->kernel.by_team monotonic
  %has_run = icmp ne i64 %of_team, 0
  %in_wall = mul i64 %of_team, %left
  %in_threads = mul i64 %in_wall, %shares
  %taken = lshr i64 %in_threads, 10
  %time = select i1 %has_run, i64 %taken, i64 %total
  %some_time = call i64 @llvm.umax.i64(i64 %time, i64 1)
  ; an eighth of a share, or the number of gangs that pay for taking a piece; short shares are single pieces
  %pieces = shl i64 %shares, 3
  %fine = udiv i64 %left, %pieces
  %scaled_left = mul i64 %left, {piece_ns}
  %short = udiv i64 %scaled_left, %some_time
  %coarse = call i64 @llvm.umax.i64(i64 %fine, i64 %short)
  %some_gangs = call i64 @llvm.umax.i64(i64 %coarse, i64 1)
  %single_time = mul i64 %shares, {single_ns}
  %is_single = icmp ule i64 %time, %single_time
  %grain = select i1 %is_single, i64 %left, i64 %some_gangs
  ; reading others' words does not pay if shares are single pieces
  %pieces_in_all = mul i64 %grain, %shares
  %divided = icmp ult i64 %pieces_in_all, %left
  %helps = zext i1 %divided to i32
  %count = trunc i64 %shares to i32
  %shares_at = &%job->job.shares
  %ticket = call i32 @next_ticket()
  %job_32 = trunc i64 %k to i32
  %job_number = add i32 %job_32, 1
  %number = or i32 %ticket, %job_number
  ; others begin later, and are seen to end later: this thread's share is larger by what it runs until then
  %members = sub i64 %shares, 1
  %even = udiv i64 %left, %shares
  %lead_in_all = mul i64 %members, {lead_ns}
  %lead = udiv i64 %lead_in_all, %shares
  %lead_gangs = mul i64 %left, %lead
  %lead_part = udiv i64 %lead_gangs, %some_time
  %half_even = lshr i64 %even, 1
  %extra = call i64 @llvm.umin.i64(i64 %lead_part, i64 %half_even)
  %first_own = add i64 %even, %extra
  %own = call i64 @own_share(ptr %record, i64 %first_own, i64 %even, i64 %shares)
  %rest = sub i64 %left, %own
  ; this thread takes its first piece before others can, and writes without waiting for their processors
  %own_half = lshr i64 %own, 1
  %own_wanted = call i64 @llvm.umax.i64(i64 %own_half, i64 %grain)
  %own_count = call i64 @llvm.umin.i64(i64 %own_wanted, i64 %own)
  %own_past = add i64 %first, %own_count
  %own_end = add i64 %first, %own
  %own_high = shl i64 %own_past, 32
  %own_range = or i64 %own_high, %own_end
  %own_at = &%job->job.shares
  store atomic i64 %own_range, ptr %own_at release, align 8
  br label %give
give:
  %s = phi i64 [ 1, %fill ], [ %s_next, %give ]
  %from = phi i64 [ %own_end, %fill ], [ %to, %give ]
  %s_next = add i64 %s, 1
  %scaled = mul i64 %rest, %s
  %length = udiv i64 %scaled, %members
  %to = add i64 %own_end, %length
  %high = shl i64 %from, 32
  %range = or i64 %high, %to
  %share = getelementptr %share, ptr %shares_at, i64 %s
  %share->share.share_count = %count
  %share->share.kernel = %kernel
  %share->share.args = %args monotonic
  %share->share.total = %gangs
  %share->share.helps = %helps
  %share->share.grain = %grain monotonic
  %share->share.gangs = %range release
  call void @ring(i64 %s, i32 %number)
  if ult i64 %s_next, %shares: give, call
call:
  ; a fence waits for the lines of all members; without it one that lies down just now may be left to sleep,
  ; which costs a short launch no more than running its share
  if ugt i64 %total, {wake_ns}: fence, begin
fence:
  fence seq_cst
  br label %begin
begin:
  call void @wake(i64 1, i64 %shares)
  call void @wake(i64 2, i64 %shares)
  call void %kernel(i64 %first, i64 %own_past, i64 %gangs, ptr %args)
  %further = call i64 @work(ptr %job, i64 0, ptr %kernel, ptr %args, i64 %gangs, i64 %shares, i64 %grain,
    i1 true, i64 0)
  %done_here = add i64 %own_count, %further
  %worked = call i64 @now()
  %waited = call i1 @gather(ptr %job, i64 %shares)
  store atomic i32 0, ptr %job release, align 4
  ; the shares say nothing if a member did not come
  %took_over = icmp ne i64 %done_here, %own
  %to_ignore = or i1 %divided, %took_over
  br i1 %to_ignore, label %measure, label %weigh
weigh:
  call void @balance(ptr %record, i64 %own, i64 %even, i1 %waited)
  br label %measure
measure:
  %ran = phi i64 [ %left, %alone ], [ %done_here, %begin ], [ %done_here, %weigh ]
  %stop = phi i64 [ %late, %alone ], [ %worked, %begin ], [ %worked, %weigh ]
  %spent = sub i64 %stop, %start
  %fixed = shl i64 %spent, 10
  %divisor = call i64 @llvm.umax.i64(i64 %ran, i64 1)
  %each = udiv i64 %fixed, %divisor
  %end = call i64 @now()
  %wall = sub i64 %end, %start
  %wall_fixed = shl i64 %wall, 10
  %wall_each = udiv i64 %wall_fixed, %left
  call void @learn_team(ptr %record, i64 %wall_each)
  ret i64 %each
}}

; returns the gangs of the launching thread's share: %first, or what `balance` has made of it if the kernel's
; last launch was divided in the same way. Measured times do not change it, so that the others keep their
; gangs, whose data is in their caches
define internal i64 @own_share(ptr %kernel, i64 %first, i64 %even, i64 %shares) {{
entry:
  %high = shl i64 %even, 9
  %division = or i64 %high, %shares
  %last = %kernel->kernel.division monotonic
  if eq i64 %last, %division: same, other
same:
  ; of another thread's launch, perhaps: at least half, at most one and a half even shares
  %own = %kernel->kernel.own monotonic
  %half = lshr i64 %even, 1
  %most = add i64 %even, %half
  %least = sub i64 %even, %half
  %enough = call i64 @llvm.umax.i64(i64 %own, i64 %least)
  %result = call i64 @llvm.umin.i64(i64 %enough, i64 %most)
  ret i64 %result
other:
  %kernel->kernel.division = %division monotonic
  %kernel->kernel.own = %first monotonic
  %kernel->kernel.balance = 0 monotonic
  ret i64 %first
}}

; after a launch of single pieces: if the launching thread has %waited for others in most of several launches,
; its share becomes larger, otherwise smaller
define internal void @balance(ptr %kernel, i64 %own, i64 %even, i1 %waited) {{
entry:
  %old = %kernel->kernel.balance monotonic
  %sign = select i1 %waited, i64 1, i64 -1
  %new = add i64 %old, %sign
  %size = call i64 @llvm.abs.i64(i64 %new, i1 false)
  if ult i64 %size, {balance_launches}: count, move
count:
  %kernel->kernel.balance = %new monotonic
  ret void
move:
  %part = lshr i64 %even, 6
  %step = call i64 @llvm.umax.i64(i64 %part, i64 1)
  %change = mul i64 %step, %sign
  %moved = add i64 %own, %change
  %kernel->kernel.own = %moved monotonic
  %kernel->kernel.balance = 0 monotonic
  ret void
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

; records the time of a gang in a launch by the team: shorter ones at once, longer ones gradually, as at most
; twice the former, since a thread that loses its processor once says nothing of the next launch
define internal void @learn_team(ptr %kernel, i64 %each) {{
  %old = %kernel->kernel.by_team monotonic
  %twice = shl i64 %old, 1
  %believed = call i64 @llvm.umin.i64(i64 %each, i64 %twice)
  %three = mul i64 %old, 3
  %sum = add i64 %three, %believed
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
  ; first often, then thrice in 64 times: the first may only wake the members, which takes as long as a
  ; launch, or as eight; for the others they spin
  %less = sub i64 %turn, 1
  %bits = and i64 %turn, %less
  %power = icmp eq i64 %bits, 0
  %later = and i64 %turn, 63
  %turned = icmp ule i64 %later, 1
  %after_eight = icmp eq i64 %later, 8
  %due = any %power %turned %after_eight
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
  %place = call ptr @place(i64 1)
  %asleep = %place->share.sleeps monotonic
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
  %team_each = call i64 @together(ptr %kernel, i64 %first, i64 %gangs, ptr %args, i64 %work)
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
