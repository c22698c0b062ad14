/* POSIX types (glibc). */
#pragma once
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int mode_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
#ifdef __aarch64__
typedef unsigned int nlink_t;
typedef int blksize_t;
#else
typedef unsigned long nlink_t;
typedef long blksize_t;
#endif
typedef long blkcnt_t;
typedef int clockid_t;
typedef int id_t;
typedef unsigned int useconds_t;
