/* The system's name (POSIX; x86-64 glibc). */
#pragma once
struct utsname { char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65]; };
int uname(struct utsname *);
