"""LLVM IR by which members share the gangs of a launch (`gangs_code.py`): halving shares, joining, and
leaving."""

SHARING = """\
; takes half of the rest of a share, at least %grain gangs: the first in the upper half, the last in the lower
define internal i64 @take(ptr %share, i64 %grain) {{
entry:
  %first = load atomic i64, ptr %share monotonic, align 8
  br label %test
test:
  %old = phi i64 [ %first, %entry ], [ %seen, %try ]
  %begin = lshr i64 %old, 32
  %end = and i64 %old, 4294967295
  if ult i64 %begin, %end: try, none
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

; runs gangs as member %i: of its own share, then of others'; returns their number
define internal i64 @work(ptr %job, i64 %i) {{
entry:
  %kernel = %job->job.kernel
  %args = %job->job.args
  %gangs = %job->job.gangs
  %shares = %job->job.share_count
  %grain = %job->job.grain
  %helps = %job->job.helps
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
  %shares_at = &%job->job.shares
  %word = &%shares_at[i64 %index]->share.gangs
  br label %piece
piece:
  %count = phi i64 [ %so_far, %share ], [ %more, %run ]
  %taken = call i64 @take(ptr %word, i64 %grain)
  if eq i64 %taken, 0: empty, run
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

; returns whether a job of this state is open to member %i
define internal i1 @invites(i32 %state, i64 %i) {{
  %open = and i32 %state, 1073741824
  %is_open = icmp ne i32 %open, 0
  %shares = and i32 %state, 65535
  %shares_64 = zext i32 %shares to i64
  %wanted = icmp ult i64 %i, %shares_64
  %result = and i1 %is_open, %wanted
  ret i1 %result
}}

; lets member %i help with the job if it is open to it. The member marks itself as in, then reads the state
; again: either it finds the job closed, or the launching thread, which closes first, sees the mark
define internal void @help(ptr %job, i64 %i) {{
entry:
  %state_at = &%job->job.state
  %state = %job->job.state acquire
  %useful = call i1 @invites(i32 %state, i64 %i)
  br i1 %useful, label %in, label %done
in:
  %shares_at = &%job->job.shares
  %mark = &%shares_at[i64 %i]->share.inside
  %was = atomicrmw xchg ptr %mark, i64 1 seq_cst
  %again = %job->job.state seq_cst
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
  %after = %job->job.state seq_cst
  %waiting = and i32 %after, 536870912
  if ne i32 %waiting, 0: tell, done
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
  %state_at = &%job->job.state
  br label %member
member:
  %i = phi i64 [ 1, %entry ], [ %i_next, %gone ]
  %turn = phi i32 [ 0, %entry ], [ %turn_now, %gone ]
  if ult i64 %i, %shares: look, done
look:
  %turn_now = phi i32 [ %turn, %member ], [ %turn_next, %spin ], [ %turn_now, %sleep ]
  %shares_at = &%job->job.shares
  %mark = &%shares_at[i64 %i]->share.inside
  %in = load atomic i64, ptr %mark acquire, align 8
  if eq i64 %in, 0: gone, still
gone:
  %i_next = add i64 %i, 1
  br label %member
still:
  %turn_next = add i32 %turn_now, 1
  if ugt i32 %turn_next, 1024: announce, spin
spin:
  {pause}
  br label %look
announce:
  %before = atomicrmw or ptr %state_at, i32 536870912 seq_cst
  %latest = load atomic i64, ptr %mark seq_cst, align 8
  if eq i64 %latest, 0: gone, sleep
sleep:
  call void @sleep(ptr %state_at, i32 536870912)
  br label %look
done:
  ret void
}}

"""
"""Taking gangs, working on a job, joining it to help, and waiting for helpers."""
