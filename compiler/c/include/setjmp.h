/* Nonlocal jumps (C11 7.13). */
#pragma once
#include <bits/sigset.h>
#ifdef __aarch64__
#define __JMPBUF_LONGS 22
#else
#define __JMPBUF_LONGS 8
#endif
struct __jmp_buf_tag { long __jmpbuf[__JMPBUF_LONGS]; int __mask_was_saved; sigset_t __saved_mask; };
typedef struct __jmp_buf_tag jmp_buf[1];
int _setjmp(struct __jmp_buf_tag *);
_Noreturn void longjmp(struct __jmp_buf_tag *, int);
#define setjmp(environment) _setjmp(environment)
