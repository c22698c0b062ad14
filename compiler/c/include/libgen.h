/* Parts of file names (POSIX). */
#pragma once
char *dirname(char *), *__xpg_basename(char *);
#define basename __xpg_basename
