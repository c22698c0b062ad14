"""
The format of our FileCheck files: lit's own, but that `accopt … | filecheck …` runs in forked copies of a
process that has loaded both, in half of the time. Anything else in a RUN line goes to lit.
"""

from __future__ import annotations

import gc
import io
import os
import selectors
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any

import lit.formats
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.drivers.accopt_main import main as accopt
from accopt.compiler.pipeline import preload
from filecheck.main import main as filecheck

from lit import Test, TestRunner

_ARROW = "2>&1"
_SHELL = frozenset("|&;<>$`*?")


@dataclass(frozen=True)
class Pipe:
    """`accopt arguments | filecheck arguments`; `errors`: what accopt says of errors goes there too."""

    accopt: tuple[str, ...]
    filecheck: tuple[str, ...]
    errors: bool


def read_pipe(line: str) -> Pipe | None:
    """A RUN line of that form, after lit's substitutions; None if it is another."""
    sides = line.partition(") ")[2].split("|") if line.startswith("%dbg(") else line.split("|")
    if len(sides) != 2:
        return None
    with suppress(ValueError):
        left, right = (shlex.split(side) for side in sides)
        errors = _ARROW in left
        left = [word for word in left if word != _ARROW]
        bare = "".join(sides).replace(_ARROW, "").replace("'", "").replace('"', "")
        if left[:1] == ["accopt"] and right[:1] == ["filecheck"] and not _SHELL & set(bare):
            return Pipe(tuple(left[1:]), tuple(right[1:]), errors)
    return None


class ForkedFormat(lit.formats.ShTest):
    """`ShTest`, with the lines that `read_pipe` knows run in copies of this process."""

    def __init__(self) -> None:
        super().__init__(execute_external=False)
        for target in ("nvptx", "host"):
            preload(CompileOptions(target=target))
        gc.freeze()

    def execute(self, test: Any, lit_config: Any) -> Any:
        script = TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, Test.Result):
            return script
        folder, base = TestRunner.getTempPaths(test)
        given = [*self.extra_substitutions, *test.config.substitutions]
        known = [*given, *TestRunner.getDefaultSubstitutions(test, folder, base)]
        features = dict.fromkeys(test.config.available_features, True)
        lines = TestRunner.applySubstitutions(script, known, features)
        pipes = [read_pipe(line) for line in lines]
        if None in pipes:
            return super().execute(test, lit_config)
        for line, pipe in zip(lines, pipes, strict=True):
            assert pipe is not None
            said = run_pipe(pipe)
            if said is not None:
                return Test.Result(Test.FAIL, f"{line}\n{said}")
        return Test.Result(Test.PASS, "")


def run_pipe(pipe: Pipe) -> str | None:
    """What was said, if one of the two failed; None if neither did."""
    status, output, errors = _in_a_copy(lambda: accopt(pipe.accopt), pipe.errors)
    checked, said, more = _in_a_copy(lambda: _filecheck(pipe.filecheck, output), False)
    return f"{errors}{said}{more}" if status or checked else None


def _filecheck(arguments: Sequence[str], text: str) -> int:
    sys.argv = ["filecheck", *arguments]
    sys.stdin = io.StringIO(text)
    return int(filecheck() or 0)


def _in_a_copy(call: Callable[[], int], joined: bool) -> tuple[int, str, str]:
    """The status, the output and the errors of a call; `joined`: all of it is output."""
    pipes = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        _be_a_copy(call, pipes[0][1], pipes[0 if joined else 1][1])
    for _, end in pipes:
        os.close(end)
    texts = _read_all([begin for begin, _ in pipes])
    _, status = os.waitpid(child, 0)
    return status, texts[0], texts[1]


def _be_a_copy(call: Callable[[], int], output: int, errors: int) -> None:
    status = 1
    try:
        os.dup2(output, 1)
        os.dup2(errors, 2)
        with (
            open(1, "w", closefd=False) as out,
            open(2, "w", buffering=1, closefd=False) as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                status = call()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os._exit(status & 255)


def _read_all(ends: Sequence[int]) -> list[str]:
    """Everything that comes out of pipes, read as it comes, so that none is ever full."""
    texts = {end: bytearray() for end in ends}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                part = os.read(key.fd, 1 << 16)
                texts[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [texts[end].decode(errors="replace") for end in ends]
