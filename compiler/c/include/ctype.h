/* Characters (C11 7.4). */
#pragma once
int isalnum(int), isalpha(int), isblank(int), iscntrl(int), isdigit(int), isgraph(int);
int islower(int), isprint(int), ispunct(int), isspace(int), isupper(int), isxdigit(int);
int tolower(int), toupper(int), isascii(int), toascii(int);
