"""
The native code of guarded calls (`guard.py`). Each has a frame in memory of its own (`fault.py`).

Walking a stack that the program has overwritten may cause a fault in the handler: the traceback then ends
there.

`keys`: the thread-specific keys of the thread's innermost frame, of the frame of the call that failed last,
and of its signal stack.
"""

from __future__ import annotations

import ctypes

from .fault import PLACES, GuardFrame

CONSTANTS = {
    "frame_bytes": ctypes.sizeof(GuardFrame),
    "fault_bytes": GuardFrame.inside.offset - GuardFrame.signal.offset,
    "most_places": PLACES,
    "trace_bytes": GuardFrame.trace.size,
}
"""The format fields of `GUARD_CODE` besides addresses."""

_ASSEMBLY = """
.text
.globl accopt_guard_enter
accopt_guard_enter:
  pushq %rbp
  movq %rsp, %rbp
  subq $208, %rsp
  movq %rdi, -8(%rbp)
  movq %rsi, -16(%rbp)
  movq %rdx, -24(%rbp)
  movq %rcx, -32(%rbp)
  movq %r8, -40(%rbp)
  movq %r9, -48(%rbp)
  movq %rax, -56(%rbp)
  movq %r11, -64(%rbp)
  movups %xmm0, -80(%rbp)
  movups %xmm1, -96(%rbp)
  movups %xmm2, -112(%rbp)
  movups %xmm3, -128(%rbp)
  movups %xmm4, -144(%rbp)
  movups %xmm5, -160(%rbp)
  movups %xmm6, -176(%rbp)
  movups %xmm7, -192(%rbp)
  call accopt_guard_push@PLT
  movq %rbx, {rbx}(%rax)
  movq (%rbp), %rcx
  movq %rcx, {rbp}(%rax)
  movq %r12, {r12}(%rax)
  movq %r13, {r13}(%rax)
  movq %r14, {r14}(%rax)
  movq %r15, {r15}(%rax)
  leaq 8(%rbp), %rcx
  movq %rcx, {return_at}(%rax)
  movq 8(%rbp), %rcx
  movq %rcx, {return_to}(%rax)
  stmxcsr {sse_mode}(%rax)
  fnstcw {x87_mode}(%rax)
  leaq accopt_guard_after(%rip), %rcx
  movq %rcx, 8(%rbp)
  movq -8(%rbp), %rdi
  movq -16(%rbp), %rsi
  movq -24(%rbp), %rdx
  movq -32(%rbp), %rcx
  movq -40(%rbp), %r8
  movq -48(%rbp), %r9
  movq -56(%rbp), %rax
  movq -64(%rbp), %r11
  movups -80(%rbp), %xmm0
  movups -96(%rbp), %xmm1
  movups -112(%rbp), %xmm2
  movups -128(%rbp), %xmm3
  movups -144(%rbp), %xmm4
  movups -160(%rbp), %xmm5
  movups -176(%rbp), %xmm6
  movups -192(%rbp), %xmm7
  leave
  jmpq *%r11
accopt_guard_after:
  subq $96, %rsp
  movq %rax, (%rsp)
  movq %rdx, 8(%rsp)
  movups %xmm0, 16(%rsp)
  movups %xmm1, 32(%rsp)
  call accopt_guard_pop@PLT
  movq %rax, %rcx
  movq (%rsp), %rax
  movq 8(%rsp), %rdx
  movups 16(%rsp), %xmm0
  movups 32(%rsp), %xmm1
  addq $96, %rsp
  jmpq *%rcx
.globl accopt_guard_leave
accopt_guard_leave:
  movq {rbx}(%rdi), %rbx
  movq {rbp}(%rdi), %rbp
  movq {r12}(%rdi), %r12
  movq {r13}(%rdi), %r13
  movq {r14}(%rdi), %r14
  movq {r15}(%rdi), %r15
  movq {return_at}(%rdi), %rsp
  addq $8, %rsp
  ldmxcsr {sse_mode}(%rdi)
  fninit
  fldcw {x87_mode}(%rdi)
  xorl %eax, %eax
  xorl %edx, %edx
  pxor %xmm0, %xmm0
  pxor %xmm1, %xmm1
  cld
  jmp accopt_guard_after
.globl accopt_guard_back
accopt_guard_back:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $64, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %r11, 48(%rsp)
  movsd %xmm0, 56(%rsp)
  movl $1, %edi
  call accopt_guard_count@PLT
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %r11
  movsd 56(%rsp), %xmm0
  call *%r11
  movq %rax, (%rsp)
  movups %xmm0, 16(%rsp)
  movl $-1, %edi
  call accopt_guard_count@PLT
  testq %rax, %rax
  movq %rax, %rdi
  jne accopt_guard_leave
  movq (%rsp), %rax
  movups 16(%rsp), %xmm0
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
"""

_OVERWRITTEN = b"""\
error: the program has overwritten the stack
    help: check the subscripts of local arrays, and what copies strings to them
"""
_IR = """
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i64 @pthread_self()
declare i32 @pthread_kill(i64, i32)
declare i32 @pause()
declare ptr @calloc(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @sigaltstack(ptr, ptr)
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @backtrace(ptr, i32)
declare ptr @memcpy(ptr, ptr, i64)
declare ptr @memset(ptr, i32, i64)
declare i64 @write(i32, ptr, i64)
declare void @accopt_guard_enter()
declare void @accopt_guard_leave()
declare void @accopt_guard_back()

@owner = internal global i64 0
@describer = internal global i64 0
@leaving = internal global i32 0
@overwritten = internal constant [OVERWRITTEN_BYTES x i8] c"OVERWRITTEN_TEXT"
@passed_on = internal global %frame zeroinitializer, align 16

define i64 @place_enter() {{ ret i64 ptrtoint (ptr @accopt_guard_enter to i64) }}
define i64 @place_back() {{ ret i64 ptrtoint (ptr @accopt_guard_back to i64) }}
define i64 @place_fault() {{ ret i64 ptrtoint (ptr @accopt_guard_fault to i64) }}

define i32 @key(i64 %n) {{
  %keys = inttoptr i64 {keys} to ptr
  %key = load i32, ptr %keys[i64 %n]
  ret i32 %key
}}

define ptr @get(i64 %n) {{
  %key = call i32 @key(i64 %n)
  %value = call ptr @pthread_getspecific(i32 %key)
  ret ptr %value
}}

define void @set(i64 %n, ptr %value) {{
  %key = call i32 @key(i64 %n)
  %done = call i32 @pthread_setspecific(i32 %key, ptr %value)
  ret void
}}

; Pushes a frame for a call that begins. The thread's first call also gives it a signal stack.
define ptr @accopt_guard_push() {{
  %frame = call ptr @calloc(i64 1, i64 {frame_bytes})
  %before = call ptr @get(i64 0)
  %frame->frame.outer = %before
  %self = call i64 @pthread_self()
  store i64 %self, ptr @owner
  store volatile i32 0, ptr @leaving
  if eq ptr %before, null: forget, signals
forget:
  %flag = &@passed_on->frame.why
  %forgotten = cmpxchg ptr %flag, i32 3, i32 0 acq_rel monotonic
  br label %signals
signals:
  %stack = call ptr @get(i64 2)
  if ne ptr %stack, null: end, first
first:
  %made = call ptr @malloc(i64 65536)
  call void @set(i64 2, ptr %made)
  %description = alloca [3 x i64]
  store ptr %made, ptr %description
  store i64 0, ptr %description[i64 1]
  store i64 65536, ptr %description[i64 2]
  %done = call i32 @sigaltstack(ptr %description, ptr null)
  br label %end
end:
  call void @set(i64 0, ptr %frame)
  ret ptr %frame
}}

; Pops the frame of the innermost call and returns its return address. Keeps the frame for Python on failure.
define i64 @accopt_guard_pop() {{
  %frame = call ptr @get(i64 0)
  %before = %frame->frame.outer
  call void @set(i64 0, ptr %before)
  %return = %frame->frame.return_to
  %why = %frame->frame.why
  if eq i32 %why, 0: drop, keep
drop:
  call void @free(ptr %frame)
  ret i64 %return
keep:
  call void @set(i64 1, ptr %frame)
  ret i64 %return
}}

; Returns the innermost frame, or null if this thread is not in a guarded call.
define ptr @active() {{
  %frame = call ptr @get(i64 0)
  ret ptr %frame
}}

define void @fail() {{
  %frame = call ptr @get(i64 0)
  %frame->frame.why = 1
  ret void
}}

define ptr @last() {{
  %frame = call ptr @get(i64 1)
  call void @set(i64 1, ptr null)
  ret ptr %frame
}}

define void @release(ptr %frame) {{
  call void @free(ptr %frame)
  ret void
}}

; Counts callbacks, when one begins or ends; returns the frame to leave if it has failed.
define ptr @accopt_guard_count(i32 %change) {{
  %frame = call ptr @get(i64 0)
  if eq ptr %frame, null: go_on, count
count:
  %before = %frame->frame.inside
  %after = add i32 %before, %change
  %frame->frame.inside = %after
  %why = %frame->frame.why
  if ne i32 %why, 0: leave, go_on
leave:
  ret ptr %frame
go_on:
  ret ptr null
}}

; The signal handler. A thread that is not in a guarded call passes the signal's data on to one that is.
define void @accopt_guard_fault(i32 %signal, ptr %info, ptr %context) {{
  %frame = call ptr @get(i64 0)
  %code_at = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %code_at
  if eq ptr %frame, null: stranger, own
own:
  %inside = %frame->frame.inside
  if ne i32 %inside, 0: others, mine
mine:
  %sent = icmp eq i32 %code, -6
  %passed = @passed_on->frame.why acquire
  %is_passed = icmp eq i32 %passed, 2
  %take = and i1 %sent, %is_passed
  br i1 %take, label %taken, label %note
taken:
  %from = &@passed_on->frame.signal
  %to = &%frame->frame.signal
  %copied = call ptr @memcpy(ptr %to, ptr %from, i64 {fault_bytes})
  @passed_on->frame.why = 3 release
  br label %go
note:
  %describing_at = &%frame->frame.described
  %describing = %frame->frame.described
  if ne i32 %describing, 0: go, first_here
first_here:
  store volatile i32 1, ptr %describing_at
  call void @describe(ptr %frame, i32 %signal, ptr %info, ptr %context)
  br label %go
go:
  store volatile i32 1, ptr @leaving
  %frame->frame.why = 2
  %rip = getelementptr i8, ptr %context, i64 168
  store ptr @accopt_guard_leave, ptr %rip
  %rdi = getelementptr i8, ptr %context, i64 104
  store ptr %frame, ptr %rdi
  ret void
stranger:
  %owner = load i64, ptr @owner
  %self = call i64 @pthread_self()
  %no_owner = icmp eq i64 %owner, 0
  %mine_too = icmp eq i64 %owner, %self
  %hopeless = or i1 %no_owner, %mine_too
  br i1 %hopeless, label %others, label %pass
pass:
  %flag = &@passed_on->frame.why
  %describer = load i64, ptr @describer
  if eq i64 %describer, %self: told_all, claim
claim:
  %exchanged = cmpxchg ptr %flag, i32 0, i32 1 acq_rel monotonic
  %first = extractvalue {{ i32, i1 }} %exchanged, 1
  br i1 %first, label %tell, label %rest
tell:
  store volatile i64 %self, ptr @describer
  call void @describe(ptr @passed_on, i32 %signal, ptr %info, ptr %context)
  br label %told_all
told_all:
  store volatile i64 0, ptr @describer
  @passed_on->frame.why = 2 release
  %told = call i32 @pthread_kill(i64 %owner, i32 %signal)
  br label %rest
rest:
  %woken = call i32 @pause()
  br label %rest
others:
  %sent_to = icmp eq i32 %code, -6
  %late = @passed_on->frame.why acquire
  %was_passed = icmp eq i32 %late, 2
  %too_late = and i1 %sent_to, %was_passed
  br i1 %too_late, label %ignore, label %before
ignore:
  @passed_on->frame.why = 3 release
  ret void
before:
  %left = load volatile i32, ptr @leaving
  if ne i32 %left, 0: say, restore
say: ; a fault in Python, whose frames are above on the stack, after one in C code
  store volatile i32 0, ptr @leaving
  %said = call i64 @write(i32 2, ptr @overwritten, i64 OVERWRITTEN_BYTES)
  br label %restore
restore:
  %old = inttoptr i64 {old} to ptr
  %wide = zext i32 %signal to i64
  %offset = mul i64 %wide, 152
  %action = getelementptr i8, ptr %old, i64 %offset
  %restored = call i32 @sigaction(i32 %signal, ptr %action, ptr null)
  if sle i32 %code, 0: again, back
again:
  %self_again = call i64 @pthread_self()
  %raised = call i32 @pthread_kill(i64 %self_again, i32 %signal)
  br label %back
back:
  ret void
}}

define void @describe(ptr %frame, i32 %signal, ptr %info, ptr %context) {{
  %frame->frame.signal = %signal
  %code_from = getelementptr i8, ptr %info, i64 8
  %code = load i32, ptr %code_from
  %frame->frame.code = %code
  %address_from = getelementptr i8, ptr %info, i64 16
  %address = load i64, ptr %address_from
  %frame->frame.address = %address
  %rip_from = getelementptr i8, ptr %context, i64 168
  %rip = load i64, ptr %rip_from
  %frame->frame.instruction = %rip
  %error_from = getelementptr i8, ptr %context, i64 192
  %error_there = load i64, ptr %error_from
  %is_fault = icmp sgt i32 %code, 0
  %error = select i1 %is_fault, i64 %error_there, i64 0 ; a sent signal has the code of an earlier fault here
  %frame->frame.error = %error
  %stack_from = getelementptr i8, ptr %context, i64 160
  %stack = load i64, ptr %stack_from
  %frame->frame.stack = %stack
  %frame->frame.count = {most_places}
  %trace = &%frame->frame.trace
  %cleared = call ptr @memset(ptr %trace, i32 0, i64 {trace_bytes})
  %is_fetch = %error has i64 16
  br i1 %is_fetch, label %called, label %walk
called: ; the called address has no code: the return address gives the caller
  store i64 %rip, ptr %trace
  %stack_top = inttoptr i64 %stack to ptr
  %return = load i64, ptr %stack_top
  store i64 %return, ptr %trace[i64 1]
  ret void
walk:
  %count = call i32 @backtrace(ptr %trace, i32 {most_places})
  %frame->frame.count = %count
  ret void
}}
"""


def _module_assembly(text: str) -> str:
    return "".join(f'module asm "{line}"\n' for line in text.strip().splitlines())


def _with_message(ir: str, message: bytes) -> str:
    """The code with the text that it prints filled in."""
    text = "".join(f"\\{byte:02x}" for byte in message)
    return ir.replace("OVERWRITTEN_BYTES", str(len(message))).replace("OVERWRITTEN_TEXT", text)


_OFFSETS = {name: getattr(GuardFrame, name).offset for name, *_ in GuardFrame._fields_}
GUARD_CODE = _module_assembly(_ASSEMBLY.format(**_OFFSETS)) + _with_message(_IR, _OVERWRITTEN)
