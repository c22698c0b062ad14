/* gettimeofday (POSIX). */
#pragma once
#include <bits/time_types.h>
struct timezone { int tz_minuteswest; int tz_dsttime; };
int gettimeofday(struct timeval *restrict, void *restrict);
int settimeofday(const struct timeval *, const struct timezone *);
int utimes(const char *, const struct timeval *);
