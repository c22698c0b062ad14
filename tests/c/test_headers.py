"""
The bundled C library headers: they parse alone and together, and they say what glibc's say.

Comparisons with the system's headers need gcc and are skipped without it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from accopt.compiler.base.abi import (
    ASYNC_DEFAULT,
    ASYNC_NOVAL,
    ASYNC_SYNC,
    DeviceProperty,
    DeviceType,
)
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.library_headers import INCLUDE_DIR
from accopt.compiler.c.parse import parse_text
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess_text
from accopt.compiler.c.preprocess_headers import OPENACC_INCLUDE_DIR
from accopt.compiler.c.sema import check_translation_unit
from pycparser import c_ast, c_generator

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

REFUSED = ("threads.h",)
HEADERS = sorted(
    str(path.relative_to(INCLUDE_DIR))
    for path in INCLUDE_DIR.rglob("*.h")
    if path.name not in REFUSED
)
OWN_HEADERS = ("accelmath.h", "omp.h", "stdckdint.h")
"""Those that gcc 12 has not, or has from elsewhere."""
SYSTEM_HEADERS = [
    h for h in HEADERS if not h.startswith(("acc/", "bits/")) and h not in OWN_HEADERS
]


def included(*headers: str) -> str:
    source = "".join(f"#include <{h}>\n" for h in headers)
    return preprocess_text(source, "t.c").text


def check(source: str) -> None:
    """Preprocess and check C text; raises on errors, fails on warnings."""
    sink = DiagnosticSink()
    check_translation_unit(preprocess_text(source, "t.c", sink=sink), sink)
    assert sink.diagnostics == []


@pytest.mark.parametrize("header", HEADERS)
def test_alone_and_twice(header: str) -> None:
    parse_text(included(header), "t.c")
    check(f"#include <{header}>\n#include <{header}>\n")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("first", range(0, len(HEADERS), 4))
def test_together_in_any_order(first: int) -> None:
    """Every header comes both before and after every other one."""
    rotated = HEADERS[first:] + HEADERS[:first]
    without_types = [h for h in rotated if h != "iso646.h"]
    check("".join(f"#include <{h}>\n" for h in without_types))
    check("".join(f"#include <{h}>\n" for h in reversed(without_types)))


def test_lean() -> None:
    """Headers are part of every compilation; parsing them must stay cheap."""
    for header in HEADERS:
        # complex.h brings its functions' bodies, for device code.
        assert len(included(header)) < (40000 if header in ("complex.h", "tgmath.h") else 16000)


def test_assert_follows_ndebug() -> None:
    source = "#include <assert.h>\nassert(a == b);\n#define NDEBUG\n#include <assert.h>\nassert(c);"
    text = preprocess_text(source, "t.c").text
    assert '__assert_fail("a == b", "t.c", 2, __func__)' in text
    assert "((void)0)" in text


def test_openacc_numbers_are_the_runtimes() -> None:
    names = {f"acc_device_{t.name.lower()}": t.value for t in DeviceType}
    names |= {f"acc_property_{p.name.lower()}": p.value for p in DeviceProperty}
    names |= {"acc_async_noval": ASYNC_NOVAL, "acc_async_sync": ASYNC_SYNC}
    names |= {"acc_async_default": ASYNC_DEFAULT}
    asserts = [f'_Static_assert({n} == {v}, "{n}");\n' for n, v in names.items()]
    check("#include <openacc.h>\n#include <acc_prof.h>\n" + "".join(asserts))


# Against gcc's headers ------------------------------------------------------------------------

CONSTANTS: dict[str, str] = {
    "limits.h": """CHAR_BIT SCHAR_MIN SCHAR_MAX UCHAR_MAX CHAR_MIN CHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX
        INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN LLONG_MAX ULLONG_MAX MB_LEN_MAX
        PATH_MAX NAME_MAX SSIZE_MAX""",
    "float.h": """FLT_RADIX FLT_MANT_DIG FLT_DIG FLT_MIN_EXP FLT_MAX_EXP FLT_MIN_10_EXP FLT_MAX_10_EXP
        DBL_MANT_DIG DBL_DIG DBL_MIN_EXP DBL_MAX_EXP DBL_MIN_10_EXP DBL_MAX_10_EXP LDBL_MANT_DIG LDBL_DIG
        LDBL_MIN_EXP LDBL_MAX_EXP LDBL_MIN_10_EXP LDBL_MAX_10_EXP DECIMAL_DIG FLT_DECIMAL_DIG
        DBL_DECIMAL_DIG LDBL_DECIMAL_DIG FLT_EVAL_METHOD FLT_HAS_SUBNORM FLT_ROUNDS FLT_MAX FLT_MIN
        FLT_EPSILON FLT_TRUE_MIN DBL_MAX DBL_MIN DBL_EPSILON DBL_TRUE_MIN LDBL_MAX LDBL_MIN LDBL_EPSILON
        LDBL_TRUE_MIN""",
    "stdint.h": " ".join(
        f"INT{k}_MIN INT{k}_MAX UINT{k}_MAX"
        for k in ("8", "16", "32", "64", "_LEAST8", "_LEAST16", "_LEAST32", "_LEAST64", "_FAST8",
                  "_FAST16", "_FAST32", "_FAST64", "PTR", "MAX")
    ) + " PTRDIFF_MIN PTRDIFF_MAX SIZE_MAX SIG_ATOMIC_MIN SIG_ATOMIC_MAX WCHAR_MIN WCHAR_MAX WINT_MIN"
        " WINT_MAX INT64_C(5) UINT32_C(5) UINTMAX_C(5)",
    "errno.h": " ".join(re.findall(r"#define (E\w+)", (INCLUDE_DIR / "errno.h").read_text())),
    "math.h": "FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO"
        " MATH_ERREXCEPT math_errhandling M_PI M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI_2 M_PI_4 M_1_PI"
        " M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN MAXFLOAT"
        " isnan(NAN) isnan(1.0f) isnan(1.0L) isinf(-INFINITY) isfinite(1.0) isnormal(0.0) !!signbit(-0.0)"
        " fpclassify(1e-320) fpclassify(1e-40f) isless(1.0,2.0) isunordered(1.0,NAN) islessgreater(1.0,2.0)",
    "stdio.h": "EOF BUFSIZ FILENAME_MAX FOPEN_MAX L_tmpnam TMP_MAX _IOFBF _IOLBF _IONBF SEEK_SET SEEK_CUR"
        " SEEK_END",
    "stdlib.h": "EXIT_SUCCESS EXIT_FAILURE RAND_MAX MB_CUR_MAX",
    "locale.h": "LC_ALL LC_COLLATE LC_CTYPE LC_MONETARY LC_NUMERIC LC_TIME LC_MESSAGES",
    "fenv.h": "FE_INVALID FE_DIVBYZERO FE_OVERFLOW FE_UNDERFLOW FE_INEXACT FE_TONEAREST FE_DOWNWARD"
        " FE_UPWARD FE_TOWARDZERO",
    "time.h": "CLOCKS_PER_SEC TIME_UTC CLOCK_REALTIME CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID"
        " CLOCK_THREAD_CPUTIME_ID CLOCK_MONOTONIC_RAW",
    "signal.h": " ".join(re.findall(r"#define (SIG[A-Z0-9]+) ", (INCLUDE_DIR / "signal.h").read_text())),
    "unistd.h": " ".join(re.findall(r"#define (\w+) ", (INCLUDE_DIR / "unistd.h").read_text())),
    "fcntl.h": " ".join(re.findall(r"#define (\w+) ", (INCLUDE_DIR / "fcntl.h").read_text())),
    "sys/stat.h": "S_IFMT S_IFIFO S_IFCHR S_IFDIR S_IFBLK S_IFREG S_IFLNK S_IRWXU S_IRUSR S_IWUSR S_IXUSR"
        " S_IRWXG S_IRGRP S_IWGRP S_IXGRP S_IRWXO S_IROTH S_IWOTH S_IXOTH S_ISDIR(S_IFDIR)",
    "sys/resource.h": "RUSAGE_SELF RUSAGE_CHILDREN RLIMIT_CPU RLIMIT_STACK RLIMIT_NOFILE RLIMIT_AS"
        " RLIM_INFINITY PRIO_PROCESS",
    **{
        header: " ".join(re.findall(r"#define (\w+) ", (INCLUDE_DIR / header).read_text()))
        for header in ("sysexits.h", "values.h", "endian.h")
    },
    "sys/param.h": "MAXPATHLEN MIN(1,2) MAX(1,2) howmany(7,2) roundup(7,4) powerof2(8)",
    "byteswap.h": "bswap_16(1) bswap_32(2) bswap_64(3)",
    "sys/mman.h": "PROT_READ PROT_WRITE MAP_SHARED MAP_PRIVATE MAP_ANONYMOUS MAP_POPULATE"
        " MADV_HUGEPAGE MS_SYNC",
    "dirent.h": "DT_DIR DT_REG DT_LNK",
    "dlfcn.h": "RTLD_LAZY RTLD_NOW RTLD_GLOBAL",
    "sys/wait.h": "WNOHANG WUNTRACED WEXITSTATUS(0x300) WTERMSIG(9) WIFEXITED(0x300) WIFSIGNALED(9)",
    "sched.h": "CPU_SETSIZE",
    "pthread.h": "PTHREAD_ONCE_INIT PTHREAD_CREATE_DETACHED PTHREAD_MUTEX_RECURSIVE"
        " PTHREAD_BARRIER_SERIAL_THREAD",
    "getopt.h": "no_argument required_argument optional_argument",
}  # fmt: skip

_TYPES_OF_SYS_TYPES = """off_t pid_t uid_t gid_t mode_t dev_t ino_t nlink_t blksize_t blkcnt_t id_t
    useconds_t suseconds_t int32_t u_int8_t uint ulong ushort u_char u_long"""

TYPES: dict[str, dict[str, str]] = {
    "stddef.h": {"size_t": "", "ptrdiff_t": "", "wchar_t": "", "max_align_t": ""},
    "stdint.h": {f"{t}_t": "" for t in ("int8", "uint16", "int_least32", "uint_least64", "int_fast8",
        "int_fast16", "int_fast32", "uint_fast64", "intptr", "uintptr", "intmax", "uintmax")},
    "inttypes.h": {"imaxdiv_t": "quot rem"},
    "stdio.h": {"fpos_t": "", "va_list": "", "ssize_t": ""},
    "stdlib.h": {"div_t": "quot rem", "ldiv_t": "quot rem", "lldiv_t": "quot rem"},
    "time.h": {
        "time_t": "", "clock_t": "", "clockid_t": "", "struct timespec": "tv_sec tv_nsec",
        "struct tm": "tm_sec tm_min tm_hour tm_mday tm_mon tm_year tm_wday tm_yday tm_isdst tm_gmtoff"
            " tm_zone",
    },
    "sys/time.h": {"struct timeval": "tv_sec tv_usec", "struct timezone": "tz_minuteswest tz_dsttime"},
    "sys/types.h": dict.fromkeys(_TYPES_OF_SYS_TYPES.split(), ""),
    "sys/stat.h": {"struct stat": "st_dev st_ino st_nlink st_mode st_uid st_gid st_rdev st_size st_blksize"
        " st_blocks st_atim st_mtim st_ctim"},
    "sys/resource.h": {"struct rusage": "ru_utime ru_stime ru_maxrss ru_minflt ru_oublock ru_nsignals"
        " ru_nivcsw"},
    "setjmp.h": {"jmp_buf": ""},
    "signal.h": {"sig_atomic_t": "", "sigset_t": ""},
    "fenv.h": {"fenv_t": "", "fexcept_t": ""},
    "math.h": {"float_t": "", "double_t": ""},
    "locale.h": {"struct lconv": "decimal_point negative_sign int_frac_digits p_sign_posn int_n_sign_posn"},
    "getopt.h": {"struct option": "name has_arg flag val"},
    "sys/times.h": {"struct tms": "tms_utime tms_cstime"},
    "sys/utsname.h": {"struct utsname": "sysname release machine"},
    "sys/sysinfo.h": {"struct sysinfo": "uptime loads totalram procs mem_unit"},
    "dirent.h": {"struct dirent": "d_ino d_reclen d_type d_name"},
    "sched.h": {"cpu_set_t": "", "struct sched_param": ""},
    "pthread.h": {f"pthread_{t}_t": "" for t in ("key", "once", "attr", "mutex", "mutexattr", "cond",
        "condattr", "rwlock", "rwlockattr", "barrier", "barrierattr", "spinlock")},
}  # fmt: skip


def _program() -> str:
    """A C program that prints constants and layouts, whosever headers it is compiled with."""
    lines = [f"#include <{h}>" for h in dict.fromkeys(["stdio.h", *CONSTANTS, *TYPES])]
    lines += ["#include <inttypes.h>", "#define SHOW(x) _Generic((x), float: f, double: f, \\"]
    lines += ["  long double: f, default: d)(#x, sizeof(x), (long double)(x))"]
    lines += ["static void f(const char *n, size_t s, long double v) { printf"]
    lines += ['  ("%s %zu %.25Lg\\n", n, s, v); }']
    lines += ["static void d(const char *n, size_t s, long double v) { f(n, s, v); }"]
    lines += ["static void t(const char *n, size_t s, size_t a) { printf"]
    lines += ['  ("%s %zu %zu\\n", n, s, a); }', "int main(void) {"]
    for names in CONSTANTS.values():
        lines += [f"  SHOW({name});" for name in names.split()]
    for types in TYPES.values():
        for name, fields in types.items():
            lines.append(f'  t("{name}", sizeof({name}), _Alignof({name}));')
            for field in fields.split():
                size = f"sizeof((({name} *)0)->{field})"
                lines.append(f'  t("{name}.{field}", offsetof({name}, {field}), {size});')
    for macro in re.findall(r"#define ((?:PRI|SCN)\w+)", (INCLUDE_DIR / "inttypes.h").read_text()):
        lines.append(f'  puts("{macro} " {macro});')
    return "\n".join([*lines, "}\n"])


def _gcc(arguments: list[str]) -> str:
    done = subprocess.run(["gcc", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


def _run(source: Path, *options: str) -> list[str]:
    binary = source.with_suffix(".exe")
    _gcc([str(source), "-w", "-std=gnu11", "-D_GNU_SOURCE", "-o", str(binary), *options, "-lm"])
    output = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout
    return output.splitlines()


@needs_gcc
def test_constants_and_layouts_are_gccs(tmp_path: Path) -> None:
    source = tmp_path / "t.c"
    source.write_text(_program())
    theirs = _run(source)
    dirs = (f"-I{INCLUDE_DIR}", f"-I{OPENACC_INCLUDE_DIR}")
    ours = _run(source, "-nostdinc", *dirs)
    assert len(ours) > 400
    assert ours == theirs


class _Prototypes(c_ast.NodeVisitor):
    """All function and variable declarations of a tree, as C text."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def visit_Decl(self, node: c_ast.Decl) -> None:
        if node.name is not None and isinstance(node.type, c_ast.FuncDecl | c_ast.PtrDecl):
            self.found[node.name] = c_generator.CGenerator().visit(node)


@needs_gcc
def test_prototypes_are_glibcs(tmp_path: Path) -> None:
    """gcc sees the system's declaration of every function, then ours."""
    visitor = _Prototypes()
    for header in SYSTEM_HEADERS:
        visitor.visit(parse_text(included(header), "t.c"))
    # Declared by glibc only as macros or internally.
    for name in ("__ctype_get_mb_cur_max", "__errno_location", "timezone"):
        visitor.found.pop(name, None)
    lines = ["#define _GNU_SOURCE"]
    lines += [f"#include <{h}>" for h in SYSTEM_HEADERS]
    for name, prototype in visitor.found.items():
        lines += [f"#undef {name}", f"{prototype};"]
    source = tmp_path / "t.c"
    source.write_text("\n".join(lines))
    _gcc([str(source), "-fsyntax-only", "-std=gnu11", "-Wno-deprecated-declarations"])
    assert len(visitor.found) > 450


def test_layouts_in_the_semantic_layer() -> None:
    """The sizes gcc gives (x86-64 glibc), through our own types."""
    sizes = {
        "struct tm": 56, "struct timeval": 16, "struct timespec": 16, "struct stat": 144,
        "div_t": 8, "lldiv_t": 16, "fpos_t": 16, "jmp_buf": 200, "struct lconv": 96,
        "max_align_t": 32, "va_list": 24, "fenv_t": 32, "struct rusage": 144, "struct option": 32,
        "struct rlimit": 16, "pthread_mutex_t": 40, "pthread_cond_t": 48,
    }  # fmt: skip
    asserts = [f'_Static_assert(sizeof({t}) == {n}, "{t}");\n' for t, n in sizes.items()]
    headers = [h for h in SYSTEM_HEADERS if h != "iso646.h"]
    check("".join(f"#include <{h}>\n" for h in headers) + "".join(asserts))


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("math.h", "double x = M_PI; float y = 2; return isnan(x) + isinf(y) + signbit(x) + isfinite(y);"),
        ("math.h", "static double a = HUGE_VAL; static float b = INFINITY, c = NAN; return a > b;"),
        ("errno.h", "errno = ERANGE; return errno;"),
        ("stdlib.h", "int *p = malloc(4 * sizeof *p); if (p == NULL) exit(EXIT_FAILURE); free(p); return 0;"),
        ("stddef.h", "struct s { char c; double d; }; return offsetof(struct s, d);"),
        ("stdbool.h", "bool b = true; return b != false;"),
        ("ctype.h", "return isalpha('x') && toupper('x') == 'X';"),
        ("openacc.h", "acc_wait(acc_async_noval); return acc_get_num_devices(acc_device_nvidia);"),
        ("openacc.h", "int a[4]; acc_copyin(a, sizeof a); acc_copyout_finalize(a, sizeof a); return 0;"),
        ("assert.h", "assert(1 + 1 == 2); return 0;"),
        ("stdio.h", 'fprintf(stderr, "%d\\n", EOF); return fflush(stdout);'),
        ("inttypes.h", "int64_t i = INT64_C(3); return (int)i;"),
        ("time.h", "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (int)t.tv_nsec;"),
        ("sys/time.h", "struct timeval t; gettimeofday(&t, 0); return (int)t.tv_usec;"),
    ],
)  # fmt: skip
def test_use(header: str, body: str) -> None:
    check(f"#include <{header}>\nint f(void) {{ {body} }}\n")


def test_variable_arguments() -> None:
    source = """#include <stdarg.h>
    int sum(int n, ...) {
      va_list list, other; int s = 0;
      va_start(list, n); va_copy(other, list);
      while (n-- > 0) s += va_arg(list, int);
      va_end(list); va_end(other);
      return s;
    }"""
    check(source)


def test_user_headers_come_first(tmp_path: Path) -> None:
    (tmp_path / "math.h").write_text("int mine;\n")
    options = PreprocessOptions((tmp_path,))
    assert "mine" in preprocess_text("#include <math.h>\n", "t.c", options).text
