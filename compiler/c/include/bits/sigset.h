/* A set of signals (x86-64 glibc). */
#pragma once
typedef struct { unsigned long __val[16]; } sigset_t;
