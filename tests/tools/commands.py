"""
Accopt's commands in copies of a process that has loaded their modules, in half of the time of an interpreter
that loads them. Each command has a process of its own, with its environment, folder, output and signals.
Tests of how commands start start an interpreter.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

COMMANDS = ("accrun", "accopt", "accc")
_LENGTH = struct.Struct("<I")
_ANSWER = struct.Struct("<i")

_LOADED = (
    *("compiler.api", "compiler.executable", "compiler.translate", "compiler.emit"),
    *("compiler.remarks", "compiler.shared_work", "compiler.backend.ptx", "compiler.backend.jit"),
    *(f"compiler.drivers.{name}" for name in ("accrun_run", "accopt_run", "accc_main")),
    *(f"compiler.c.{name}" for name in ("program", "warnings", "function_texts", "kept")),
    *("compiler.c.sema.checker", "compiler.c.openmp.checker", "compiler.irgen.module"),
    *("compiler.ir.reading", "compiler.ir.stages", "compiler.llvmir.printer"),
    *("runtime.host.device", "runtime.sim.device"),
)
"""What commands load when they need it."""


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """`subprocess.run(command, capture_output=True, text=True, …)` for one of `COMMANDS`."""
    words = [str(word) for word in command]
    folder = str(cwd or os.getcwd())
    request = pickle.dumps((words, folder, dict(os.environ if env is None else env)))
    server = _server()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        ends = [out.fileno(), err.fileno()]
        socket.send_fds(server, [_LENGTH.pack(len(request))], ends)
        server.sendall(request)
        (child,) = _ANSWER.unpack(_read(server, _ANSWER.size))
        server.settimeout(timeout)
        try:
            (status,) = _ANSWER.unpack(_read(server, _ANSWER.size))
        except TimeoutError:
            os.killpg(child, signal.SIGKILL)
            server.settimeout(None)
            _read(server, _ANSWER.size)
            raise subprocess.TimeoutExpired(words, timeout) from None
        finally:
            server.settimeout(None)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    done = subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), *texts)
    if check:
        done.check_returncode()
    return done


@functools.cache
def _server() -> socket.socket:
    """The process that is copied; it ends when this one does."""
    ours, its = socket.socketpair()
    with its:
        number = its.fileno()
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, str(number)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # numpy would start threads, which a copy lacks.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def _read(end: socket.socket, length: int) -> bytes:
    text = b""
    while len(text) < length:
        part = end.recv(length - len(text))
        if not part:
            raise EOFError("the process that runs commands has ended")
        text += part
    return text


# In the other process


def _serve(end: socket.socket) -> Callable[[], int]:
    """Runs commands in copies of this process; returns, in a copy, what it is to run."""
    while True:
        head, ends, _, _ = socket.recv_fds(end, _LENGTH.size, 2)
        if not head:
            os._exit(0)
        request = _read(end, _LENGTH.unpack(head)[0])
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            end.close()
            return _prepared(request, ends)
        for number in ends:
            os.close(number)
        end.sendall(_ANSWER.pack(child))
        end.sendall(_ANSWER.pack(os.waitpid(child, 0)[1]))


def _prepared(request: bytes, ends: Sequence[int]) -> Callable[[], int]:
    """This process as that of a command: its environment, folder and output."""
    words, folder, environment = pickle.loads(request)
    for number, end in enumerate([os.open(os.devnull, os.O_RDONLY), *ends]):
        os.dup2(end, number)
        os.close(end)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    module = sys.modules[f"accopt.compiler.drivers.{words[0]}_main"]
    sys.argv = [str(module.__file__), *words[1:]]
    return module.command if hasattr(module, "command") else module.main


def _load() -> None:
    from accopt.compiler.base.options import CompileOptions
    from accopt.compiler.pipeline import preload

    for name in (*_LOADED, *(f"compiler.drivers.{command}_main" for command in COMMANDS)):
        importlib.import_module(f"accopt.{name}")
    for target in ("nvptx", "host"):
        preload(CompileOptions(target=target))
    gc.freeze()


if __name__ == "__main__":
    _load()
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1])))())
