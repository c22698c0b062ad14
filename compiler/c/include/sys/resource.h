/* Resource usage (POSIX). */
#pragma once
#include <bits/posix_types.h>
#include <bits/time_types.h>
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
struct rusage {
  struct timeval ru_utime, ru_stime;
  long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock;
  long ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
int getrusage(int, struct rusage *);
