"""Which header declares a well-known library name, for the remedy of "undeclared" errors."""

from __future__ import annotations

import re
from functools import cache

from ..base.library_headers import INCLUDE_DIR

_BY_HEADER = {
    "stdio.h": "printf fprintf sprintf snprintf vprintf vfprintf vsnprintf scanf fscanf sscanf puts fputs "
    "putchar putc fputc getchar getc fgetc fgets fopen fclose fread fwrite fseek ftell rewind "
    "fflush feof ferror perror remove rename stdin stdout stderr FILE EOF BUFSIZ SEEK_SET SEEK_END setvbuf",
    "stdlib.h": "malloc calloc realloc free exit abort atoi atol atoll atof strtol strtoul strtoll "
    "strtoull strtod strtof rand srand qsort bsearch abs labs llabs div getenv system atexit "
    "aligned_alloc posix_memalign RAND_MAX EXIT_SUCCESS EXIT_FAILURE",
    "string.h": "memcpy memmove memset memcmp memchr strcpy strncpy strcat strncat strcmp strncmp strlen "
    "strchr strrchr strstr strtok strdup strerror strspn strcspn",
    "math.h": "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log "
    "log2 log10 log1p pow sqrt cbrt hypot fabs floor ceil round trunc rint nearbyint lround fmod "
    "remainder fma fmin fmax fdim copysign erf erfc tgamma lgamma ldexp frexp modf isnan isinf "
    "isfinite signbit sinf cosf tanf expf logf powf sqrtf fabsf floorf ceilf fmodf fminf fmaxf "
    "fmaf roundf truncf atan2f hypotf cbrtf exp2f log2f log10f M_PI M_E M_SQRT2 INFINITY NAN HUGE_VAL",
    "assert.h": "assert static_assert",
    "ctype.h": "isalpha isdigit isalnum isspace isupper islower ispunct isprint isxdigit toupper tolower",
    "time.h": "time clock clock_gettime difftime localtime strftime time_t clock_t CLOCKS_PER_SEC "
    "CLOCK_MONOTONIC CLOCK_REALTIME",
    "complex.h": "complex",
    "sys/time.h": "gettimeofday",
    "stddef.h": "NULL size_t ptrdiff_t offsetof",
    "stdint.h": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t "
    "INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX",
    "stdbool.h": "bool true false",
    "limits.h": "INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN CHAR_BIT "
    "CHAR_MAX SHRT_MAX UCHAR_MAX",
    "float.h": "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON DBL_DIG",
    "stdarg.h": "va_list va_start va_arg va_end va_copy",
    "errno.h": "errno",
    "unistd.h": "getopt sleep usleep getpid",
    "openacc.h": "acc_get_num_devices acc_set_device_num acc_get_device_num acc_set_device_type "
    "acc_get_device_type acc_init acc_shutdown acc_async_test acc_async_test_all acc_wait acc_wait_all "
    "acc_wait_async acc_on_device acc_malloc acc_free acc_copyin acc_create acc_copyout acc_delete "
    "acc_update_device acc_update_self acc_map_data acc_unmap_data acc_deviceptr acc_hostptr "
    "acc_is_present acc_memcpy_to_device acc_memcpy_from_device acc_attach acc_detach "
    "acc_get_property acc_async_noval acc_async_sync acc_async_default acc_device_nvidia "
    "acc_device_host acc_device_default acc_device_not_host acc_get_default_async "
    "acc_set_default_async acc_get_cuda_stream acc_set_cuda_stream acc_get_current_cuda_device "
    "acc_get_current_cuda_context",
}

_HEADER_OF = {name: header for header, names in _BY_HEADER.items() for name in names.split()}


def header_of(name: str) -> str | None:
    """The standard (or OpenACC) header that declares `name`, if it is a well-known one."""
    header = _HEADER_OF.get(name)
    if header is None and name.startswith("acc_"):
        return "openacc.h"
    return header


def declaring_header(name: str) -> str | None:
    """The header that declares the function `name`: `header_of`, or the first of ours whose text does."""
    known = header_of(name)
    if known is not None:
        return known
    declared = re.compile(rf"^(?![ \t]*#).*\b{re.escape(name)}[ \t]*\(", re.MULTILINE)
    return next((header for header, text in _header_texts() if declared.search(text)), None)


@cache
def _header_texts() -> tuple[tuple[str, str], ...]:
    """Name and text of our headers, those without a folder first."""
    files = sorted(INCLUDE_DIR.glob("*.h")) + sorted(INCLUDE_DIR.glob("sys/*.h"))
    return tuple((str(file.relative_to(INCLUDE_DIR)), file.read_text()) for file in files)
