"""LLVM IR for members as threads of an OpenMP team (`gangs_code.py`), and for the words on which such
threads wait."""

TEAM = """\
; runs the function for which member %i was called, if any
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

; takes the first free member from number %from on, until @team_release; returns 0 if there is none
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
  ; no thread could be created, or another thread is creating some
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

; lets member %i, which the caller took, run %function(%argument)
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

; frees member %i, which calls this at the end of its function
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

; reads %word up to %turns times, until it differs from %value; returns whether it does
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

define void @team_fence() {{
  fence seq_cst
  ret void
}}

"""
"""`TEAM_SERVICES` of `gangs.py`."""
