/* Input and output (C11 7.21, and common POSIX functions). */
#pragma once
#include <bits/posix_types.h>
#include <bits/size_t.h>
#include <stdarg.h>
typedef struct _IO_FILE FILE;
typedef struct { long __pos; int __count; unsigned int __value; } fpos_t;
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define P_tmpdir "/tmp"
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
int printf(const char *restrict, ...), fprintf(FILE *restrict, const char *restrict, ...);
int sprintf(char *restrict, const char *restrict, ...);
int snprintf(char *restrict, size_t, const char *restrict, ...);
int dprintf(int, const char *restrict, ...), asprintf(char **restrict, const char *restrict, ...);
int vprintf(const char *restrict, va_list), vfprintf(FILE *restrict, const char *restrict, va_list);
int vsprintf(char *restrict, const char *restrict, va_list);
int vsnprintf(char *restrict, size_t, const char *restrict, va_list);
int vasprintf(char **restrict, const char *restrict, va_list);
int scanf(const char *restrict, ...), fscanf(FILE *restrict, const char *restrict, ...);
int sscanf(const char *restrict, const char *restrict, ...);
int vscanf(const char *restrict, va_list), vfscanf(FILE *restrict, const char *restrict, va_list);
int vsscanf(const char *restrict, const char *restrict, va_list);
int fgetc(FILE *), getc(FILE *), getchar(void), ungetc(int, FILE *);
int fputc(int, FILE *), putc(int, FILE *), putchar(int);
int fputs(const char *restrict, FILE *restrict), puts(const char *);
char *fgets(char *restrict, int, FILE *restrict);
ssize_t getline(char **restrict, size_t *restrict, FILE *restrict);
ssize_t getdelim(char **restrict, size_t *restrict, int, FILE *restrict);
size_t fread(void *restrict, size_t, size_t, FILE *restrict);
size_t fwrite(const void *restrict, size_t, size_t, FILE *restrict);
FILE *fopen(const char *restrict, const char *restrict), *fdopen(int, const char *), *tmpfile(void);
FILE *freopen(const char *restrict, const char *restrict, FILE *restrict);
FILE *fmemopen(void *restrict, size_t, const char *restrict), *popen(const char *, const char *);
FILE *open_memstream(char **, size_t *);
int fclose(FILE *), fflush(FILE *), pclose(FILE *), fileno(FILE *);
int feof(FILE *), ferror(FILE *);
int fseek(FILE *, long, int), fseeko(FILE *, off_t, int);
int fgetpos(FILE *restrict, fpos_t *restrict), fsetpos(FILE *, const fpos_t *);
int setvbuf(FILE *restrict, char *restrict, int, size_t);
int remove(const char *), rename(const char *, const char *);
long ftell(FILE *);
off_t ftello(FILE *);
void rewind(FILE *), clearerr(FILE *), perror(const char *), setbuf(FILE *restrict, char *restrict);
void setlinebuf(FILE *);
char *tmpnam(char *);
