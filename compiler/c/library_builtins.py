"""
Library functions that GNU C provides without a header, for example as `__builtin_memcpy` (GCC manual,
"Other Built-in Functions Provided by GCC"): a call of such a built-in is a call of the function. Their
types are those of the C library, with void for `FILE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from .types import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LDOUBLE,
    LLONG,
    LONG,
    SIZE_T,
    VOID,
    CType,
    FunctionType,
    PointerType,
    QualType,
)

_PROTOTYPES = """
void *memcpy(void *, const void *, size_t)
void *memmove(void *, const void *, size_t)
void *memset(void *, int, size_t)
void *mempcpy(void *, const void *, size_t)
int memcmp(const void *, const void *, size_t)
void *memchr(const void *, int, size_t)
char *strcpy(char *, const char *)
char *strncpy(char *, const char *, size_t)
char *stpcpy(char *, const char *)
char *stpncpy(char *, const char *, size_t)
char *strcat(char *, const char *)
char *strncat(char *, const char *, size_t)
int strcmp(const char *, const char *)
int strncmp(const char *, const char *, size_t)
int strcasecmp(const char *, const char *)
int strncasecmp(const char *, const char *, size_t)
size_t strlen(const char *)
size_t strnlen(const char *, size_t)
char *strchr(const char *, int)
char *strrchr(const char *, int)
char *strstr(const char *, const char *)
char *strpbrk(const char *, const char *)
size_t strspn(const char *, const char *)
size_t strcspn(const char *, const char *)
char *strdup(const char *)
char *strndup(const char *, size_t)
char *index(const char *, int)
char *rindex(const char *, int)
int bcmp(const void *, const void *, size_t)
void bcopy(const void *, void *, size_t)
void bzero(void *, size_t)
int ffs(int)
int ffsl(long)
int ffsll(long long)
void *malloc(size_t)
void *calloc(size_t, size_t)
void *realloc(void *, size_t)
void *aligned_alloc(size_t, size_t)
int posix_memalign(void **, size_t, size_t)
void free(void *)
void abort(void)
void exit(int)
void _exit(int)
int abs(int)
long labs(long)
long long llabs(long long)
int printf(const char *, ...)
int fprintf(void *, const char *, ...)
int sprintf(char *, const char *, ...)
int snprintf(char *, size_t, const char *, ...)
int vprintf(const char *, va_list)
int vfprintf(void *, const char *, va_list)
int vsprintf(char *, const char *, va_list)
int vsnprintf(char *, size_t, const char *, va_list)
int scanf(const char *, ...)
int sscanf(const char *, const char *, ...)
int fscanf(void *, const char *, ...)
int puts(const char *)
int putchar(int)
int fputc(int, void *)
int fputs(const char *, void *)
size_t fwrite(const void *, size_t, size_t, void *)
int isalnum(int)
int isalpha(int)
int isblank(int)
int iscntrl(int)
int isdigit(int)
int isgraph(int)
int islower(int)
int isprint(int)
int ispunct(int)
int isspace(int)
int isupper(int)
int isxdigit(int)
int tolower(int)
int toupper(int)
void *__memcpy_chk(void *, const void *, size_t, size_t)
void *__memmove_chk(void *, const void *, size_t, size_t)
void *__memset_chk(void *, int, size_t, size_t)
void *__mempcpy_chk(void *, const void *, size_t, size_t)
char *__strcpy_chk(char *, const char *, size_t)
char *__stpcpy_chk(char *, const char *, size_t)
char *__strncpy_chk(char *, const char *, size_t, size_t)
char *__stpncpy_chk(char *, const char *, size_t, size_t)
char *__strcat_chk(char *, const char *, size_t)
char *__strncat_chk(char *, const char *, size_t, size_t)
int __sprintf_chk(char *, int, size_t, const char *, ...)
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...)
int __printf_chk(int, const char *, ...)
int __fprintf_chk(void *, int, const char *, ...)
int __vsprintf_chk(char *, int, size_t, const char *, va_list)
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list)
"""

# Mathematics in three precisions; T is the type.
_MATHEMATICS = """
T acos(T); T acosh(T); T asin(T); T asinh(T); T atan(T); T atanh(T); T atan2(T, T); T cbrt(T); T ceil(T)
T copysign(T, T); T cos(T); T cosh(T); T drem(T, T); T erf(T); T erfc(T); T exp(T); T exp10(T); T exp2(T)
T expm1(T); T fabs(T); T fdim(T, T); T floor(T); T fma(T, T, T); T fmax(T, T); T fmin(T, T); T fmod(T, T)
T frexp(T, int *); T hypot(T, T); int ilogb(T); T j0(T); T j1(T); T jn(int, T); T ldexp(T, int)
T lgamma(T); T log(T); T log10(T); T log1p(T); T log2(T); T logb(T); T modf(T, T *); T nearbyint(T)
T nextafter(T, T); T nexttoward(T, long double); T pow(T, T); T remainder(T, T); T remquo(T, T, int *)
T rint(T); T round(T); T roundeven(T); T scalb(T, T); T scalbln(T, long); T scalbn(T, int)
T significand(T); T sin(T); void sincos(T, T *, T *); T sinh(T); T sqrt(T); T tan(T); T tanh(T)
T tgamma(T); T trunc(T); T y0(T); T y1(T); T yn(int, T); long lrint(T); long lround(T)
long long llrint(T); long long llround(T)
"""

_BASES: dict[str, CType] = {
    "void": VOID,
    "char": CHAR,
    "int": INT,
    "long": LONG,
    "long long": LLONG,
    "size_t": SIZE_T,
    "float": FLOAT,
    "double": DOUBLE,
    "long double": LDOUBLE,
}
_PRECISIONS = (("", "double"), ("f", "float"), ("l", "long double"))
_PROTOTYPE = re.compile(r"(.*?)(\w+)\((.*)\)")


@cache
def _texts() -> dict[str, tuple[str, str]]:
    """Name → result and parameters as text."""
    lines = [line for line in _PROTOTYPES.splitlines() if line]
    for line in re.split(r";|\n", _MATHEMATICS):
        for suffix, t in _PRECISIONS:
            lines.append(re.sub(r"(\w+)\(", rf"\1{suffix}(", re.sub(r"\bT\b", t, line)))
    found = (_PROTOTYPE.match(line.strip()) for line in lines)
    return {m.group(2): (m.group(1), m.group(3)) for m in found if m is not None}


def library_type(name: str, va_list: Callable[[], CType]) -> FunctionType | None:
    """The type of library function `name`, None if GNU C has no built-in of that name."""
    text = _texts().get(name)
    if text is None:
        return None
    words = [] if text[1] == "void" else text[1].split(", ")
    variadic = bool(words) and words[-1] == "..."
    params = [va_list() if w == "va_list" else _type(w) for w in words[: -1 if variadic else None]]
    return FunctionType(_type(text[0]), tuple(params), variadic)


def _type(text: str) -> CType:
    words = text.strip()
    const = words.startswith("const ")
    base = words.removeprefix("const ").rstrip("* ")
    t: CType = _BASES[base]
    for depth in range(words.count("*")):
        t = PointerType(QualType(t, const=const and depth == 0))
    return t
