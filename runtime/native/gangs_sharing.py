"""LLVM IR by which members share the gangs of a launch (`gangs_code.py`): halving shares, joining, and
leaving."""

SHARING = """\
; takes half of the rest of a share, at least %grain gangs: the first in the upper half, the last in the lower
define internal i64 @take(ptr %share, i64 %grain) {{
entry:
  %first = load atomic i64, ptr %share acquire, align 8
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
  %pair = cmpxchg ptr %share, i64 %old, i64 %new acq_rel acquire
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

; runs the gangs %taken (0: none) of a job as member %i, then those of its share, then, if it %goes_on, of
; others'; returns their number
define internal i64 @work(ptr %job, i64 %i, ptr %kernel, ptr %args, i64 %gangs, i64 %shares, i64 %grain,
    i1 %goes_on, i64 %taken) {{
entry:
  %shares_at = &%job->job.shares
  br label %share
share:
  %d = phi i64 [ 0, %entry ], [ %d_next, %empty ]
  %so_far = phi i64 [ 0, %entry ], [ %count, %empty ]
  %held = phi i64 [ %taken, %entry ], [ 0, %empty ]
  %sum = add i64 %i, %d
  %beyond = icmp uge i64 %sum, %shares
  %wrapped = sub i64 %sum, %shares
  %index = select i1 %beyond, i64 %wrapped, i64 %sum
  %word = &%shares_at[i64 %index]->share.gangs
  if eq i64 %held, 0: piece, run
piece:
  %count = phi i64 [ %so_far, %share ], [ %more, %run ]
  %found = call i64 @take(ptr %word, i64 %grain)
  if eq i64 %found, 0: empty, run
run:
  %range = phi i64 [ %held, %share ], [ %found, %piece ]
  %before = phi i64 [ %so_far, %share ], [ %count, %piece ]
  %begin = lshr i64 %range, 32
  %end = and i64 %range, 4294967295
  call void %kernel(i64 %begin, i64 %end, i64 %gangs, ptr %args)
  %length = sub i64 %end, %begin
  %more = add i64 %before, %length
  br label %piece
empty:
  %d_next = add i64 %d, 1
  %others = icmp ult i64 %d_next, %shares
  %again = and i1 %others, %goes_on
  br i1 %again, label %share, label %done
done:
  ret i64 %count
}}

; lets member %i work on a job of which its share is not empty. The member marks itself as in before it
; takes gangs: a launching thread that finds a share empty sees the mark of who took the last, or they are out
define internal void @help(ptr %job, i64 %i) {{
entry:
  %shares_at = &%job->job.shares
  %share = getelementptr %share, ptr %shares_at, i64 %i
  %mark = &%share->share.inside
  %word = &%share->share.gangs
  %was = atomicrmw xchg ptr %mark, i32 1 seq_cst
  %grain = %share->share.grain monotonic
  %taken = call i64 @take(ptr %word, i64 %grain)
  if eq i64 %taken, 0: leave, run
run:
  ; the launch does not end before these gangs have run: the words of the share are its own
  %kernel = %share->share.kernel
  %args = %share->share.args
  %gangs = %share->share.total
  %count = %share->share.share_count
  %helps = %share->share.helps
  %goes_on = icmp ne i32 %helps, 0
  %shares = zext i32 %count to i64
  %own_grain = %share->share.grain monotonic
  %twice = shl i64 %i, 1
  %left = add i64 %twice, 1
  %right = add i64 %twice, 2
  call void @wake(i64 %left, i64 %shares)
  call void @wake(i64 %right, i64 %shares)
  %ran = call i64 @work(ptr %job, i64 %i, ptr %kernel, ptr %args, i64 %gangs, i64 %shares,
    i64 %own_grain, i1 %goes_on, i64 %taken)
  br label %leave
leave:
  %out = atomicrmw xchg ptr %mark, i32 0 seq_cst
  if eq i32 %out, 2: tell, done
tell:
  call void @rouse(ptr %mark)
  br label %done
done:
  ret void
}}

; whether there are gangs in the share of member %i of a job
define internal i1 @has_some(ptr %job, i64 %i) {{
  %shares_at = &%job->job.shares
  %range = &%shares_at[i64 %i]->share.gangs
  %word = load atomic i64, ptr %range monotonic, align 8
  %begin = lshr i64 %word, 32
  %end = and i64 %word, 4294967295
  %some = icmp ult i64 %begin, %end
  ret i1 %some
}}

; returns when no member is in a job of which all shares are empty; whether one was still in
define internal i1 @gather(ptr %job, i64 %shares) {{
entry:
  %shares_at = &%job->job.shares
  br label %member
member:
  %i = phi i64 [ 1, %entry ], [ %i_next, %gone ]
  %turn = phi i32 [ 0, %entry ], [ %turn_now, %gone ]
  if ult i64 %i, %shares: look, done
look:
  %turn_now = phi i32 [ %turn, %member ], [ %turn_next, %spin ], [ %turn_now, %sleep ],
    [ %turn_now, %tire ]
  %mark = &%shares_at[i64 %i]->share.inside
  %in = load atomic i32, ptr %mark acquire, align 4
  if eq i32 %in, 0: gone, still
gone:
  %i_next = add i64 %i, 1
  br label %member
still:
  %turn_next = add i32 %turn_now, 1
  if ugt i32 %turn_next, 1024: tire, spin
spin:
  {pause}
  br label %look
tire:
  %pair = cmpxchg ptr %mark, i32 1, i32 2 seq_cst seq_cst
  %found = extractvalue {{ i32, i1 }} %pair, 0
  if eq i32 %found, 0: look, sleep
sleep:
  call void @sleep(ptr %mark, i32 2)
  br label %look
done:
  %waited = icmp ne i32 %turn, 0
  ret i1 %waited
}}

"""
"""Taking gangs, working on a job, joining it to help, and waiting for helpers."""
