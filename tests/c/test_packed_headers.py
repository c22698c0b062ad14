"""Packed structures of the system's headers have their size, and no objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end

HEADER = Path("/usr/include/x86_64-linux-gnu/sys/epoll.h")
pytestmark = pytest.mark.skipif(not HEADER.exists(), reason="no <sys/epoll.h> of the system")


def compiled(folder: Path, text: str) -> None:
    path = folder / "p.c"
    path.write_text(f"#include <sys/epoll.h>\n{text}\n")
    front_end([path], CompileOptions(target="host"), DiagnosticSink())


def test_the_header_is_read_and_sizes_are_right(tmp_path: Path) -> None:
    compiled(tmp_path, '_Static_assert(sizeof(struct epoll_event) == 12, "");')
    compiled(tmp_path, "int wait(int f, struct epoll_event *e) { return epoll_wait(f, e, 1, 0); }")


@pytest.mark.parametrize(
    "text",
    [
        "struct epoll_event e;",
        "int f(void) { struct epoll_event e[4]; return 0; }",
        "int f(struct epoll_event *e) { return e->events; }",
        "int f(struct epoll_event *e) { return e[1].events; }",
        "int f(struct epoll_event *e) { struct epoll_event a = *e; return 0; }",
        "struct own { int a; struct epoll_event e; } x;",
        "struct own { int a; struct epoll_event e[2]; } x;",
    ],
)
def test_objects_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CompileError, match="packed, which is not supported"):
        compiled(tmp_path, text)
