"""Packed structures of the system's headers are laid out and used as gcc has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
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
        "int f(struct epoll_event *e) { return e[1].events; }",
        "int f(struct epoll_event *e) { struct epoll_event a = *e; return a.data.fd; }",
        "struct own { int a; struct epoll_event e[2]; } x;\n"
        '_Static_assert(sizeof x == 28 && _Alignof(struct epoll_event) == 1, "");',
    ],
)
def test_there_are_objects(tmp_path: Path, text: str) -> None:
    compiled(tmp_path, text)
