/* Messages about errors (BSD). */
#pragma once
#include <stdarg.h>
void warn(const char *, ...), vwarn(const char *, va_list);
void warnx(const char *, ...), vwarnx(const char *, va_list);
_Noreturn void err(int, const char *, ...), verr(int, const char *, va_list);
_Noreturn void errx(int, const char *, ...), verrx(int, const char *, va_list);
