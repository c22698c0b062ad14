/* Types that <time.h>, <sys/time.h> and <sys/stat.h> share (x86-64 glibc). */
#pragma once
typedef long time_t;
typedef long suseconds_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
