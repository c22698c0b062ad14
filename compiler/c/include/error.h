/* Messages about errors (GNU). */
#pragma once
void error(int, int, const char *, ...);
void error_at_line(int, int, const char *, unsigned int, const char *, ...);
