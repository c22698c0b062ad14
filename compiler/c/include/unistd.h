/* Symbolic constants and system calls (POSIX). */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _SC_CLK_TCK 2
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _SC_AVPHYS_PAGES 86
extern char *optarg;
extern int optind, opterr, optopt;
int getopt(int, char *const *, const char *);
ssize_t read(int, void *, size_t), write(int, const void *, size_t);
ssize_t pread(int, void *, size_t, off_t), pwrite(int, const void *, size_t, off_t);
ssize_t readlink(const char *restrict, char *restrict, size_t);
off_t lseek(int, off_t, int);
int close(int), access(const char *, int), unlink(const char *), rmdir(const char *), isatty(int);
int chdir(const char *), dup(int), dup2(int, int), pipe(int *), fsync(int), ftruncate(int, off_t);
int truncate(const char *, off_t), link(const char *, const char *);
int symlink(const char *, const char *), gethostname(char *, size_t), usleep(useconds_t);
unsigned int sleep(unsigned int), alarm(unsigned int);
pid_t getpid(void), getppid(void), fork(void);
uid_t getuid(void), geteuid(void);
gid_t getgid(void), getegid(void);
int execv(const char *, char *const *), execvp(const char *, char *const *);
long sysconf(int);
char *getcwd(char *, size_t), *getlogin(void);
int getpagesize(void);
_Noreturn void _exit(int);
