/* General utilities (C11 7.22, and common POSIX functions). */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#include <bits/time_types.h>
typedef __WCHAR_TYPE__ wchar_t;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX (__ctype_get_mb_cur_max())
typedef struct { int quot; int rem; } div_t;
typedef struct { long quot; long rem; } ldiv_t;
typedef struct { long long quot; long long rem; } lldiv_t;
size_t __ctype_get_mb_cur_max(void);
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *valloc(size_t);
void *aligned_alloc(size_t, size_t), *reallocarray(void *, size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void free(void *);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
double atof(const char *);
double strtod(const char *restrict, char **restrict);
float strtof(const char *restrict, char **restrict);
long double strtold(const char *restrict, char **restrict);
long strtol(const char *restrict, char **restrict, int);
unsigned long strtoul(const char *restrict, char **restrict, int);
long long strtoll(const char *restrict, char **restrict, int);
unsigned long long strtoull(const char *restrict, char **restrict, int);
int rand(void), rand_r(unsigned int *);
void srand(unsigned int), srandom(unsigned int), srand48(long);
long random(void), lrand48(void), mrand48(void);
double drand48(void), erand48(unsigned short *);
long nrand48(unsigned short *), jrand48(unsigned short *);
_Noreturn void abort(void), exit(int), _Exit(int), quick_exit(int);
int atexit(void (*)(void)), at_quick_exit(void (*)(void));
char *getenv(const char *), *realpath(const char *restrict, char *restrict), *mkdtemp(char *);
int setenv(const char *, const char *, int), unsetenv(const char *), putenv(char *);
int system(const char *), mkstemp(char *);
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
int abs(int);
long labs(long);
long long llabs(long long);
div_t div(int, int);
ldiv_t ldiv(long, long);
lldiv_t lldiv(long long, long long);
int mblen(const char *, size_t), mbtowc(wchar_t *restrict, const char *restrict, size_t);
int wctomb(char *, wchar_t);
size_t mbstowcs(wchar_t *restrict, const char *restrict, size_t);
size_t wcstombs(char *restrict, const wchar_t *restrict, size_t);
