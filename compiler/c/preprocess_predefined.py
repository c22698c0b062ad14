"""
Macros defined before the first line: those of a C11 compiler for Linux that portable programs and our
headers test (C11 6.10.8; the names with `__SIZEOF_`, `_MAX__`, … are gcc's and clang's).
"""

from __future__ import annotations

from ..base.machine import Machine, target_machine

OPENACC_VERSION = "202506"
"""`_OPENACC` of OpenACC 3.4 (1.3)."""
C23_VERSION = "202311L"
"""`__STDC_VERSION__` of C23 (6.10.10.2)."""
C23_MARK = '# 1 "<C23>"\n'
"""The first line of preprocessed text whose language is C23."""
OPENMP_VERSION = "201511"
"""`_OPENMP` of OpenMP 4.5 (2.2), whose directives for threads we support."""

_ONES = """
__STDC__ __STDC_HOSTED__ __STDC_IEC_559__ __STDC_NO_COMPLEX__
__STDC_NO_THREADS__ __STDC_UTF_16__ __STDC_UTF_32__ __ACCOPT__ __LP64__
_LP64 __ELF__ __linux__ __linux __unix__ __unix __gnu_linux__
"""

_SIZES = {
    "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "FLOAT": 4, "DOUBLE": 8, "LONG_DOUBLE": 16,
    "POINTER": 8, "INT128": 16, "SIZE_T": 8, "PTRDIFF_T": 8, "WCHAR_T": 4, "WINT_T": 4,
}  # fmt: skip

_ONES_OF: dict[Machine, str] = {
    "x86_64": "__x86_64__ __x86_64 __amd64__ __amd64",
    "aarch64": "__aarch64__ __AARCH64EL__ __ARM_64BIT_STATE __ARM_ARCH_8A __ARM_ARCH_ISA_A64 "
    "__ARM_PCS_AAPCS64 __ARM_FEATURE_CLZ __ARM_FEATURE_FMA __ARM_FEATURE_IDIV __ARM_FEATURE_UNALIGNED "
    "__CHAR_UNSIGNED__",
}
_VALUES_OF: dict[Machine, dict[str, str]] = {
    "x86_64": {"__WCHAR_TYPE__": "int", "__WCHAR_MAX__": "0x7fffffff"},
    "aarch64": {
        "__WCHAR_TYPE__": "unsigned int", "__WCHAR_MAX__": "0xffffffffU", "__ARM_ARCH": "8",
        "__ARM_ARCH_PROFILE": "65", "__ARM_SIZEOF_WCHAR_T": "4", "__ARM_SIZEOF_MINIMAL_ENUM": "4",
    },
}  # fmt: skip
"""
Further macros of each machine. `__ARM_NEON` of AArch64 is not defined, as code that tests it uses vector
intrinsics, which we do not support.
"""

_TYPES = {
    "SIZE": "long unsigned int", "PTRDIFF": "long int", "WINT": "unsigned int",
    "INTMAX": "long int", "UINTMAX": "long unsigned int",
    "INTPTR": "long int", "UINTPTR": "long unsigned int",
    "INT8": "signed char", "INT16": "short int", "INT32": "int", "INT64": "long int",
    "UINT8": "unsigned char", "UINT16": "short unsigned int", "UINT32": "unsigned int",
    "UINT64": "long unsigned int",
}  # fmt: skip

_ATOMIC_TYPES = ("BOOL", "CHAR", "SHORT", "INT", "LONG", "LLONG", "POINTER")

_MAXIMA = {
    "SCHAR": "0x7f", "SHRT": "0x7fff", "INT": "0x7fffffff", "LONG": "0x7fffffffffffffffL",
    "LONG_LONG": "0x7fffffffffffffffLL", "SIZE": "0xffffffffffffffffUL",
    "PTRDIFF": "0x7fffffffffffffffL", "WINT": "0xffffffffU",
    "INTMAX": "0x7fffffffffffffffL", "UINTMAX": "0xffffffffffffffffUL",
    "INTPTR": "0x7fffffffffffffffL", "UINTPTR": "0xffffffffffffffffUL",
}  # fmt: skip

_LONG_DOUBLE: dict[Machine, dict[str, str]] = {
    "x86_64": {
        "MANT_DIG": "64", "DIG": "18", "DECIMAL_DIG": "21", "MIN_EXP": "(-16381)",
        "MAX_EXP": "16384", "MIN_10_EXP": "(-4931)", "MAX_10_EXP": "4932",
        "EPSILON": "1.08420217248550443401e-19L", "MIN": "3.36210314311209350626e-4932L",
        "MAX": "1.18973149535723176502e+4932L", "DENORM_MIN": "3.64519953188247460253e-4951L",
    },
    "aarch64": {
        "MANT_DIG": "113", "DIG": "33", "DECIMAL_DIG": "36", "MIN_EXP": "(-16381)",
        "MAX_EXP": "16384", "MIN_10_EXP": "(-4931)", "MAX_10_EXP": "4932",
        "EPSILON": "1.92592994438723585305597794258492732e-34L",
        "MIN": "3.36210314311209350626267781732175260e-4932L",
        "MAX": "1.18973149535723176508575932662800702e+4932L",
        "DENORM_MIN": "6.47517511943802511092443895822764655e-4966L",
    },
}  # fmt: skip

_FLOATING = {
    "FLT16": {
        "MANT_DIG": "11", "DIG": "3", "DECIMAL_DIG": "5", "MIN_EXP": "(-13)", "MAX_EXP": "16",
        "MIN_10_EXP": "(-4)", "MAX_10_EXP": "4", "EPSILON": "9.765625e-4F16",
        "MIN": "6.103515625e-5F16", "MAX": "6.5504e+4F16", "NORM_MAX": "6.5504e+4F16",
        "DENORM_MIN": "5.9604644775390625e-8F16", "HAS_DENORM": "1", "HAS_INFINITY": "1",
        "HAS_QUIET_NAN": "1", "IS_IEC_60559": "2",
    },
    "FLT": {
        "MANT_DIG": "24", "DIG": "6", "DECIMAL_DIG": "9", "MIN_EXP": "(-125)", "MAX_EXP": "128",
        "MIN_10_EXP": "(-37)", "MAX_10_EXP": "38", "EPSILON": "1.1920928955078125e-07F",
        "MIN": "1.17549435082228750797e-38F", "MAX": "3.40282346638528859812e+38F",
        "DENORM_MIN": "1.40129846432481707092e-45F",
    },
    "DBL": {
        "MANT_DIG": "53", "DIG": "15", "DECIMAL_DIG": "17", "MIN_EXP": "(-1021)",
        "MAX_EXP": "1024", "MIN_10_EXP": "(-307)", "MAX_10_EXP": "308",
        "EPSILON": "2.22044604925031308085e-16", "MIN": "2.22507385850720138309e-308",
        "MAX": "1.79769313486231570815e+308", "DENORM_MIN": "4.94065645841246544177e-324",
    },
    "LDBL": _LONG_DOUBLE[target_machine()],
}  # fmt: skip

_OF_GNU_C: tuple[tuple[str, str], ...] = (
    ("__GNUC__", "4"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "1"),
    ("__GNUC_STDC_INLINE__", "1"),
    ("__NO_INLINE__", "1"),
    ("__USER_LABEL_PREFIX__", ""),
    ("__REGISTER_PREFIX__", ""),
    ("__CHAR16_TYPE__", "short unsigned int"),
    ("__CHAR32_TYPE__", "unsigned int"),
    ("__INTMAX_C(c)", "c ## L"),
    ("__UINTMAX_C(c)", "c ## UL"),
)
"""
The version of gcc whose extensions we support, for programs and system headers that test it. It is the
version that clang reports, which libraries know as the oldest with attributes and statement expressions. It
is defined in every file, whatever headers the file needs, so that a program's headers give all of its files
the same types.
"""

IDENTIFYING_FILE = "CMakeCCompilerId.c"
"""The file that CMake compiles to identify a compiler by its macros."""
FOR_IDENTIFICATION: tuple[tuple[str, str], ...] = (("__GNUC__", "12"), ("__GNUC_MINOR__", "2"))
"""
The version reported to CMake, GCC 12: we support the options that it then uses (`-std=gnu11`, `-MD -MF`,
`-fopenacc`, `-Wl,-soname`), while it uses fewer features of unknown compilers.
"""

PREDEFINED: tuple[tuple[str, str], ...] = (
    ("_OPENACC", OPENACC_VERSION),
    *_OF_GNU_C,
    ("__STDC_VERSION__", "201112L"),
    ("__VERSION__", '"accopt"'),
    ("__CHAR_BIT__", "8"),
    ("__BIGGEST_ALIGNMENT__", "16"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__"),
    ("__FLOAT_WORD_ORDER__", "__ORDER_LITTLE_ENDIAN__"),
    ("__FLT_RADIX__", "2"),
    *(
        (f"__ATOMIC_{name}", str(number))
        for number, name in enumerate(
            ("RELAXED", "CONSUME", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST")
        )
    ),
    *((f"__GCC_HAVE_SYNC_COMPARE_AND_SWAP_{size}", "1") for size in (1, 2, 4, 8)),
    *(
        (f"__GCC_ATOMIC_{name}_LOCK_FREE", "2")
        for name in (*_ATOMIC_TYPES, "CHAR16_T", "CHAR32_T", "WCHAR_T")
    ),
    ("__FLT_EVAL_METHOD__", "0"),
    ("__FLT_EVAL_METHOD_TS_18661_3__", "0"),
    *((name, "1") for name in (*_ONES.split(), *_ONES_OF[target_machine()].split())),
    *_VALUES_OF[target_machine()].items(),
    *((f"__SIZEOF_{name}__", str(size)) for name, size in _SIZES.items()),
    *((f"__{name}_TYPE__", spelling) for name, spelling in _TYPES.items()),
    *((f"__{name}_MAX__", value) for name, value in _MAXIMA.items()),
    *(
        (f"__{kind}_{name}__", value)
        for kind, values in _FLOATING.items()
        for name, value in values.items()
    ),
)
"""Name and replacement text of every predefined macro; `__FILE__`, `__LINE__`, … are in `MacroExpander`."""
