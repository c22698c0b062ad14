/* Shared libraries (POSIX; Linux). */
#pragma once
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_GLOBAL 0x100
#define RTLD_LOCAL 0
#define RTLD_DEFAULT ((void *)0)
void *dlopen(const char *, int), *dlsym(void *restrict, const char *restrict);
int dlclose(void *);
char *dlerror(void);
