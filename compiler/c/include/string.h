/* Strings (C11 7.24, and common POSIX functions). */
#pragma once
#include <bits/size_t.h>
#include <strings.h>
void *memcpy(void *restrict, const void *restrict, size_t), *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t), *memchr(const void *, int, size_t);
void *memccpy(void *restrict, const void *restrict, int, size_t), *mempcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
char *strcpy(char *restrict, const char *restrict);
char *strncpy(char *restrict, const char *restrict, size_t);
char *strcat(char *restrict, const char *restrict);
char *strncat(char *restrict, const char *restrict, size_t);
char *stpcpy(char *restrict, const char *restrict);
int strcmp(const char *, const char *), strncmp(const char *, const char *, size_t);
int strcoll(const char *, const char *);
size_t strxfrm(char *restrict, const char *restrict, size_t);
char *strchr(const char *, int), *strrchr(const char *, int), *strpbrk(const char *, const char *);
char *strstr(const char *, const char *), *strtok(char *restrict, const char *restrict);
char *strtok_r(char *restrict, const char *restrict, char **restrict);
char *strsep(char **restrict, const char *restrict);
char *strdup(const char *), *strndup(const char *, size_t);
char *strerror(int), *strsignal(int);
size_t strlen(const char *), strnlen(const char *, size_t);
size_t strspn(const char *, const char *), strcspn(const char *, const char *);
