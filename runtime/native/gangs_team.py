"""LLVM IR for members as threads of an OpenMP team (`gangs_code.py`), and for the words on which such
threads wait."""

TEAM = """\
; runs the function for which member %i was called, if any
define internal void @answer(i64 %i) {{
entry:
  %call = getelementptr %call, ptr @calls, i64 %i
  %state = %call->call.state acquire
  if eq i64 %state, 2: run, done
run:
  %function = %call->call.function
  %argument = %call->call.argument
  %call->call.state = 1 monotonic
  call void %function(ptr %argument)
  br label %done
done:
  ret void
}}

; takes the first free member from number %from on, until @team_release; returns 0 if there is none
define i64 @team_take(i64 %from) {{
entry:
  %first = call i64 @llvm.umax.i64(i64 %from, i64 1)
  br label %test
test:
  %i = phi i64 [ %first, %entry ], [ %next, %other ]
  if ult i64 %i, {max_threads}: try, none
try:
  %call = getelementptr %call, ptr @calls, i64 %i
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
  if ule i64 %i, %there: answer, grow
grow:
  %grown = call i64 @grow(i64 %number)
  if uge i64 %grown, %number: answer, busy
busy:
  ; no thread could be created, or another thread is creating some
  %growing = load atomic i32, ptr @growing acquire, align 4
  if ne i32 %growing, 0: enough, again
again:
  %size_now = load atomic i32, ptr @size acquire, align 4
  %there_now = zext i32 %size_now to i64
  if ule i64 %i, %there_now: answer, refused
refused:
  %call->call.state = 0 release
  br label %none
answer:
  ret i64 %i
none:
  ret i64 0
}}

; lets member %i, which the caller took, run %function(%argument)
define void @team_call(i64 %i, ptr %function, ptr %argument) {{
  %call = getelementptr %call, ptr @calls, i64 %i
  %call->call.function = %function
  %call->call.argument = %argument
  %call->call.state = 2 release
  %ticket = call i32 @next_ticket()
  call void @ring(i64 %i, i32 %ticket)
  fence seq_cst
  %next = add i64 %i, 1
  call void @wake(i64 %i, i64 %next)
  ret void
}}

; frees member %i, which calls this at the end of its function
define void @team_release(i64 %i) {{
  %call = getelementptr %call, ptr @calls, i64 %i
  %call->call.state = 0 release
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

; reads %word up to %turns times, until it differs from %value; returns whether it does
define i64 @team_spin(ptr %word, i64 %value, i64 %turns) {{
entry:
  br label %spin
spin:
  %turn = phi i64 [ 0, %entry ], [ %turn_next, %still ]
  %seen = load atomic i64, ptr %word seq_cst, align 8
  if ne i64 %seen, %value: yes, still
still:
  {pause}
  %turn_next = add i64 %turn, 1
  if ult i64 %turn_next, %turns: spin, no
yes:
  ret i64 1
no:
  ret i64 0
}}

; sleeps while %word is %value, at most until `team_wake`
define void @team_sleep(ptr %word, i64 %value) {{
  %low = trunc i64 %value to i32
  call void @sleep(ptr %word, i32 %low)
  ret void
}}

; wakes all threads that sleep on %word
define void @team_wake(ptr %word) {{
  %status = call i64 (i64, ...) @syscall(i64 {wait_number}, ptr %word, i32 129, i32 2147483647)
  ret void
}}

; the bytes of the last-level caches of the team's threads, above which a loop has non-temporal stores; the
; most of all numbers if these do not pay. %stencil: whether the loop reads an array at several places
define i64 @team_cache(i1 %stencil) {{
  %members = load atomic i32, ptr @size monotonic, align 4
  %members_64 = zext i32 %members to i64
  %threads = add i64 %members_64, 1
  %used = call i64 @llvm.umin.i64(i64 %threads, i64 {caches})
  %bytes = mul i64 %used, {cache_bytes}
  %never = and i1 %stencil, {stencils_stay}
  %result = select i1 %never, i64 9223372036854775807, i64 %bytes
  ret i64 %result
}}

define void @team_fence() {{
  fence seq_cst
  ret void
}}

"""
"""`TEAM_SERVICES` of `gangs.py`."""
