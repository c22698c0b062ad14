/* String functions of BSD (POSIX). */
#pragma once
#include <bits/size_t.h>
int strcasecmp(const char *, const char *), strncasecmp(const char *, const char *, size_t);
int ffs(int), bcmp(const void *, const void *, size_t);
void bcopy(const void *, void *, size_t), bzero(void *, size_t);
char *index(const char *, int), *rindex(const char *, int);
