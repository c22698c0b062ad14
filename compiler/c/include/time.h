/* Date and time (C11 7.27, and common POSIX functions). */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#include <bits/time_types.h>
typedef long clock_t;
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define TIME_UTC 1
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  const char *tm_zone;
};
clock_t clock(void);
time_t time(time_t *), mktime(struct tm *), timegm(struct tm *);
double difftime(time_t, time_t);
int timespec_get(struct timespec *, int);
int clock_gettime(clockid_t, struct timespec *), clock_getres(clockid_t, struct timespec *);
int nanosleep(const struct timespec *, struct timespec *);
char *asctime(const struct tm *), *ctime(const time_t *);
char *asctime_r(const struct tm *restrict, char *restrict), *ctime_r(const time_t *, char *);
struct tm *gmtime(const time_t *), *localtime(const time_t *);
struct tm *gmtime_r(const time_t *restrict, struct tm *restrict);
struct tm *localtime_r(const time_t *restrict, struct tm *restrict);
size_t strftime(char *restrict, size_t, const char *restrict, const struct tm *restrict);
void tzset(void);
