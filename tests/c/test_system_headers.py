"""What the host's C headers expand to: `assert`, and the classification macros of <math.h>."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import lacking_names
import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.library_headers import INCLUDE_DIR
from accopt.compiler.c import preprocess_headers
from accopt.compiler.c.preprocess import PreprocessOptions, preprocess
from accopt.compiler.c.preprocess_headers import system_folders
from accopt.compiler.c.program import load_program
from tools import commands


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
@pytest.mark.parametrize(
    "statement",
    [
        "assert(x > 0);",
        "n = isnan(x) + isinf(x) + isfinite(x) + !!signbit(x);",
        "n = isgreater(x, 1) + isgreaterequal(x, 1) + isless(x, 1) + islessequal(x, 1);",
        "n = x == HUGE_VAL || x == INFINITY || x > M_PI;",
        'n = strlen(strdup("a")) + random();',
    ],
)
def test_macros_of_system_headers(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(
        "#include <assert.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
        f"int f(double x, int n) {{ {statement} return n; }}\n"
    )
    load_program([path], PreprocessOptions(use_system_cpp=True), DiagnosticSink())


POSIX = [
    "aio",
    "arpa/inet",
    "cpio",
    "fmtmsg",
    "fnmatch",
    "ftw",
    "glob",
    "grp",
    "iconv",
    "langinfo",
    "monetary",
    "mqueue",
    "net/if",
    "netdb",
    "netinet/in",
    "netinet/tcp",
    "nl_types",
    "poll",
    "pwd",
    "regex",
    "search",
    "semaphore",
    "spawn",
    "sys/ipc",
    "sys/msg",
    "sys/select",
    "sys/sem",
    "sys/shm",
    "sys/socket",
    "sys/statvfs",
    "sys/uio",
    "sys/un",
    "syslog",
    "tar",
    "termios",
    "uchar",
    "ucontext",
    "ulimit",
    "utime",
    "utmpx",
    "wchar",
    "wctype",
    "wordexp",
    "execinfo",
    "ieee754",
    "fts",
    "obstack",
    "pty",
    "sys/epoll",
    "sys/eventfd",
    "sys/file",
    "sys/inotify",
    "sys/ioctl",
    "sys/random",
    "sys/signalfd",
    "sys/syscall",
    "sys/timerfd",
    "sys/vfs",
    "argp",
    "envz",
    "gnu-versions",
    "mntent",
]
needs_headers = pytest.mark.skipif(
    not any((folder / "wchar.h").is_file() for folder in system_folders()),
    reason="the C library's headers are not installed",
)


def check(text: str, tmp_path: Path) -> DiagnosticSink:
    path = tmp_path / "m.c"
    path.write_text(text)
    sink = DiagnosticSink()
    load_program([path], PreprocessOptions(), sink)
    return sink


@needs_headers
def test_headers_that_only_the_system_has(tmp_path: Path) -> None:
    """Together with ours for the same things, in one file."""
    present = [h for h in POSIX if any((f / f"{h}.h").is_file() for f in system_folders())]
    assert len(present) > 40
    ours = ("math", "stdint", "stddef", "stdarg", "float", "limits", "complex", "stdio", "openacc")
    text = "".join(f"#include <{h}.h>\n" for h in [*present, *ours, *present])
    assert check(text, tmp_path).diagnostics == []


@needs_headers
@pytest.mark.parametrize("header", ["wchar.h", "zlib.h", "netdb.h", "sys/epoll.h", "regex.h"])
def test_alone(header: str, tmp_path: Path) -> None:
    if not any((folder / header).is_file() for folder in system_folders()):
        pytest.skip("not installed")
    assert check(f"#include <{header}>\n", tmp_path).diagnostics == []


@needs_headers
@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("sys/time.h", "struct itimerval t;"),
        ("stdlib.h", "fd_set s;"),
        ("fcntl.h", "int f = F_LOCK;"),
        ("unistd.h", "int (*f)(const char *) = chroot;"),
        ("signal.h", "int n = FPE_INTDIV;"),
        ("sys/stat.h", "int f(void) { return S_ISSOCK(0); }"),
        ("pthread.h", "int n = PTHREAD_PROCESS_SHARED;"),
        ("errno.h", "int n = EADDRNOTAVAIL;"),
    ],
)
def test_names_that_our_headers_lack(header: str, text: str, tmp_path: Path) -> None:
    assert check(f"#include <{header}>\n{text}\n", tmp_path).diagnostics == []


@needs_headers
def test_our_headers_suffice_without_such_names(tmp_path: Path) -> None:
    path = tmp_path / "m.c"
    path.write_text(
        "#include <stdlib.h>\n#include <sys/time.h>\n"
        '/* itimerval */ const char *s = "fd_set"; // timer_t\nstruct timeval t;\n'
    )
    assert "/usr/include" not in preprocess(path).text
    path.write_text("#include <sys/time.h>\nstruct itimerval t;\n")
    assert "/usr/include" in preprocess(path).text


@needs_headers
@pytest.mark.sampled(4)
def test_what_our_headers_lack_is_listed() -> None:
    """`include/lacking.txt` is what `lacking_names.py` writes, with the C library it was written for."""
    first = (INCLUDE_DIR / "lacking.txt").read_text().partition(":")[0]
    if first != f"# {' '.join(platform.libc_ver())}":
        pytest.skip("another version of the C library")
    made = {header: frozenset(names) for header, names in lacking_names.table().items() if names}
    assert made == preprocess_headers.lacking_names()


def test_a_missing_header_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot find the header 'no_such\.h'"):
        check("#include <no_such.h>\n", tmp_path)


def test_headers_that_ask_for_gcc(tmp_path: Path) -> None:
    """As CUDA's do, also where the system has no headers; other #errors stay errors."""
    (tmp_path / "host.h").write_text(
        "#if defined(__GNUC__) || defined(_MSC_VER)\n#define API __attribute__((device_builtin))\n"
        "#else\n#error no compiler that this knows\n#endif\nAPI int answer(void);\n"
    )
    assert not check('#include <stdio.h>\n#include "host.h"\n', tmp_path).diagnostics
    with pytest.raises(CompileError, match="#error my own"):
        check('#include "host.h"\n#error my own\n', tmp_path)


@needs_headers
def test_assembler_names_of_the_system(tmp_path: Path) -> None:
    """POSIX's `strerror_r`, which is another function than the one that C code calls so by default."""
    path = tmp_path / "m.c"
    path.write_text(
        "#include <string.h>\n#include <wchar.h>\n"
        "int main(void) { char b[99]; return strerror_r(2, b, 99) || strlen(b) < 5; }\n"
    )
    command = ["accrun", "--target=host", str(path)]
    assert commands.run(command, timeout=120).returncode == 0
