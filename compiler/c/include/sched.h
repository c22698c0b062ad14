/* Scheduling of threads by the system (POSIX; Linux). */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#include <bits/time_types.h>
#define CPU_SETSIZE 1024
typedef struct { unsigned long __bits[16]; } cpu_set_t;
#define CPU_ZERO(set) (*(set) = (cpu_set_t){{0}})
#define CPU_SET(cpu, set) ((void)((set)->__bits[(cpu) / 64] |= 1UL << (cpu) % 64))
#define CPU_CLR(cpu, set) ((void)((set)->__bits[(cpu) / 64] &= ~(1UL << (cpu) % 64)))
#define CPU_ISSET(cpu, set) (((set)->__bits[(cpu) / 64] >> (cpu) % 64 & 1) != 0)
struct sched_param { int sched_priority; };
int sched_yield(void), sched_getcpu(void);
int sched_getaffinity(pid_t, size_t, cpu_set_t *), sched_setaffinity(pid_t, size_t, const cpu_set_t *);
